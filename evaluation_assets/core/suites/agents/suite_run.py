"""Run several agents on one suite concurrently, under a shared budget."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.suites.agents.runner import Places, RunSettings, RunTally, run_agent
from evaluation_assets.core.suites.agents.settings import AgentSettings
from evaluation_assets.core.suites.formats.registry import find_suite, load_suite
from evaluation_assets.core.suites.suite import InvalidSuite, Suite
from evaluation_assets.core.system.cancellation import as_completed
from evaluation_assets.core.system.installation import Installation

PROGRESS_SECONDS = 2.0

Log = Callable[[str], object]


def suite_named(home: Installation, name: str) -> Suite:
    """A suite of the installation.

    Raises:
        InvalidSuite: there is no suite of this name, or it cannot be used.
    """
    path = find_suite(home.suites, name)
    if path is None:
        raise InvalidSuite(f"no suite {name!r} in {home.suites}")
    return load_suite(path).suite


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """Settings of a run on a suite: attempts per case, and the budget of all agents together.

    `fresh` repeats all model calls; otherwise earlier replies are read from the ledger.
    """

    suite: Suite
    suite_name: str
    run: str
    trials: int
    budget_usd: float | None
    budget_calls: int | None
    fresh: bool

    async def run_all(
        self, home: Installation, agents: Sequence[AgentSettings], log: Log
    ) -> AsyncIterator[tuple[AgentSettings, RunTally]]:
        """Yield each agent with its tally, in order of completion.

        Raises:
            InvalidAgent: a tool or a limit of an agent cannot be used.
            JournalInUse: another process is running one of the agents on this suite.
        """
        ledger = Ledger(home.ledger_url)
        budget = Budget(self.budget_usd, limit_calls=self.budget_calls)
        budget.begin_at(ledger.spent(self.run), ledger.calls(self.run))
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
    """Why an agent's run stopped early: the kind of error, and a message that says how to resume."""

    kind: str
    message: str


def stop_of(agent: AgentSettings, tally: RunTally) -> Stop | None:
    """Why a run stopped; `None` if it finished."""
    if tally.stopped is None:
        return None
    done = f"{tally.finished} of {tally.attempts} attempts are finished and kept"
    return Stop(tally.stopped.kind, f"{agent.name}: {tally.stopped}; {done}. Re-run to resume.")


def all_stops(stops: Sequence[Stop]) -> Stop:
    """Combine several stops. The kind is `budget` if one of them is."""
    kind = "budget" if any(stop.kind == "budget" for stop in stops) else stops[0].kind
    return Stop(kind, " ".join(stop.message for stop in stops))


def _now_and_then(log: Log) -> Log:
    """Throttle log lines to one every few seconds, because each costs milliseconds."""
    logged = 0.0

    def maybe(line: str) -> None:
        nonlocal logged
        if time.monotonic() - logged > PROGRESS_SECONDS:
            logged = time.monotonic()
            log(line)

    return maybe
