"""`gate`, `baseline`: compare a drop with its baseline, and promote baselines."""

import sys
from pathlib import Path

import click
from upath import UPath

from evaluation_assets.cli.border import Group
from evaluation_assets.cli.evaluated import check_evaluated
from evaluation_assets.cli.job_runs import run_job
from evaluation_assets.cli.options import with_home, with_panel
from evaluation_assets.cli.output import echo, refuse, refuse_run, warn
from evaluation_assets.core.gating.baselines import baseline_file, promoted_suites, read_baseline
from evaluation_assets.core.gating.evaluated_drops import baselines_with_its_tasks, metrics_of, why_not_compared
from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.named_metrics import check_figures, settings_of
from evaluation_assets.core.report.gate.gate_formats import (
    aligned,
    as_github,
    as_json,
    as_junit,
    as_text,
    calibration_json,
    calibration_text,
)
from evaluation_assets.core.report.render import precise
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of
from evaluation_assets.defs.names import EVALUATE_DROP, GATE, OVERVIEW, PROMOTE_BASELINE

FORMATS = {"text": as_text, "json": as_json, "junit": as_junit, "github": as_github}
CALIBRATION_FORMATS = {"text": calibration_text, "json": calibration_json}


_OFFERED = 3
"""Baselines to compare with that are offered where a drop has none."""


@click.command()
@click.argument("drop", required=False)
@with_panel
@click.option(
    "--baseline",
    metavar="FILE|SUITE",
    help="Baseline to compare with: a file, which may be a JSON object of metrics and numbers, or that of a suite "
    "(default: the drop's).",
)
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True, help="Output format."
)
@click.option(
    "--calibrate", is_flag=True, help="Measure how often the gate fails, warns and passes on each suite's own runs."
)
def gate(drop: str | None, home: Installation, panel: Panel, baseline: str | None, form: str, calibrate: bool) -> None:
    """Compare an evaluated drop with its suite's baseline.

    The exit status is 1 if the verdict blocks (`blocks` in gate.yaml; default: only `fail`, which includes missing
    tasks).
    """
    file = None if baseline is None else _baseline(home, baseline)
    if file is not None:
        check_figures(home, panel, file)
    settings = settings_of(home, panel)
    if calibrate and form not in CALIBRATION_FORMATS:
        refuse(f"--calibrate is printed as {' or '.join(CALIBRATION_FORMATS)}")
    if calibrate and drop is not None and form == "json":
        refuse("for JSON, use --calibrate without a drop")
    if calibrate:
        if not run_job(home, panel, OVERVIEW, assets=["gate_calibration"]).success:
            refuse("calibration failed; see the run in the UI")
        click.echo(CALIBRATION_FORMATS[form](home.whole_table("gate_calibration").rows()))
        if drop is None:
            return
    if drop is None:
        refuse("give a drop, or use --calibrate")
    check_evaluated(home, drop)
    outcome = _outcome(home, panel, drop, file)
    text = FORMATS[form](outcome, home.report_address(drop))
    if form == "text":
        echo(*text.splitlines())
    else:
        click.echo(text)
    sys.exit(1 if outcome.verdict in settings.gate.blocks or outcome.judges_changed else 0)


def _baseline(home: Installation, named: str) -> UPath:
    """The file that `--baseline` names, itself or by its suite."""
    if Path(named).is_file():
        return UPath(named)
    if (file := baseline_file(home.baselines, named)).exists():
        return file
    promoted = promoted_suites(home.baselines)
    known = f"suites with one: {first_of(promoted, 5)}" if promoted else "no suite has one"
    raise click.BadParameter(
        f"{named!r} is neither a file nor a suite with a baseline; {known}", param_hint="--baseline"
    )


def _outcome(home: Installation, panel: Panel, drop: str, file: UPath | None) -> GateOutcome:
    """Run the check `regression_gate` and return its outcome."""
    config = {EVALUATE_DROP: {"config": {"baseline": str(file) if file else ""}}}
    result = run_job(home, panel, GATE, drop=drop, ops=config)
    if not result.checks:
        refuse_run(result.failures)
    said = result.checks[0].metadata.get("outcome")
    if said is None:
        if why := why_not_compared(home, drop):
            known = list(baselines_with_its_tasks(home, metrics_of(home, drop)))
            refuse(
                f"there is no baseline for {drop}: {why}. To compare it as it is:",
                *(home.command("gate", drop, "--baseline", each) for each in known[:_OFFERED]),
            )
        refuse(
            f"there is no baseline for {drop}. Promote an accepted drop, or compare two drops:",
            home.command("baseline", "promote", "OTHER"),
            home.command("compare", "OTHER", drop),
        )
    return GateOutcome.model_validate(said.value)


@click.group("baseline", cls=Group)
def baseline_commands() -> None:
    """Promote and show baselines."""


@baseline_commands.command()
@click.argument("drops", nargs=-1, required=True)
@with_panel
@click.option("--reason", default="", help="Why the baseline is accepted; stored in the file.")
@click.option("--by", "promoted_by", default="", show_default="your user name", help="Who accepts the baseline.")
@click.option("--suite", default="", show_default="the drop's; else the drop's name", help="What it is a baseline of.")
def promote(
    drops: tuple[str, ...], home: Installation, panel: Panel, reason: str, promoted_by: str, suite: str
) -> None:
    """Accept an evaluated drop, or the mean of several, as the suite's baseline.

    A drop without a suite gets a baseline of its own name; later drops without a suite that have its tasks are
    compared with it.
    """
    settings_of(home, panel)  # refuses what a gate could not use
    for drop in drops:
        check_evaluated(home, drop)
    config = {"promoted_by": promoted_by, "reason": reason, "with_drops": list(drops[1:]), "suite": suite}
    result = run_job(home, panel, PROMOTE_BASELINE, drop=drops[0], ops={"baseline": {"config": config}})
    if not result.success:
        refuse_run(result.failures)
    told = result.metadata["baseline"]
    echo(f"{told['suite']}: {told['path']}")
    if judges := told.get("without_canaries"):
        warn(f"no canary scores of {judges}: a change of the judge cannot be distinguished from a change of the agent")


@baseline_commands.command()
@click.argument("suite", required=False)
@with_home
def show(suite: str | None, home: Installation) -> None:
    """Show a suite's baseline; without SUITE, name the suites that have one."""
    if suite is None:
        echo(*promoted_suites(home.baselines) or (f"no suite has a baseline in {home.baselines}",))
        return
    file = baseline_file(home.baselines, suite)
    baseline = read_baseline(file)
    if baseline is None:
        refuse(f"suite {suite or repr(suite)} has no baseline in {home.baselines}")
    echo(f"{baseline.suite}: {baseline.name}", f"  file          {file}")
    why = f": {baseline.reason}" if baseline.reason else ""
    echo(f"  promoted      {baseline.promoted_at} by {baseline.promoted_by}{why}")
    echo(f"  comparability {baseline.comparability_key}")
    rows = [
        (
            name,
            precise(metric.mean),
            "" if metric.ci_low is None else f"({precise(metric.ci_low)} … {precise(metric.ci_high)})",
            f"over {counted(metric.n_tasks, 'task')}",
        )
        for name, metric in baseline.metrics.items()
    ]
    echo(*aligned(rows))
