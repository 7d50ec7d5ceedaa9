"""What commands print: names and messages out of files stand in it, and must not steer a terminal or a CI system."""

import click

from evaluation_assets.core.plain_text import for_terminal


def echo(text: str, *, err: bool = False) -> None:
    """Print text to stdout or stderr."""
    click.echo(for_terminal(text), err=err)
