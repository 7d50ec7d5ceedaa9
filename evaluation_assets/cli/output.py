"""What commands print: names and messages out of files stand in it, and must not steer a terminal or a CI system."""

import click

from evaluation_assets.core.plain_text import for_terminal


def echo(*lines: str, err: bool = False) -> None:
    """Print lines to stdout or stderr. Line breaks in a line came out of a file, and could forge lines of ours."""
    for line in lines:
        click.echo(for_terminal(" ".join(line.splitlines())), err=err)
