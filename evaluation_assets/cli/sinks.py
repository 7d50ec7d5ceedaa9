"""`sinks`: list the sinks of scores, send to them, and collect labels from them."""

import os
import sys

import click

from evaluation_assets.cli.border import Group
from evaluation_assets.cli.evaluated import check_evaluated
from evaluation_assets.cli.job_runs import run_job
from evaluation_assets.cli.options import with_home, with_panel
from evaluation_assets.cli.output import echo, refuse, refuse_run, warn
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.report.sinks.annotations import collect_labels
from evaluation_assets.core.report.sinks.delivering import Consignment, left_out
from evaluation_assets.core.report.sinks.drop_outcome import drop_outcome
from evaluation_assets.core.report.sinks.http import SendError
from evaluation_assets.core.report.sinks.opening import MissingKey, is_annotated, open_annotated, variables_of
from evaluation_assets.core.report.sinks.settings import (
    ScoreSinkSettings,
    SinkSettings,
    load_sinks,
    takes,
)
from evaluation_assets.core.report.sinks.sink import DropOutcome
from evaluation_assets.core.report.stored_report import stored_report
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.defs.names import DELIVERIES, SEND_SCORES


@click.group("sinks", cls=Group)
def sink_commands() -> None:
    """Send scores to trace stores, pull requests and webhooks."""


@sink_commands.command("list")
@with_home
def list_sinks(home: Installation) -> None:
    """List the sinks in sinks.yaml, what each is sent, and whether its keys are set."""
    sinks = load_sinks(home.sinks_file)
    if not sinks:
        echo(f"no sinks; add them to {home.sinks_file}")
    for name, settings in sinks.items():
        what = f"scores of {' and '.join(settings.levels)}s" if isinstance(settings, ScoreSinkSettings) else "outcomes"
        keys = (f"{key} is {'set' if os.environ.get(key) else 'NOT set'}" for key in variables_of(settings))
        echo(name, f"  {settings.type}: {settings.place}", f"  {what}", f"  {', '.join(keys)}")


@sink_commands.command("send")
@click.argument("drop")
@click.option("--sink", "only", metavar="NAME", help="Send to this sink only (default: all).")
@click.option("--dry-run", is_flag=True, help="Show what would be sent. Nothing is sent or written.")
@with_panel
def send(home: Installation, panel: Panel, drop: str, only: str | None, dry_run: bool) -> None:
    """Send the scores of an evaluated drop: what is new, has changed or failed.

    The exit status is 1 if a delivery failed.
    """
    sinks = _chosen(home, only)
    check_evaluated(home, drop, "trajectory_scores")
    if dry_run:
        for name, settings in sinks.items():
            echo(f"{name}: {_preview(home, drop, name, settings)}")
        return
    prepare(home)
    from evaluation_assets.resources.asset_keys import owned_key  # noqa: PLC0415

    assets = {name: owned_key(DELIVERIES, name).to_user_string() for name in sinks}
    result = run_job(home, panel, SEND_SCORES, drop=drop, assets=[*assets.values()])
    for name, asset in assets.items():
        echo(f"{name}: {result.metadata.get(asset, {}).get('deliveries', 'failed')}")
    if not result.success:
        refuse_run(result.failures)
    sys.exit(0 if all(check.passed for check in result.checks) else 1)


@sink_commands.command("labels")
@click.argument("name", required=False)
@with_home
def labels(home: Installation, name: str | None) -> None:
    """Collect what people said about traces in the sinks into `labels/<sink>.jsonl`.

    The exit status is 1 if a sink could not be read.
    """
    stores = {sink: settings for sink, settings in _chosen(home, name).items() if is_annotated(settings)}
    if not stores:
        refuse("labels are collected from sinks of the types langfuse, langsmith, mlflow and phoenix")
    failed = False
    for sink, settings in stores.items():
        try:
            with open_annotated(settings) as store:
                count = collect_labels(home, sink, settings, store)
            echo(f"{sink}: {counted(count, 'label')} in {home.labels / f'{sink}.jsonl'}")
        except (SendError, MissingKey) as problem:
            warn(f"{sink}: {problem}")
            failed = True
    sys.exit(1 if failed else 0)


def _preview(home: Installation, drop: str, name: str, settings: SinkSettings) -> str:
    if not takes(home, drop, settings):
        return f"not sent: sinks.yaml excludes {drop}"

    def outcome() -> DropOutcome:
        file = report_files(home.reports(drop), drop).json
        if not file.exists():
            refuse(f"{drop} has no report; evaluate it again")
        return drop_outcome(stored_report(file), home.public_report_address(drop))

    noun = "score" if isinstance(settings, ScoreSinkSettings) else "outcome"
    tally = Consignment(home, drop, name, settings, home.judges_of(drop), outcome).preview()
    said = [f"{counted(tally.sent, noun)} would be sent", f"{tally.there:,} already there", *left_out(tally.counts)]
    return ", ".join(said)


def _chosen(home: Installation, only: str | None) -> dict[str, SinkSettings]:
    sinks = load_sinks(home.sinks_file)
    if only is not None and only not in sinks:
        refuse(f"no sink {only!r} in {home.sinks_file}; sinks: {', '.join(sinks) or 'none'}")
    if not sinks:
        refuse(f"no sinks; add them to {home.sinks_file}")
    return {name: settings for name, settings in sinks.items() if only in (None, name)}
