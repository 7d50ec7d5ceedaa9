"""Scores on traces of real servers of MLflow and Phoenix, sent twice, and the labels of people from there."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from evaluation_assets.core.report.sinks.annotations import Annotation
from evaluation_assets.core.report.sinks.http import Http
from evaluation_assets.core.report.sinks.opening import open_annotated, open_sink
from evaluation_assets.core.report.sinks.settings import MlflowSinkSettings, PhoenixSinkSettings, ScoreSinkSettings
from evaluation_assets.core.report.sinks.sink import Delivery, ScoreSink
from evaluation_assets_tests.core.report.sinks.making import connected, score
from evaluation_assets_tests.test_ui import wait_for
from evaluation_assets_tests.trace_servers import mlflow_server, phoenix_server

RUNS = Path(__file__).parent / "recorded_runs"
STORED_SECONDS = 60


@dataclass(frozen=True)
class Kind:
    """A store: its server, an agent that records a run, a sink, the scores that the store has, and a person's word."""

    server: Callable[[], AbstractContextManager[str]]
    agent: str
    sink: Callable[[str], ScoreSinkSettings]
    stored: Callable[[Http, str, str], list[dict[str, Any]]]
    annotate: Callable[[Http, str], Any]


def in_mlflow(http: Http, trace: str, span: str) -> list[dict[str, Any]]:
    reply = http.get(f"/api/3.0/mlflow/traces/{trace}")
    return [
        {
            "name": each["assessment_name"],
            "span": each.get("span_id"),
            "value": each["feedback"]["value"],
            "by": each["source"]["source_type"],
            "why": each["rationale"],
        }
        for each in reply["trace"]["trace_info"].get("assessments", [])
    ]


def annotate_mlflow(http: Http, trace: str) -> None:
    said = {"assessment_name": "correctness", "trace_id": trace, "feedback": {"value": False}, "rationale": "wrong"}
    source = {"source_type": "HUMAN", "source_id": "ann"}
    http.post(f"/api/3.0/mlflow/traces/{trace}/assessments", {"assessment": {**said, "source": source}})


def in_phoenix(http: Http, trace: str, span: str) -> list[dict[str, Any]]:
    found = [
        each
        for kind, name in (("trace", trace), ("span", span))
        for each in http.get(f"/v1/projects/support/{kind}_annotations", {f"{kind}_ids": name})["data"]
    ]
    return [
        {
            "name": each["name"],
            "span": each.get("span_id"),
            "value": each["result"]["score"],
            "by": {"LLM": "LLM_JUDGE"}.get(each["annotator_kind"], each["annotator_kind"]),
            "why": each["result"]["explanation"],
        }
        for each in found
    ]


def annotate_phoenix(http: Http, trace: str) -> None:
    result = {"label": "fail", "explanation": "wrong"}
    said = {"trace_id": trace, "name": "correctness", "annotator_kind": "HUMAN", "identifier": "ann", "result": result}
    http.post("/v1/trace_annotations", {"data": [said]}, {"sync": "true"})


KINDS = {
    "mlflow": Kind(
        mlflow_server,
        "mlflow_agent.py",
        lambda url: MlflowSinkSettings(type="mlflow", tracking_uri=url),
        in_mlflow,
        annotate_mlflow,
    ),
    "phoenix": Kind(
        phoenix_server,
        "phoenix_agent.py",
        lambda url: PhoenixSinkSettings(type="phoenix", url=url, project="support"),
        in_phoenix,
        annotate_phoenix,
    ),
}


@pytest.fixture(params=list(KINDS))
def running(request: pytest.FixtureRequest) -> Iterator[tuple[Kind, str]]:
    kind = KINDS[request.param]
    with kind.server() as url:
        yield kind, url


def test_scores_are_there_once_and_labels_come_back(running: tuple[Kind, str]) -> None:
    """Each store is started once: what is asserted of it is in one test."""
    kind, url = running
    done = subprocess.run(
        [sys.executable, str(RUNS / kind.agent), url, "support"], capture_output=True, text=True, check=True
    )
    recorded = json.loads(done.stdout)
    trace, span = recorded["trace"], recorded["span"]

    def send(value: float) -> list[Delivery]:
        scores = [
            score("helpfulness", value, trace_id=trace, is_computed=False, judges=("sonnet",)),
            score("parameter_quality", 0.75, trace_id=trace, span_id=span),
        ]
        with open_sink(kind.sink(url)) as sink:
            return list(cast(ScoreSink, sink).send(scores))

    def stored_trace() -> bool | None:
        return all(each.status == "delivered" for each in send(0.25)) or None  # servers store traces in the background

    wait_for(stored_trace, STORED_SECONDS)
    (first, second) = (sorted((each.item.id, each.remote_id) for each in send(value)) for value in (0.5, 0.5))
    assert first == second
    (missing,) = send_missing(kind, url)
    assert (missing.status, "404" in (missing.reason or "")) == ("failed", True)
    with connected(url) as http:
        assert sorted(kind.stored(http, trace, span), key=lambda each: each["name"]) == [
            {"name": "helpfulness", "span": None, "value": 0.5, "by": "LLM_JUDGE", "why": "because"},
            {"name": "parameter_quality", "span": span, "value": 0.75, "by": "CODE", "why": "because"},
        ]
        kind.annotate(http, trace)
    with open_annotated(kind.sink(url)) as store:
        assert list(store.annotations([trace])) == [
            Annotation(trace_id=trace, name="correctness", label=0.0, annotator="ann", comment="wrong")
        ]


def send_missing(kind: Kind, url: str) -> list[Delivery]:
    """Send a score of a trace that the store does not have."""
    with open_sink(kind.sink(url)) as sink:
        return list(cast(ScoreSink, sink).send([score("helpfulness", trace_id="f" * 32)]))
