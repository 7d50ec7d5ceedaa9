"""Print output safely: names and messages from files must not control a terminal or a CI system."""

import sys
from typing import NoReturn

import click

from evaluation_assets.core.text.plain_text import for_terminal


def echo(*lines: str, err: bool = False) -> None:
    """Print lines to stdout or stderr. Line breaks inside a line come from files and are removed."""
    for line in lines:
        click.echo(for_terminal(" ".join(line.splitlines())), err=err)


def warn(message: str) -> None:
    """Print a warning; the command continues."""
    echo(f"evaluation-assets: {message}", err=True)


def refuse(message: str) -> NoReturn:
    """Print what cannot be used, and exit with status 2."""
    echo(f"evaluation-assets: {message}", err=True)
    sys.exit(2)
