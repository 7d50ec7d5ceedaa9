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
_COMMAND = r"(?:'[^']*/evaluation-assets'|[^\s`]*\bevaluation-assets|'[^']*' -m pip|[^\s`]+ -m pip) "
"""The words that a command begins with, which may be a path."""
_ENDS_WITH_COMMAND = re.compile(rf"(.*:) ({_COMMAND}.*)")
_QUOTED = re.compile(f"`{_COMMAND}[^`]*`")
_NO_BREAK = "\x00"
"""In place of a blank at which a line is not wrapped."""
_INDENT = 4
"""Blanks before a command that does not fit below the last column."""
_SAID_FAILURES = 2
_COUNTS_EVERY_S = 0.5


def echo(*lines: str, err: bool = False) -> None:
    """Print lines to stdout or stderr. Line breaks inside a line come from files and are removed.

    On a terminal, a line is wrapped at blanks, and goes on below its last column. A command at its end stays whole, so
    that it can be copied.
    """
    width = shutil.get_terminal_size().columns if (sys.stderr if err else sys.stdout).isatty() else 0
    for line in lines:
        text = for_terminal(" ".join(line.splitlines()))
        whole = len(text) <= width or not width
        click.echo(text if whole else "\n".join(_with_command(text, width)), err=err)


def _with_command(text: str, width: int) -> list[str]:
    """The wrapped lines of a text, and the command at its end."""
    if re.match(_COMMAND, text.lstrip()):
        return [text]
    ends = _ENDS_WITH_COMMAND.fullmatch(text)
    if ends is None:
        return _wrapped(text, width)
    begins = _hanging(text, width)
    fits = begins + len(ends[2]) <= width
    return [*_wrapped(ends[1], width), " " * (begins if fits else min(begins, _INDENT)) + ends[2]]


def _hanging(text: str, width: int) -> int:
    """The column that the next lines of a text begin at."""
    begins = len(text) - len(text.lstrip(" -"))
    columns = [match.end() for match in _COLUMN.finditer(text) if match.end() <= width // 2]
    return columns[-1] if columns else begins if "-" in text[:begins] else begins + 2


def _wrapped(text: str, width: int) -> list[str]:
    text = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", _NO_BREAK), text)
    begins = len(text) - len(text.lstrip(" -"))
    lines = textwrap.wrap(
        text[begins:],
        max(width, 20),
        initial_indent=text[:begins],
        subsequent_indent=" " * _hanging(text, width),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]


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
