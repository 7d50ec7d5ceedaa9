"""[agents] Agents on suites: each run writes a drop, which comes in by the same door as everyone else's."""

from collections.abc import Sequence

import dagster as dg
from pydantic import Field

from evaluation_assets.core.intake.drops import find
from evaluation_assets.core.models.endpoints import EndpointSettings
from evaluation_assets.core.report.agents.agent_comparison import as_markdown as comparison_as_markdown
from evaluation_assets.core.report.agents.agent_comparison import write_agent_comparison
from evaluation_assets.core.report.agents.agent_report import as_markdown, write_agent_report
from evaluation_assets.core.report.agents.agent_runs import compare_runs, report_figures, report_of
from evaluation_assets.core.suites.agents.journal import JournalInUse
from evaluation_assets.core.suites.agents.settings import AgentSettings, InvalidAgent
from evaluation_assets.core.suites.agents.simulated_user import played_by
from evaluation_assets.core.suites.agents.suite_run import Stop, SuiteRun, all_stops, stop_of, suite_named
from evaluation_assets.core.suites.formats.registry import load_suites, suite_figures
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.defs import groups
from evaluation_assets.defs.freshness import latest_metadata
from evaluation_assets.defs.names import AGENT_RUNS, STOPPED
from evaluation_assets.defs.partitions import SUITES, add_partitions
from evaluation_assets.defs.results import explained
from evaluation_assets.resources.asset_keys import owned_key, prefixed, table_path, unprefixed
from evaluation_assets.resources.dagster_private import PlainFailure
from evaluation_assets.resources.installation import HomeResource

UNUSABLE, IN_USE = {STOPPED: "unusable"}, {STOPPED: "in use"}


class AgentRunConfig(dg.Config):
    """How often every case is tried, and what all agents together may spend.

    `fresh` calls the models again; otherwise earlier replies come from the ledger.
    """

    trials: int = Field(default=1, ge=1)
    budget_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    budget_calls: int | None = Field(default=None, ge=0)
    fresh: bool = False


def agent_assets(agents: Sequence[AgentSettings], judges: Sequence[EndpointSettings]) -> list[dg.AssetsDefinition]:
    """Assets for the suites, for each agent and for their comparison; the model of a judge may play users."""
    return [task_suites, _agent_runs(agents, judges), _agent_comparison(agents)]


def run_key(agent: AgentSettings) -> dg.AssetKey:
    """The asset of an agent's runs."""
    return owned_key(AGENT_RUNS, agent.name)


@dg.asset(
    group_name=groups.AGENTS,
    kinds={"yaml"},
    description="The suites of the installation. Materialise it to register new suites as partitions of agent_runs.",
)
def task_suites(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult:
    """Read every suite and register the usable ones as partitions."""
    usable, problems = load_suites(home.home.suites)
    for problem in problems:
        context.log.warning(problem)
    add_partitions(context.instance, SUITES, usable, home.key_prefix)
    return dg.MaterializeResult(metadata={**suite_figures(usable), "problems": len(problems)})


def _agent_runs(agents: Sequence[AgentSettings], judges: Sequence[EndpointSettings]) -> dg.AssetsDefinition:
    """One subsettable multi-asset: all agents run concurrently in one event loop."""

    @dg.multi_asset(
        name=AGENT_RUNS,
        partitions_def=SUITES,
        can_subset=True,
        specs=[
            dg.AssetSpec(
                run_key(agent),
                deps=[task_suites],
                skippable=True,
                group_name=groups.AGENTS,
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
        asked = unprefixed(context.selected_asset_keys, home.key_prefix)
        chosen = [agent for agent in agents if run_key(agent) in asked]
        stops: list[Stop] = []
        with explained(InvalidSuite, InvalidAgent, metadata=UNUSABLE), explained(JournalInUse, metadata=IN_USE):
            suite = played_by(suite_named(home.home, context.partition_key), judges)
            run = SuiteRun(
                suite=suite,
                suite_name=context.partition_key,
                run=context.run.run_id,
                trials=config.trials,
                budget_usd=config.budget_usd,
                budget_calls=config.budget_calls,
                fresh=config.fresh,
            )
            async for agent, tally in run.run_all(home.home, chosen, context.log.info):
                if (stop := stop_of(agent, tally)) is not None:
                    stops.append(stop)
                    continue
                drop = find(home.home.drops, tally.drop or "")
                report = report_of(drop, suite)
                path = write_agent_report(home.home.reports(drop.key), report)
                metadata = {
                    "path": dg.MetadataValue.path(str(tally.path)),
                    "report": dg.MetadataValue.md(as_markdown(report)),
                    "report_path": dg.MetadataValue.path(str(path)),
                    **tally.metadata(),
                    **report_figures(report),
                }
                yield dg.MaterializeResult(asset_key=prefixed(run_key(agent), home.key_prefix), metadata=metadata)
        if stops:
            stop = all_stops(stops)
            raise PlainFailure(stop.message, {STOPPED: stop.kind})

    return run_all_agents


def _agent_comparison(agents: Sequence[AgentSettings]) -> dg.AssetsDefinition:
    @dg.asset(
        partitions_def=SUITES,
        group_name=groups.AGENTS,
        deps=[run_key(agent) for agent in agents],
        kinds={"json", "markdown", "html"},
        description="Comparison of the newest runs of all agents on a suite, case by case and pair by pair.",
    )
    def agent_comparison(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult:
        name = context.partition_key
        with explained(InvalidSuite, metadata=UNUSABLE):
            suite = suite_named(home.home, name)
        comparison = compare_runs(home.home, suite, _newest_runs(context.instance, name, home.key_prefix))
        page = write_agent_comparison(home.home.reports(name), comparison)
        return dg.MaterializeResult(
            metadata={
                "path": dg.MetadataValue.path(str(page)),
                "comparison": dg.MetadataValue.md(comparison_as_markdown(comparison)),
                "agents": len(comparison.agents),
                "differing_cases": len(comparison.differing),
            }
        )

    return agent_comparison


def _newest_runs(instance: dg.DagsterInstance, suite: str, prefix: Sequence[str]) -> list[str]:
    """The drop of every agent's last finished run on a suite, also of agents that are not part of this run."""
    keys = sorted(instance.get_asset_keys(prefix=[*prefix, AGENT_RUNS]))  # older homes also have `agent_runs/<agent>`
    found = ((table_path(dg.AssetKey(key.path[len(prefix) :])), latest_metadata(instance, key, suite)) for key in keys)
    newest = {agent: about["drop"] for agent, about in found if about is not None}
    return [newest[agent] for agent in sorted(newest)]
