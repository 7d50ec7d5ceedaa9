"""Post failures and regressions to a webhook (Slack-compatible JSON with a `text`)."""

import json
import os
import urllib.request
from collections.abc import Sequence
from typing import Any

import dagster as dg

from evaluation_assets.core.gating.settings import NotificationSettings

TIMEOUT_SECONDS = 10.0
_MAX_TEXT = 2000


def failure_sensor(settings: NotificationSettings) -> dg.SensorDefinition:
    """Tells of every run that failed, also of those started by the command line.

    A regression fails its run. Without a URL nothing is sent. A receiver that cannot be reached is tried again with
    the next tick.
    """

    @dg.run_failure_sensor(
        name="notify_failures",
        monitor_all_code_locations=True,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Sends failed runs and regressions to the URL in {settings.url_env}.",
    )
    def notify_failures(context: dg.RunFailureSensorContext) -> dg.SkipReason | None:
        url = os.environ.get(settings.url_env)
        if not url:
            return dg.SkipReason(f"{settings.url_env} is not set; no notifications are sent")
        run = context.dagster_run
        checks = failed_checks(context.instance, run.run_id)
        send(
            url,
            message(run.job_name, run.tags.get("dagster/partition"), run.run_id, checks, context.failure_event.message),
        )
        return None

    return notify_failures


def failed_checks(instance: dg.DagsterInstance, run_id: str) -> list[dict[str, Any]]:
    """The checks of a run that failed with severity ERROR: name, asset, and what they said."""
    events = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    found = []
    for event in events:
        if event.dagster_event is None:
            continue
        check = event.dagster_event.asset_check_evaluation_data
        if not check.passed and check.severity == dg.AssetCheckSeverity.ERROR:
            found.append(
                {
                    "asset": check.asset_key.to_user_string(),
                    "check": check.check_name,
                    "description": check.description,
                }
            )
    return found


def message(
    job: str, drop: str | None, run_id: str, checks: Sequence[dict[str, Any]], problem: str | None
) -> dict[str, Any]:
    """The JSON that is sent. `kind` is `regression` when the gate failed the run."""
    regressed = any(check["check"] == "regression_gate" for check in checks)
    words = (
        "; ".join(f"{check['check']}: {check['description'] or 'failed'}" for check in checks) or problem or "failed"
    )
    where = f" of {drop}" if drop else ""
    head = f"Regression in {drop}" if regressed else f"Run {job}{where} failed"
    return {
        "text": f"{head}: {words}"[:_MAX_TEXT],
        "kind": "regression" if regressed else "failure",
        "job": job,
        "drop": drop,
        "run_id": run_id,
        "checks": list(checks),
    }


def send(url: str, content: dict[str, Any]) -> None:
    """POST JSON.

    Raises:
        ValueError: the URL is not http or https.
        urllib.error.URLError: nobody answered, or with an error. The URL, a secret, is in no message.
    """
    if not url.startswith(("http://", "https://")):
        raise ValueError("the notification URL must start with http:// or https://")
    request = urllib.request.Request(  # noqa: S310  (the scheme is checked above)
        url, json.dumps(content).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS):  # noqa: S310
        pass
