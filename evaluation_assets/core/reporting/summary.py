"""Build the report of a drop from its tables, read as streams."""

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import fsum
from statistics import fmean
from typing import Any

from evaluation_assets.core.excerpts import without_middle
from evaluation_assets.core.facts import DropFacts
from evaluation_assets.core.gating.measured_drop import MeasuredTables
from evaluation_assets.core.judging.shortfall import COLUMNS, Answers
from evaluation_assets.core.lake import Aligned, Stored, grouped
from evaluation_assets.core.preprocessing.repair import changes_text
from evaluation_assets.core.reporting.coding_report import CodingSummary, coding_summary
from evaluation_assets.core.reporting.distributions import statistic
from evaluation_assets.core.reporting.headline import headline, rate
from evaluation_assets.core.reporting.report import (
    ClipSummary,
    ClipVerdict,
    CriterionSummary,
    DropReport,
    JudgeSummary,
    Records,
    RejectedRecord,
    RepairedTag,
    ToolSummary,
    TrajectorySummary,
)
from evaluation_assets.core.reporting.session_report import sessions_summary
from evaluation_assets.core.reporting.suite_report import tool_use_summary
from evaluation_assets.core.scoring.panel_scores import OVERALL

Row = dict[str, Any]

WORST_CLIPS = 20
LISTED = 200
"""Rejected records and trajectories listed in a report; the tables have all."""

EXCERPT = 1200

_LONGEST_TASK = 400

RIGHT_ANSWER = 0.5
"""An answer counts as right from this judged agreement with the reference on: its main point is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTables(MeasuredTables):
    """All tables of a drop that its report is built from; verdicts by judge."""

    rejected: Stored
    clip_scores: Stored
    category_assessments: Stored
    failure_patterns: Stored
    coding_work: Stored
    category_verdicts: Mapping[str, Stored]
    session_verdicts: Mapping[str, Stored]


def summarise(drop: str, facts: DropFacts, comparability: dict[str, str], tables: DropTables) -> DropReport:
    """Build the report of a drop. Tables are read as streams; only figures and listed rows are kept in memory."""
    records, repairs, repairs_total = _records(tables)
    trajectories = _Best(LISTED)
    outcomes: list[bool] = []
    right: dict[str, list[bool]] = {}
    overall: list[float | None] = []
    scores = Aligned(tables.trajectory_scores.rows())
    by_criterion: dict[tuple[str, str], list[float | None]] = {}
    columns = ["trajectory_id", "task_id", "task", "success", "n_tool_calls", "repairs", "flags"]
    total = 0
    for total, row in enumerate(tables.preprocessed.rows(columns), 1):
        own = {score["criterion"]: score["mean"] for score in scores.at(row["trajectory_id"])}
        for criterion, mean in own.items():
            if criterion != OVERALL:
                by_criterion.setdefault(_level(criterion), []).append(mean)
        overall.append(own.get(OVERALL))
        if row["success"] is not None:
            outcomes.append(row["success"])
        if (agreement := own.get("answer_correctness")) is not None:
            right.setdefault(row["task_id"], []).append(agreement >= RIGHT_ANSWER)
        trajectories.offer(2.0 if own.get(OVERALL) is None else own[OVERALL], total, _trajectory(row, own))
    for row in tables.category_assessments.rows(["criterion", "mean"]):
        by_criterion.setdefault(("category", row["criterion"]), []).append(row["mean"])
    tools, clip_criteria, worst, clips = _clips(tables)
    rejected = [_rejected(row) for row in islice(tables.rejected.rows(), LISTED)]
    described, use = statistic(overall), tool_use_summary(tables.tool_use_results, tables.failure_patterns)
    judges = [_judge(judge, tables) for judge in tables.clip_verdicts]
    rates = [
        rate("success", _by_task(tables.raw, "task_id", "success"), tables.raw.count),
        rate("passed", _by_task(tables.tool_use_results, "case_id", "passed")),
        rate("right_answer", right, total),
    ]
    return DropReport(
        drop=drop,
        headline=headline(rates, described, by_rules_only=all(judge.provider == "rules" for judge in judges)),
        sidecar=facts.sidecar,
        reading=facts.reading,
        comparability=comparability,
        records=records,
        recorded_success=sum(outcomes),
        recorded_outcomes=len(outcomes),
        overall=described,
        total_clips=clips.total,
        clips_asked=clips.asked,
        scored_clips=clips.scored,
        criteria=[
            CriterionSummary(level=level, criterion=criterion, statistic=statistic(values))
            for (level, criterion), values in [*sorted(by_criterion.items()), *clip_criteria]
        ],
        tools=tools,
        judges=judges,
        worst_clips=worst,
        trajectories=trajectories.items(),
        trajectories_total=total,
        sessions=sessions_summary(tables.session_analyses),
        coding=_coding(tables),
        rejected=rejected,
        rejected_total=tables.rejected.count,
        repairs=repairs,
        repairs_total=repairs_total,
        tool_use=use,
    )


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


class _Best:
    """Keeps only the items with the lowest values. Ties go to the earlier item."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._heap: list[tuple[float, int, Any]] = []

    def offer(self, value: float, position: int, item: Any) -> None:
        entry = (-value, -position, item)
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
        elif entry[:2] > self._heap[0][:2]:
            heapq.heapreplace(self._heap, entry)

    def items(self) -> list[Any]:
        """The kept items, lowest value first."""
        return [item for _, _, item in sorted(self._heap, key=lambda entry: (-entry[0], -entry[1]))]


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


