"""[agents] Agents on suites: each run writes a drop, which comes in by the same door as everyone else's."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import dagster as dg

from evaluation_assets.core.agents.journal import JournalInUse
from evaluation_assets.core.agents.runner import Places, RunSettings, RunTally, run_agent
from evaluation_assets.core.agents.settings import AgentSettings, InvalidAgent
from evaluation_assets.core.drops import Drop, find, scan
from evaluation_assets.core.formats.base import Rejection
from evaluation_assets.core.formats.losses import Losses
from evaluation_assets.core.formats.registry import read_trajectories
from evaluation_assets.core.installation import Installation
from evaluation_assets.core.llm.budget import Budget
from evaluation_assets.core.llm.ledger import Ledger
from evaluation_assets.core.reporting.agent_comparison import as_markdown as comparison_as_markdown
from evaluation_assets.core.reporting.agent_comparison import compare_agents, write_agent_comparison
from evaluation_assets.core.reporting.agent_report import AgentReport, agent_report, as_markdown, write_agent_report
from evaluation_assets.core.suites.formats.registry import find_suite, load_suite, load_suites
from evaluation_assets.core.suites.suite import InvalidSuite, Suite
from evaluation_assets.defs.freshness import latest_metadata
from evaluation_assets.defs.partitions import SUITES
from evaluation_assets.defs.stopping import as_completed
from evaluation_assets.resources.installation import HomeResource

STOPPED = "stopped"
"""Metadata of a failure: why agents stopped (`budget`, `auth`, ...), or `unusable`."""

AGENT_RUNS = "agent_runs"
"""First part of the keys of agents' assets, and the name of the op that runs them, which its configuration goes to."""

PROGRESS_SECONDS = 2.0


class AgentRunConfig(dg.Config):
    """How often every case is tried, and what all agents together may spend.

    `fresh` calls the models again; otherwise earlier replies come from the ledger.
    """

    trials: int = 1
    budget_usd: float | None = None
    fresh: bool = False


def agent_assets(agents: Sequence[AgentSettings]) -> list[dg.AssetsDefinition]:
    """Assets for the suites, for each agent and for their comparison; none if no agent is configured."""
    return [task_suites, _agent_runs(agents), _agent_comparison(agents)] if agents else []


