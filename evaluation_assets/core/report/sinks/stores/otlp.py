"""OTLP/HTTP: scores as `gen_ai.evaluation.result` events, for any backend that takes logs.

Events are appended, not updated: after a crash some may be sent twice. They have the score's ID, by which a backend
finds the repeated ones.
"""

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from evaluation_assets.core.report.sinks.http import Http, SendError
from evaluation_assets.core.report.sinks.otel_events import document
from evaluation_assets.core.report.sinks.otel_ids import otel_trace
from evaluation_assets.core.report.sinks.scores import TraceScore
from evaluation_assets.core.report.sinks.sink import Delivery, grouped_by, send_groups

_TOGETHER = 200


class OtlpSink:
    """The logs of an endpoint."""

    def __init__(self, http: Http, path: str) -> None:
        self._http, self._path = http, path

    def send(self, scores: Iterable[TraceScore]) -> Iterator[Delivery]:
        """Send scores in batches. A trace ID that is none of OpenTelemetry's cannot be sent."""
        groups = grouped_by(scores, lambda score: otel_trace(score.trace_id or "") is None, _TOGETHER)
        return send_groups(groups, self._send_batch)

    def _send_batch(self, scores: list[TraceScore]) -> Iterator[Delivery]:
        if otel_trace(scores[0].trace_id or "") is None:
            reason = "the trace ID is not one of OpenTelemetry (32 hexadecimal digits)"
            yield from (Delivery(score, "failed", reason) for score in scores)
            return
        reply = self._http.post(self._path, document(scores))
        partial = (reply or {}).get("partialSuccess") or {}
        if int(partial.get("rejectedLogRecords") or 0):
            raise SendError(
                f"the endpoint rejected {partial['rejectedLogRecords']} events: {partial.get('errorMessage')}"
            )
        yield from (Delivery(score, "delivered") for score in scores)


def path_of(endpoint: str) -> str:
    """The path to post logs to, below the endpoint."""
    return "" if urlsplit(endpoint).path.strip("/") else "/v1/logs"
