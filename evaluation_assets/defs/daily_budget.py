"""What may be spent in a day (UTC) on drops that nobody asked for: those of `new_drops` and `nightly_stale_drops`."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import dagster as dg

from evaluation_assets.core.intake.triggers.new_drops import Seen
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.defs.evaluation_runs import drops_of, is_of, settings_of
from evaluation_assets.defs.freshness import evaluated
from evaluation_assets.defs.names import (
    EVALUATE,
    NEW_DROPS,
    OVER_BUDGET_TAG,
    SCHEDULE_TAG,
    SENSOR_TAG,
    STALE_DROPS,
)
from evaluation_assets.resources.seen_drops import SeenDrops

_DAY = timedelta(days=1)
_CENT_FRACTION = 1e-6
"""US dollars; sums of costs differ by rounding."""


def left_usd(
    instance: dg.DagsterInstance, home: Installation, limit_usd: float, now: datetime, prefix: Sequence[str] = ()
) -> float:
    """US dollars that are left of the limit, after what runs have paid on the day of `now`, or may still pay.

    Nothing is left once a run could not ask all its questions, unless the limit was raised: with no more than what that
    run had left, the next one could not either.
    """
    midnight = _midnight(now)
    runs = _runs(instance, midnight, {}, prefix)
    reserved = {run.run_id: _budget_of(run) for run in runs if not run.is_finished and _has_budget(run)}
    left = limit_usd - sum(reserved.values())
    if not home.has_ledger:
        return max(0.0, left)
    from evaluation_assets.core.models.ledger import Ledger  # noqa: PLC0415  (SQLAlchemy: 0.2 s to import)

    with closing(Ledger(home.ledger_url)) as ledger:
        since = midnight.timestamp()
        left -= ledger.spent_since([run.run_id for run in runs if run.run_id not in reserved], since)
        stopped = _runs(instance, midnight, {OVER_BUDGET_TAG: "true"}, prefix)
        too_little = [_budget_of(run) - ledger.spent_since([run.run_id], since) for run in stopped]
        return left if left > max(too_little, default=0.0) + _CENT_FRACTION else 0.0


def ask_tomorrow(instance: dg.DagsterInstance, memory: SeenDrops, now: datetime, prefix: Sequence[str]) -> None:
    """Remember to ask on the next day for drops that a run of today or yesterday left without some verdicts."""
    for run in _runs(instance, _midnight(now) - _DAY, {OVER_BUDGET_TAG: "true"}, prefix):
        record = instance.get_run_record_by_id(run.run_id)
        if record is None or record.end_time is None:
            continue
        after = _midnight(datetime.fromtimestamp(record.end_time, UTC)) + _DAY
        for drop, before in memory.read(drops_of(run)).items():
            last = evaluated(instance, drop, prefix)
            if last is not None and last.run == run.run_id != before.lost_run:
                memory.write({drop: _due(before, run.run_id, after)})


def _due(before: Seen, run: str, after: datetime) -> Seen:
    return replace(before, lost_run=run, retry_at=after.timestamp(), is_waiting=True)


def _runs(
    instance: dg.DagsterInstance, since: datetime, tags: dict[str, str], prefix: Sequence[str]
) -> list[dg.DagsterRun]:
    asked_by = {SENSOR_TAG: NEW_DROPS}, {SCHEDULE_TAG: STALE_DROPS}
    wanted = [dg.RunsFilter(job_name=EVALUATE, tags={**own, **tags}, updated_after=since) for own in asked_by]
    return [run for filters in wanted for run in instance.get_runs(filters) if is_of(run, prefix)]


def _budget_of(run: dg.DagsterRun) -> float:
    return settings_of(run)["budget_usd"]


def _has_budget(run: dg.DagsterRun) -> bool:
    """Whether there was a limit when the run was asked for."""
    return "budget_usd" in settings_of(run)


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
