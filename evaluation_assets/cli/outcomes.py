"""What is printed of outcomes of evaluations. Importing it takes as long as importing the report."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from pydantic import ValidationError

from evaluation_assets.core.gating.version_of_drop import names_of_versions
from evaluation_assets.core.judging.model_use import ModelUse, model_use
from evaluation_assets.core.pipeline.checks.names import JUDGES_ANSWERED, REGRESSION_GATE
from evaluation_assets.core.report.headline import Headline
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.report.report import CriterionSummary, DropReport
from evaluation_assets.core.report.suites.suite_report import suite_lines
from evaluation_assets.core.sections.coding_work.summary import coding_lines
from evaluation_assets.core.sections.constraints.summary import constraint_lines
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of, percent
from evaluation_assets.defs.names import COVERAGE, WELL_READ
from evaluation_assets.runs.outcomes import Line, RunOutcome

_LISTED = 8
"""Own criteria that are printed unless all figures are asked for."""


def outcome_lines(
    home: Installation,
    outcome: RunOutcome,
    before: bytes | None = None,
    *,
    verbose: bool = False,
    again: bool = False,
    crashed: tuple[int, int] | None = None,
) -> Iterator[Line]:
    """Yield the lines about a drop's evaluation: five lines and what is wrong; all figures if `verbose`.

    `before` is the data of its last report. `again` tells of an outcome that is as it was. `crashed` are the attempts
    of an agent that ended by a fault of its own program, and all its attempts.
    """
    files = report_files(home.reports(outcome.drop.key), outcome.drop.key)
    data = files.data if "evaluation_report" in outcome.metadata else None
    report = None if data is None else DropReport.model_validate_json(data)
    used = model_use(outcome.metadata)
    is_same = data is not None and data == before and not ModelUse.total(used).calls
    known = (
        "unchanged since its last evaluation" if again else "evaluated again, with the same report" if is_same else ""
    )
    if outcome.status != "unreadable":
        yield Line("")
        yield Line(": ".join(filter(None, (outcome.drop.key, known))))
    if outcome.message:
        yield Line(f"{outcome.drop.key}: {outcome.message}", is_warning=True)
    if report is None or verbose or report.reading.sentence != "complete":
        yield from _reading(outcome.metadata.get("raw_trajectories"))
    if report is None or verbose or report.records.removed:
        yield from _statistics(outcome.metadata.get("preprocessed_trajectories"))
    if report is None or verbose:
        for each in used:
            yield _fact(f"judge {each.judge}", each.text)
    if report is not None:
        if verbose:
            yield from _figures(report)
        yield from _summary(home, report, ModelUse.total(used), crashed, verbose=verbose)
        yield _fact("report", str(files.html))
    short = dict(_shortfalls(outcome.metadata.get("evaluation_report")))
    for judge, text in short.items():
        yield _fact(f"judge {judge}", text)
    if before is not None and report is not None and any(judge.count("failed", "not_run") for judge in report.judges):
        yield from _lost(before, report)
    yield from _failed_checks(outcome, report, short)


def _failed_checks(outcome: RunOutcome, report: DropReport | None, short: Collection[str]) -> Iterator[Line]:
    """Yield the failed checks of which no line has told; there is one of each judge that fell `short`."""
    for check in sorted(outcome.failed_checks, key=lambda check: not check.blocks):
        if (outcome.message and check.description in (None, outcome.message)) or (
            report is not None and check.name == WELL_READ
        ):
            continue  # the message, or the line of the reading, has said it
        if check.name == REGRESSION_GATE and not check.blocks and report is not None and report.gate is not None:
            continue  # the line of the gate has said it
        table, _, name = check.asset.partition("/")
        if check.name == COVERAGE and name.removesuffix(f"_{table}") in short:
            continue  # the line of the judge has said it
        is_said = check.name == JUDGES_ANSWERED and short
        said = f": {check.description}" if check.description and not is_said else ""
        yield _fact("check failed" if check.blocks else "warning", f"{check.asset}: {check.name}{said}")


def _summary(
    home: Installation, report: DropReport, used: ModelUse, crashed: tuple[int, int] | None, *, verbose: bool
) -> Iterator[Line]:
    """Yield the outcome, own criteria, findings, what agents and judging cost, and the gate."""
    if report.drawn is not None:
        yield _fact("drawn", report.drawn)
    yield _fact("outcome", _outcome(report.headline, crashed))
    if report.headline.note is not None:
        yield Line(f"evaluation-assets: {report.headline.note}", is_warning=True)
    if report.coding is None and (versions := report.about.get("versions")):
        command = home.command("compare", *names_of_versions(home, report.drop)[:2])
        yield _fact("versions", f"{versions}; to compare two: {command}")
    if not verbose and (used.calls or used.from_ledger):
        yield from _scores(report)
    yield from _own_criteria(report.own_criteria, len(report.criteria) if verbose else _LISTED)
    for judge in report.judges:
        if judge.success is not None:
            yield _fact(f"judge {judge.judge}", judge.success.text)
    yield from _suite(home, report, verbose=verbose)
    if report.findings is not None:
        parts = [f"every call of {first_of(report.broken_tools, 3)} failed"] if report.broken_tools else []
        parts += [report.findings.text, *([f"failed calls: {report.failed_calls}"] if report.failed_calls else [])]
        yield _fact("findings", "; ".join(parts))
    yield _fact("cost", _cost(report, used))
    yield _fact("gate", _gate(home, report))


def _scores(report: DropReport) -> Iterator[Line]:
    """Yield what judges have scored, if the outcome is another measure; `verbose` prints it with all figures."""
    if report.scores_of_runs:
        yield from _criteria(report.scores_of_runs)
    elif report.headline.measure != "score" and report.headline.score is not None:
        yield _fact("score", report.headline.scores[0])


def _suite(home: Installation, report: DropReport, *, verbose: bool) -> Iterator[Line]:
    """Yield that there is no suite, or its pass rate if the outcome is another; `verbose` prints it with the rest."""
    suite = report.tool_use
    if suite is None and (named := _named_by_sidecar(report)):
        yield _fact("suite", f"{named} has no file in {home.suites}: the drop is evaluated without test cases")
    if not verbose and suite is not None and suite.problem is None and report.headline.measure != "passed":
        yield _fact(*next(suite_lines(suite)))


def _cost(report: DropReport, used: ModelUse) -> str:
    """What agents and judging cost, and the verdicts that are missing."""
    failed, not_run = (sum(judge.count(outcome) for judge in report.judges) for outcome in ("failed", "not_run"))
    parts = [
        "" if report.agent_use is None else f"agents {report.agent_use.text}",
        f"judging {used.text if used.calls or used.from_ledger else 'none'}",
        f"{counted(failed, 'verdict')} failed" if failed else "",
        f"{counted(not_run, 'verdict')} not run" if not_run else "",
    ]
    return "; ".join(filter(None, parts))


def _gate(home: Installation, report: DropReport) -> str:
    """The verdict of the gate with its first reason, or why there is none."""
    gate = report.gate
    if gate is None:
        promote = f"; to accept this drop as one: {home.command('baseline', 'promote', report.drop)}"
        return f"no baseline{f': {report.not_compared}' if report.not_compared else promote}"
    more = f"; {counted(len(gate.reasons) - 1, 'more reason')}" if gate.reasons[1:] else ""
    if gate.warnings:
        # What makes `warn` of `pass` is said, what stands beside a failure is counted.
        warned = f"warning: {gate.warnings[0]}" if gate.verdict == "warn" else counted(len(gate.warnings), "warning")
        more += f"; {warned}"
    of_another_file = gate.suite is None and gate.baseline not in (None, report.drop)
    against = f" against {gate.baseline}" if of_another_file else ""
    return f"{gate.verdict}{against}: {''.join(gate.reasons[:1])}{more}"


def _outcome(headline: Headline, crashed: tuple[int, int] | None) -> str:
    """The headline, with the attempts that crashed, which it does not count, and which are no unknown outcomes."""
    if crashed is None:
        return headline.text
    failed, attempts = crashed
    told = f"{failed:,} of {counted(attempts, 'attempt')} ended in an error"
    if headline.measure != "passed":
        return f"{headline.text}; {told}"
    rate = headline.rates[0]
    return f"{rate.model_copy(update={'n_unknown': max(0, rate.n_unknown - failed)}).text}; {told}"


def _named_by_sidecar(report: DropReport) -> str | None:
    """The suite of a drop, unless its name is that of the drop's folder, which need not be one of test cases."""
    folder, _, within = report.drop.partition("/")
    return None if within and report.sidecar.suite == folder else report.sidecar.suite


