"""LangSmith: scores as feedback on runs, and the feedback of people.

The ID of the feedback is made from the ID of the score. A server that has it already is asked to update it.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence

from evaluation_assets.core.report.sinks.annotations import Annotation, as_label
from evaluation_assets.core.report.sinks.http import Http, SendError
from evaluation_assets.core.report.sinks.scores import TraceScore
from evaluation_assets.core.report.sinks.sink import Delivery, one_by_one, send_groups
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.traces.trajectories.model import JsonObject

_FEEDBACK = "/api/v1/feedback"
_NAMESPACE = uuid.UUID("6f0c7f0e-6d43-5a0b-9a52-5f8f6b0c7d11")
_RUNS_ASKED = 50
_PAGE = 100
_OURS = "evaluation_assets"


class LangsmithSink:
    """The feedback of a workspace."""

    def __init__(self, http: Http, project_id: str | None) -> None:
        self._http, self._project_id = http, project_id

    def send(self, scores: Iterable[TraceScore]) -> Iterator[Delivery]:
        """Send scores one by one."""
        return send_groups(([score] for score in scores), one_by_one(self._put))

    def annotations(self, traces: Sequence[str]) -> Iterator[Annotation]:
        """The feedback that people gave to the root runs of traces."""
        for some in chunks(traces, _RUNS_ASKED):
            offset = 0
            while True:
                asked = {"run": some, "limit": _PAGE, "offset": offset}
                page = self._http.get(_FEEDBACK, asked)
                yield from filter(None, map(_annotation, page))
                offset += len(page)
                if len(page) < _PAGE:
                    break

    def _put(self, score: TraceScore) -> str:
        name = str(uuid.uuid5(_NAMESPACE, score.id))
        said = {"score": None if score.value is None else round(score.value, 4), "comment": score.explanation}
        if score.label is not None:
            said["value"] = score.label
        try:
            self._http.post(_FEEDBACK, self._new(name, score) | said)
        except SendError as problem:
            if problem.status != 409:
                raise
            self._http.request("PATCH", f"{_FEEDBACK}/{name}", said)
        return name

    def _new(self, name: str, score: TraceScore) -> JsonObject:
        metadata = {"sent_by": _OURS, **score.metadata, "judges": ", ".join(score.judges)}
        return {
            "id": name,
            "run_id": score.span_id or score.trace_id,
            "trace_id": score.trace_id,
            "key": score.name,
            "feedback_source": {"type": "api" if score.is_computed else "model", "metadata": metadata},
            **({"session_id": self._project_id} if self._project_id else {}),
        }


def _annotation(feedback: JsonObject) -> Annotation | None:
    """The feedback of a person: that of a program has the source `api` or `model`."""
    source = feedback.get("feedback_source") or {}
    value = feedback.get("value") if feedback.get("score") is None else feedback["score"]
    run = feedback.get("run_id")
    if source.get("type") != "app" or run is None or (label := as_label(value)) is None:
        return None
    return Annotation(
        trace_id=run,
        name=feedback["key"],
        label=label,
        annotator=source.get("user_id") or source.get("user_name") or "unknown",
        comment=feedback.get("comment") or "",
    )
