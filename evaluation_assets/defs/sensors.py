"""New and changed drops start an evaluation."""

import json
from dataclasses import asdict

import dagster as dg

from evaluation_assets.core.drops import Seen, changes, scan
from evaluation_assets.defs.freshness import evaluated_content, run_config_of
from evaluation_assets.defs.jobs import EVALUATE
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.home import HomeResource

MAX_RUNS_PER_TICK = 25
"""More drops than this wait for the next tick: a tick has 60 seconds, and hashes what it asks to be run."""

INTERVAL_SECONDS = 10


@dg.sensor(
    job_name=EVALUATE,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Evaluates files that are new in the drops folder, or whose content changed, once they are at rest.",
)
def new_drops(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.SensorResult | dg.SkipReason:
    """Look at the drops folder.

    Dagster remembers run keys for ever, so the key counts how often a drop changed: content that comes back is
    evaluated again.
    """
    found = scan(home.home.drops)
    for problem in found.problems:
        context.log.warning(problem)
    seen = {key: Seen(**value) for key, value in json.loads(context.cursor or "{}").items()}
    look = changes(seen, found.drops, MAX_RUNS_PER_TICK)
    cursor = json.dumps({key: asdict(value) for key, value in (seen | look.seen).items()}, sort_keys=True)
    to_score = [
        (drop, after)
        for drop, after in look.to_score
        if after.generation > 1 or evaluated_content(context.instance, drop.key) != after.content
    ]
    if not to_score:
        context.update_cursor(cursor)
        waiting = f"; {len(look.unsettled)} changed a moment ago and are looked at again" if look.unsettled else ""
        return dg.SkipReason(f"{len(found.drops)} drops, none new or changed{waiting}")
    return dg.SensorResult(
        dynamic_partitions_requests=[DROPS.build_add_request([drop.key for drop, _ in to_score])],
        run_requests=[
            dg.RunRequest(
                run_key=f"{drop.key}#{after.generation}@{after.content[:16]}",
                partition_key=drop.key,
                run_config=run_config_of(context.instance, drop.key),
                tags={"evaluation/content": after.content[:16]},
            )
            for drop, after in to_score
        ],
        cursor=cursor,
    )
