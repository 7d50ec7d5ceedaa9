"""Options that name coding agents of this machine, whose sessions are evaluated instead of files."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce, wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.core import ParameterSource
from upath import UPath

from evaluation_assets.cli.options import DurationType
from evaluation_assets.cli.output import warn
from evaluation_assets.core.intake.copying.drops import inspect
from evaluation_assets.core.intake.copying.traces import take_in_traces
from evaluation_assets.core.intake.drops import Drop, InvalidDrop
from evaluation_assets.core.intake.sources.store import StoreError
from evaluation_assets.core.intake.sources.stores.agent_sessions import Environment
from evaluation_assets.core.intake.sources.stores.coding_agents import CODING_AGENTS, CodingAgent, CodingAgentStore
from evaluation_assets.core.text.counted import counted


@dataclass(frozen=True, slots=True)
class RequestedSessions:
    """The sessions that options ask for."""

    agents: Sequence[CodingAgent]
    since: timedelta
    project: str | None

    def taken_into(self, drops: UPath, say: Callable[[str], object], name: str | None = None) -> list[Drop]:
        """Copy the sessions below a folder of drops, one drop per agent.

        Raises:
            InvalidDrop: no agent has sessions in the window, or a drop of the name is something else.
        """
        if name is not None and len(self.agents) != 1:
            raise InvalidDrop(f"--as {name!r}: it can name only one drop, not {len(self.agents)}")
        now, found, missing = datetime.now(UTC), [], []
        for agent in self.agents:
            store = CodingAgentStore(agent, self.project, Environment(os.environ), lambda why: say(f"skipped: {why}"))
            try:
                traces = store.ended(now - self.since, now, lambda _: True)
                drop = take_in_traces(drops, name or agent.name, agent.format, traces)
            except StoreError as problem:
                raise InvalidDrop(f"{agent.title}: {problem}") from problem
            if drop is None:
                missing.append(self._none_of(store))
            else:
                found.append(drop)
        if not found:
            raise InvalidDrop(" ".join(missing))
        for problem in missing:
            say(problem)
        return found

    def _none_of(self, store: CodingAgentStore) -> str:
        folders = ", ".join(map(str, store.folders))
        of_project = "" if self.project is None else f" of the project {self.project!r}"
        return (
            f"no session of {store.agent.title}{of_project} in the last {_in_words(self.since)}; looked in {folders}."
        )


def with_coding_agents(command: Any) -> Any:
    """Make files optional, and pass the sessions that are evaluated instead, or `None`, as `sessions`."""
    return _with_coding_agents(command, needs_no_inputs=False)


def with_coding_agents_or_drops(command: Any) -> Any:
    """The same for a command that takes all drops if nothing is named; passes `since`, if given for these, too."""
    return _with_coding_agents(command, needs_no_inputs=True)


def _with_coding_agents(command: Any, *, needs_no_inputs: bool) -> Any:

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
    def run(since: timedelta, project: str | None, **options: Any) -> None:
        agents = [agent for name, agent in CODING_AGENTS.items() if options.pop(name)]
        inputs: tuple[object, ...] = options["inputs"]
        if agents and inputs:
            raise click.UsageError(f"{agents[0].option} and files cannot be combined; use one of them")
        if not agents and not inputs and not needs_no_inputs:
            raise click.UsageError("Missing argument 'INPUTS...': name a file or directory, or use --claude-code, ...")
        if not agents and project is not None:
            raise click.UsageError(f"--project needs a coding agent, e.g. {next(iter(CODING_AGENTS.values())).option}")
        if needs_no_inputs:
            given = click.get_current_context().get_parameter_source("since") is ParameterSource.COMMANDLINE
            options["since"] = since if given and not agents else None
        command(sessions=RequestedSessions(agents, since, project) if agents else None, **options)

    flags = [
        click.option(agent.option, name, is_flag=True, help=f"Use the sessions of {agent.title} on this machine.")
        for name, agent in CODING_AGENTS.items()
    ]
    return reduce(lambda decorated, flag: flag(decorated), reversed(flags), run)


def inspected(inputs: Sequence[Path], sessions: RequestedSessions | None, *, one_drop: bool) -> list[Drop]:
    """The drops that inputs or sessions would be; sessions are copied to a temporary folder for the command.

    Raises:
        InvalidDrop: there is nothing that can be read.
    """
    if sessions is None:
        return inspect(list(inputs), one_drop=one_drop, say=warn)
    folder = click.get_current_context().with_resource(TemporaryDirectory())
    return sessions.taken_into(UPath(folder), warn)


def _in_words(duration: timedelta) -> str:
    minutes = round(duration.total_seconds() / 60)
    unit, size = next(
        (unit, size) for unit, size in (("day", 1440), ("hour", 60), ("minute", 1)) if minutes % size == 0
    )
    return counted(minutes // size, unit)
