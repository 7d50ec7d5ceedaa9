"""Langfuse: scores on traces and observations, and the scores that people gave.

Langfuse updates a score of the same ID and timestamp. The timestamp is the beginning of the trajectory, which does not
change when it is evaluated again. Scores are sent in lists of one; servers before version 4 take no list and answer
400, and are then sent the score itself.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from evaluation_assets.core.report.sinks.annotations import Annotation, as_label
from evaluation_assets.core.report.sinks.http import Http, SendError
from evaluation_assets.core.report.sinks.scores import TraceScore
from evaluation_assets.core.report.sinks.sink import Delivery, one_by_one, send_groups
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.system.paging import paged
from evaluation_assets.core.traces.trajectories.model import JsonObject

_SCORES = "/api/public/scores"
_TRACES_ASKED = 50
_UNDATED = "2020-01-01T00:00:00Z"
"""The timestamp of a score whose trajectory has none: it has to be the same each time."""

_PREFIX = "evaluation_assets-"
_HAS_OFFSET = re.compile(r"\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$")


class LangfuseSink:
    """The scores of a project."""

    def __init__(self, http: Http) -> None:
        self._http, self._takes_lists = http, True

    def send(self, scores: Iterable[TraceScore]) -> Iterator[Delivery]:
        """Send scores one by one: Langfuse does not say which score of a list it rejected."""
        return send_groups(([score] for score in scores), one_by_one(self._put))

    def annotations(self, traces: Sequence[str]) -> Iterator[Annotation]:
        """The scores that people gave to traces in the UI."""
        for some in chunks(traces, _TRACES_ASKED):
            yield from filter(None, map(_annotation, paged(partial(self._page, some), SendError)))

    def _page(self, traces: Sequence[str], cursor: str | None) -> tuple[list[JsonObject], str | None]:
        asked = {"traceId": ",".join(traces), "source": "ANNOTATION", "fields": "details,subject,annotation"}
        page = self._http.get("/api/public/v3/scores", asked | {"limit": 100} | ({"cursor": cursor} if cursor else {}))
        return page["data"], page["meta"].get("cursor")

    def _put(self, score: TraceScore) -> str:
        name = f"{_PREFIX}{score.id}"
        content = _score(score, name)
        if self._takes_lists:
            try:
                reply = self._http.post(_SCORES, [content])
            except SendError as problem:
                if problem.status != 400:
                    raise
                self._http.post(_SCORES, content)
                self._takes_lists = False
            else:
                if (reply or {}).get("rejected"):
                    raise SendError(f"rejected: {reply['errors'][0]['message']}")
        else:
            self._http.post(_SCORES, content)
        return name


def _score(score: TraceScore, name: str) -> JsonObject:
    is_outcome = score.label is not None
    return {
        "id": name,
        "traceId": score.trace_id,
        **({"observationId": score.span_id} if score.span_id else {}),
        "name": score.name,
        "value": int(score.value or 0) if is_outcome else score.value,
        "dataType": "BOOLEAN" if is_outcome else "NUMERIC",
        "comment": score.explanation,
        "timestamp": score.started_at if _HAS_OFFSET.search(score.started_at or "") else _UNDATED,
        "metadata": score.metadata,
    }


def _annotation(score: JsonObject) -> Annotation | None:
    subject, label = score.get("subject") or {}, as_label(score.get("value"))
    is_ours = score["source"] != "ANNOTATION" or score["id"].startswith(_PREFIX)
    if is_ours or subject.get("kind") != "trace" or label is None:
        return None
    return Annotation(
        trace_id=subject["id"],
        name=score["name"],
        label=label,
        annotator=score.get("authorUserId") or "unknown",
        comment=score.get("comment") or "",
    )
