"""`evaluate`: evaluate files and write reports."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from upath import UPath

from evaluation_assets.cli.coding_agents import RequestedSessions, with_coding_agents
from evaluation_assets.cli.consent import ask_for_consent, drops_of
from evaluation_assets.cli.options import AMOUNT, Sectioned, reading, with_format, with_panel
from evaluation_assets.cli.output import echo, echo_fact, refuse, warn
from evaluation_assets.cli.previews import silence_previews
from evaluation_assets.cli.stopping import resumable
from evaluation_assets.core.intake.copying.copies import Conflict
from evaluation_assets.core.intake.copying.drops import annotate, take_in
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.copying.suites import take_in_suite
from evaluation_assets.core.intake.drops import Drop, InvalidDrop
from evaluation_assets.core.intake.preprocessing.rules import OnViolation, Settings
from evaluation_assets.core.intake.preprocessing.split import remove_earlier
from evaluation_assets.core.intake.sources.stores.coding_agents import CODING_AGENTS
from evaluation_assets.core.judging.model_use import ModelUse, model_use
from evaluation_assets.core.judging.panel import InvalidPanel, Panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.lake.stored import publish_copy
from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.report.constraint_report import constraint_lines
from evaluation_assets.core.report.files import JUDGE_FILES, report_files
from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.report.suite_report import suite_lines
from evaluation_assets.core.sections.coding_work.summary import coding_lines
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of, percent
from evaluation_assets.core.text.plain_text import for_terminal
from evaluation_assets.runs.errors import InvalidSelection
from evaluation_assets.runs.paid import PaidEvaluation, check_evaluators, check_ledger

if TYPE_CHECKING:
    from evaluation_assets.runs.jobs import RunOutcome

_SECTIONS = {
    "Options": ("home_url", "suite_path", "budget", "output", "quiet"),
    "Judges": (
        "panel_file",
        "provider",
        "model",
        "yes",
        "budget_calls",
        "max_concurrency",
        "requests_per_minute",
        "tokens_per_minute",
    ),
    "Sessions of coding agents": (*CODING_AGENTS, "since", "project"),
    "Input": ("format_name", "name", "replace", "one_drop", "beta_threshold", "on_violation"),
}

EXIT_STATUS = {"passed": 0, "check_failed": 1, "broken": 1, "unusable": 2, "over_budget": 3}


@click.command(cls=Sectioned, sections=_SECTIONS)
@with_coding_agents
@reading
@with_panel
@click.option(
    "--suite",
    "suite_path",
    type=click.Path(exists=True, path_type=Path),
    help="Test suite to evaluate the drops against.",
)
@click.option("--split-size", metavar="N", type=click.IntRange(min=1), help="Also write the kept records, N per file.")
@click.option("--budget", metavar="USD", type=AMOUNT, help="Stop before spending more than this, per drop.")
@click.option("--budget-calls", metavar="N", type=click.IntRange(min=0), help="Stop before more model calls, per drop.")
@click.option("--yes", is_flag=True, help="Spend what the quote says without asking.")
@click.option("--preprocess-only", is_flag=True, help="Read and preprocess only; skip judging.")
@click.option("--one-drop", is_flag=True, help="Treat a directory as one drop of all its files.")
@with_format
@click.option("--select", help="Materialise only these assets (Dagster's selection syntax, e.g. '+clips').")
@click.option("--as", "name", metavar="NAME", help="Name of the drop (default: the file name).")
@click.option("--replace", is_flag=True, help="Replace existing drops of the same name.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Copy reports and result files to this directory.",
)
@click.option("--quiet", is_flag=True, help="Show no progress and no warnings.")
@click.option("--verbose", is_flag=True, help="Print all figures, and write all logs to stderr.")
def evaluate(
    inputs: tuple[Path, ...],
    sessions: RequestedSessions | None,
    beta_threshold: int,
    on_violation: OnViolation,
    home: Installation,
    panel: Panel,
    suite_path: Path | None,
    split_size: int | None,
    budget: float | None,
    budget_calls: int | None,
    yes: bool,
    preprocess_only: bool,
    one_drop: bool,
    format_name: str | None,
    select: str | None,
    name: str | None,
    replace: bool,
    output: Path | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Evaluate files of trajectories.

    Each file is a drop. A directory gives one drop per file in it. An option such as --claude-code takes the sessions
    that a coding agent keeps on this machine instead of files; each agent is a drop.
    """
    if select is not None and preprocess_only:
        raise click.UsageError("--select and --preprocess-only cannot be combined; use one of them")
    with resumable(home) as stop:
        left_out: list[str] = []
        try:
            prepare(home)
            if not preprocess_only:
                check_ledger(home, panel)
                check_evaluators(panel)
                paid = PaidEvaluation(
                    home,
                    panel,
                    Settings(beta_threshold=beta_threshold, on_violation=on_violation),
                    None if suite_path is None else suite_path.resolve().stem,
                    select,
                )
                paid.check_budget(budget, budget_calls)
                if paid.lacks_keys or not paid.is_free:
                    drops = drops_of(inputs, sessions, one_drop=one_drop, format_name=format_name)
                    paid.check_keys(drops)
                    limited = budget is not None or budget_calls is not None
                    ask_for_consent(paid, drops, panel.ask_above_usd, limited=limited, agreed=yes, quiet=quiet)
            suite = None if suite_path is None else take_in_suite(home, suite_path)
            if sessions is not None:
                drops = sessions.taken_into(home.drops, warn, name)
            else:
                drops = take_in(
                    home,
                    list(inputs),
                    one_drop=one_drop,
                    name=name,
                    may_replace=lambda conflict: replace or _confirmed(conflict),
                    say=left_out.append,
                )
            for problem in left_out:
                warn(problem)
            notes = {} if format_name is None else {"format": format_name}
            if suite is not None and suite_path is not None:
                notes["suite"] = suite_path.resolve().stem
                for task in suite.incomplete:
                    warn(f"{task.place}: {task.task} is skipped: {task.reason}")
            if notes:
                drops = [annotate(home, drop, **notes) for drop in drops]
        except (InvalidDrop, InvalidPanel, InvalidSelection, InvalidSuite, LedgerError) as problem:
            refuse(str(problem))

        silence_previews()
        from evaluation_assets.runs.jobs import RunOptions, evaluate_drops  # noqa: PLC0415
        from evaluation_assets.runs.progress import RunProgress  # noqa: PLC0415

        options = RunOptions(
            settings=Settings(beta_threshold=beta_threshold, on_violation=on_violation),
            split_size=split_size,
            budget_usd=budget,
            budget_calls=budget_calls,
            preprocess_only=preprocess_only,
            select=select,
        )
        status = 2 if left_out else 0
        try:
            before = {drop.key: _report_data(home, drop) for drop in drops}
            for outcome in evaluate_drops(home, panel, drops, options, RunProgress(quiet=quiet, verbose=verbose), stop):
                status = max(status, EXIT_STATUS[outcome.status])
                print_outcome(home, outcome, before[outcome.drop.key], verbose=verbose)
                if output is not None:
                    _copy_files(home, outcome.drop, output)
        except InvalidSelection as problem:
            refuse(str(problem))
        sys.exit(status)


