"""Outcomes of checks that are no output of the step that knows them."""

import dagster as dg


def record_outcome(instance: dg.DagsterInstance, run: dg.DagsterRun, outcome: dg.AssetCheckEvaluation) -> None:
    """Store the outcome of a check as one of a run.

    `report_runless_asset_event` would store it without a run, but only once: it raises where the same check already has
    such an outcome for the same partition.
    """
    event = dg.DagsterEvent(dg.DagsterEventType.ASSET_CHECK_EVALUATION.value, run.job_name, event_specific_data=outcome)
    instance.report_dagster_event(event, run.run_id)