def _criteria(criteria: Sequence[CriterionSummary]) -> Iterator[Line]:
    """Yield the means of judges that were not asked about clips, so that there is no overall score."""
    for level, own in groupby(criteria, key=lambda each: each.level):
        means = [f"{each.criterion} {_score(each.statistic.mean)}" for each in own]
        yield _fact(f"{level} scores", ", ".join(means))


def _own_criteria(own: Sequence[CriterionSummary], most: int) -> Iterator[Line]:
    for each in own[:most]:
        yield _fact("own criterion", f"{each.criterion} {_score(each.statistic.mean)} ({each.about})")
    if own[most:]:
        yield _fact("own criteria", f"{len(own) - most} more; --verbose prints them")


def _reading(figures: Any) -> Iterator[Line]:
    """Yield how far the reading of the drop can be trusted."""
    if figures:
        yield _fact("reading", figures["reading"])


def _statistics(figures: Any) -> Iterator[Line]:
    if not figures:
        return
    rate = figures.get("kept_rate")
    share = "" if rate is None else f" ({percent(rate)})"
    yield Line(f"  records kept       {figures['records_kept']} of {figures['records_total']}{share}")
    for name, what in {
        "unreadable": "unreadable",
        "removed_frequency": "removed: more tool calls than --beta-threshold",
        "removed_duplicates": "removed: a call repeats the one before it",
        "repaired": "kept after a repair of their tags",
    }.items():
        if figures[name]:
            yield Line(f"    {figures[name]} {what}")


