"""Retry runs that failed because Dagster's own storage was away. Other failed steps would fail again."""

import dagster as dg

_RETRY = "dagster/retry_on_asset_or_op_failure"


@dg.failure_hook
def retry_after_outage(context: dg.HookContext) -> None:
    """Let Dagster retry the run if its step could not store an event. Our own storage raises errors of its own."""
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415  (takes 0.2 s, which only a failure needs)

    if isinstance(context.op_exception, DBAPIError):
        context.log.warning("Dagster's storage did not answer; the run is retried, and pays for nothing again")
        context.instance.add_run_tags(context.run_id, {_RETRY: "true"})
