"""Print outcomes of evaluations."""

from typing import Any

from evaluation_assets.cli.output import echo, echo_fact, warn
from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.judging.model_use import ModelUse, model_use
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.report.suite_report import suite_lines
from evaluation_assets.core.sections.coding_work.summary import coding_lines
from evaluation_assets.core.sections.constraints.summary import constraint_lines
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of, percent
from evaluation_assets.runs.outcomes import RunOutcome

EXIT_STATUS = {"passed": 0, "check_failed": 1, "broken": 1, "unusable": 2, "over_budget": 3}


def report_data(home: Installation, drop: Drop) -> bytes | None:
    """The data of the drop's report; `None` if it has none."""
    file = report_files(home.reports(drop.key), drop.key).json
    return file.read_bytes() if file.exists() else None


def print_outcome(
    home: Installation, outcome: RunOutcome, before: bytes | None = None, *, verbose: bool = False
) -> None:
    """Print the outcome of a drop's evaluation: five lines and what is wrong; all figures if `verbose`.

    `before` is the data of its last report.
    """
    data = report_data(home, outcome.drop) if "evaluation_report" in outcome.metadata else None
    report = None if data is None else DropReport.model_validate_json(data)
    used = model_use(outcome.metadata)
    is_unchanged = data is not None and data == before and not ModelUse.total(used).calls
    echo("", f"{outcome.drop.key}{': unchanged since its last evaluation' if is_unchanged else ''}")
    if outcome.message:
        echo(f"{outcome.drop.key}: {outcome.message}", err=True)
    if report is None or verbose or report.reading.trust != "complete":
        _print_reading(outcome.metadata.get("raw_trajectories"))
    if report is None or verbose or report.records.removed:
        _print_statistics(outcome.metadata.get("preprocessed_trajectories"))
    if report is None or verbose:
        for each in used:
            echo_fact(f"judge {each.judge}", each.text)
    if report is not None:
        if verbose:
            _print_figures(report)
        _print_summary(home, outcome.drop, report, ModelUse.total(used), with_suite=not verbose)
    _print_shortfalls(outcome.metadata.get("evaluation_report"))
    for check in sorted(outcome.failed_checks, key=lambda check: not check.blocks):
        said = f": {check.description}" if check.description else ""
        echo_fact("check failed" if check.blocks else "warning", f"{check.asset}: {check.name}{said}")


def _print_summary(home: Installation, drop: Drop, report: DropReport, used: ModelUse, *, with_suite: bool) -> None:
    """Print the outcome, findings, what judging took, the gate, and where the report is.

    `with_suite`: also the pass rate of the suite, where the outcome is another figure.
    """
    echo_fact("outcome", report.headline.text)
    if report.headline.note is not None:
        warn(report.headline.note)
    suite = report.tool_use
    if with_suite and suite is not None and suite.problem is None and report.headline.measure != "passed":
        echo_fact(*next(suite_lines(suite)))
    if report.findings is not None:
        echo_fact("findings", report.findings.text)
    failed = sum(counts.get("failed", 0) for judge in report.judges for counts in judge.outcomes.values())
    judging = used.text if used.calls or used.from_ledger else "none, no model was called"
    sessions = None if report.coding is None else dict(coding_lines(report.coding))["usage"]
    parts = [
        judging,
        f"{counted(failed, 'verdict')} failed" if failed else "",
        f"the sessions: {sessions}" if sessions else "",
    ]
    echo_fact("cost", "; ".join(filter(None, parts)))
    gate = report.gate
    echo_fact("gate", "no baseline" if gate is None else f"{gate.verdict}: {first_of(gate.reasons, 1)}")
    echo_fact("report", str(report_files(home.reports(drop.key), drop.key).html))


def _print_reading(figures: Any) -> None:
    """Print how far the reading of the drop can be trusted."""
    if figures:
        echo_fact("reading", figures["reading"])


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


def _print_figures(report: DropReport) -> None:
    """Print the scores, and the results of the suite, of coding agents and of constraints."""
    _print_headline(report)
    for tool in report.tools:
        echo(f"    {tool.tool_type:<16} {_score(tool.overall)} over {counted(tool.scored_clips, 'clip')}{tool.called}")
    shipped = load_rubrics().criteria
    for own in [each for each in report.criteria if (each.level, each.criterion) not in shipped]:
        about = f"{own.level}, {own.statistic.n_scored} of {own.statistic.n_total} scored"
        echo(f"    {own.criterion:<16} {_score(own.statistic.mean)} ({about})")
    if (use := report.tool_use) is not None and use.problem is None:
        for label, text in suite_lines(use):
            echo_fact(label, text)
    for label, text in () if report.coding is None else coding_lines(report.coding):
        echo_fact(label, text)
    for label, text in () if report.constraints is None else constraint_lines(report.constraints):
        echo_fact(label, text)


def _print_headline(report: DropReport) -> None:
    """Print the headline first, then the other measures, and how many independent judges the score is worth."""
    by_score = report.headline.measure == "score"
    scores, rates = report.headline.scores, [rate.text for rate in report.headline.rates]
    for line in [*scores, *rates] if by_score else [*rates, *scores]:
        echo(f"  {line}")
    if report.recorded_trials:
        most = report.recorded_trials[-1]
        echo(f"  {f'pass^{most.k}':<18} {_score(most.pass_hat)} over {counted(most.n_tasks, 'task')}")
    if report.panel is not None and (effective := report.panel.overall) is not None:
        echo(f"  effective judges   {effective.text}")
    for sampled in report.sampled:
        echo(f"  {f'sample {sampled.judge}':<18} {sampled.text}")


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