@dataclass(slots=True)
class _Tool:
    clips: int = 0
    scored: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    criteria: dict[str, list[float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ClipCounts:
    total: int
    asked: int
    scored: int


def _clips(
    tables: DropTables,
) -> tuple[list[ToolSummary], list[tuple[tuple[str, str], list[float | None]]], list[ClipSummary], _ClipCounts]:
    """Tool summaries, clip criteria and the worst clips, in one pass over clips and their scores."""
    tools: dict[str, _Tool] = {}
    worst = _Best(WORST_CLIPS)
    scores = Aligned(tables.clip_scores.rows(["trajectory_id", "clip_index", "criterion", "mean"]))
    is_asked = tables.selections.asker(list(tables.clip_verdicts), ("clip",))
    position = asked = 0
    for trajectory_id, clips in grouped(
        tables.clips.rows(["trajectory_id", "clip_index", "tool_type", "tool_name", "is_final", "call_status"])
    ):
        by_clip = dict(grouped(scores.at(trajectory_id), "clip_index"))
        may_be_scored = is_asked(trajectory_id)
        for clip in clips:
            position += 1
            asked += may_be_scored
            tool = tools.setdefault(clip["tool_type"], _Tool())
            tool.clips += 1
            if not clip["is_final"]:
                tool.calls[clip["call_status"]] += 1
            own = by_clip.get(clip["clip_index"], [])
            for score in own:
                tool.criteria.setdefault(score["criterion"], []).append(score["mean"])
            known = [score["mean"] for score in own if score["mean"] is not None]
            if known:
                tool.scored += 1
                worst.offer(fmean(known), position, (trajectory_id, clip["clip_index"], clip, fmean(known)))
    summaries = [
        ToolSummary(
            tool_type=name,
            clip_count=tool.clips,
            scored_clips=tool.scored,
            overall=_overall(tool),
            criteria={criterion: statistic(values) for criterion, values in sorted(tool.criteria.items())},
            calls=dict(sorted(tool.calls.items())),
        )
        for name, tool in sorted(tools.items())
    ]
    merged: dict[str, list[float | None]] = {}
    for _, tool in sorted(tools.items()):
        for criterion, values in tool.criteria.items():
            merged.setdefault(criterion, []).extend(values)
    criteria = [(("clip", criterion), values) for criterion, values in sorted(merged.items())]
    counts = _ClipCounts(position, asked, sum(tool.scored for tool in tools.values()))
    return summaries, criteria, _with_verdicts(worst.items(), tables), counts


def _overall(tool: _Tool) -> float | None:
    means = [fmean(known) for values in tool.criteria.values() if (known := [v for v in values if v is not None])]
    return fmean(means) if means else None


def _with_verdicts(worst: list[tuple[str, int, Row, float]], tables: DropTables) -> list[ClipSummary]:
    wanted = {(trajectory_id, index) for trajectory_id, index, _, _ in worst}
    contents = {
        (row["trajectory_id"], row["clip_index"]): excerpt(row["content"])
        for row in tables.clips.rows(["trajectory_id", "clip_index", "content"])
        if (row["trajectory_id"], row["clip_index"]) in wanted
    }
    opinions: dict[tuple[str, int], list[ClipVerdict]] = {}
    columns = ["trajectory_id", "clip_index", "judge", "sample", "outcome", "scores", "summary", "reasoning", "error"]
    for table in tables.clip_verdicts.values():
        for row in table.rows(columns):
            place = (row.pop("trajectory_id"), row.pop("clip_index"))
            if place in wanted:
                opinions.setdefault(place, []).append(ClipVerdict.model_validate(row))
    return [
        ClipSummary(
            trajectory_id=trajectory_id,
            clip_index=index,
            tool_type=clip["tool_type"],
            tool_name=clip["tool_name"],
            call_status=clip["call_status"],
            score=score,
            excerpt=contents[trajectory_id, index],
            opinions=opinions.get((trajectory_id, index), []),
        )
        for trajectory_id, index, clip, score in worst
    ]


def _judge(judge: str, tables: DropTables) -> JudgeSummary:
    outcomes: dict[str, Counter[str]] = {}
    answers = Answers()
    identity: Row = {"provider": "", "model": ""}
    sums: dict[str, list[float]] = {}
    unpriced = uncounted = 0
    summed = ["input_tokens", "output_tokens", "cost_usd", "share_seen"]
    levels = {
        "clip": tables.clip_verdicts,
        "category": tables.category_verdicts,
        "trajectory": tables.trajectory_verdicts,
        "session": tables.session_verdicts,
        "canary": tables.canary_verdicts,
    }
    for level, by_judge in levels.items():
        if judge not in by_judge:
            continue
        of_drop = level != "canary"  # canary clips cost money, but are not part of the drop
        counts = outcomes.setdefault(level, Counter())
        for row in by_judge[judge].rows(["provider", "model", *COLUMNS, *summed]):
            identity = row
            counts[row["outcome"]] += 1
            if of_drop:
                answers.add(row)
            unpriced += row["cost_usd"] is None and row["outcome"] != "not_run"
            uncounted += row["input_tokens"] is None and row["outcome"] != "not_run"
            for column in summed if of_drop else summed[:3]:
                if row[column] is not None:
                    sums.setdefault(column, []).append(row[column])
    errors: Counter[str] = Counter()
    for (kind, _), count in answers.errors.items():
        errors[kind] += count
    tokens = {column: int(sum(sums[column])) if column in sums else None for column in summed[:2]}
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
    )


def _trajectory(row: Row, scores: dict[str, float | None]) -> TrajectorySummary:
    return TrajectorySummary(
        trajectory_id=row["trajectory_id"],
        task_id=row["task_id"],
        task=excerpt(row["task"], 300),
        success=row["success"],
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
    level, dot, name = criterion.partition(".")
    return (level, name) if dot else ("trajectory", criterion)


def excerpt(text: str, limit: int = EXCERPT) -> str:
    """The text, cut in the middle with a visible mark if it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    return without_middle(text, limit // 2, limit // 2, "[… {} characters left out …]")
