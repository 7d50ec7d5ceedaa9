"""Convert domain objects to table rows and back."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from evaluation_assets.core.clips.segmentation import Clip
from evaluation_assets.core.formats.base import Rejection
from evaluation_assets.core.judging.judge import Judge, Judgement
from evaluation_assets.core.judging.session_subjects import session_chain
from evaluation_assets.core.judging.subjects import (
    Chain,
    OwnScore,
    OwnScores,
    category_chain,
    clip_chain,
    trajectory_chain,
)
from evaluation_assets.core.lake import Aligned, Stored
from evaluation_assets.core.preprocessing.preprocess import Removal
from evaluation_assets.core.rubrics.model import Rubrics
from evaluation_assets.core.sessions.contributions import is_session
from evaluation_assets.core.suites.case_results import CaseResult
from evaluation_assets.core.suites.comparison import shown
from evaluation_assets.core.suites.failure_patterns import FailurePattern
from evaluation_assets.core.suites.suite import Case
from evaluation_assets.core.tables import TOOL_USE_RESULTS
from evaluation_assets.core.trajectories.model import Trajectory, from_json, to_json

Row = dict[str, Any]

_ARGUMENTS_SHOWN = 2000
_SAID = ("sample", "outcome", "scores")


def trajectory_row(drop: str, trajectory: Trajectory) -> Row:
    """A row of `raw_trajectories` and `preprocessed_trajectories`."""
    return {
        "drop": drop,
        "trajectory_id": trajectory.id,
        "task_id": trajectory.task_id,
        "trial": trajectory.trial,
        "format": trajectory.format,
        "task": trajectory.task,
        "final_answer": trajectory.final_answer,
        "success": trajectory.success,
        "started_at": trajectory.started_at,
        "duration_s": trajectory.duration_s,
        "n_turns": len(trajectory.turns),
        "n_tool_calls": len(trajectory.calls),
        "text": trajectory.text,
        "trajectory": to_json(trajectory),
        "repairs": [
            {"tag": repair.tag, "offset": repair.offset, "action": repair.action} for repair in trajectory.repairs
        ],
        "flags": list(trajectory.flags),
    }


def trajectory_of(row: Row) -> Trajectory:
    """The trajectory in a row; the columns `trajectory` and `text` are enough."""
    return from_json(row["trajectory"], row["text"])


def unreadable_row(drop: str, rejection: Rejection) -> Row:
    """A row of `unreadable_records`."""
    return {
        "drop": drop,
        "source": rejection.source,
        "line": rejection.line,
        "stage": "read",
        "reason": rejection.reason,
        "detail": rejection.detail,
        "raw": rejection.raw,
    }


def removal_row(drop: str, removal: Removal) -> Row:
    """A row of `rejected_records` for a trajectory a rule took out; `source` is its id, `raw` its text."""
    return {
        "drop": drop,
        "source": removal.trajectory.id,
        "line": None,
        "stage": "preprocess",
        "reason": removal.reason,
        "detail": removal.detail,
        "raw": removal.trajectory.text,
    }


def clip_row(drop: str, trajectory_id: str, clip: Clip) -> Row:
    """A row of `clips`."""
    return {
        "drop": drop,
        "trajectory_id": trajectory_id,
        "clip_index": clip.index,
        "tool_type": clip.tool_type,
        "tool_name": clip.tool_name,
        "is_final": clip.is_final,
        "content": clip.content,
        "start": clip.start,
        "end": clip.end,
        "call_status": clip.call_status,
    }


def clip_of(row: Row) -> Clip:
    """The clip in a row of `clips`."""
    return Clip(
        index=row["clip_index"],
        tool_type=row["tool_type"],
        tool_name=row["tool_name"],
        is_final=row["is_final"],
        start=row["start"],
        end=row["end"],
        call_status=row["call_status"],
        content=row["content"],
    )


def verdict_row(drop: str, judge: Judge, judgement: Judgement) -> Row:
    """A row of `clip_verdicts`, `category_verdicts` or `trajectory_verdicts`."""
    subject, verdict = judgement.subject, judgement.verdict
    if subject.level == "clip":
        place: Row = {"clip_index": subject.focus[0].index, "tool_type": subject.focus[0].tool_type}
    else:
        place = {"subject": subject.name}
    return {
        "drop": drop,
        "trajectory_id": subject.trajectory.id,
        **place,
        "judge": judge.name,
        "sample": judgement.sample,
        "provider": judge.provider,
        "model": judge.model,
        "rubric": subject.rubric.name,
        "rubric_version": subject.rubric.version_name,
        "outcome": verdict.outcome,
        "scores": dict(verdict.scores),
        "summary": verdict.summary,
        "reasoning": verdict.reasoning,
        "error_kind": verdict.error_kind,
        "error": verdict.error,
        "input_tokens": verdict.usage.input_tokens,
        "cached_tokens": verdict.usage.cached_tokens,
        "output_tokens": verdict.usage.output_tokens,
        "cost_usd": verdict.usage.cost_usd,
        "latency_ms": verdict.latency_ms,
        "attempts": verdict.attempts,
        "from_ledger": verdict.from_ledger,
        "share_seen": verdict.share_seen,
        "ledger_key": verdict.ledger_key,
        "served_model": verdict.served_model,
    }


def tool_use_row(drop: str, suite: str, case: Case, trajectory: Trajectory, result: CaseResult) -> Row:
    """A row of `tool_use_results`."""
    return {
        "drop": drop,
        "suite": suite,
        "case_id": case.id,
        "trajectory_id": trajectory.id,
        "trial": trajectory.trial,
        "category": case.category,
        "tags": list(case.tags),
        "passed": result.passed,
        "score": result.score,
        "precision": result.precision,
        "recall": result.recall,
        "f1": result.f1,
        "parameter_accuracy": result.parameter_accuracy,
        "exact_calls": result.exact_calls,
        "n_expected": result.expected_calls,
        "n_calls": len(result.calls),
        "match_ok": result.match_ok,
        "order_score": result.order,
        "edit_similarity": result.edit_similarity,
        "coverage": result.coverage,
        "keyword_score": result.keyword_score,
        "answer_outcome": result.answer,
        "completed": result.completed,
        "efficiency": result.efficiency,
        "redundancy": result.redundancy,
        "loops": result.loops,
        "errors": result.recovery.errors,
        "recovered": result.recovery.recovered,
        "schema_accuracy": result.schema,
        "latency_ms": result.latency_ms,
        "cost_usd": result.cost_usd,
        "calls": [
            {"tool": call.name, "arguments": shown(call.arguments, _ARGUMENTS_SHOWN), "error": call.error}
            for call in result.calls
        ],
        "tools": [asdict(figures) for figures in result.tools],
        "issues": [asdict(issue) for issue in result.issues],
    }


def case_without_run(drop: str, suite: str, case: Case) -> Row:
    """The row of `tool_use_results` for a case that no trajectory of the drop is an attempt at."""
    known = {
        "drop": drop,
        "suite": suite,
        "case_id": case.id,
        "category": case.category,
        "tags": list(case.tags),
        "n_expected": len(case.expected_calls),
        "calls": [],
        "tools": [],
        "issues": [],
    }
    return {column: known.get(column) for column in TOOL_USE_RESULTS.schema.names}


def failure_pattern_row(drop: str, suite: str, pattern: FailurePattern) -> Row:
    """A row of `failure_patterns`."""
    return {
        "drop": drop,
        "suite": suite,
        "failure_class": pattern.failure_class,
        "kinds": pattern.kinds,
        "n_issues": pattern.issues,
        "n_hard_issues": pattern.hard_issues,
        "n_runs": pattern.runs,
        "n_failed_runs": pattern.failed_runs,
        "case_ids": list(pattern.cases),
        "tool_names": list(pattern.tools),
        "parameter_names": list(pattern.parameters),
        "examples": list(pattern.examples),
        "recommendation": pattern.recommendation,
    }


def with_clips(trajectories: Stored, clips: Stored) -> Iterator[tuple[Trajectory, list[Clip]]]:
    """Every trajectory with its clips, in the order of the tables."""
    groups = Aligned(clips.rows())
    for row in trajectories.rows(["trajectory", "text"]):
        trajectory = trajectory_of(row)
        yield trajectory, [clip_of(clip) for clip in groups.at(trajectory.id)]


def clip_chains(trajectories: Stored, clips: Stored, rubrics: Rubrics) -> Iterator[Chain]:
    """What is judged at clip level."""
    for trajectory, own in with_clips(trajectories, clips):
        yield clip_chain(trajectory, own, rubrics)


def category_chains(trajectories: Stored, clips: Stored, clip_verdicts: Stored, rubrics: Rubrics) -> Iterator[Chain]:
    """What a judge is asked at category level, given its own verdicts on the clips."""
    said = Aligned(clip_verdicts.rows(["trajectory_id", "clip_index", "tool_type", *_SAID]))
    for trajectory, own in with_clips(trajectories, clips):
        yield category_chain(trajectory, own, rubrics, _own_scores(said.at(trajectory.id), [], rubrics))


def trajectory_chains(
    trajectories: Stored, clips: Stored, clip_verdicts: Stored, category_verdicts: Stored, rubrics: Rubrics
) -> Iterator[Chain]:
    """What a judge is asked at trajectory level, given its own verdicts on the clips and their categories."""
    of_clips = Aligned(clip_verdicts.rows(["trajectory_id", "clip_index", "tool_type", *_SAID]))
    of_categories = Aligned(category_verdicts.rows(["trajectory_id", "subject", *_SAID]))
    for trajectory, own in with_clips(trajectories, clips):
        said = _own_scores(of_clips.at(trajectory.id), of_categories.at(trajectory.id), rubrics)
        yield trajectory_chain(trajectory, own, rubrics, said)


def session_chains(trajectories: Stored, rubrics: Rubrics) -> Iterator[Chain]:
    """What is judged of sessions; other trajectories have nothing here."""
    for row in trajectories.rows(["trajectory", "text"]):
        trajectory = trajectory_of(row)
        if is_session(trajectory):
            yield session_chain(trajectory, rubrics)


def _own_scores(clip_verdicts: list[Row], category_verdicts: list[Row], rubrics: Rubrics) -> dict[int, OwnScores]:
    """One judge's scored verdicts on one trajectory, by sample."""
    return OwnScores.by_sample(
        (
            (
                row["sample"],
                row["clip_index"],
                OwnScore.of(row["scores"], rubrics.choose("clip", row["tool_type"]).scale),
            )
            for row in clip_verdicts
            if row["outcome"] == "scored"
        ),
        (
            (
                row["sample"],
                row["subject"],
                OwnScore.of(row["scores"], rubrics.choose("category", row["subject"]).scale),
            )
            for row in category_verdicts
            if row["outcome"] == "scored"
        ),
    )