@dg.asset(
    group_name="agents",
    kinds={"yaml"},
    description="The suites of the installation. Materialise it to register new suites as partitions of agent_runs.",
)
def task_suites(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult:
    """Read every suite and register the usable ones as partitions."""
    usable, problems = load_suites(home.home.suites)
    for problem in problems:
        context.log.warning(problem)
    context.instance.add_dynamic_partitions(SUITES.name or "", list(usable))
    return dg.MaterializeResult(
        metadata={
            "suites": len(usable),
            "cases": sum(len(loaded.suite.cases) for loaded in usable.values()),
            "left_out": sum(len(loaded.incomplete) for loaded in usable.values()),
            "names": ", ".join(usable),
            "problems": len(problems),
        }
    )


def _agent_runs(agents: Sequence[AgentSettings]) -> dg.AssetsDefinition:
    """One subsettable multi-asset: all agents run concurrently in one event loop."""
    keys = {agent.name: run_key(agent) for agent in agents}

    @dg.multi_asset(
        name=AGENT_RUNS,
        partitions_def=SUITES,
        can_subset=True,
        specs=[
            dg.AssetSpec(
                keys[agent.name],
                deps=[task_suites],
                skippable=True,
                group_name="agents",
                code_version=agent.identity,
                description=f"Runs of {agent.name} ({agent.provider}, {agent.model_name}) on a suite, as a drop.",
                kinds={"llm", "json"},
            )
            for agent in agents
        ],
    )
    async def run_all_agents(
        context: dg.AssetExecutionContext, config: AgentRunConfig, home: HomeResource
    ):  # Dagster refuses an async annotation
        chosen = [agent for agent in agents if keys[agent.name] in context.selected_asset_keys]
        suite = _suite(home.home, context.partition_key)
        say = _now_and_then(context.log.info)
        stops: list[tuple[str, str]] = []
        async for agent, tally in _run_all(
            chosen, suite, context.partition_key, config, home.home, context.run.run_id, say
        ):
            context.log.info(f"{agent.name}: {tally.finished} of {tally.attempts} attempts, {dict(tally.ended)}")
            if tally.stopped is not None:
                done = f"{tally.finished} of {tally.attempts} attempts are finished and kept"
                stops.append((tally.stopped.kind, f"{agent.name}: {tally.stopped}; {done}. Re-run to resume."))
            else:
                drop = find(home.home.drops, tally.drop or "")
                report = _report_of(drop, suite)
                place = write_agent_report(home.home.reports(drop.key), report)
                yield dg.MaterializeResult(asset_key=keys[agent.name], metadata=_metadata(tally, report, str(place)))
        if stops:
            kind = "budget" if any(kind == "budget" for kind, _ in stops) else stops[0][0]
            raise dg.Failure(" ".join(message for _, message in stops), {STOPPED: kind}, allow_retries=False)

    return run_all_agents


def _agent_comparison(agents: Sequence[AgentSettings]) -> dg.AssetsDefinition:
    @dg.asset(
        partitions_def=SUITES,
        group_name="agents",
        deps=[run_key(agent) for agent in agents],
        kinds={"json", "markdown", "html"},
        description="Comparison of the newest runs of all agents on a suite, case by case and pair by pair.",
    )
    def agent_comparison(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult:
        suite = _suite(home.home, context.partition_key)
        there = scan(home.home.drops).drops
        newest = [drop for drop in _newest_runs(context.instance, context.partition_key) if drop in there]
        reports = {drop: _report_of(there[drop], suite) for drop in newest}
        comparison = compare_agents(suite, {drop: report for drop, report in reports.items() if report.attempts})
        page = write_agent_comparison(home.home.reports(context.partition_key), comparison)
        return dg.MaterializeResult(
            metadata={
                "path": dg.MetadataValue.path(str(page)),
                "comparison": dg.MetadataValue.md(comparison_as_markdown(comparison)),
                "agents": len(comparison.agents),
                "differing_cases": len(comparison.differing),
            }
        )

    return agent_comparison


def run_key(agent: AgentSettings) -> dg.AssetKey:
    """The asset of an agent's runs."""
    return dg.AssetKey([AGENT_RUNS, agent.name])


def _newest_runs(instance: dg.DagsterInstance, suite: str) -> list[str]:
    """The drop of every agent's last finished run on a suite, also of agents that are not part of this run."""
    keys = sorted(instance.get_asset_keys(prefix=[AGENT_RUNS]))
    found = (latest_metadata(instance, key, suite) for key in keys)
    return [about["drop"] for about in found if about is not None]


async def _run_all(
    agents: Sequence[AgentSettings],
    suite: Suite,
    suite_name: str,
    config: AgentRunConfig,
    home: Installation,
    run_id: str,
    say: Callable[[str], object],
):
    """Each agent with what it did; whichever is done first comes first. The budget is one for all."""
    ledger = Ledger(home.ledger_url)
    budget = Budget(config.budget_usd, ledger.spent(run_id))
    settings = RunSettings(
        suite_name=suite_name,
        trials=config.trials,
        series=datetime.now(UTC).strftime("%Y%m%dT%H%M%S") if config.fresh else "",
        run=run_id,
    )
    places = Places(home.drops, home.unfinished_runs)

    async def one(agent: AgentSettings) -> tuple[AgentSettings, RunTally]:
        return agent, await run_agent(agent, suite, settings, ledger, budget, places, say)

    try:
        async for done in as_completed(one(agent) for agent in agents):
            yield done
    except (InvalidAgent, JournalInUse) as problem:
        raise dg.Failure(str(problem), {STOPPED: "unusable"}, allow_retries=False) from problem
    finally:
        ledger.close()


def _suite(home: Installation, name: str) -> Suite:
    try:
        path = find_suite(home.suites, name)
        if path is None:
            raise InvalidSuite(f"no suite {name!r} in {home.suites}")
        return load_suite(path).suite
    except InvalidSuite as problem:
        raise dg.Failure(str(problem), {STOPPED: "unusable"}, allow_retries=False) from problem


def _report_of(drop: Drop, suite: Suite) -> AgentReport:
    """Read the drop as anybody's."""
    items = read_trajectories(drop.sources, Losses())
    return agent_report(suite, (item for item in items if not isinstance(item, Rejection)))


def _metadata(tally: RunTally, report: AgentReport, path: str) -> dict[str, dg.MetadataValue | str | int | float]:
    figures: dict[str, float | None] = {
        "accuracy": report.accuracy,
        "mean_duration_s": report.mean_duration_s,
        "mean_calls": report.mean_calls,
        "cost_usd": report.cost_usd,
        "unpriced_attempts": report.unpriced or None,
        "paid_usd": tally.paid_usd,
    }
    return {
        "drop": tally.drop or "",
        "path": dg.MetadataValue.path(str(tally.path)),
        "report": dg.MetadataValue.md(as_markdown(report)),
        "report_path": dg.MetadataValue.path(path),
        "attempts": tally.attempts,
        "resumed": tally.resumed,
        "right": report.right,
        "answerable": report.answerable,
        "passed": report.passed,
        "failed": report.failed,
        "failures": "; ".join(dict.fromkeys(task.error or "" for task in report.tasks if task.passed is None))[:1000],
        "model_calls": tally.model_calls,
        "from_ledger": tally.from_ledger,
        **{name: value for name, value in figures.items() if value is not None},
    }


def _now_and_then(say: Callable[[str], object]) -> Callable[[str], object]:
    """A log line costs milliseconds: one every few seconds is enough."""
    said = 0.0

    def maybe(line: str) -> None:
        nonlocal said
        if time.monotonic() - said > PROGRESS_SECONDS:
            said = time.monotonic()
            say(line)

    return maybe
