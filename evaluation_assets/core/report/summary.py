"""Build the report of a drop from its tables, read as streams."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from math import fsum
from statistics import fmean

from evaluation_assets.core.gating.baselines import is_by_rules_only
from evaluation_assets.core.gating.measured_drop import MeasuredTables
from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.gating.settings import HeadlineSettings
from evaluation_assets.core.intake.facts import DropFacts, VerdictFacts
from evaluation_assets.core.intake.preprocessing.repair import changes_text
from evaluation_assets.core.judging.shortfall import COLUMNS, Answers
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, DamagedTable, Stored
from evaluation_assets.core.pipeline.drawing import drawn
from evaluation_assets.core.report.findings.process_summary import process_summary
from evaluation_assets.core.report.headline import Headline, criterion_rate, headline, rate
from evaluation_assets.core.report.judges.judges_report import labels_of, panel_summary
from evaluation_assets.core.report.judges.sampled_judges import sampled_means
from evaluation_assets.core.report.report import (
    CriterionSummary,
    DropReport,
    JudgeSummary,
    Records,
    RejectedRecord,
    RepairedTag,
    TrajectorySummary,
)
from evaluation_assets.core.report.scores.clip_summaries import Values, clip_summaries, excerpt
from evaluation_assets.core.report.scores.distributions import statistic
from evaluation_assets.core.report.scores.lowest import Lowest
from evaluation_assets.core.report.sessions.session_report import sessions_summary
from evaluation_assets.core.report.suites.suite_report import tool_use_summary
from evaluation_assets.core.scoring.intervals import rate_interval
from evaluation_assets.core.scoring.panel_scores import OVERALL
from evaluation_assets.core.sections.coding_work.summary import CodingSummary, coding_summary
from evaluation_assets.core.sections.constraints.summary import constraints_summary
from evaluation_assets.core.sections.findings.claim_counts import claim_counts
from evaluation_assets.core.sections.findings.summary import Alike, EarlierFindings, findings_summary
from evaluation_assets.core.sections.outcomes.prediction import predictions
from evaluation_assets.core.suites.call_metrics import TrialRate, trial_rates

LISTED = 200
"""Rejected records and trajectories listed in a report; the tables have all."""

_LONGEST_TASK = 400

_DEFAULT = HeadlineSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTables(MeasuredTables):
    """All tables of a drop that its report is built from; verdicts by judge. Without `images` it shows none."""

    rejected: Stored
    clip_scores: Stored
    category_assessments: Stored
    failure_patterns: Stored
    coding_work: Stored
    constraint_results: Stored
    claims: Stored
    process_scores: Stored
    predicted_outcomes: Stored
    category_verdicts: Mapping[str, Stored]
    session_verdicts: Mapping[str, Stored]
    images: Stored | None = None

    @property
    def verdicts(self) -> dict[str, Mapping[str, Stored]]:
        """The verdict tables on the drop by judge, by level."""
        return {
            "clip": self.clip_verdicts,
            "category": self.category_verdicts,
            "trajectory": self.trajectory_verdicts,
            "session": self.session_verdicts,
        }

    @property
    def are_readable(self) -> bool:
        """Whether the footer of each file can be read; a file that is cut off has none."""
        found = [getattr(self, each.name) for each in fields(self)]
        tables = [each for one in found for each in (one.values() if isinstance(one, Mapping) else (one,))]
        try:
            return all(table.count >= 0 for table in tables if isinstance(table, Stored))
        except DamagedTable:
            return False


def summarise(
    drop: str,
    facts: DropFacts,
    comparability: dict[str, str],
    tables: DropTables,
    settings: HeadlineSettings = _DEFAULT,
    gate: GateOutcome | None = None,
    labels: Mapping[str, float] | None = None,
    earlier: EarlierFindings | None = None,
    alike: Iterable[Alike] = (),
) -> DropReport:
    """Build the report of a drop. Tables are read as streams; only figures and listed rows are kept in memory.

    Args:
        drop: key of the drop.
        facts: what is known about its file.
        comparability: the parts of its comparability key.
        tables: its tables.
        settings: what the headline counts.
        gate: the comparison with the baseline.
        labels: people's labels of whole trajectories, by trajectory.
        earlier: the findings of the drop that this one is compared with.
        alike: the failure group of each of its findings.
    """
    records, repairs, repairs_total = _records(tables)
    trajectories = Lowest(LISTED)
    outcomes: dict[str, bool] = {}
    correctness: list[float | None] = []
    overall: list[float | None] = []
    task_of = {row["trajectory_id"]: row["task_id"] for row in tables.raw.rows(["trajectory_id", "task_id"])}
    removed, below = set(task_of), set[str]()
    tasks: list[str] = []
    cases = {row["trajectory_id"]: row["passed"] for row in tables.tool_use_results.rows(["trajectory_id", "passed"])}
    predicted = predictions(tables.predicted_outcomes.rows())
    scores = Aligned(tables.trajectory_scores.rows())
    by_criterion: dict[tuple[str, str], Values] = {}
    columns = ["trajectory_id", "task_id", "task", "success", "n_tool_calls", "repairs", "flags"]
    total = 0
    for total, row in enumerate(tables.preprocessed.rows(columns), 1):
        own = {score["criterion"]: score["mean"] for score in scores.at(row["trajectory_id"])}
        for criterion, mean in own.items():
            if criterion != OVERALL:
                by_criterion.setdefault(_level(criterion), Values()).add(
                    mean, task_of[row["trajectory_id"]], row["trajectory_id"]
                )
        removed.discard(row["trajectory_id"])
        tasks.append(task_of[row["trajectory_id"]])
        overall.append(own.get(OVERALL))
        correctness.append(own.get(settings.criterion))
        if correctness[-1] is not None and correctness[-1] < settings.threshold:
            below.add(row["trajectory_id"])
        if row["success"] is not None:
            outcomes[row["trajectory_id"]] = row["success"]
        correct = _correct(row["success"], cases.get(row["trajectory_id"]), correctness[-1], settings)
        rank = (0.0 if correct is False else 4.0) + (2.0 if own.get(OVERALL) is None else own[OVERALL])
        trajectories.offer(rank, total, _trajectory(row, own, correct, predicted.get(row["trajectory_id"])))
    for row in tables.category_assessments.rows(["trajectory_id", "criterion", "mean"]):
        values = by_criterion.setdefault(("category", row["criterion"]), Values())
        values.add(row["mean"], task_of.get(row["trajectory_id"], ""), row["trajectory_id"])
    tools, clip_criteria, worst, clips = clip_summaries(tables, task_of)
    rejected = [_rejected(row) for row in islice(tables.rejected.rows(), LISTED)]
    described, use = statistic(overall, tasks), tool_use_summary(tables.tool_use_results, tables.failure_patterns)
    judges = [_judge(judge, tables) for judge in tables.clip_verdicts]
    recorded = _by_task(tables.raw, "task_id", "success")
    rates = [
        rate("success", recorded, tables.raw.count),
        rate("passed", _by_task(tables.tool_use_results, "case_id", "passed")),
        criterion_rate(zip(tasks, correctness, strict=True), total, settings),
    ]
    panel = panel_summary(tables.preprocessed, tables.verdicts, labels_of(labels or {}, outcomes))
    process = process_summary(tables.process_scores, tables.raw)
    shown = headline(
        rates, described, by_rules_only=is_by_rules_only(comparability), process=process, settings=settings, gate=gate
    )
    return DropReport(
        drop=drop,
        headline=shown,
        findings=findings_summary(
            tables.findings,
            task_of,
            removed,
            _failed(shown, tables, below),
            rate_interval,
            earlier,
            alike,
        ),
        claims=claim_counts(tables.claims, tables.trajectory_verdicts),
        gate=gate,
        panel=panel,
        sampled=list(sampled_means(total, tables.selections, tables.clip_verdicts, tables.trajectory_verdicts)),
        sidecar=facts.sidecar,
        reading=facts.reading,
        drawn=drawn(facts.sidecar, facts.not_taken, tables.raw.count),
        comparability=comparability,
        records=records,
        recorded_success=sum(outcomes.values()),
        recorded_outcomes=len(outcomes),
        recorded_trials=_repeated(trial_rates(recorded)),
        overall=described,
        process=process,
        total_clips=clips.total,
        clips_asked=clips.asked,
        scored_clips=clips.scored,
        criteria=[
            CriterionSummary(
                level=level,
                criterion=criterion,
                statistic=values.statistic,
                lowest=values.lowest,
                effective_judges=None if panel is None else panel.effective(level, criterion),
            )
            for (level, criterion), values in [*sorted(by_criterion.items()), *clip_criteria]
        ],
        tools=tools,
        judges=judges,
        worst_clips=worst,
        trajectories=trajectories.items(),
        trajectories_total=total,
        tasks_total=len(set(tasks)),
        sessions=sessions_summary(tables.session_analyses, task_of),
        coding=_coding(tables),
        constraints=constraints_summary(tables.constraint_results),
        rejected=rejected,
        rejected_total=tables.rejected.count,
        repairs=repairs,
        repairs_total=repairs_total,
        tool_use=use,
    )


def _failed(headline: Headline, tables: DropTables, below: set[str]) -> set[str]:
    """The runs that the headline counts as failed; `below` are those below the threshold of its criterion."""
    outcomes = {"success": (tables.raw, "success"), "passed": (tables.tool_use_results, "passed")}
    measure = headline.rates[0].measure if headline.rates else None
    if measure is None or measure not in outcomes:
        return below if measure else set()
    table, column = outcomes[measure]
    return {row["trajectory_id"] for row in table.rows(["trajectory_id", column]) if row[column] is False}


def _coding(tables: DropTables) -> CodingSummary | None:
    if not tables.coding_work.count:
        return None
    tasks = tables.raw.rows(["trajectory_id", "task"])
    return coding_summary(tables.coding_work, {row["trajectory_id"]: row["task"][:_LONGEST_TASK] for row in tasks})


def _by_task(table: Stored, task: str, outcome: str) -> dict[str, list[bool]]:
    """Known outcomes by task, of all readable runs, including those that a rule removes."""
    found: dict[str, list[bool]] = {}
    for row in table.rows([task, outcome]):
        if row[outcome] is not None:
            found.setdefault(row[task], []).append(row[outcome])
    return found


def _repeated(rates: list[TrialRate]) -> list[TrialRate]:
    """The rates, if some task was run more than once."""
    return rates if len(rates) > 1 else []


def _records(tables: DropTables) -> tuple[Records, list[RepairedTag], int]:
    reasons: dict[str, Counter[str]] = {"read": Counter(), "preprocess": Counter()}
    for row in tables.rejected.rows(["stage", "reason"]):
        reasons[row["stage"]][row["reason"]] += 1
    kept = repaired = repairs_total = 0
    flags: Counter[str] = Counter()
    repairs: list[RepairedTag] = []
    for row in tables.preprocessed.rows(["trajectory_id", "repairs", "flags"]):
        kept += 1
        flags.update(row["flags"])
        repaired += changes_text(repair["action"] for repair in row["repairs"])
        repairs_total += len(row["repairs"])
        repairs += [
            RepairedTag(trajectory_id=row["trajectory_id"], **repair)
            for repair in row["repairs"][: LISTED - len(repairs)]
        ]
    total = kept + reasons["read"].total() + reasons["preprocess"].total()
    records = Records(
        total=total,
        kept=kept,
        removed=dict(sorted(reasons["preprocess"].items())),
        unreadable=dict(sorted(reasons["read"].items())),
        repaired=repaired,
        flags=dict(sorted(flags.items())),
        kept_share=kept / total if total else None,
    )
    return records, repairs, repairs_total


def _judge(judge: str, tables: DropTables) -> JudgeSummary:
    outcomes: dict[str, Counter[str]] = {}
    answers = Answers()
    identity: Row = {"provider": "", "model": ""}
    sums: dict[str, array[float]] = {}
    unpriced = uncounted = 0
    replies: set[str] = set()
    redacted: Counter[str] = Counter()
    paid = ["input_tokens", "output_tokens", "cost_usd"]
    for level, by_judge in {**tables.verdicts, "canary": tables.canary_verdicts}.items():
        if judge not in by_judge:
            continue
        of_drop = level != "canary"  # canary clips cost money, but are not part of the drop
        redacted.update(VerdictFacts.of(by_judge[judge]).redacted)
        counts = outcomes.setdefault(level, Counter())
        for row in by_judge[judge].rows(["provider", "model", "ledger_key", "share_seen", *COLUMNS, *paid]):
            identity = row
            counts[row["outcome"]] += 1
            if of_drop:
                answers.add(row)
            unpriced += row["cost_usd"] is None and row["outcome"] != "not_run"
            uncounted += row["input_tokens"] is None and row["outcome"] != "not_run"
            # One reply gives several verdicts where the same question is asked again.
            is_new = row["ledger_key"] is None or row["ledger_key"] not in replies
            replies.add(row["ledger_key"] or "")
            for column in [*(paid if is_new else ()), *(["share_seen"] if of_drop else ())]:
                if row[column] is not None:
                    sums.setdefault(column, array("d")).append(row[column])
    errors: Counter[str] = Counter()
    for (kind, _), count in answers.errors.items():
        errors[kind] += count
    tokens = {column: int(sum(sums[column])) if column in sums else None for column in paid[:2]}
    return JudgeSummary(
        judge=judge,
        provider=identity["provider"],
        model=identity["model"],
        outcomes={level: dict(sorted(counts.items())) for level, counts in outcomes.items()},
        share_seen=fmean(sums["share_seen"]) if "share_seen" in sums else None,
        input_tokens=tokens["input_tokens"],
        output_tokens=tokens["output_tokens"],
        cost_usd=fsum(sums["cost_usd"]) if "cost_usd" in sums else None,
        unpriced_verdicts=unpriced,
        uncounted_verdicts=uncounted,
        errors=dict(sorted(errors.items())),
        shortfall=answers.shortfall(judge),
        redacted=dict(sorted(redacted.items())),
    )


def _correct(
    success: bool | None, passed: bool | None, correctness: float | None, settings: HeadlineSettings
) -> bool | None:
    """Whether a run is correct by the first measure that is known for it, in the order of the headline."""
    reached = None if correctness is None else correctness >= settings.threshold
    found = {"outcome": success, "suite": passed, "criterion": reached}
    ordered = [found.get(settings.by or ""), *found.values()]
    return next((value for value in ordered if value is not None), None)


def _trajectory(
    row: Row, scores: dict[str, float | None], correct: bool | None, predicted: str | None
) -> TrajectorySummary:
    return TrajectorySummary(
        trajectory_id=row["trajectory_id"],
        task_id=row["task_id"],
        task=excerpt(row["task"], 300),
        success=row["success"],
        correct=correct,
        predicted=predicted,
        n_tool_calls=row["n_tool_calls"],
        overall=scores.get(OVERALL),
        scores={criterion: mean for criterion, mean in scores.items() if criterion != OVERALL},
        flags=row["flags"],
        repairs=len(row["repairs"]),
    )


def _rejected(row: Row) -> RejectedRecord:
    return RejectedRecord(
        source=row["source"],
        line=row["line"],
        stage=row["stage"],
        reason=row["reason"],
        detail=row["detail"],
        excerpt=excerpt(row["raw"], 300),
    )


def _level(criterion: str) -> tuple[str, str]:
    name = criterion.removeprefix("answer.")
    return ("trajectory" if name == criterion else "answer", name)
