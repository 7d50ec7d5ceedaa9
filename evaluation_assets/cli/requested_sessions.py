"""Sessions of coding agents of this machine, which are evaluated instead of files."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from upath import UPath

from evaluation_assets.cli.output import warn
from evaluation_assets.core.intake.copying.drops import inspect, named
from evaluation_assets.core.intake.copying.traces import take_in_traces
from evaluation_assets.core.intake.drops import Drop, InvalidDrop
from evaluation_assets.core.intake.sources.store import StoreError
from evaluation_assets.core.intake.sources.stores.agent_sessions import Environment
from evaluation_assets.core.intake.sources.stores.coding_agents import CODING_AGENTS, CodingAgentStore
from evaluation_assets.core.text.counted import counted


@dataclass(frozen=True, slots=True)
class RequestedSessions:
    """The sessions that options ask for, of agents by the names of their drops."""

    agents: Sequence[str]
    since: timedelta
    project: str | None

    def taken_into(self, drops: UPath, say: Callable[[str], object], name: str | None = None) -> list[Drop]:
        """Copy the sessions below a folder of drops, one drop per agent.

        Raises:
            InvalidDrop: no agent has sessions in the window, or a drop of the name is something else.
        """
        if name is not None and not name.endswith("/") and len(self.agents) != 1:
            raise InvalidDrop(f"--as {name!r}: it can name only one drop, not {len(self.agents)}")
        now, sessions, missing = datetime.now(UTC), [], []
        for agent in map(CODING_AGENTS.__getitem__, self.agents):
            store = CodingAgentStore(agent, self.project, Environment(os.environ), lambda why: say(f"skipped: {why}"))
            try:
                traces = store.ended(now - self.since, now, lambda _: True)
                drop = take_in_traces(drops, named(agent.name, name), agent.format, traces)
            except StoreError as problem:
                raise InvalidDrop(f"{agent.title}: {problem}") from problem
            if drop is None:
                missing.append(self._none_of(store))
            else:
                sessions.append(drop)
        if not sessions:
            raise InvalidDrop(" ".join(missing))
        for problem in missing:
            say(problem)
        return sessions

    def _none_of(self, store: CodingAgentStore) -> str:
        folders = ", ".join(map(str, store.folders))
        of_project = "" if self.project is None else f" of the project {self.project!r}"
        return (
            f"no session of {store.agent.title}{of_project} in the last {_in_words(self.since)}; looked in {folders}."
        )


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
