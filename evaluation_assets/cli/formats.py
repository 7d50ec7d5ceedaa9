"""`formats`: list the supported formats."""

import click

from evaluation_assets.cli.output import echo
from evaluation_assets.core.traces.formats.registry import FORMATS


@click.command()
def formats() -> None:
    """List the supported formats and how each is detected."""
    for known in FORMATS.values():
        echo(known.name, f"  {known.description}", f"  detected by: {known.detection}")
