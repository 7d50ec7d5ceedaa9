"""The code location: assemble all of `defs` for one installation and one panel."""

from collections.abc import Sequence

import dagster as dg

from evaluation_assets.core.judging.panel import Panel, judges_of, load_panel
from evaluation_assets.core.pipeline.drawing import sources_of
from evaluation_assets.core.pipeline.named_metrics import settings_of
from evaluation_assets.core.report.sinks.settings import load_sinks
from evaluation_assets.core.suites.agents.settings import AgentSettings, agent_files, load_agents
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.defs import (
    failure_groups,
    sessions,
)
from evaluation_assets.defs.big_drops import judge_part_job, parts_of_big_drops
from evaluation_assets.defs.dagster_settings import check_for_dagster
from evaluation_assets.defs.drop_step import drop_step
from evaluation_assets.defs.evaluation import Evaluation, evaluation_of
from evaluation_assets.defs.jobs import (
    drop_jobs,
    gate_job,
    overview_job,
    promote_job,
    run_agents_job,
    send_job,
)
from evaluation_assets.defs.lineage import located, readable
from evaluation_assets.defs.lost_runs import lost_runs_sensor
from evaluation_assets.defs.names import JOBS
from evaluation_assets.defs.notifications import failure_group_sensor, failure_sensor
from evaluation_assets.defs.regression import regression_assets
from evaluation_assets.defs.retention import prune_job, prune_schedule
from evaluation_assets.defs.reviewing import reviewing_assets
from evaluation_assets.defs.schedules import nightly_schedule, overview_schedule, suites_schedule, weekly_schedule
from evaluation_assets.defs.sensors import new_drops
from evaluation_assets.defs.sinks import collecting_assets, stores_of
from evaluation_assets.defs.sources import source_sensors
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.parquet import TABLES_IO, ParquetIOManager


def build_definitions(
    home: Installation,
    panel: Panel,
    loggers: dict[str, dg.LoggerDefinition] | None = None,
    agents: Sequence[AgentSettings] = (),
    executor: dg.ExecutorDefinition | None = dg.in_process_executor,
) -> dg.Definitions:
    """The assets, checks, jobs and triggers of an installation at `home` with the judges of `panel`.

    `executor` is that of assets that are materialised without a job; jobs run in one process. Without one, the
    definitions are part of another project, which has its own, and runs that are not ours.
    """
    settings, sinks = settings_of(home, panel), load_sinks(home.sinks_file)
    check_for_dagster(settings, home.gate_file)

    def asking(names: Sequence[str]) -> Evaluation:
        return evaluation_of(home, panel.asking(names), settings, sinks)

    judges, evaluation = judges_of(panel, home.ledger_url), asking(())
    clips_per_part = None if panel.asks_in_batches else settings.big_drops.clips_per_part
    step = drop_step(evaluation, asking, clips_per_part)
    root, lake = str(home.root), str(home.lake)
    jobs = JOBS if executor is None else None
    return dg.Definitions(
        assets=readable(
            [
                step,
                *located(
                    [
                        sessions.session_agent_ranks,
                        failure_groups.failure_groups,
                        *regression_assets(settings),
                        *reviewing_assets(judges, settings.review, list(stores_of(sinks))),
                        *collecting_assets(sinks),
                        *_agent_assets(agents, panel),
                    ]
                ),
            ],
            settings.lineage.owners,
        ),
        jobs=[
            *drop_jobs(step.keys),
            judge_part_job(evaluation.levels),
            gate_job,
            promote_job,
            overview_job,
            *([run_agents_job] if agents else []),
            *([send_job] if sinks else []),
            *([] if (days := settings.retention.run_days) is None else [prune_job(days)]),
        ],
        sensors=[
            new_drops,
            parts_of_big_drops,
            *source_sensors(sources_of(home)),
            lost_runs_sensor(jobs),
            failure_sensor(settings.notifications, jobs),
            failure_group_sensor(settings.notifications),
        ],
        schedules=[
            nightly_schedule(evaluation.key, settings.schedules.nightly),
            weekly_schedule(settings.schedules.weekly, panel.not_everyday),
            overview_schedule(settings.schedules.overview),
            *([suites_schedule(settings.schedules.suites, settings.nightly_suites)] if agents else []),
            *([] if settings.retention.run_days is None else [prune_schedule(settings.schedules.prune)]),
        ],
        resources={
            "home": HomeResource(url=root, lake_url=lake),
            TABLES_IO: ParquetIOManager(home_url=root, lake_url=lake),
        },
        executor=executor,
        loggers=loggers,
    )


def current_key(home: Installation, panel: Panel) -> str:
    """What evaluations of an installation are made with now; reports with another key are stale."""
    return evaluation_of(home, panel.asking(), settings_of(home, panel), {}).key


def _agent_assets(agents: Sequence[AgentSettings], panel: Panel) -> list[dg.AssetsDefinition]:
    if not agents:
        return []
    from evaluation_assets.defs.agents import agent_assets  # noqa: PLC0415  (evaluations need not wait for agents)

    return agent_assets(agents, panel.judges)


@dg.definitions
def defs() -> dg.Definitions:
    """The installation that the environment names."""
    home = Installation.from_environment()
    return build_definitions(home, load_panel(home.panel_file), agents=load_agents(agent_files(home.agents)))
