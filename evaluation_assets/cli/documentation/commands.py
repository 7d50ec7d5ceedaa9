"""The page `docs/cli.md`: `python -m evaluation_assets.cli.documentation.commands > docs/cli.md`."""

from collections.abc import Iterator
from copy import copy

import click

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
| `130`, `143`, `129` | stopped by Ctrl-C, SIGTERM, SIGHUP; the same command resumes |

Each command has `--help`. Left out below are `--home`, the home folder or its fsspec URL (default `.evaluation`), and
`--panel`, the path to `panel.yaml` (default: that in the home folder).
"""

_LEFT_OUT = frozenset({"home_url", "panel_file"})
"""Options of nearly all commands, which are described once."""


def page() -> str:
    """The documentation of the commands, as Markdown."""
    return "\n".join((_INTRODUCTION, *_sections(main, click.Context(main, info_name=_PROGRAM))))


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """A section for a command, then one for each command below it."""
    level = "##" if context.parent is None or context.parent.parent is None else "###"
    yield f"{level} {context.command_path}\n\n```text\n{_help(command, context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _sections(below, click.Context(below, info_name=name, parent=context))


def _help(command: click.Command, context: click.Context) -> str:
    """What `--help` prints, whatever the width of the terminal, without the options that are described once."""
    formatter = click.HelpFormatter(width=_WIDTH)
    shown = copy(command)
    shown.params = [each for each in command.params if each.name not in _LEFT_OUT]
    shown.add_help_option = False
    shown.format_help(context, formatter)
    return formatter.getvalue().rstrip("\n")


if __name__ == "__main__":
    click.echo(page(), nl=False)
