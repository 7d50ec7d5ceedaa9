"""Print outcomes of evaluations."""

from typing import Any

from evaluation_assets.cli.output import echo, warn
from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.judging.model_use import model_use
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.report.constraint_report import constraint_lines
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.report.suite_report import suite_lines
from evaluation_assets.core.sections.coding_work.summary import coding_lines
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, percent
from evaluation_assets.runs.outcomes import RunOutcome

EXIT_STATUS = {"passed": 0, "check_failed": 1, "broken": 1, "unusable": 2, "over_budget": 3}


def report_data(home: Installation, drop: Drop) -> bytes | None:
    """The data of the drop's report; `None` if it has none."""
    file = report_files(home.reports(drop.key), drop.key).json
    return file.read_bytes() if file.exists() else None


def print_outcome(home: Installation, outcome: RunOutcome, before: bytes | None = None) -> None:
    """Print the outcome of a drop's evaluation. `before` is the data of its last report."""
    is_unchanged = "evaluation_report" in outcome.metadata and report_data(home, outcome.drop) == before
    echo("", f"{outcome.drop.key}{': unchanged since its last evaluation' if is_unchanged else ''}")
    if outcome.message:
        echo(f"{outcome.drop.key}: {outcome.message}", err=True)
    _print_reading(outcome.metadata.get("raw_trajectories"))
    _print_statistics(outcome.metadata.get("preprocessed_trajectories"))
    for used in model_use(outcome.metadata):
        echo(f"  {f'judge {used.judge}':<18} {used.text}")
    if "evaluation_report" in outcome.metadata:
        _print_scores(home, outcome.drop)
    _print_shortfalls(outcome.metadata.get("evaluation_report"))
    for check in sorted(outcome.failed_checks, key=lambda check: not check.blocks):
        kind = "check failed" if check.blocks else "warning"
        said = f": {check.description}" if check.description else ""
        echo(f"  {kind:<18} {check.asset}: {check.name}{said}")


def _print_reading(figures: Any) -> None:
    """Print how far the reading of the drop can be trusted."""
    if figures:
        echo(f"  reading            {figures['reading']}")


def _print_statistics(figures: Any) -> None:
    if not figures:
        return
    rate = figures.get("kept_rate")
    share = "" if rate is None else f" ({percent(rate)})"
    echo(f"  records kept       {figures['records_kept']} of {figures['records_total']}{share}")
    for name, what in {
        "unreadable": "unreadable",
        "removed_frequency": "removed: more tool calls than --beta-threshold",
        "removed_duplicates": "removed: a call repeats the one before it",
        "repaired": "kept after a repair of their tags",
    }.items():
        if figures[name]:
            echo(f"    {figures[name]} {what}")


def _print_shortfalls(figures: Any) -> None:
    """Print which judges did not answer, why, and what to do."""
    for line in figures["shortfalls"] if figures else ():
        echo(f"  {line}")


def _print_scores(home: Installation, drop: Drop) -> None:
    paths = report_files(home.reports(drop.key), drop.key)
    report = DropReport.model_validate_json(paths.json.read_text("utf-8"))
    _print_headline(report)
    for tool in report.tools:
        echo(f"    {tool.tool_type:<16} {_score(tool.overall)} over {counted(tool.scored_clips, 'clip')}")
    shipped = load_rubrics().criteria
    for own in [each for each in report.criteria if (each.level, each.criterion) not in shipped]:
        about = f"{own.level}, {own.statistic.n_scored} of {own.statistic.n_total} scored"
        echo(f"    {own.criterion:<16} {_score(own.statistic.mean)} ({about})")
    if (use := report.tool_use) is not None and use.problem is None:
        for label, text in suite_lines(use):
            echo(f"  {label:<18} {text}")
    for label, text in () if report.coding is None else coding_lines(report.coding):
        echo(f"  {label:<18} {text}")
    for label, text in () if report.constraints is None else constraint_lines(report.constraints):
        echo(f"  {label:<18} {text}")
    echo(f"  report             {paths.html}")


def _print_headline(report: DropReport) -> None:
    """Print the headline first, then the other measures, and how many independent judges the score is worth."""
    by_score = report.headline.measure == "score"
    name, overall = report.headline.score_name, report.overall
    interval = "" if overall.ci_low is None else f", 95% CI {_score(overall.ci_low)} to {_score(overall.ci_high)}"
    change = "" if report.headline.change is None else f"; {report.headline.change.text}"
    score = f"  {name:<18} {_score(overall.mean)} over {counted(overall.n_scored, 'trajectory')}{interval}{change}"
    rates = [f"  {rate.text}" for rate in report.headline.rates]
    for line in [score, *rates] if by_score else [*rates, score]:
        echo(line)
    if report.recorded_trials:
        most = report.recorded_trials[-1]
        echo(f"  {f'pass^{most.k}':<18} {_score(most.pass_hat)} over {counted(most.n_tasks, 'task')}")
    if report.headline.note is not None:
        warn(report.headline.note)
    if report.panel is not None and (effective := report.panel.overall) is not None:
        echo(f"  effective judges   {effective.text}")
    for sampled in report.sampled:
        echo(f"  {f'sample {sampled.judge}':<18} {sampled.text}")


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
