"""What runs by the clock."""

from collections.abc import Iterator

import dagster as dg

from evaluation_assets.core.drops import scan
from evaluation_assets.defs.freshness import is_stale, run_config_of
from evaluation_assets.defs.jobs import EVALUATE
from evaluation_assets.resources.home import HomeResource

NIGHTLY = "0 2 * * *"


def nightly_schedule(evaluation_key: str) -> dg.ScheduleDefinition:
    """Evaluates every drop whose report is missing or was made from something else.

    It is off until somebody turns it on: after a change of judges or rubrics all drops are stale, and judges may cost
    money.
    """

    @dg.schedule(
        name="nightly_stale_drops",
        cron_schedule=NIGHTLY,
        job_name=EVALUATE,
        description="Evaluates drops whose report is missing, or older than the drop, the judges or the rubrics.",
    )
    def nightly_stale_drops(
        context: dg.ScheduleEvaluationContext, home: HomeResource
    ) -> Iterator[dg.RunRequest | dg.SkipReason]:
        drops = scan(home.home.drops).drops.values()
        stale = [drop for drop in drops if is_stale(context.instance, drop, evaluation_key)]
        if not stale:
            yield dg.SkipReason("no drop is stale")
        context.instance.add_dynamic_partitions("drops", [drop.key for drop in stale])
        for drop in stale:
            yield dg.RunRequest(
                run_key=f"{context.scheduled_execution_time:%Y-%m-%d}:{drop.key}",
                partition_key=drop.key,
                run_config=run_config_of(context.instance, drop.key),
            )

    return nightly_stale_drops
