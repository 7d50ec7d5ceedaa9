"""The group of all commands: each is imported when it runs, and errors that users can mend are one line."""

import gc
import signal
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.core.system.garbage import COLLECTED_EVERY, end_without_search
from evaluation_assets.core.system.stop_signals import Interrupted, end_process, handle_signals, interrupt, stopped_by
from evaluation_assets.core.text.path_errors import OF_PATHS, remedy_of
from evaluation_assets.core.text.user_error import UserError

_SQLITE = {
    "disk is full": "Free some space, or choose another --home.",
    "readonly database": "Make the home writable, or choose another --home.",
    "unable to open database": "Make the home writable, or choose another --home.",
    "disk i/o error": "Free some space if its disk is full, or choose another --home.",
    "malformed": "Restore the file from a backup, or move it away; a new one is created.",
    "not a database": "Restore the file from a backup, or move it away; a new one is created.",
}


_SENTENCE = 300
"""Characters of the longest first sentence of a help."""


class Group(click.Group):
    """A group of commands whose list has the first sentence of each help as a whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names with the first sentence of their help."""
        with formatter.section("Commands"):
            commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
            formatter.write_dl([(name, command.get_short_help_str(_SENTENCE)) for name, command in commands if command])


class Commands(click.Group):
    """Commands by section and name: where each is (`module:attribute`), and its short help.

    A command is imported when it is asked for, so that `--help` waits for no library. Errors of users and of storage
    are reported in one line, with exit status 2.
    """

    def __init__(self, sections: Mapping[str, Mapping[str, tuple[str, str]]], **attributes: Any) -> None:
        self.sections = sections
        self.lazy = {name: command for section in sections.values() for name, command in section.items()}
        names = {name: click.Command(name) for name in self.lazy}  # what click lists, and suggests for a wrong name
        super().__init__(commands=names, **attributes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.lazy:
            return None
        module, attribute = self.lazy[cmd_name][0].split(":")
        return getattr(import_module(module), attribute)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before the command."""
        with _option_placed():
            return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names with their short help, section by section."""
        widest = max(map(len, self.lazy))
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), about) for name, (_, about) in section.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name. From now on a signal to stop is an exception, see `cli.__main__`."""
        resolved = super().resolve_command(ctx, args)
        if signal.getsignal(signal.SIGINT) is end_process:
            handle_signals(interrupt)
        return resolved

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        gc.set_threshold(COLLECTED_EVERY, *gc.get_threshold()[1:])
        end_without_search()
        try:
            with _option_placed():
                return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort) as stopped:  # click aborts where a question is interrupted
            cause = stopped.__context__ if isinstance(stopped, click.Abort) else stopped
            if isinstance(cause, EOFError):
                echo("", err=True)  # the question stands on the line
                answers = "Run this command in a terminal; --yes answers what is asked about costs."
                refuse(f"the input ended before the question was answered. {answers}")
            if not isinstance(cause, KeyboardInterrupt):
                raise
            number = cause.number if isinstance(cause, Interrupted) else signal.SIGINT
            echo(stopped_by(number), err=True)
            sys.exit(128 + number)
        except Exception as problem:
            from evaluation_assets.core.system.installation import UnusableHome  # noqa: PLC0415  (pyarrow)

            said = str(problem) if isinstance(problem, UserError) else storage_problem(problem)
            if isinstance(problem, UnusableHome):
                said = (
                    storage_problem(problem, is_home=True)
                    or f"the home folder cannot be used: {problem}. Choose another --home."
                )
            if said is None:
                raise
            refuse(said)


@contextmanager
def _option_placed() -> Iterator[None]:
    """Say where options stand, if one is given to a group of commands."""
    try:
        yield
    except click.NoSuchOption as problem:
        if problem.ctx is None or not isinstance(problem.ctx.command, click.Group):
            raise
        said = f"No such option '{problem.option_name}' before a command. Options stand after the command."
        raise click.UsageError(said, problem.ctx) from None


def storage_problem(problem: BaseException, *, is_home: bool = False) -> str | None:
    """Describe a storage error and its remedy; `None` for any other error. Another place is no remedy of a home."""
    for cause in _causes(problem):
        if isinstance(cause, OSError) and (remedy_of(cause.errno) or (cause.errno in OF_PATHS and not is_home)):
            where = f"{cause.filename}: " if cause.filename else ""
            remedy = remedy_of(cause.errno)
            elsewhere = "Choose another path" if remedy is None else f"{remedy}, or choose another --home"
            return f"{where}{cause.strerror}. {elsewhere}."
        if isinstance(cause, sqlite3.DatabaseError):
            for words, remedy in _SQLITE.items():
                if words in str(cause).lower():
                    return f"a database in the home folder cannot be used: {cause}. {remedy}"
    return None


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """The exception with its causes and contexts."""
    seen: set[int] = set()
    pending = [problem]
    while pending:
        each = pending.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            pending += [behind for behind in (each.__cause__, each.__context__) if behind is not None]
