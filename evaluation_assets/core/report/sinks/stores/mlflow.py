"""MLflow: scores as feedback on traces and spans, and the feedback of people.

MLflow gives each assessment an ID of its own, so the ID of the score is in the metadata. Before scores are sent, the
assessments of their trace are read: one with the same score ID is updated, not added again.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evaluation_assets.core.report.sinks.annotations import Annotation, as_label
from evaluation_assets.core.report.sinks.http import Http, SendError
from evaluation_assets.core.report.sinks.otel_ids import otel_span
from evaluation_assets.core.report.sinks.scores import TraceScore
from evaluation_assets.core.report.sinks.sink import Delivery, grouped_by, one_by_one, send_groups
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TRACES = "/api/3.0/mlflow/traces"
_SCORE_ID, _CONTENT = "evaluation_assets.score_id", "evaluation_assets.content"
_TOGETHER = 10_000


class MlflowSink:
    """The assessments of a tracking server."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def send(self, scores: Iterable[TraceScore]) -> Iterator[Delivery]:
        """Send the scores of one trace after the other."""
        return send_groups(grouped_by(scores, lambda score: score.trace_id, _TOGETHER), self._send_trace)

    def annotations(self, traces: Sequence[str]) -> Iterator[Annotation]:
        for trace in traces:
            try:
                assessments = self._assessments(trace)
            except SendError as problem:
                if problem.status == 404:
                    continue
                raise
            for each in assessments:
                source = each.get("source", {})
                feedback = each.get("feedback")
                is_ours = source.get("source_type") != "HUMAN" or _score_id(each) is not None
                if is_ours or feedback is None or each.get("span_id") or not _is_valid(each):
                    continue
                label = as_label(feedback.get("value"))
                if label is not None:
                    yield Annotation(
                        trace_id=trace,
                        name=each.get("assessment_name", ""),
                        label=label,
                        annotator=source.get("source_id") or "unknown",
                        comment=each.get("rationale", ""),
                    )

    def _send_trace(self, scores: list[TraceScore]) -> Iterator[Delivery]:
        trace = scores[0].trace_id or ""
        existing = {_score_id(each): each for each in self._assessments(trace)}
        return one_by_one(lambda score: self._put(trace, score, existing.get(score.id)))(scores)

    def _assessments(self, trace: str) -> list[JsonObject]:
        reply = self._http.get(f"{_TRACES}/{trace}")
        return reply.get("trace", {}).get("trace_info", {}).get("assessments", [])

    def _found(self, trace: str, score_id: str) -> JsonObject | None:
        """The assessment with a score ID, as in the reply to its creation."""
        own = next((each for each in self._assessments(trace) if _score_id(each) == score_id), None)
        return None if own is None else {"assessment": own}

    def _put(self, trace: str, score: TraceScore, existing: JsonObject | None) -> str:
        content = _assessment(trace, score)
        if existing is None:
            made = self._http.create(
                f"{_TRACES}/{trace}/assessments", {"assessment": content}, lambda: self._found(trace, score.id)
            )
            return made["assessment"]["assessment_id"]
        name = existing["assessment_id"]
        if existing.get("metadata", {}).get(_CONTENT) != score.content:
            changed = {key: content[key] for key in ("feedback", "rationale", "metadata")}
            self._http.request(
                "PATCH",
                f"{_TRACES}/{trace}/assessments/{name}",
                {
                    "assessment": {**changed, "assessment_id": name, "trace_id": trace},
                    "update_mask": ",".join(changed),
                },
            )
        return name


def _assessment(trace: str, score: TraceScore) -> JsonObject:
    metadata = {
        _SCORE_ID: score.id,
        _CONTENT: score.content,
        "evaluation_assets.drop": score.drop,
        "evaluation_assets.trajectory_id": score.trajectory_id,
        "evaluation_assets.judges": ", ".join(score.judges),
        "evaluation_assets.evaluated_at": score.evaluated_at or "",
    }
    feedback: dict[str, Any] = {"value": score.value == 1.0 if score.label else score.value}
    return {
        "assessment_name": score.name,
        "trace_id": trace,
        **({"span_id": otel_span(score.span_id) or score.span_id} if score.span_id else {}),
        "source": {
            "source_type": "CODE" if score.is_computed else "LLM_JUDGE",
            "source_id": ", ".join(score.judges) or "recorded outcome",
        },
        "feedback": feedback,
        "rationale": score.explanation or "",
        "metadata": metadata,
    }


def _score_id(assessment: JsonObject) -> str | None:
    return (assessment.get("metadata") or {}).get(_SCORE_ID)


def _is_valid(assessment: JsonObject) -> bool:
    """Whether an assessment has not been overridden by a later one."""
    return assessment.get("valid") is not False
