"""`formats`: what is read."""

import click

from evaluation_assets.core.formats.registry import FORMATS


@click.command()
def formats() -> None:
    """List the formats that are read, and how each is recognised."""
    for known in FORMATS.values():
        click.echo(f"{known.name}\n  {known.description}\n  recognised by: {known.detection}")
