"""Retry runs that failed because Dagster's own storage was away. Other failed steps would fail again."""

import dagster as dg

from evaluation_assets.defs.names import RETRY_FAILURE_TAG


@dg.failure_hook
def retry_after_outage(context: dg.HookContext) -> None:
    """Let Dagster retry the run if its step could not store an event."""
    if context.op_exception is not None and is_outage(context.op_exception):
        context.log.warning("Dagster's storage did not answer; the run is retried, and pays for nothing again")
        context.instance.add_run_tags(context.run_id, {RETRY_FAILURE_TAG: "true"})


def is_outage(problem: BaseException) -> bool:
    """Whether Dagster's storage did not answer. Our own storage raises errors of its own."""
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415  (takes 0.2 s, which only a failure needs)

    return isinstance(problem, DBAPIError)
