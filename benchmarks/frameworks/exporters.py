"""OpenTelemetry spans to files as users store them. For `make.py`: needs the SDK and the OTLP encoder, nothing else."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

_IDS = ("traceId", "spanId", "parentSpanId")


class OtlpFile(SpanExporter):
    """Appends OTLP JSON lines, as the file exporter of the OpenTelemetry Collector does: a batch a line."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        data = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
        for resource in data["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    span.update({key: base64.b64decode(span[key]).hex() for key in _IDS if span.get(key)})
        with self._path.open("a", encoding="utf-8") as sink:
            sink.write(json.dumps(data) + "\n")
        return SpanExportResult.SUCCESS
