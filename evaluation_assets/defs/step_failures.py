"""Why steps of runs failed, in words for those who started them."""

import dagster as dg

from evaluation_assets.defs.names import BLOCKED


def why_failed(event: dg.DagsterEvent) -> str:
    """What the failure of a step says; of our own errors without their class, which is no help to those who read it."""
    told, error = event.step_failure_data.user_failure_data, event.step_failure_data.error
    if told is not None and told.description:
        return told.description
    if error is None:
        return f"{event.step_key} failed"
    raised = error.cause or error
    is_ours = raised.message.startswith("evaluation_assets.") and raised.cls_name is not None
    return ((is_ours and raised.message.partition(f"{raised.cls_name}: ")[2]) or raised.message).strip()


def was_blocked(event: dg.DagsterEvent) -> bool:
    """Whether a step failed because of what it found: a blocking check."""
    told, error = event.step_failure_data.user_failure_data, event.step_failure_data.error
    if told is not None:
        return BLOCKED in told.metadata
    return error is not None and error.cls_name == "DagsterAssetCheckFailedError"