def _shortfalls(figures: Any) -> Iterator[tuple[str, str]]:
    """Yield the judges that did not answer, and why and what to do."""
    for line in figures["shortfalls"] if figures else ():
        _, name, text = line.split(" ", 2)
        yield name, text


def _lost(before: bytes, report: DropReport) -> Iterator[Line]:
    """Yield the judges with verdicts in the last report that this one lacks, and how to get them back."""
    try:
        last = DropReport.model_validate_json(before)
    except ValidationError:  # of another version
        return
    answered = {judge.judge: judge.count("scored", "abstained") for judge in report.judges}
    for judge in last.judges:
        lost = judge.count("scored", "abstained") - answered.get(judge.judge, 0)
        why = _why_lost(judge.judge, last.comparability, report.comparability)
        if lost > 0 and why is not None:
            back = "To get them back, evaluate with what was there before: paid replies are kept."
            yield _fact(f"judge {judge.judge}", f"lost {counted(lost, 'verdict')} of the last report: {why}. {back}")


def _why_lost(judge: str, then: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """What has changed, so that replies in the ledger are not those to its questions; `None` if nothing has."""
    differs = {part for part in {*then, *now} if then.get(part) != now.get(part)}
    if f"judge {judge}" not in now:
        return "it is not in the panel any more"
    if differs & {f"judge {judge}", f"selection of {judge}"}:
        return "its settings have changed"
    return "rubrics have changed" if any(part.startswith("rubric ") for part in differs) else None


def _figures(report: DropReport) -> Iterator[Line]:
    """Yield the scores, and the results of the suite, of coding agents and of constraints."""
    yield from _headline(report)
    for tool in report.tools:
        yield Line(f"    {tool.title:<16} {_score(tool.overall)} over {counted(tool.scored_clips, 'clip')}")
    if (use := report.tool_use) is not None and use.problem is None:
        for label, text in suite_lines(use):
            yield _fact(label, text)
    for label, text in () if report.coding is None else coding_lines(report.coding):
        yield _fact(label, text)
    for label, text in () if report.constraints is None else constraint_lines(report.constraints):
        yield _fact(label, text)


def _headline(report: DropReport) -> Iterator[Line]:
    """Yield the headline first, then the other measures, and how many independent judges the score is worth."""
    by_score = report.headline.measure == "score"
    scores, rates = report.headline.scores, [rate.text for rate in report.headline.rates]
    for line in [*scores, *rates] if by_score else [*rates, *scores]:
        if not report.headline.text.startswith(line):  # the line of the outcome says it
            yield Line(f"  {line}")
    if report.recorded_trials:
        most = report.recorded_trials[-1]
        yield Line(f"  {f'pass^{most.k}':<18} {_score(most.pass_hat)} over {counted(most.n_tasks, 'task')}")
    if report.panel is not None and (effective := report.panel.overall) is not None:
        yield Line(f"  effective judges   {effective.text}")
    for sampled in report.sampled:
        yield Line(f"  {f'sample {sampled.judge}':<18} {sampled.text}")


def _fact(label: str, text: str) -> Line:
    return Line(text, label)


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
