"""Drops whose runs were killed: they are asked for again, and after the last attempt it is said where people look."""

import json
import time
from collections.abc import Mapping, Sequence

import dagster as dg

from evaluation_assets.core.intake.triggers.lost_drops import given_back
from evaluation_assets.core.intake.triggers.new_drops import Seen
from evaluation_assets.core.text.counted import counted
from evaluation_assets.defs.evaluation_runs import STEP_FAILURE, drops_of, is_of
from evaluation_assets.defs.freshness import REPORT, evaluated
from evaluation_assets.defs.names import (
    EVALUATE,
    EVALUATED,
    FAILURE_REASON_TAG,
    NEW_DROPS,
    RETRIED_BY_TAG,
    RETRY_FAILURE_TAG,
    SENSOR_TAG,
    WILL_RETRY_TAG,
)
from evaluation_assets.resources.asset_keys import prefixed
from evaluation_assets.resources.check_outcomes import record_outcome
from evaluation_assets.resources.drops_done import drops_done
from evaluation_assets.resources.seen_drops import SeenDrops

_AT_ONCE = 100
"""Failed runs that one tick looks at."""

_UNDECIDED_SECONDS = 60.0
"""Dagster decides so long at most after a failure whether it retries the run."""

_CURSOR = "evaluation_assets/lost_drops"
"""Of assets with a prefix, followed by it."""

HOW_TO_RUN_AGAIN = "`evaluation-assets overview` shows the command that runs it again."


def give_back(instance: dg.DagsterInstance, memory: SeenDrops, prefix: Sequence[str]) -> None:
    """Remember of each drop that a killed run had not finished when to ask for it again.

    Runs that Dagster itself retries are left to it, and looked at again until it has. What was looked at is kept at the
    end: a tick that is killed before looks again, and counts no run twice.
    """
    storage, cursor = instance.daemon_cursor_storage, "/".join([_CURSOR, *prefix])
    kept = json.loads(storage.get_cursor_values({cursor}).get(cursor, "{}"))
    failures = instance.fetch_run_status_changes(
        dg.DagsterEventType.RUN_FAILURE, limit=_AT_ONCE, cursor=kept.get("failures"), ascending=True
    )
    undecided: list[str] = []
    for run_id in dict.fromkeys([*kept.get("undecided", []), *(record.run_id for record in failures.records)]):
        record = instance.get_run_record_by_id(run_id)
        if record is None or not _is_ours(record.dagster_run, prefix):
            continue
        if _is_undecided(instance, record):
            undecided.append(run_id)
        elif _was_killed(record.dagster_run):
            _give_back(instance, record.dagster_run, memory, prefix)
    now = {"failures": failures.cursor, "undecided": undecided}
    if now != kept:
        storage.set_cursor_values({cursor: json.dumps(now)})


def given_up(instance: dg.DagsterInstance, seen: Mapping[str, Seen], prefix: Sequence[str] = ()) -> list[str]:
    """The drops that are not asked for again although they were not evaluated."""
    return [
        drop for drop, memory in seen.items() if memory.given_up and not _is_evaluated(instance, drop, memory, prefix)
    ]


def explained(drops: Sequence[str]) -> str:
    """What to say of drops that were given up."""
    count = counted(len(drops), "drop")
    return f"{count} given up, because each run was killed: {', '.join(drops)}. {HOW_TO_RUN_AGAIN}"


def _is_ours(run: dg.DagsterRun, prefix: Sequence[str]) -> bool:
    return run.job_name == EVALUATE and run.tags.get(SENSOR_TAG) == NEW_DROPS and is_of(run, prefix)


def _is_undecided(instance: dg.DagsterInstance, record: dg.RunRecord) -> bool:
    """Whether Dagster may still retry a run that failed. It says so after the event of the failure."""
    tags = record.dagster_run.tags
    if WILL_RETRY_TAG in tags:
        return tags[WILL_RETRY_TAG] == "true" and RETRIED_BY_TAG not in tags
    since = time.time() - (record.end_time or 0.0)
    return not record.dagster_run.is_finished or (instance.run_retries_enabled and since < _UNDECIDED_SECONDS)


def _was_killed(run: dg.DagsterRun) -> bool:
    """Whether a run that is not retried failed for a reason that lies in none of its drops."""
    if run.status != dg.DagsterRunStatus.FAILURE or RETRIED_BY_TAG in run.tags:
        return False
    return run.tags.get(FAILURE_REASON_TAG) != STEP_FAILURE or run.tags.get(RETRY_FAILURE_TAG) == "true"


def _give_back(instance: dg.DagsterInstance, run: dg.DagsterRun, memory: SeenDrops, prefix: Sequence[str]) -> None:
    done, clock, drops = drops_done(instance, run.run_id), time.time(), drops_of(run)
    before = memory.read(drops)
    after = {
        drop: given_back(
            before.get(drop, Seen()),
            run.run_id,
            was_current=done.current in (None, drop),
            alone=len(drops) > 1 and done.current == drop,
            clock=clock,
        )
        for drop in drops
        if drop not in done.finished
    }
    memory.write(after)
    for drop, now in after.items():
        if now.given_up and not _is_evaluated(instance, drop, now, prefix):
            record_outcome(instance, run, _failure(drop, now, prefix))


def _failure(drop: str, now: Seen, prefix: Sequence[str]) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=prefixed(REPORT, prefix),
        check_name=EVALUATED,
        passed=False,
        partition=drop,
        severity=dg.AssetCheckSeverity.ERROR,
        description=f"Given up, because each run was killed. {HOW_TO_RUN_AGAIN}",
        metadata={"attempts": now.lost, "last_run": dg.MetadataValue.dagster_run(now.lost_run)},
    )


def _is_evaluated(instance: dg.DagsterInstance, drop: str, memory: Seen, prefix: Sequence[str]) -> bool:
    """Whether a run other than the killed one has evaluated the drop as it is."""
    last = evaluated(instance, drop, prefix)
    return last is not None and last.content == memory.content and last.run != memory.lost_run
