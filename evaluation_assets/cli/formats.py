"""`formats`: what is read."""

import click

from evaluation_assets.cli.output import echo
from evaluation_assets.core.formats.registry import FORMATS


@click.command()
def formats() -> None:
    """List the formats that are read, and how each is recognised."""
    for known in FORMATS.values():
        echo(known.name, f"  {known.description}", f"  recognised by: {known.detection}")
