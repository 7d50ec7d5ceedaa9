"""Options for sessions that coding agents keep on this machine, which are evaluated instead of files."""

from datetime import timedelta
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from evaluation_assets.cli.options import DurationType
from evaluation_assets.core.intake.sources.coding_agent_titles import CODING_AGENT_TITLES


def with_coding_agents(command: Any, *, needs_no_inputs: bool = False) -> Any:
    """Make files optional, and pass the sessions that are evaluated instead, or `None`, as `sessions`.

    A command that `needs_no_inputs` takes all drops if nothing is named; it gets `since`, if given for these, too.
    """

    @click.option(
        "--sessions",
        "agents",
        multiple=True,
        type=click.Choice([name.replace("_", "-") for name in CODING_AGENT_TITLES]),
        help="Use the sessions that a coding agent keeps on this machine, not files. May be repeated.",
    )
    @click.option(
        "--since",
        type=DurationType(),
        default="7d",
        show_default=True,
        metavar="DURATION",
        help="Age of the oldest session that is used: 30m, 12h, 7d, 2w, ..."
        + (" Without inputs: of the oldest drop (default: all)." if needs_no_inputs else ""),
    )
    @click.option(
        "--project",
        metavar="NAME",
        help="Use only sessions that worked in this folder (name or path).",
    )
    @wraps(command)
    def run(agents: tuple[str, ...], since: timedelta, project: str | None, **options: Any) -> None:
        inputs: tuple[object, ...] = options["inputs"]
        if agents and inputs:
            raise click.UsageError("--sessions and files cannot be combined; use one of them")
        all_drops = options.get("all_drops", False)
        if all_drops and (agents or inputs):
            raise click.UsageError("--all and files or --sessions cannot be combined; use one of them")
        if not agents and not inputs and not all_drops and not needs_no_inputs:
            raise click.UsageError("Missing argument 'INPUTS...': name a file or directory, or use --sessions")
        if not agents and project is not None:
            raise click.UsageError("--project needs --sessions, which names the coding agent")
        if needs_no_inputs:
            given = click.get_current_context().get_parameter_source("since") is ParameterSource.COMMANDLINE
            options["since"] = since if given and not agents else None
        if not agents:
            command(sessions=None, **options)
            return
        from evaluation_assets.cli.requested_sessions import RequestedSessions  # noqa: PLC0415  (the readers)

        names = list(dict.fromkeys(agent.replace("-", "_") for agent in agents))
        command(sessions=RequestedSessions(names, since, project), **options)

    return run
