"""The sensor that evaluates new and changed drops."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import dagster as dg

from evaluation_assets.core.intake.drops import Drop, scan
from evaluation_assets.core.intake.triggers.batches import batches, drops_per_run
from evaluation_assets.core.intake.triggers.new_drops import Limits, Look, from_cursor, look_at, run_key, to_cursor
from evaluation_assets.core.intake.triggers.run_tags import run_tags
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.text.counted import counted
from evaluation_assets.defs.cursors import remembered
from evaluation_assets.defs.daily_budget import ask_tomorrow, left_usd
from evaluation_assets.defs.drop_step import DROPS_PER_RUN
from evaluation_assets.defs.evaluation_runs import past_evaluations, pending, request, runs_at_a_time, step_config
from evaluation_assets.defs.freshness import evaluated
from evaluation_assets.defs.lost_drops import explained, give_back, given_up
from evaluation_assets.defs.names import EVALUATE, NEW_DROPS, SENSOR_TAG
from evaluation_assets.defs.partitions import DROPS, add_partitions, partitions_of
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.seen_drops import SeenDrops

MAX_RUNS_PER_TICK = 3
"""Dagster takes 1 to 4 s to create a run, within the tick. More drops than this share runs."""

RUNS_AHEAD = 2
"""Runs in the queue besides those at work. A backlog stays with the sensor, where new drops overtake it."""

INTERVAL_SECONDS = 10

_NEW_FIRST = {"dagster/priority": "1"}


@dg.sensor(
    name=NEW_DROPS,
    job_name=EVALUATE,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Evaluates new and changed files in the drops folder once they have stopped changing.",
)
def new_drops(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.SensorResult | dg.SkipReason:
    """Look at the drops folder. The partition of a drop that was evaluated is there as long as its file is.

    Dagster stores the cursor with every tick, so it holds only the drops that the last tick asked to be run, and is
    written into the instance's storage by the next one. Runs that a tick did not get to launch are asked for again:
    the cursor is kept only when all were launched.

    With a limit for the day there is one run at a time, with what is left of it as its budget.
    """
    scanned = scan(home.home.drops)
    for problem in scanned.problems:
        context.log.warning(problem)
    instance = context.instance
    memory = SeenDrops(instance, home.key_prefix)
    memory.write(remembered(context, from_cursor))
    give_back(instance, memory, home.key_prefix)
    limit, left = load_settings(home.home.gate_file).sensors.budget_usd_per_day, None
    if limit is not None:
        ask_tomorrow(instance, memory, now := datetime.now(UTC), home.key_prefix)
        left = left_usd(instance, home.home, limit, now, home.key_prefix)
    seen = memory.read(scanned.drops)
    known = instance.get_dynamic_partitions(partitions_of(DROPS, home.key_prefix).name or "")
    if removed := {key for key, each in seen.items() if each.scored_stamp}.difference(known):
        add_partitions(instance, DROPS, removed, home.key_prefix)
    size = drops_per_run(list(past_evaluations(instance)), DROPS_PER_RUN)
    asked, most = pending(instance, {SENSOR_TAG: NEW_DROPS}), runs_at_a_time(instance) + RUNS_AHEAD
    room = max(0, min(MAX_RUNS_PER_TICK, most - asked))
    runs = max(room, 1 if asked < 2 * most else 0)  # new drops need not wait for room
    if left is not None:
        room = runs = 1 if left and not asked else 0
    look = look_at(
        scanned.drops,
        seen,
        Limits(new=runs * size, waiting=room * size),
        time.time(),
        lambda drop: evaluated(instance, drop, home.key_prefix),
    )
    requests, later = _requests(
        scanned.drops,
        look,
        size,
        runs,
        left,
        home.key_prefix,
        lambda drop: step_config(instance, drop, home.key_prefix),
    )
    look = look.leaving(seen, later)
    memory.write(look.to_remember)
    cursor = to_cursor(look.to_run)
    if lost := given_up(instance, seen, home.key_prefix):
        context.log.warning(explained(lost))
    if not requests:
        context.update_cursor(cursor)
        unsettled = f"; {look.unsettled} new or still changing, checked at the next tick" if look.unsettled else ""
        until = f"the next day (UTC): too little is left of ${limit:g}" if left == 0 else "runs to end"
        waiting = f"; {look.waiting} wait for {until}" if look.waiting else ""
        lost = f"; {explained(lost)}" if lost else ""
        why = f"none ready to run{unsettled}{waiting}{lost}" if unsettled or waiting or lost else "none new or changed"
        return dg.SkipReason(f"{counted(len(scanned.drops), 'drop')}, {why}")
    add_partitions(instance, DROPS, list(look.to_run), home.key_prefix)
    return dg.SensorResult(run_requests=requests, cursor=cursor)


def _requests(
    drops: Mapping[str, Drop],
    look: Look,
    size: int,
    runs: int,
    budget_usd: float | None,
    prefix: Sequence[str],
    config_of: Callable[[str], str],
) -> tuple[list[dg.RunRequest], set[str]]:
    """At most so many requests, and the drops that are left. A run of many drops has what all have in common."""
    is_backlog = len(look.to_run) > runs
    groups = {
        drop: (
            config_of(drop),
            tuple(run_tags(drops[drop]).items()),
            tuple(_NEW_FIRST.items()) if drop in look.new else (),
            drop if after.alone or not is_backlog else "",
        )
        for drop, after in look.to_run.items()
    }
    chosen = batches(groups, size)
    requests = []
    for some in chosen[:runs]:
        config, common, priority, _ = groups[some[0]]
        keys = [run_key(drop, look.to_run[drop]) for drop in some]
        content = {"evaluation/content": look.to_run[some[0]].content[:16]} if len(some) == 1 else {}
        requests.append(request(some, keys, config, {**content, **dict(common), **dict(priority)}, budget_usd, prefix))
    return requests, {drop for some in chosen[runs:] for drop in some}
