"""The scores of a drop as a stream, with the traces and spans that they belong to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from evaluation_assets.core.intake.facts import HistoryFacts
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored
from evaluation_assets.core.models.redaction.redactor import Redactor
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.sections.findings.summary import SEVERITIES
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets.core.traces.trajectories.recorded_spans import last_trace_of, spans_of_clips
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

ScoreLevel = Literal["clip", "category", "trajectory"]

LONGEST_EXPLANATION = 2000
"""Characters; more is cut. Stores show an explanation beside each score."""

_RULES = "rules"
_ANSWER = "answer."


@dataclass(frozen=True, kw_only=True)
class TraceScore:
    """A score of a trajectory, of a tool type in it, or of a clip.

    `trace_id` and `span_id` are `None` where the source recorded none. `value` is 0..1. `explanation` is what the
    judges wrote about the subject. `judges` are those that scored it; none for an outcome that the source recorded.
    `is_computed`: no model was asked. `evaluated_at` is when the drop was evaluated, `started_at` when the trajectory
    was recorded to begin, both as ISO 8601.
    """

    drop: str
    trajectory_id: str
    task_id: str
    level: ScoreLevel
    name: str
    value: float | None
    label: str | None = None
    explanation: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    clip_index: int | None = None
    tool_type: str | None = None
    judges: tuple[str, ...] = ()
    is_computed: bool = True
    n_scored: int | None = None
    n_judges: int | None = None
    evaluated_at: str | None = None
    started_at: str | None = None
    session_id: str | None = None
    service: str | None = None

    @cached_property
    def id(self) -> str:
        """The identity of the score, the same in every drop and evaluation that has its trace."""
        subject = self.tool_type if self.level == "category" else self.span_id
        return digest(self.trace_id or self.trajectory_id, subject or "", self.name, self.level)

    @cached_property
    def content(self) -> str:
        """A digest of what the score says."""
        return digest(repr(self.value), self.label or "", self.explanation or "")

    @property
    def metadata(self) -> JsonObject:
        """What stores keep with a score: where it comes from."""
        return {
            "drop": self.drop,
            "trajectory_id": self.trajectory_id,
            "judges": list(self.judges),
            "evaluated_at": self.evaluated_at,
        }


def drop_scores(home: Installation, drop: str, judges: Sequence[str], mask: Mask) -> Iterator[TraceScore]:
    """All scores of a drop, trajectory by trajectory; a missing score is left out.

    Args:
        home: Where the tables of the drop are.
        drop: Key of the drop.
        judges: Names of the judges whose verdicts explain the scores.
        mask: Removes secrets from explanations.
    """
    by_level = {
        "clip": home.table(drop, "clip_scores"),
        "category": home.table(drop, "category_assessments"),
        "trajectory": home.table(drop, "trajectory_scores"),
    }
    scores = {level: Aligned(table.rows()) for level, table in by_level.items()}
    verdicts = {
        level: [Aligned(home.table(drop, f"{level}_verdicts", judge).rows(_EXPLAINING[level])) for judge in judges]
        for level in by_level
    }
    gravest = _gravest_of_kinds(home.table(drop, "findings"))
    evaluated_at = HistoryFacts.of(home.table(drop, "score_history")).evaluated_at or None
    for row in home.table(drop, "preprocessed_trajectories").rows(TREE_AND_TEXT):
        trajectory = trajectory_of(row)
        own = _OfTrajectory(drop, trajectory, evaluated_at, mask)
        said = {level: [row for judge in each for row in judge.at(trajectory.id)] for level, each in verdicts.items()}
        if trajectory.success is not None:
            yield own.outcome(trajectory.success)
        for finding in gravest.get(trajectory.id, {}).values():
            yield own.finding(finding)
        for row in scores["trajectory"].at(trajectory.id):
            subject, criterion = _subject(row["criterion"])
            yield from own.score(
                "trajectory", row, criterion, [v for v in said["trajectory"] if v["subject"] == subject]
            )
        for row in scores["category"].at(trajectory.id):
            about = [verdict for verdict in said["category"] if verdict["subject"] == row["category"]]
            yield from own.score("category", row, row["criterion"], about)
        for row in scores["clip"].at(trajectory.id):
            about = [verdict for verdict in said["clip"] if verdict["clip_index"] == row["clip_index"]]
            yield from own.score("clip", row, row["criterion"], about)


def _gravest_of_kinds(findings: Stored) -> dict[str, dict[str, Row]]:
    """The gravest finding of each kind, by trajectory."""
    by_run: dict[str, dict[str, Row]] = {}
    for row in findings.rows(["trajectory_id", "kind", "severity", "evidence"]):
        gravest = by_run.setdefault(row["trajectory_id"], {}).setdefault(row["kind"], row)
        if SEVERITIES.index(row["severity"]) < SEVERITIES.index(gravest["severity"]):
            by_run[row["trajectory_id"]][row["kind"]] = row
    return by_run


_VERDICT = ("trajectory_id", "judge", "provider", "outcome", "scores", "summary", "reasoning")
_EXPLAINING = {
    "clip": (*_VERDICT, "clip_index"),
    "category": (*_VERDICT, "subject"),
    "trajectory": (*_VERDICT, "subject"),
}


def _subject(criterion: str) -> tuple[str, str]:
    """What a trajectory score is about, and the name of the criterion in the verdicts on it."""
    if criterion.startswith(_ANSWER):
        return "answer", criterion.removeprefix(_ANSWER)
    return "trajectory", criterion


class _OfTrajectory:
    """The scores of one trajectory."""

    def __init__(self, drop: str, trajectory: Trajectory, evaluated_at: str | None, mask: Mask) -> None:
        self._trace, self._spans = last_trace_of(trajectory), spans_of_clips(trajectory)
        self._mask = mask
        self._shared: dict[str, Any] = {
            "drop": drop,
            "trajectory_id": trajectory.id,
            "task_id": trajectory.task_id,
            "evaluated_at": evaluated_at,
            "started_at": trajectory.started_at,
            "session_id": trajectory.extra.get("session_id"),
            "service": trajectory.extra.get("service"),
        }

    def outcome(self, success: bool) -> TraceScore:
        """The outcome that the source recorded."""
        label = "pass" if success else "fail"
        shared = {**self._shared, "trace_id": self._trace}
        return TraceScore(**shared, level="trajectory", name="success", value=float(success), label=label)

    def finding(self, row: Row) -> TraceScore:
        """A kind of finding that the trajectory has, with its evidence; what it does not have is not sent."""
        return TraceScore(
            **self._shared,
            trace_id=self._trace,
            level="trajectory",
            name=f"finding.{row['kind']}",
            value=1.0,
            label=row["severity"],
            explanation=Redactor(Redaction())(self._mask(row["evidence"])) or None,
        )

    def score(self, level: ScoreLevel, row: Row, criterion: str, verdicts: Iterable[Row]) -> Iterator[TraceScore]:
        """The score in a row of a table of scores, explained by the verdicts on its subject."""
        if row["mean"] is None:
            return
        scored = [
            verdict
            for verdict in verdicts
            if verdict["outcome"] == "scored" and (verdict["scores"] or {}).get(criterion) is not None
        ]
        span = self._spans.get(row["clip_index"]) if level == "clip" else None
        yield TraceScore(
            **self._shared,
            trace_id=self._trace if span is None else span.trace_id,
            span_id=None if span is None else span.span_id,
            level=level,
            name=row["criterion"],
            value=float(row["mean"]),
            explanation=self._explanation(scored),
            clip_index=row.get("clip_index"),
            tool_type=row.get("tool_type") or row.get("category"),
            judges=tuple(dict.fromkeys(verdict["judge"] for verdict in scored)),
            is_computed=all(verdict["provider"] == _RULES for verdict in scored),
            n_scored=row["n_scored"],
            n_judges=row["n_judges"],
        )

    def _explanation(self, verdicts: Sequence[Row]) -> str | None:
        """What the judges wrote, each after its name if there are several. Samples that say the same are said once."""
        texts = [
            (verdict["judge"], " ".join(filter(None, (verdict["summary"], verdict["reasoning"]))))
            for verdict in verdicts
        ]
        said = list(dict.fromkeys((judge, text) for judge, text in texts if text))
        several = len({judge for judge, _ in said}) > 1
        text = self._mask("\n".join(f"{judge}: {text}" if several else text for judge, text in said))
        text = Redactor(Redaction())(text)  # judges without a model quote what they were shown whole
        return f"{text[:LONGEST_EXPLANATION]}…" if len(text) > LONGEST_EXPLANATION else text or None


@dataclass(slots=True)
class Counts:
    """Scores of a drop that are not sent: those whose trajectory has no trace ID, and clips without a known span."""

    without_trace: int = 0
    trajectories_without_trace: int = 0
    without_span: int = 0
    repeated: int = 0


def sendable(scores: Iterable[TraceScore], levels: Sequence[str], counts: Counts) -> Iterator[TraceScore]:
    """The scores that have a place in a trace store: those of traces, and of clips with a span.

    If two trajectories of the drop have the same trace, the score of the first is sent. All others are counted.
    """
    seen: set[str] = set()
    last: str | None = None
    for score in scores:
        if score.level not in levels:
            continue
        if score.trace_id is None:
            counts.without_trace += 1
            counts.trajectories_without_trace += score.trajectory_id != last
            last = score.trajectory_id
        elif score.level == "clip" and score.span_id is None:
            counts.without_span += 1
        elif score.id in seen:
            counts.repeated += 1
        else:
            seen.add(score.id)
            yield score
