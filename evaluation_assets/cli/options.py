"""Options shared by several commands: installation, panel, input files."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evaluation_assets.core.system.installation import Installation

# `--help` and usage errors should not wait for what reads files and tables: imports are in the functions.
# ruff: noqa: PLC0415


class DurationType(click.ParamType):
    """A duration such as `30m`, `12h`, `7d`, `2w`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        from evaluation_assets.core.system.configuration import duration

        try:
            return value if isinstance(value, timedelta) else duration(str(value))
        except ValueError as problem:
            self.fail(f"{value!r}: {problem}", param, ctx)


class FiniteRange(click.FloatRange):
    """A number in a range. `nan` is in none: it compares as within every bound."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        return number if isfinite(number) else self.fail(f"{value!r} is not a number", param, ctx)


class WholeRange(click.IntRange):
    """A whole number in a range, of at most 62 bits: no table and no message holds many more."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = super().convert(value, param, ctx)
        return number if abs(number) < 1 << 62 else self.fail(f"{value} is too large", param, ctx)


class GivenPath(click.Path):
    """A path that is named. An empty one would be the working folder, as of a variable without a value in a script."""

    empty = "the path is empty; name a place to write to"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail(self.empty, param, ctx)
        return super().convert(value, param, ctx)


class OutputFile(GivenPath):
    """A file to write; `-` is standard output, and a symbolic link what it leads to."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert("/dev/stdout" if value == "-" else value, param, ctx)))
        from evaluation_assets.core.lake.staging import is_stream

        return path.resolve() if path.is_symlink() and not is_stream(path) else path


class InputPath(GivenPath):
    """A file, a folder or the name of a drop."""

    empty = "the path is empty; name a file, a folder or a drop"


class HostType(click.ParamType):
    """An address or a name of this machine, to listen on.

    An empty one would be all of its addresses: a script that names a variable without a value would open it to others.
    """

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check that the machine has the address."""
        import socket

        if not value.strip():
            self.fail("the address is empty; 127.0.0.1 is this machine alone, 0.0.0.0 all its addresses", param, ctx)
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(value, 0, type=socket.SOCK_STREAM)[0]
            with socket.socket(family, kind, protocol) as probe:
                probe.bind(address)
        except (OSError, UnicodeError) as problem:  # UnicodeError: a name that no domain can have
            reason = getattr(problem, "strerror", None) or "not a name"
            self.fail(f"this machine has no address {value!r} ({reason.lower()})", param, ctx)
        return value


HOST = HostType()
"""An address to listen on."""

AMOUNT = FiniteRange(min=0)
"""An amount of money."""

PORT = WholeRange(0, 65535)
"""A port to listen on; 0 chooses a free one."""


class Sectioned(click.Command):
    """A command with many options: those that people need first, then the others by section."""

    def __init__(self, *given: Any, sections: Mapping[str, Sequence[str]], **attributes: Any) -> None:
        super().__init__(*given, **attributes)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section; those of no section come last."""
        records = {
            parameter.name: record
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)) is not None
        }
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([records.pop(name) for name in names if name in records])
        with formatter.section("Other options"):
            formatter.write_dl(list(records.values()))


def together(*options: Any) -> Any:
    """Combine several options into one decorator."""

    def apply(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


with_inputs = click.argument("inputs", nargs=-1, metavar="[INPUTS]...", type=InputPath(exists=True, path_type=Path))
"""Files and directories; `with_coding_agents` says what is missing if there are none."""


class FormatType(click.ParamType):
    """The name of a format, of this package or of a plugin."""

    name = "format"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check a name. There are too many to list all of them for one that is wrong."""
        from evaluation_assets.core.text.meant import did_you_mean
        from evaluation_assets.core.traces.formats.registry import FORMATS

        if value in FORMATS:
            return value
        hint = did_you_mean(str(value).lower(), FORMATS)
        lists = "`evaluation-assets formats` lists all of them."
        return self.fail(f"{value!r} is not a format; {f'{hint} ' if hint else ''}{lists}", param, ctx)


with_format = click.option(
    "--format",
    "format_name",
    type=FormatType(),
    metavar="NAME",
    help="Force the input format; skip detection. `evaluation-assets formats` lists the names.",
)


text_or_json = click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Print text, or a JSON document.",
)


def with_home(command: Any) -> Any:
    """Pass the installation to a command as `home`."""

    @click.option(
        "--home",
        "home_url",
        envvar="EVALUATION_HOME",
        default=".evaluation",
        show_default=True,
        help="Home folder (or fsspec URL) for drops, tables, reports and settings.",
    )
    @wraps(command)
    def run(home_url: str, **options: Any) -> None:
        from evaluation_assets.core.system.installation import Installation

        home = Installation.from_environment(home_url)
        home.check()
        command(home=home, **options)

    return run


def with_panel(command: Any) -> Any:
    """Pass the installation to a command as `home`, and the judges of panel.yaml as `panel`."""

    @with_home
    @click.option(
        "--panel",
        "panel_file",
        type=click.Path(exists=True, path_type=Path),
        help="Path to panel.yaml (default: <home>/panel.yaml).",
    )
    @wraps(command)
    def run(
        home: "Installation",
        panel_file: Path | None,
        provider: str | None = None,
        model: str | None = None,
        **options: Any,
    ) -> None:
        from evaluation_assets.cli.chosen_panel import chosen_panel

        command(home=home, panel=chosen_panel(home, panel_file, provider, model), **options)

    return run


def with_judges(command: Any) -> Any:
    """As `with_panel`, and a single judge may be chosen in place of the panel."""
    one_judge = together(
        click.option("--provider", help="Use a single judge of this provider, not panel.yaml."),
        click.option("--model", help="Model of the judge (default: the provider's)."),
    )
    return with_panel(one_judge(command))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a command that asks judges may spend; a dry run shows the price and spends nothing."""

    dry_run: bool = False
    budget_usd: float | None = None
    budget_calls: int | None = None
    agreed: bool = False


def with_spending(dry_run: str, *, limits_calls: bool = False) -> Callable[[Any], Any]:
    """Pass the options for the price of a command that asks judges as `spending`; `dry_run` is the help of that one."""

    def decorate(command: Any) -> Any:
        @wraps(command)
        def run(
            dry_run: bool, budget: float | None, yes: bool, budget_calls: int | None = None, **options: Any
        ) -> None:
            spending = Spending(dry_run=dry_run, budget_usd=budget, budget_calls=budget_calls, agreed=yes)
            command(spending=spending, **options)

        calls = click.option(
            "--budget-calls", metavar="N", type=WholeRange(min=0), help="Stop before more model calls."
        )
        return together(
            click.option("--dry-run", is_flag=True, help=dry_run),
            click.option("--budget", metavar="USD", type=AMOUNT, help="Stop before spending more than this."),
            *((calls,) if limits_calls else ()),
            click.option("--yes", is_flag=True, help="Spend what the quote says without asking."),
        )(run)

    return decorate


preprocessing = together(
    click.option(
        "--beta-threshold",
        type=WholeRange(min=0),
        default=15,
        show_default=True,
        help="Maximum number of tool calls; more violate the frequency rule.",
    ),
    click.option(
        "--on-violation",
        type=click.Choice(["flag", "remove"]),
        default="flag",
        show_default=True,
        help="What to do with records that violate a rule: keep and flag them, or remove them.",
    ),
)
