"""Arize Phoenix: scores as annotations of traces and spans, and the annotations of people.

Phoenix updates an annotation of the same name, subject and identifier. The ID of the score is the identifier.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from urllib.parse import quote

from evaluation_assets.core.report.sinks.annotations import Annotation, as_label
from evaluation_assets.core.report.sinks.http import Http, SendError
from evaluation_assets.core.report.sinks.scores import TraceScore
from evaluation_assets.core.report.sinks.sink import Delivery, grouped_by, send_groups
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.system.paging import paged
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TOGETHER = 100
_IDS_ASKED = 50
"""IDs in one question: they are part of the URL."""

IDENTIFIER = "evaluation_assets:"
"""How the identifiers of our annotations begin."""


class PhoenixSink:
    """The annotations of a project."""

    def __init__(self, http: Http, project: str) -> None:
        self._http, self._annotations = http, f"/v1/projects/{quote(project, safe='')}/trace_annotations"

    def send(self, scores: Iterable[TraceScore]) -> Iterator[Delivery]:
        """Send scores in batches. Phoenix refuses a batch as a whole, which is then sent one by one."""
        return send_groups(grouped_by(scores, lambda score: score.span_id is None, _TOGETHER), self._send_batch)

    def annotations(self, traces: Sequence[str]) -> Iterator[Annotation]:
        for some in chunks(traces, _IDS_ASKED):
            yield from filter(None, map(_by_a_person, paged(partial(self._page, some), SendError)))

    def _page(self, traces: Sequence[str], cursor: str | None) -> tuple[list[JsonObject], str | None]:
        asked = {"trace_ids": traces, "limit": 1000} | ({"cursor": cursor} if cursor else {})
        try:
            page = self._http.get(self._annotations, asked)
        except SendError as problem:
            if problem.status == 404:  # none of these traces is there any more
                return [], None
            raise
        return page["data"], page.get("next_cursor")

    def _send_batch(self, scores: list[TraceScore]) -> Iterator[Delivery]:
        kind = "trace" if scores[0].span_id is None else "span"
        try:
            reply = self._http.post(
                f"/v1/{kind}_annotations", {"data": [_annotation(score) for score in scores]}, {"sync": "true"}
            )
        except SendError as problem:
            if problem.is_down:
                raise
            if len(scores) == 1:
                yield Delivery(scores[0], "failed", str(problem))
            else:
                for score in scores:
                    yield from self._send_batch([score])
            return
        for score, made in zip(scores, reply["data"], strict=True):
            yield Delivery(score, "delivered", remote_id=made["id"])


def _annotation(score: TraceScore) -> JsonObject:
    subject = {"span_id": score.span_id} if score.span_id else {"trace_id": score.trace_id}
    return {
        **subject,
        "name": score.name,
        "annotator_kind": "CODE" if score.is_computed else "LLM",
        "identifier": f"{IDENTIFIER}{score.id}",
        "result": {"score": score.value, "label": score.label, "explanation": score.explanation},
        "metadata": score.metadata,
    }


def _by_a_person(annotation: JsonObject) -> Annotation | None:
    result = annotation.get("result") or {}
    label = as_label(result.get("label") if result.get("score") is None else result["score"])
    identifier = annotation["identifier"]
    if annotation["annotator_kind"] != "HUMAN" or identifier.startswith(IDENTIFIER) or label is None:
        return None
    return Annotation(
        trace_id=annotation["trace_id"],
        name=annotation["name"],
        label=label,
        annotator=annotation.get("user_id") or identifier or "unknown",
        comment=result.get("explanation") or "",
    )
