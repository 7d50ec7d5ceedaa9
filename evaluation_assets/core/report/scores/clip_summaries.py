"""The clips of a report: summaries of tool types and of clip criteria, and the worst clips with their verdicts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, grouped
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.report import ClipSummary, ClipVerdict, ToolSummary
from evaluation_assets.core.report.scores.lowest import Lowest
from evaluation_assets.core.report.scores.values import Values
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.excerpts import without_middle

WORST_CLIPS = 20

EXCERPT = 1200

_NAMED = 20
"""Tools of a type that are named."""

_FAILED = 2
"""Tools whose failed calls are counted on the terminal."""

_ENOUGH = 3
"""Runs in which every call of a tool failed, from which on it is the tool and not the run that is broken."""


@dataclass(slots=True)
class _Tool:
    clips: int = 0
    scored: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    criteria: dict[str, Values] = field(default_factory=dict)
    scores: Values = field(default_factory=Values)


@dataclass(frozen=True, slots=True)
class ClipCounts:
    """Numbers of clips: all, those that a judge was to be asked about, and those with a score.

    `broken_tools` are the tools of which all calls failed, in several runs, those in most runs first. `failed_calls`
    says which tools have the most failed calls.
    """

    total: int
    asked: int
    scored: int
    broken_tools: list[str]
    failed_calls: str


def clip_summaries(
    tables: DropTables, task_of: Mapping[str, str]
) -> tuple[list[ToolSummary], list[tuple[tuple[str, str], Values]], list[ClipSummary], ClipCounts]:
    """Tool summaries, clip criteria and the worst clips, in one pass over clips and their scores."""
    tools: dict[str, _Tool] = {}
    merged: dict[str, Values] = {}
    worst = Lowest(WORST_CLIPS)
    scores = Aligned(tables.clip_scores.rows(["trajectory_id", "clip_index", "criterion", "mean"]))
    is_asked = tables.selections.asker(list(tables.clip_verdicts), ("clip",))
    position = asked = 0
    failing, others = Counter[str](), set[str]()
    calls, failed = Counter[str](), Counter[str]()
    for trajectory_id, clips in grouped(
        tables.clips.rows(["trajectory_id", "clip_index", "tool_type", "tool_name", "is_final", "call_status"])
    ):
        by_clip = dict(grouped(scores.at(trajectory_id), "clip_index"))
        may_be_scored = is_asked(trajectory_id)
        failing.update({clip["tool_name"] for clip in clips if clip["call_status"] == "error"})
        others.update(clip["tool_name"] for clip in clips if clip["call_status"] != "error")
        for clip in clips:
            position += 1
            asked += may_be_scored
            tool = tools.setdefault(clip["tool_type"], _Tool())
            tool.clips += 1
            if not clip["is_final"]:
                tool.calls[clip["call_status"]] += 1
                tool.names[clip["tool_name"]] += 1
                calls[clip["tool_name"]] += 1
                failed[clip["tool_name"]] += clip["call_status"] == "error"
            own = by_clip.get(clip["clip_index"], [])
            place = (task_of.get(trajectory_id, trajectory_id), trajectory_id, clip["clip_index"])
            for score in own:
                for values in (tool.criteria, merged):
                    values.setdefault(score["criterion"], Values()).add(score["mean"], *place)
            known = [score["mean"] for score in own if score["mean"] is not None]
            tool.scores.add(fmean(known) if known else None, *place)
            if known:
                tool.scored += 1
                worst.offer(fmean(known), (trajectory_id, clip["clip_index"], clip, fmean(known)))
    summaries = sorted((_summary(name, tool) for name, tool in tools.items()), key=_most_failed)
    criteria = [(("clip", criterion), values) for criterion, values in sorted(merged.items())]
    broken = [name for name, runs in failing.most_common() if runs >= _ENOUGH and name not in others]
    scored = sum(tool.scored for tool in tools.values())
    counts = ClipCounts(position, asked, scored, broken, _failed_calls(calls, failed))
    return summaries, criteria, _with_verdicts(worst.items(), tables), counts


def _failed_calls(calls: Mapping[str, int], failed: Mapping[str, int]) -> str:
    """The tools with the most failed calls: `pay 8 of 10, find 1 of 40, 1 other tool`; empty where none failed."""
    ranked = sorted(((count, tool) for tool, count in failed.items() if count), key=lambda each: (-each[0], each[1]))
    named = [f"{tool} {count:,} of {calls[tool]:,}" for count, tool in ranked[:_FAILED]]
    return ", ".join([*named, counted(len(ranked) - _FAILED, "other tool")] if ranked[_FAILED:] else named)


def _most_failed(tool: ToolSummary) -> tuple[int, int, str]:
    return -tool.calls.get("error", 0), -tool.clip_count, tool.tool_type


def _summary(tool_type: str, tool: _Tool) -> ToolSummary:
    scores = tool.scores.statistic
    return ToolSummary(
        tool_type=tool_type,
        clip_count=tool.clips,
        scored_clips=tool.scored,
        overall=scores.mean,
        ci_low=scores.ci_low,
        ci_high=scores.ci_high,
        n_tasks=scores.n_tasks,
        criteria={criterion: values.statistic for criterion, values in sorted(tool.criteria.items())},
        calls=dict(sorted(tool.calls.items())),
        scores=scores,
        lowest=tool.scores.lowest,
        tools=[name for name, _ in tool.names.most_common(_NAMED)],
    )


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


def excerpt(text: str, limit: int = EXCERPT) -> str:
    """The text, cut in the middle with a visible mark if it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    return without_middle(text, limit // 2, limit // 2, "[… {} characters left out …]")
