"""Print output safely: names and messages from files must not control a terminal or a CI system."""

import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click
import orjson

from evaluation_assets.core.text.counted import first_of
from evaluation_assets.core.text.plain_text import for_terminal

if TYPE_CHECKING:
    from evaluation_assets.runs.outcomes import Line

_COLUMN = re.compile(r"(?<=\S) {2,}")
"""What is between two columns of a line."""
_COMMAND = "evaluation-assets "
_SAID_FAILURES = 2
_COUNTS_EVERY_S = 0.5


def echo(*lines: str, err: bool = False) -> None:
    """Print lines to stdout or stderr. Line breaks inside a line come from files and are removed.

    On a terminal, a line is wrapped at blanks, and goes on below its last column. One with a command stays whole, so
    that it can be copied.
    """
    width = shutil.get_terminal_size().columns if (sys.stderr if err else sys.stdout).isatty() else 0
    for line in lines:
        text = for_terminal(" ".join(line.splitlines()))
        whole = len(text) <= width or not width or _COMMAND in text
        click.echo(text if whole else "\n".join(_wrapped(text, width)), err=err)


def _wrapped(text: str, width: int) -> list[str]:
    begins = len(text) - len(text.lstrip(" -"))
    columns = [match.end() for match in _COLUMN.finditer(text) if match.end() <= width // 2]
    hanging = columns[-1] if columns else begins if "-" in text[:begins] else begins + 2
    return textwrap.wrap(
        text[begins:],
        max(width, 20),
        initial_indent=text[:begins],
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def echo_fact(label: str, text: str) -> None:
    """Print a label with its text."""
    echo(f"  {label:<18} {text}")


def print_lines(lines: Iterable["Line"]) -> None:
    """Print what tells of an outcome."""
    for line in lines:
        if line.label is None:
            echo(line.text, err=line.is_warning)
        else:
            echo_fact(line.label, line.text)


def echo_json(document: Any) -> None:
    """Print a document as JSON."""
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))


@contextmanager
def progress(label: str, length: int) -> Iterator[Callable[[], None]]:
    """A bar on stderr, none where that is no terminal; gives what moves it by a step."""
    bar: Any = click.progressbar(length=length, label=label, file=sys.stderr, hidden=not sys.stderr.isatty())
    with bar:
        yield lambda: bar.update(1)


@contextmanager
def counting(label: str) -> Iterator[Callable[[], None]]:
    """A count on stderr of what is done, for work of unknown length; none where that is no terminal.

    It is wiped at the end. Gives what counts a step.
    """
    if not sys.stderr.isatty():
        yield lambda: None
        return
    count, shown_at = 0, time.monotonic()

    def step() -> None:
        nonlocal count, shown_at
        count += 1
        if time.monotonic() - shown_at >= _COUNTS_EVERY_S:
            shown_at = time.monotonic()
            click.echo(f"\r{label} {count:,}", err=True, nl=False)

    try:
        yield step
    finally:
        click.echo("\r\x1b[K", err=True, nl=False)


def warn(message: str) -> None:
    """Print a warning; the command continues."""
    echo(f"evaluation-assets: {message}", err=True)


def refuse(message: str, *commands: str) -> NoReturn:
    """Print what cannot be used, and below it the commands to go on with, and exit with status 2."""
    echo(f"evaluation-assets: {message}", *(f"  {command}" for command in commands), err=True)
    sys.exit(2)


def refuse_run(failures: Sequence[str]) -> NoReturn:
    """Print why steps of a run failed, and exit with status 2. One cause, such as a full disk, often fails them all."""
    refuse(first_of([failure.rstrip(".") for failure in failures], _SAID_FAILURES, between="; ") + ".")