def _confirmed(conflict: Conflict) -> bool:
    """Ask for confirmation on a terminal; without one, the answer is no."""
    return sys.stdin.isatty() and click.confirm(f"{for_terminal(str(conflict))}. Replace it?", err=True)


def _report_data(home: Installation, drop: Drop) -> bytes | None:
    """The data of the drop's report; `None` if it has none."""
    file = report_files(home.reports(drop.key), drop.key).json
    return file.read_bytes() if file.exists() else None


def print_outcome(
    home: Installation, outcome: "RunOutcome", before: bytes | None = None, *, verbose: bool = False
) -> None:
    """Print the outcome of a drop's evaluation: five lines and what is wrong; all figures if `verbose`.

    `before` is the data of its last report.
    """
    data = _report_data(home, outcome.drop) if "evaluation_report" in outcome.metadata else None
    report = None if data is None else DropReport.model_validate_json(data)
    is_unchanged = data is not None and data == before
    echo("", f"{outcome.drop.key}{': unchanged since its last evaluation' if is_unchanged else ''}")
    if outcome.message:
        echo(f"{outcome.drop.key}: {outcome.message}", err=True)
    if report is None or verbose or report.reading.trust != "complete":
        _print_reading(outcome.metadata.get("raw_trajectories"))
    if report is None or verbose or report.records.removed:
        _print_statistics(outcome.metadata.get("preprocessed_trajectories"))
    used = model_use(outcome.metadata)
    if report is None or verbose:
        for each in used:
            echo_fact(f"judge {each.judge}", each.text)
    if report is not None:
        if verbose:
            _print_figures(report)
        _print_summary(home, outcome.drop, report, ModelUse.total(used))
    _print_shortfalls(outcome.metadata.get("evaluation_report"))
    for check in sorted(outcome.failed_checks, key=lambda check: not check.blocks):
        said = f": {check.description}" if check.description else ""
        echo_fact("check failed" if check.blocks else "warning", f"{check.asset}: {check.name}{said}")


def _print_summary(home: Installation, drop: Drop, report: DropReport, used: ModelUse) -> None:
    """Print the outcome, findings, what judging took, the gate, and where the report is."""
    echo_fact("outcome", report.headline.text)
    if report.headline.note is not None:
        warn(report.headline.note)
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
        echo(f"    {tool.tool_type:<16} {_score(tool.overall)} over {counted(tool.scored_clips, 'clip')}")
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
    name, overall = report.headline.score_name, report.overall
    interval = "" if overall.ci_low is None else f", 95% CI {_score(overall.ci_low)} to {_score(overall.ci_high)}"
    change = "" if report.headline.change is None else f"; {report.headline.change.text}"
    score = f"  {name:<18} {_score(overall.mean)} over {counted(overall.n_scored, 'trajectory')}{interval}{change}"
    rates = [f"  {rate.text}" for rate in report.headline.rates]
    for line in [score, *rates] if by_score else [*rates, score]:
        echo(line)
    if report.process is not None:
        echo(f"  {report.process.text}")
    if report.recorded_trials:
        most = report.recorded_trials[-1]
        echo(f"  {f'pass^{most.k}':<18} {_score(most.pass_hat)} over {counted(most.n_tasks, 'task')}")
    if report.panel is not None and (effective := report.panel.overall) is not None:
        echo(f"  effective judges   {effective.text}")
    for sampled in report.sampled:
        echo(f"  {f'sample {sampled.judge}':<18} {sampled.text}")


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _copy_files(home: Installation, drop: Drop, output: Path) -> None:
    """Copy the drop's report folder into the output folder."""
    source = home.reports(drop.key)
    if not source.exists():
        return
    target = output / drop.key
    target.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target / JUDGE_FILES, ignore_errors=True)
    for path in source.rglob("*"):
        if path.is_file():
            place = target / path.path.removeprefix(source.path).strip("/")
            publish_copy(path, UPath(place))
    split = f"pre{drop.name}"
    there = {path.name for path in (source / split).iterdir()} if (source / split).exists() else set()
    remove_earlier(UPath(target / split), drop.name, there)
