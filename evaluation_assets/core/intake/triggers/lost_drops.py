"""When to run a drop again whose run was killed, and when to give up."""

from dataclasses import replace

from evaluation_assets.core.intake.triggers.new_drops import Seen

PAUSES = (60.0, 300.0, 1800.0, 7200.0, 21600.0)
"""Seconds before each further attempt. A machine that is out of memory or restarted is back after some of them; after
the last, a drop is given up. Dagster has retried each of these runs already, once by default."""


def given_back(before: Seen, run: str, *, was_current: bool, alone: bool, clock: float) -> Seen:
    """What is remembered of a drop that a killed run had not finished.

    Args:
        before: what was remembered.
        run: the run.
        was_current: whether the run was at work on it, or on no drop yet. A drop that it had not come to is asked for
            again at once, and is not counted as lost.
        alone: whether it may have killed the run. It gets a run of its own, so that it takes no other drop with it.
        clock: seconds since 1970.
    """
    if before.lost_run == run:
        return before
    if not was_current:
        return replace(before, lost_run=run, retry_at=clock, is_waiting=True)
    given_up = before.lost >= len(PAUSES)
    return replace(
        before,
        lost=before.lost + 1,
        lost_run=run,
        retry_at=None if given_up else clock + PAUSES[before.lost],
        given_up=given_up,
        alone=before.alone or alone,
        is_waiting=True,
    )
