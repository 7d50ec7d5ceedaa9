"""Schedules."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice

import dagster as dg

from evaluation_assets.core.gating.evaluated_drops import newest_drops
from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.intake.triggers.batches import batches, drops_per_run
from evaluation_assets.core.intake.triggers.run_tags import run_tags
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.suites.formats.registry import load_suites
from evaluation_assets.core.system.automation import NightlyRunSettings
from evaluation_assets.core.text.counted import counted
from evaluation_assets.defs.daily_budget import left_usd
from evaluation_assets.defs.drop_step import DROPS_PER_RUN
from evaluation_assets.defs.evaluation_runs import past_evaluations, request, step_config
from evaluation_assets.defs.freshness import stale
from evaluation_assets.defs.names import AGENT_RUNS, EVALUATE, OVERVIEW, RUN_AGENTS, STALE_DROPS
from evaluation_assets.defs.partitions import DROPS, SUITES, add_partitions
from evaluation_assets.resources.installation import HomeResource

MAX_RUNS_PER_NIGHT = 250
"""More drops than this wait for the next night."""

_RUNS_OF_ONE = 3
"""More drops share runs: Dagster takes 1 to 4 s to create a run."""


def nightly_schedule(evaluation_key: str, cron: str, limit: int = MAX_RUNS_PER_NIGHT) -> dg.ScheduleDefinition:
    """Evaluates drops whose report is missing or was made from something else, at most `limit` a night.

    It is off until somebody turns it on: after a change of judges or rubrics all drops are stale, and judges may cost
    money. The assets have no automation conditions, as runs of these have no config and so no budget. With a limit for
    the day, the runs share what is left of it equally; `daily_budget` has what they do not reach asked on the next day.
    """

    @dg.schedule(
        name=STALE_DROPS,
        cron_schedule=cron,
        job_name=EVALUATE,
        description="Evaluates drops whose report is missing, or older than the drop, the judges or the rubrics;"
        f" at most {counted(limit, 'drop')} a night. For more, start a backfill of evaluation_report.",
    )
    def nightly_stale_drops(
        context: dg.ScheduleEvaluationContext, home: HomeResource
    ) -> Iterator[dg.RunRequest | dg.SkipReason]:
        of_day = load_settings(home.home.gate_file).sensors.budget_usd_per_day
        left = (
            None
            if of_day is None
            else left_usd(context.instance, home.home, of_day, datetime.now(UTC), home.key_prefix)
        )
        if left == 0:
            yield dg.SkipReason(f"too little is left of ${of_day:g} for the day (UTC), or a run may still spend it")
            return
        drops = scan(home.home.drops).drops.values()
        waiting = list(islice(stale(context.instance, home.home, drops, evaluation_key, home.key_prefix), limit))
        if not waiting:
            yield dg.SkipReason("no drop is stale")
        add_partitions(context.instance, DROPS, [drop.key for drop in waiting], home.key_prefix)
        most = DROPS_PER_RUN if len(waiting) > _RUNS_OF_ONE else 1
        groups = {
            drop.key: (step_config(context.instance, drop.key, home.key_prefix), tuple(run_tags(drop).items()))
            for drop in waiting
        }
        runs = batches(groups, drops_per_run(list(past_evaluations(context.instance)), most))
        budget = None if left is None else left / max(1, len(runs))
        for some in runs:
            config, tags = groups[some[0]]
            keys = [f"{context.scheduled_execution_time:%Y-%m-%dT%H:%M}:{drop}" for drop in some]
            yield request(some, keys, config, dict(tags), budget, home.key_prefix)

    return nightly_stale_drops


def weekly_schedule(cron: str, not_everyday: Sequence[str]) -> dg.ScheduleDefinition:
    """Evaluates the newest drop of every suite, and of every agent without one, with every judge, stale or not.

    What failed or was over the budget is asked then; what the ledger has is not paid for again. It is off until
    somebody turns it on. It has no budget: with that of the day, its judges would leave nothing for new drops.
    """

    @dg.schedule(
        name="weekly_full_panel",
        cron_schedule=cron,
        job_name=EVALUATE,
        description="Evaluates the newest drop of every suite, and of every agent without one, with the whole panel.",
    )
    def weekly_full_panel(
        context: dg.ScheduleEvaluationContext, home: HomeResource
    ) -> Iterator[dg.RunRequest | dg.SkipReason]:
        newest = newest_drops(home.home)
        if not newest:
            yield dg.SkipReason("no drop is evaluated yet")
        for drop in newest:
            config = json.loads(step_config(context.instance, drop, home.key_prefix))
            config |= {"ask_also": list(not_everyday)}
            keys = [f"weekly {context.scheduled_execution_time:%Y-%m-%dT%H:%M}:{drop}"]
            yield request([drop], keys, json.dumps(config), {}, prefix=home.key_prefix)

    return weekly_full_panel


def suites_schedule(cron: str, settings: NightlyRunSettings) -> dg.ScheduleDefinition:
    """Runs every agent on every suite of the installation; the drops this gives are evaluated like any other.

    It is off until somebody turns it on, because models cost money.
    """

    @dg.schedule(
        name="nightly_suites",
        cron_schedule=cron,
        job_name=RUN_AGENTS,
        description="Runs all agents on every suite, within a budget per suite.",
    )
    def nightly_suites(
        context: dg.ScheduleEvaluationContext, home: HomeResource
    ) -> Iterator[dg.RunRequest | dg.SkipReason]:
        usable, problems = load_suites(home.home.suites)
        for problem in problems:
            context.log.warning(problem)
        if not usable:
            yield dg.SkipReason("no usable suite")
        add_partitions(context.instance, SUITES, usable, home.key_prefix)
        for suite in usable:
            yield dg.RunRequest(
                run_key=f"suites {context.scheduled_execution_time:%Y-%m-%dT%H:%M}:{suite}",
                partition_key=suite,
                run_config={"ops": {AGENT_RUNS: {"config": settings.model_dump(exclude_none=True)}}},
            )

    return nightly_suites


def overview_schedule(cron: str) -> dg.ScheduleDefinition:
    """Brings labels, judge cards, calibration, drift and leaderboard up to date; it asks no judge and is on."""
    return dg.ScheduleDefinition(
        name="nightly_overview",
        cron_schedule=cron,
        job_name=OVERVIEW,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Updates labels, judge cards, drift, leaderboard, failure groups and the rest over all drops.",
    )
