"""The page `docs/cli.md`: `python -m evaluation_assets_tests.generated_pages.commands > docs/cli.md`."""

from collections.abc import Iterable, Iterator
from copy import copy
from inspect import cleandoc

import click

from evaluation_assets.cli.evaluate import evaluate
from evaluation_assets.cli.main import main

_PROGRAM = "evaluation-assets"
_WIDTH = 100

_INTRODUCTION = """\
# Commands

<!-- Written by `make docs` from evaluation_assets/cli. Change the text there. -->

Results go to stdout; progress and logs go to stderr.

| exit status | meaning |
|---|---|
| `0` | finished; all blocking checks passed |
| `1` | finished; a blocking check failed, for instance because a judge returned no answer |
| `2` | usage error or unusable input |
| `3` | stopped by the budget |
| `130`, `143`, `129` | stopped by Ctrl-C, SIGTERM, SIGHUP; the same command resumes. Those that serve end with `0` |

Each command has `--help`. Left out below are `evaluation-assets`, and the options `--home`, the home folder or its
fsspec URL (default `.evaluation`), and `--panel`, the path to `panel.yaml` (default: that in the home folder). Options
that [`evaluate`](#evaluate) has too are only named, and so are `--format [text|json]`, which prints text by default, or
a JSON document, `--budget USD`, which stops before more is spent, and `--dry-run`, which shows the price and calls no
model.
"""

_LEFT_OUT = frozenset({"home_url", "panel_file"})
"""Options of nearly all commands, which the introduction describes."""

_DESCRIBED = frozenset(
    {
        "Print text, or a JSON document.",
        "Stop before spending more than this.",
        "Show the price; no model is called.",
    }
)
"""Help of options of many commands, which the introduction describes."""


def page() -> str:
    """The documentation of the commands, as Markdown."""
    return "\n".join((_INTRODUCTION, *_sections(main, click.Context(main, info_name=_PROGRAM))))


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """A section for a command, then one for each command below it."""
    path = context.command_path.removeprefix(f"{_PROGRAM} ")
    level = "##" if context.parent is None or context.parent.parent is None else "###"
    named = {} if command is evaluate else {each.name: option for each in command.params if (option := _named(each))}
    also = f"\nAlso {', '.join(f'`{option}`' for option in named.values())}.\n" if named else ""
    group = isinstance(command, click.Group) and command is not main
    described = cleandoc(command.help or "") if group else f"```text\n{_help(command, context, named)}\n```"
    yield f"{level} {path}\n\n{described}\n{also}"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _sections(below, click.Context(below, info_name=name, parent=context))


def _named(parameter: click.Parameter) -> str | None:
    """An option as `--help` names it, if the introduction or the section of `evaluate` describes it."""
    if not isinstance(parameter, click.Option) or parameter.name in _LEFT_OUT:
        return None
    context = click.Context(main)
    record = parameter.get_help_record(context)
    known = (each.get_help_record(context) for each in evaluate.params)
    return record[0] if record and (parameter.help in _DESCRIBED or record in known) else None


def _help(command: click.Command, context: click.Context, named: Iterable[str | None]) -> str:
    """What `--help` prints, whatever the width of the terminal, without what is described elsewhere."""
    formatter = click.HelpFormatter(width=_WIDTH)
    shown = copy(command)
    shown.params = [each for each in command.params if each.name not in {*_LEFT_OUT, *named}]
    shown.add_help_option = False
    shown.format_help(context, formatter)
    usage = "Usage: " if command is main else f"Usage: {_PROGRAM} "
    return formatter.getvalue().rstrip("\n").removeprefix(usage).replace(" [OPTIONS]", "", 1)


if __name__ == "__main__":
    click.echo(page(), nl=False)
