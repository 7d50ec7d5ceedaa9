"""Several agents on one suite, side by side, under one budget."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from evaluation_assets.core.agents.runner import Places, RunSettings, RunTally, run_agent
from evaluation_assets.core.agents.settings import AgentSettings
from evaluation_assets.core.cancellation import as_completed
from evaluation_assets.core.installation import Installation
from evaluation_assets.core.llm.budget import Budget
from evaluation_assets.core.llm.ledger import Ledger
from evaluation_assets.core.suites.formats.registry import find_suite, load_suite
from evaluation_assets.core.suites.suite import InvalidSuite, Suite

PROGRESS_SECONDS = 2.0

Log = Callable[[str], object]


def suite_named(home: Installation, name: str) -> Suite:
    """A suite of the installation.

    Raises:
        InvalidSuite: there is none of this name, or it cannot be used.
    """
    path = find_suite(home.suites, name)
    if path is None:
        raise InvalidSuite(f"no suite {name!r} in {home.suites}")
    return load_suite(path).suite


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """One run on a suite: how often every case is tried, and what all agents together may spend.

    `fresh` repeats all model calls; otherwise earlier replies are read from the ledger.
    """

    suite: Suite
    suite_name: str
    run: str
    trials: int
    budget_usd: float | None
    fresh: bool

    async def run_all(
        self, home: Installation, agents: Sequence[AgentSettings], log: Log
    ) -> AsyncIterator[tuple[AgentSettings, RunTally]]:
        """Each agent with what it did; whichever is done first comes first.

        Raises:
            InvalidAgent: a tool or a limit of an agent cannot be used.
            JournalInUse: another process is running one of the agents on this suite.
        """
        ledger = Ledger(home.ledger_url)
        budget = Budget(self.budget_usd, ledger.spent(self.run))
        settings = RunSettings(
            suite_name=self.suite_name,
            trials=self.trials,
            series=datetime.now(UTC).strftime("%Y%m%dT%H%M%S") if self.fresh else "",
            run=self.run,
        )
        places = Places(home.drops, home.unfinished_runs)
        progress = _now_and_then(log)

        async def one(agent: AgentSettings) -> tuple[AgentSettings, RunTally]:
            return agent, await run_agent(agent, self.suite, settings, ledger, budget, places, progress)

        try:
            async for agent, tally in as_completed(one(agent) for agent in agents):
                log(f"{agent.name}: {tally.finished} of {tally.attempts} attempts, {dict(tally.ended)}")
                yield agent, tally
        finally:
            ledger.close()


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an agent's run stopped before its end: the kind of error, and a message that says how to go on."""

    kind: str
    message: str


def stop_of(agent: AgentSettings, tally: RunTally) -> Stop | None:
    """Why a run stopped; `None` where it came to its end."""
    if tally.stopped is None:
        return None
    done = f"{tally.finished} of {tally.attempts} attempts are finished and kept"
    return Stop(tally.stopped.kind, f"{agent.name}: {tally.stopped}; {done}. Re-run to resume.")


def all_stops(stops: Sequence[Stop]) -> Stop:
    """Several stops as one; a spent budget is its kind where it is one of them."""
    kind = "budget" if any(stop.kind == "budget" for stop in stops) else stops[0].kind
    return Stop(kind, " ".join(stop.message for stop in stops))


def _now_and_then(log: Log) -> Log:
    """A log line costs milliseconds: one every few seconds is enough."""
    logged = 0.0

    def maybe(line: str) -> None:
        nonlocal logged
        if time.monotonic() - logged > PROGRESS_SECONDS:
            logged = time.monotonic()
            log(line)

    return maybe
