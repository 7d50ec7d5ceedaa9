"""JSON bodies of the receiver: what one value costs the spans beside it."""

from typing import Any

import orjson
import pytest

from evaluation_assets.core.intake.sources.otlp.documents import document_of, parts_of
from evaluation_assets.core.intake.sources.otlp.parts import MalformedRequest, Parts


def _body(value: str) -> bytes:
    """Three spans of one trace, the last with an attribute of this value, as it is written in JSON."""
    spans: list[Any] = [{"traceId": "a" * 32, "spanId": f"{at:016x}"} for at in (1, 2, 3)]
    spans[2]["attributes"] = [{"key": "text", "value": "VALUE"}]
    document = orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    return document.replace(b'"VALUE"', value.encode())


def _parts(body: bytes) -> Parts:
    return parts_of(document_of(body), "traces")


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (r'{"stringValue": "half of an emoji \ud83d"}', {"stringValue": "half of an emoji \ufffd"}),
        (r'{"kvlistValue": {"values": [{"key": "\udfff"}]}}', {"kvlistValue": {"values": [{"key": "\ufffd"}]}}),
        ('{"doubleValue": NaN}', {"doubleValue": None}),
        ('{"doubleValue": 1e400}', {"doubleValue": None}),
        (f'{{"intValue": {"9" * 5000}}}', {"intValue": "9" * 5000}),
    ],
)
def test_a_value_that_json_lacks_costs_no_span(written: str, stored: object) -> None:
    (part,) = _parts(_body(written)).parts
    (resource,) = orjson.loads(part.content)["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    assert len(spans) == part.items == 3
    assert spans[2]["attributes"] == [{"key": "text", "value": stored}]


def test_a_body_that_is_nested_too_deeply_is_refused_as_such() -> None:
    with pytest.raises(MalformedRequest, match="nested too deeply"):
        document_of(b'{"resourceSpans": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    with pytest.raises(MalformedRequest, match="not JSON"):
        document_of(b'{"resourceSpans": [')


@pytest.mark.parametrize(
    ("document", "refused", "why"),
    [
        ({"resourceSpans": [1, None]}, 2, "an entry of resourceSpans is not an object"),
        ({"resourceSpans": [{"scopeSpans": {"spans": []}}]}, 1, "scopeSpans is not a list"),
        ({"resourceSpans": [{"scopeSpans": ["x", {"spans": "y"}]}]}, 2, "an entry of scopeSpans is not an object"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": "y"}]}]}, 1, "spans is not a list"),
        ({"resourceSpans": [{}, {"scopeSpans": None}, {"scopeSpans": [{}]}]}, 0, ""),
    ],
)
def test_what_is_no_group_of_spans_is_not_said_to_be_stored(document: Any, refused: int, why: str) -> None:
    parts = _parts(orjson.dumps(document))
    assert (parts.rejected, parts.reason, parts.parts) == (refused, why, [])
