"""What the viewer shows of a trajectory: its transcript, the clips with all verdicts, and a row of the runs table."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation_assets.core.intake.clips.clip_rows import with_clips
from evaluation_assets.core.intake.clips.segmentation import Clip
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.intake.image_rows import ImagesInOrder
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, grouped
from evaluation_assets.core.pipeline.drop_groups import DropGroups
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.viewer.run_facts import RunFacts, run_facts
from evaluation_assets.core.scoring.panel_scores import OVERALL
from evaluation_assets.core.sections.findings.claim_counts import DETECTORS, claims_of
from evaluation_assets.core.sections.findings.summary import SEVERITIES, kinds_title
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.nullable import mean_of
from evaluation_assets.core.traces.trajectories.images import Image
from evaluation_assets.core.traces.trajectories.model import JsonObject, Span, Step, Trajectory, Usage

_TASK_SHOWN = 200
"""Characters of a task in the runs table; the transcript has all."""

_LONGEST_ERROR = 500

_VERDICT = (
    "judge", "sample", "provider", "model", "outcome", "scores", "summary", "reasoning", "error", "cost_usd",
    "share_seen", "ledger_key",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrajectoryDocument:
    """A trajectory for the viewer: `row` is its row of the runs table, `content` what opens from it, if anything."""

    row: JsonObject
    content: JsonObject | None


def documents(tables: DropTables, groups: DropGroups | None = None) -> Iterator[TrajectoryDocument]:
    """Yield the documents of a drop's kept trajectories, in the order of the table; tables are read as streams.

    `groups` are the failure groups of the drop.
    """
    clip_scores, categories = Aligned(tables.clip_scores.rows()), Aligned(tables.category_assessments.rows())
    scores, content = Aligned(tables.trajectory_scores.rows()), DropFacts.of(tables.raw).content
    facts = run_facts(tables, groups)
    images = None if tables.images is None else ImagesInOrder(tables.images)
    claims = Aligned(tables.claims.rows(["trajectory_id", "clip_index", "verdict", "claim"]))
    levels = {level: [Aligned(own.rows()) for own in judges.values()] for level, judges in tables.verdicts.items()}
    for trajectory, clips in with_clips(tables.preprocessed, tables.clips):
        about = next((each for each in facts if each.trajectory_id == trajectory.id), RunFacts(trajectory.id))
        violations = about.violations
        verdicts = {
            level: [row for judge in judges for row in judge.at(trajectory.id)] for level, judges in levels.items()
        }
        own = {row["criterion"]: row["mean"] for row in scores.at(trajectory.id)}
        shown = _clips(clips, clip_scores.at(trajectory.id), verdicts["clip"])
        of_categories = _categories(categories.at(trajectory.id))
        known = {name: value for name, value in own.items() if name != OVERALL and value is not None}
        asked_for = {
            "passed": about.passed,
            "scores": known | about.figures(shown, of_categories),
            "words": about.words(trajectory, verdicts),
        }
        yield TrajectoryDocument(
            _row(trajectory, shown, own.get(OVERALL), violations) | asked_for,
            {
                **_about(trajectory, content),
                "scores": own,
                "violations": violations,
                "findings": _findings(about.findings),
                "claims": [*_claims(claims.at(trajectory.id)), *_judged_claims(verdicts["trajectory"])],
                "images": {} if images is None else _images(images.at(trajectory.id)),
                "items": transcript(trajectory, clips),
                "clips": shown,
                "categories": of_categories,
                "verdicts": [
                    {"level": level, "subject": row["subject"], **_verdict(row)}
                    for level in ("category", "trajectory", "session")
                    for row in verdicts[level]
                ],
            },
        )


def transcript(trajectory: Trajectory, clips: Sequence[Clip]) -> list[JsonObject]:
    """The text of a trajectory as items in order, each with its kind: user, thought, message, call, result, or text.

    Items of kind text are what lies between the others, such as tags. The items that are not `user` are the text of
    the trajectory, whole and in order.
    """
    items: list[JsonObject] = []
    ends = [clip.end for clip in clips]
    reached, number = 0, 0

    def add(kind: str, start: int, end: int, **about: Any) -> None:
        nonlocal reached
        if end > start:
            place = bisect_right(ends, start)
            clip = clips[place].index if place < len(clips) else None
            known = {name: value for name, value in about.items() if value is not None}
            items.append({"kind": kind, "text": trajectory.text[start:end], "clip": clip, **known})
            reached = end

    def fill(end: int) -> None:
        while (place := bisect_right(ends, reached)) < len(ends) and ends[place] < end:
            add("text", reached, ends[place])
        add("text", reached, end)

    for turn_number, turn in enumerate(trajectory.turns):
        if turn.user_message is not None:
            items.append({"kind": "user", "text": turn.user_message, "turn": turn_number})
        for interaction in turn.interactions:
            for step in interaction.steps:
                for kind, (start, end), about in _parts(step):
                    if start < reached:  # an answer inside of a thought, for instance
                        continue
                    fill(start)
                    add(kind, start, end, step=number, agent=interaction.agent_id, **about)
                number += 1
    fill(len(trajectory.text))
    return items


def _parts(step: Step) -> list[tuple[str, Span, JsonObject]]:
    """The parts of a step by their places in the text; figures of the step stand at its first part."""
    parts: list[tuple[str, Span, JsonObject]] = []
    if step.thought is not None:
        parts.append(("thought", step.thought, {}))
    if step.message is not None:
        parts.append(("message", step.message, {}))
    if step.call is not None:
        parts.append(("call", step.call.raw, {"tool": step.call.name, "server": step.call.server}))
    if step.result is not None:
        parts.append(("result", step.result.content, {"error": step.result.error}))
    parts.sort(key=lambda part: part[1])
    if parts:
        kind, span, about = parts[0]
        parts[0] = (kind, span, {**about, "ms": step.latency_ms, "usage": _usage(step.usage)})
    return parts


def _about(trajectory: Trajectory, content: str) -> JsonObject:
    """`content` is the hash of the drop as it was read, of the names and bytes of all its files."""
    return {
        "id": trajectory.id,
        "task_id": trajectory.task_id,
        "trial": trajectory.trial,
        "format": trajectory.format,
        "task": trajectory.task,
        "final_answer": trajectory.final_answer,
        "reference_answer": trajectory.reference_answer,
        "success": trajectory.success,
        "flags": list(trajectory.flags),
        "started_at": trajectory.started_at,
        "duration_s": trajectory.duration_s,
        "usage": _usage(trajectory.usage),
        "agents": [
            {"id": agent.id, "name": agent.name, "model": agent.model, "system": agent.description}
            for agent in trajectory.agents
        ],
        "trace_id": trajectory.extra.get("trace_id"),
        "error": str(trajectory.extra.get("error") or "")[:_LONGEST_ERROR],
        "source": None if trajectory.source is None else {**asdict(trajectory.source), "content": content},
    }


def _findings(rows: Sequence[Row]) -> list[JsonObject]:
    """The findings of a trajectory, gravest first, without broken rules, which are the violated constraints."""
    documents: list[JsonObject] = []
    for row in rows:
        if row["kind"] != "broken_rule":
            shown = {"title": kinds_title(row["kind"]), "severity": row["severity"], "evidence": row["evidence"]}
            group = row["alike"]
            if group is not None and group.others:
                shown |= {"group": group.group_id, "others": group.others}
            documents.append({**shown, "clip": row["clip_index"]})
    return sorted(documents, key=lambda finding: SEVERITIES.index(finding["severity"]))


def _claims(checked: Sequence[Row]) -> list[JsonObject]:
    """The claims of a trajectory with their verdicts, in the order of the run."""
    return [
        {"by": DETECTORS, "verdict": row["verdict"], "claim": row["claim"], "clip": row["clip_index"]}
        for row in checked
    ]


def _judged_claims(verdicts: Sequence[Row]) -> Iterator[JsonObject]:
    """The claims of the final answer that judges checked; those of the first verdict of each judge."""
    for row in verdicts:
        for own in claims_of(row):
            said = own["claim"] if own["quote"] is None else f'{own["claim"]} ("{own["quote"]}")'
            yield {"by": row["judge"], "verdict": own["verdict"], "claim": said, "clip": None}


def _images(images: Sequence[Image]) -> JsonObject:
    """Images by digest, as data URLs."""
    return {image.digest: f"data:{image.media_type};base64,{image.data}" for image in images}


def _row(
    trajectory: Trajectory, clips: list[JsonObject], score: float | None, violations: Sequence[JsonObject]
) -> JsonObject:
    calls = trajectory.calls
    usage = trajectory.usage or Usage()
    tokens = (usage.input_tokens, usage.output_tokens)
    means = [(clip["score"], clip["index"]) for clip in clips if clip["score"] is not None]
    return {
        "id": trajectory.id,
        "task_id": trajectory.task_id,
        "task": trajectory.task[:_TASK_SHOWN] + ("…" if len(trajectory.task) > _TASK_SHOWN else ""),
        "agents": [agent.name or agent.id for agent in trajectory.agents],
        "models": sorted({agent.model for agent in trajectory.agents if agent.model}),
        "success": trajectory.success,
        "score": score,
        "worst": min(means)[0] if means else None,
        "worst_clip": min(means)[1] if means else None,
        "turns": len(trajectory.turns),
        "calls": len(calls),
        "errors": sum(step.has_failed for step in calls),
        "tools": sorted({step.call.name for step in calls if step.call is not None}),
        "failed": sorted({step.call.name for step in calls if step.call is not None and step.has_failed}),
        "types": sorted({clip["tool_type"] for clip in clips}),
        "failed_types": sorted({clip["tool_type"] for clip in clips if clip["status"] == "error"}),
        "tokens": None if None in tokens else sum(filter(None, tokens)),
        "cost": usage.cost_usd,
        "seconds": trajectory.duration_s,
        "flags": list(trajectory.flags),
        "violated": [violation["constraint"] for violation in violations],
    }


def _clips(clips: Sequence[Clip], scores: list[dict[str, Any]], verdicts: Sequence[Row]) -> list[JsonObject]:
    means = {index: {row["criterion"]: row["mean"] for row in rows} for index, rows in grouped(scores, "clip_index")}
    said = by_key((row["clip_index"], _verdict(row)) for row in verdicts)
    return [
        {
            "index": clip.index,
            "tool_type": clip.tool_type,
            "status": clip.call_status,
            "score": mean_of(means.get(clip.index, {}).values()),
            "scores": means.get(clip.index, {}),
            "verdicts": said.get(clip.index, []),
        }
        for clip in clips
    ]


def _categories(rows: list[dict[str, Any]]) -> list[JsonObject]:
    return [
        {"category": category, "scores": {row["criterion"]: row["mean"] for row in own}}
        for category, own in grouped(rows, "category")
    ]


def _verdict(row: Row) -> JsonObject:
    """A verdict without what is missing; scores as a mapping."""
    known = {name: row[name] for name in _VERDICT if row[name] is not None}
    return {**known, "scores": dict(row["scores"] or {})}


def _usage(usage: Usage | None) -> JsonObject | None:
    if usage is None:
        return None
    figures = {"input": usage.input_tokens, "output": usage.output_tokens, "cost": usage.cost_usd}
    return figures | {"list_price": True} if usage.is_list_price else figures
