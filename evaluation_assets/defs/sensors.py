"""The sensor that evaluates new and changed drops."""

import dagster as dg

from evaluation_assets.core.counted import counted
from evaluation_assets.core.drops import scan
from evaluation_assets.core.triggers.new_drops import from_cursor, look_at, run_key, to_cursor
from evaluation_assets.core.triggers.run_tags import run_tags
from evaluation_assets.defs.freshness import evaluated_content, run_config_of
from evaluation_assets.defs.names import EVALUATE
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.seen_drops import SeenDrops

MAX_RUNS_PER_TICK = 25
"""More drops than this wait for the next tick: a tick has 60 seconds, and hashes what it asks to be run."""

INTERVAL_SECONDS = 10


@dg.sensor(
    job_name=EVALUATE,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Evaluates new and changed files in the drops folder once they have stopped changing.",
)
def new_drops(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.SensorResult | dg.SkipReason:
    """Look at the drops folder.

    Dagster stores the cursor with every tick, so it holds only the drops that the last tick asked to be run, and is
    written into the instance's storage by the next one. Runs that a tick did not get to launch are asked for again:
    the cursor is kept only when all were launched.
    """
    found = scan(home.home.drops)
    for problem in found.problems:
        context.log.warning(problem)
    memory = SeenDrops(context.instance)
    memory.write(from_cursor(context.cursor))
    look = look_at(
        found.drops,
        memory.read(found.drops),
        MAX_RUNS_PER_TICK,
        lambda drop: evaluated_content(context.instance, drop),
    )
    memory.write(look.to_remember)
    cursor = to_cursor(look.to_run)
    if not look.to_run:
        context.update_cursor(cursor)
        waiting = f"; {look.unsettled} still changing, checked again at the next tick" if look.unsettled else ""
        return dg.SkipReason(f"{counted(len(found.drops), 'drop')}, none ready to run{waiting}")
    return dg.SensorResult(
        dynamic_partitions_requests=[DROPS.build_add_request(list(look.to_run))],
        run_requests=[
            dg.RunRequest(
                run_key=run_key(key, after),
                partition_key=key,
                run_config=run_config_of(context.instance, key),
                tags={"evaluation/content": after.content[:16], **run_tags(found.drops[key])},
            )
            for key, after in look.to_run.items()
        ],
        cursor=cursor,
    )
