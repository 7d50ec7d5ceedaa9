"""OTLP over HTTP, as a local server that answers as the protocol's specification says."""

from typing import Any

import pytest

from evaluation_assets.core.report.sinks.stores.otlp import OtlpSink, path_of
from evaluation_assets_tests.core.report.sinks.making import SPAN, TRACE, connected, score
from evaluation_assets_tests.http_server import Reply, Request, http_server


def sent(answer: dict[str, Any], *scores: Any) -> tuple[list[Any], list[Any]]:
    """What the sink says of scores, and the bodies that the server got."""
    bodies: list[Any] = []

    def reply(request: Request) -> Reply:
        assert request.path == "/v1/logs"
        bodies.append(request.body)
        return Reply(200, answer)

    with http_server(reply) as url, connected(url) as http:
        return list(OtlpSink(http, path_of(url)).send(scores)), bodies


def attributes(record: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in record["attributes"]}


def test_scores_are_events_of_their_trace_and_span() -> None:
    done, (body,) = sent({}, score("clarity", 0.25), score("parameters", 0.75, span_id=SPAN))
    assert [each.status for each in done] == ["delivered", "delivered"]
    records = [record for each in body["resourceLogs"] for scope in each["scopeLogs"] for record in scope["logRecords"]]
    assert [(record["traceId"], record.get("spanId")) for record in records] == [(TRACE, None), (TRACE, SPAN)]
    first = attributes(records[0])
    assert (first["gen_ai.evaluation.name"], first["gen_ai.evaluation.score.value"]) == ("clarity", 0.25)
    assert first["gen_ai.evaluation.explanation"] == "because"


def test_a_trace_id_of_another_kind_is_not_sent() -> None:
    done, bodies = sent({}, score(trace_id="run-7"))
    assert [(each.status, "32 hexadecimal digits" in (each.reason or "")) for each in done] == [("failed", True)]
    assert bodies == []


def test_events_that_the_endpoint_rejects_have_failed() -> None:
    answer = {"partialSuccess": {"rejectedLogRecords": "1", "errorMessage": "too old"}}
    done, _ = sent(answer, score())
    assert [(each.status, "too old" in (each.reason or "")) for each in done] == [("failed", True)]


@pytest.mark.parametrize(
    ("endpoint", "path"),
    [("http://host:4318", "/v1/logs"), ("http://host:4318/", "/v1/logs"), ("http://h/otel/logs", "")],
)
def test_the_path_is_added_to_an_endpoint_without_one(endpoint: str, path: str) -> None:
    assert path_of(endpoint) == path
