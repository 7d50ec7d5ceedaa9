"""The page `docs/cli.md`: `python -m evaluation_assets.cli.documentation.commands > docs/cli.md`."""

from collections.abc import Iterator

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
"""


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
    """What `--help` prints, whatever the width of the terminal."""
    formatter = click.HelpFormatter(width=_WIDTH)
    command.format_help(context, formatter)
    return formatter.getvalue().rstrip("\n")


if __name__ == "__main__":
    click.echo(page(), nl=False)
