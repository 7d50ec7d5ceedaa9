"""Post failures, regressions and failure groups that are new or have grown to a webhook."""

import json
import os
from collections.abc import Collection

import dagster as dg

from evaluation_assets.core.intake.facts import GroupsFacts
from evaluation_assets.core.pipeline.checks.names import REGRESSION_GATE
from evaluation_assets.core.report.sinks.http import Patience
from evaluation_assets.core.report.sinks.notifications import FailedCheck, WrittenReport, groups_message, message
from evaluation_assets.core.report.sinks.webhook import post
from evaluation_assets.core.system.automation import NotificationSettings
from evaluation_assets.core.text.counted import counted
from evaluation_assets.defs.names import EVALUATED, PARTITION_TAG
from evaluation_assets.defs.step_failures import was_blocked, why_failed
from evaluation_assets.resources.installation import HomeResource

PATIENCE = Patience(attempts=1, timeout=10.0)
"""A sensor has a minute, and is called again by the next tick."""


def failure_sensor(settings: NotificationSettings, jobs: Collection[str] | None = None) -> dg.SensorDefinition:
    """Tells of every run that failed, also of those started by the command line; with `jobs`, of theirs alone.

    A regression fails its run. Without a URL nothing is sent. A receiver that cannot be reached is tried again with
    the next tick.
    """

    @dg.run_failure_sensor(
        name="notify_failures",
        monitor_all_code_locations=jobs is None,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Sends failed runs and regressions to the URL in {settings.url_env}.",
    )
    def notify_failures(context: dg.RunFailureSensorContext) -> dg.SkipReason | None:
        url = os.environ.get(settings.url_env)
        if not url:
            return dg.SkipReason(f"{settings.url_env} is not set; no notifications are sent")
        run = context.dagster_run
        if jobs is not None and run.job_name not in jobs:
            return dg.SkipReason(f"{run.job_name} is a job of the project that the assets are part of")
        checks = failed_checks(context.instance, run.run_id)
        drop, problem = run.tags.get(PARTITION_TAG), reason_of(context)
        report = written_report(context.instance, run.run_id) if drop else None
        post(url, message(run.job_name, drop, run.run_id, checks, problem, REGRESSION_GATE, report), PATIENCE)
        return None

    return notify_failures


def failure_group_sensor(settings: NotificationSettings) -> dg.SensorDefinition:
    """Tells once of each failure group that is new or has grown in an agent's drops of a suite.

    A reopened group fails its run, of which `notify_failures` tells. The cursor has what was told of groups, while they
    are new or grown.
    """

    @dg.sensor(
        name="notify_failure_groups",
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=60,
        description=f"Sends failure groups that are new or have grown to the URL in {settings.url_env}.",
    )
    def notify_failure_groups(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.SkipReason:
        url = os.environ.get(settings.url_env)
        if not url:
            return dg.SkipReason(f"{settings.url_env} is not set; no notifications are sent")
        table = home.home.whole_table("failure_groups")
        changed = {row["group_id"]: row for row in table.rows() if row.get("changed_in")}
        told = [each for each in json.loads(context.cursor or "[]") if each[0] in changed]
        series = {drop: [suite, agent] for drop, suite, agent, *_ in GroupsFacts.of(table).drops} if changed else {}
        now = [[group, row["state"], *series[row["changed_in"]]] for group, row in changed.items()]
        untold = [each for each in now if each not in told]
        if untold:
            post(url, groups_message([changed[group] for group, *_ in untold]), PATIENCE)
        context.update_cursor(json.dumps([*told, *untold]))
        return dg.SkipReason(f"told of {counted(len(untold), 'failure group')}")

    return notify_failure_groups


def reason_of(context: dg.RunFailureSensorContext) -> str | None:
    """Why the steps of a run failed, unless their checks say it; what Dagster says of the run where no step did."""
    failed = context.get_step_failure_events()
    if failed and all(was_blocked(event) for event in failed):
        return None
    return "; ".join(map(why_failed, failed)) or context.failure_event.message


def written_report(instance: dg.DagsterInstance, run_id: str) -> WrittenReport | None:
    """The report that a run wrote; `None` if it wrote none."""
    for record in instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION):
        event = record.dagster_event
        materialization = None if event is None else event.step_materialization_data.materialization
        if materialization is not None and "headline" in (told := materialization.metadata):
            return WrittenReport(str(told["headline"].value), str(told.get("report_url", told["path"]).value))
    return None


def failed_checks(instance: dg.DagsterInstance, run_id: str) -> list[FailedCheck]:
    """The checks of a run that failed with severity ERROR, but the one that says what the failure of the run says."""
    events = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    evaluated = [event.dagster_event.asset_check_evaluation_data for event in events if event.dagster_event is not None]
    return [
        FailedCheck(check.asset_key.to_user_string(), check.check_name, check.description, check.partition)
        for check in evaluated
        if not check.passed and check.severity == dg.AssetCheckSeverity.ERROR and check.check_name != EVALUATED
    ]
