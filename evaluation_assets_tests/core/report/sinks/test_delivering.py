"""Deliveries of an evaluated drop: exactly once on a store that identifies scores, whatever fails or crashes."""

from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation_assets.core.intake.facts import HistoryFacts
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream, batched, write
from evaluation_assets.core.report.sinks import otel_events
from evaluation_assets.core.report.sinks.delivering import Consignment, Tally
from evaluation_assets.core.report.sinks.scores import TraceScore, drop_scores
from evaluation_assets.core.report.sinks.settings import MlflowSinkSettings, SinkSettings, WebhookSinkSettings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.traces.trajectories.trajectory_rows import trajectory_row
from evaluation_assets_tests.core.making import answer, trajectory
from evaluation_assets_tests.core.report.sinks.making import outcome
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES
from evaluation_assets_tests.core.traces.formats.reading import trajectories as runs_of
from evaluation_assets_tests.http_server import Reply, Request, http_server

KEY = "a1B2" * 9
CRITERIA = ("clarity", "accuracy", "safety")


def put(home: Installation, table: str, rows: list[dict[str, Any]], *judge: str, **facts: str) -> None:
    kind = tables.TABLES[table]
    write(home.table("d", table, *judge).path, Stream(kind, batched(rows, kind), facts=lambda: facts))


def evaluated(folder: Path, value: float = 0.5) -> Installation:
    """A drop of two recorded traces and a run without one, with scores of each, as the assets store them."""
    home = Installation.at(str(folder))
    runs = [*runs_of(FIXTURES / "otel"), trajectory(answer("x"))]
    put(home, "preprocessed_trajectories", [trajectory_row("d", run) for run in runs])
    given = {"mean": value, "adjusted_mean": value, "std": None, "n_scored": 1, "n_judges": 1}
    put(
        home,
        "trajectory_scores",
        [
            {"drop": "d", "trajectory_id": run.id, "task_id": run.task_id, "criterion": criterion, **given}
            for run in runs
            for criterion in (*CRITERIA, "answer.clarity")
        ],
    )
    clip = {"drop": "d", "tool_type": "weather_expert", "median": value, "min": value, "max": value, **given}
    put(
        home,
        "clip_scores",
        [
            {**clip, "trajectory_id": runs[0].id, "clip_index": index, "criterion": criterion}
            for index in (0, 1)
            for criterion in CRITERIA
        ],
    )
    verdict: dict[str, Any] = dict.fromkeys(tables.TRAJECTORY_VERDICTS.schema.names)
    verdict |= {"drop": "d", "trajectory_id": runs[0].id, "subject": "answer", "judge": "sonnet", "sample": 0}
    verdict |= {"provider": "anthropic", "outcome": "scored", "scores": {"clarity": value}, "attempts": 1}
    verdict |= {
        "summary": "It is clear.",
        "reasoning": f"The key is sk-secret-1234, the token ghp_{KEY}.",
        "from_ledger": False,
    }
    put(home, "trajectory_verdicts", [verdict], "sonnet")
    put(home, "score_history", [], **HistoryFacts(evaluated_at="2026-11-22T10:00:00.250+00:00").footer())
    return home


def scores_of(home: Installation) -> list[TraceScore]:
    return list(drop_scores(home, "d", ["sonnet"], Mask(["sk-secret-1234"])))


class Mlflow:
    """The assessments of traces, each with an ID of the server: what is created twice is there twice."""

    def __init__(self) -> None:
        self.assessments: dict[str, list[dict[str, Any]]] = {}
        self.faults: Iterator[str] = iter(())
        self.writes = 0

    def answer(self, request: Request) -> Reply:
        fault = next(self.faults, "none")
        if fault in ("500", "429", "404"):
            return Reply(int(fault), {"message": "no"})
        done = self._done(request)
        return Reply(hang_up=True) if fault == "hang_up" else done

    def _done(self, request: Request) -> Reply:
        trace, *rest = request.path.removeprefix("/api/3.0/mlflow/traces/").split("/")
        own = self.assessments.setdefault(trace, [])
        if request.method == "GET":
            return Reply(200, {"trace": {"trace_info": {"assessments": own}}})
        self.writes += 1
        if request.method == "POST":
            own.append({"assessment_id": f"a-{trace}-{len(own)}", **request.body["assessment"]})
            return Reply(200, {"assessment": own[-1]})
        (each,) = (each for each in own if each["assessment_id"] == rest[1])
        each |= {name: request.body["assessment"][name] for name in request.body["update_mask"].split(",")}
        return Reply(200, {"assessment": each})

    def content(self) -> list[tuple[str, float]]:
        there = (each for own in self.assessments.values() for each in own)
        return sorted((each["metadata"]["evaluation_assets.score_id"], each["feedback"]["value"]) for each in there)


def deliver(home: Installation, sink: SinkSettings, crash_after: int | None = None) -> Tally:
    """Deliver the drop as the asset does; a crash leaves the table of deliveries as it was."""
    tally = Tally()
    rows = Consignment(home, "d", "store", sink, ["sonnet"], outcome).deliver(tally)
    if crash_after is None:
        put(home, "deliveries", list(rows), "store")
    else:
        list(islice(rows, crash_after))
        cast(Generator[Any, None, None], rows).close()
    return tally


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return evaluated(tmp_path_factory.mktemp("home"))


runs_with_faults = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["none", "none", "500", "404", "hang_up"]), max_size=30),
        st.none() | st.integers(0, 12),
        st.sampled_from([0.25, 0.75]),
    ),
    max_size=4,
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs_with_faults)
def test_failures_and_crashes_leave_each_score_exactly_once(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[list[str], int | None, float]]
) -> None:
    store, folder = Mlflow(), tmp_path_factory.mktemp("home")
    with http_server(store.answer) as url:
        sink = MlflowSinkSettings(type="mlflow", tracking_uri=url, attempts=1)
        for faults, crash_after, value in runs:
            store.faults = iter(faults)
            deliver(evaluated(folder, value), sink, crash_after)
        store.faults = iter(())
        home = evaluated(folder, 0.5)
        assert deliver(home, sink).failed == 0
        expected = sorted((score.id, 0.5) for score in scores_of(home) if score.trace_id and score.clip_index != 1)
        assert store.content() == expected
        before = store.writes
        again = deliver(home, sink)
    assert (again.sent, again.there, store.writes) == (0, len(expected), before)


def test_what_cannot_be_sent_is_counted(home: Installation) -> None:
    sink = MlflowSinkSettings(type="mlflow", tracking_uri="http://localhost:1", levels=("trajectory", "clip"))
    tally = Consignment(home, "d", "none", sink, ["sonnet"], outcome).preview()
    assert str(tally) == (
        "11 sent, 0 already there, 4 scores of 1 run without a trace ID, 3 clip scores without a span"
    )
    assert not home.table("d", "deliveries", "none").exists


def test_a_store_that_is_down_fails_every_score_after_one_attempt(home: Installation) -> None:
    with http_server(lambda _: Reply()) as url:
        pass
    tally = deliver(home, MlflowSinkSettings(type="mlflow", tracking_uri=url, attempts=1))
    assert (tally.sent, tally.failed, tally.reason) == (0, 11, "cannot connect")
    rows = list(home.table("d", "deliveries", "store").rows())
    assert {(row["status"], row["reason"], row["remote_id"]) for row in rows} == {("failed", "cannot connect", None)}


def test_a_page_that_is_no_api_fails_with_a_reason(home: Installation) -> None:
    with http_server(lambda _: Reply(200, text="<html>Sign in</html>")) as url:
        tally = deliver(home, MlflowSinkSettings(type="mlflow", tracking_uri=url))
    assert tally.failed == 11 and tally.reason is not None and "check the URL" in tally.reason


def test_a_key_that_is_not_set_is_named(home: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHAT_URL", raising=False)
    tally = deliver(home, WebhookSinkSettings(type="webhook", url_env="CHAT_URL"))
    assert (tally.failed, tally.reason) == (1, "CHAT_URL is not set")


def test_scores_say_where_they_belong_and_why(home: Installation) -> None:
    scores = scores_of(home)
    by_name = {(score.trajectory_id, score.name, score.clip_index): score for score in scores}
    (manager, *_) = runs_of(FIXTURES / "otel")
    explained = by_name[manager.id, "answer.clarity", None]
    assert explained.explanation == "It is clear. The key is [masked], the token [REDACTED:credential:1]."
    assert (explained.judges, explained.is_computed) == (("sonnet",), False)
    clip = by_name[manager.id, "clarity", 0]
    assert (clip.level, clip.trace_id, clip.span_id is None) == ("clip", manager.id, False)
    assert len({score.id for score in scores if score.clip_index != 1}) == len(scores) - 3


def test_events_have_the_attributes_of_the_semantic_conventions(home: Installation) -> None:
    score = next(score for score in scores_of(home) if score.explanation)
    record = otel_events.event(score)
    found = {item["key"]: next(iter(item["value"].values())) for item in record["attributes"]}
    assert (record["eventName"], record["timeUnixNano"]) == ("gen_ai.evaluation.result", "1795341600250000000")
    assert record["traceId"] == score.trace_id and "spanId" not in record
    assert found["gen_ai.evaluation.name"] == "answer.clarity"
    assert found["gen_ai.evaluation.score.value"] == 0.5
    assert (
        found["gen_ai.evaluation.explanation"] == "It is clear. The key is [masked], the token [REDACTED:credential:1]."
    )
    assert found["gen_ai.evaluation.evaluator.name"] == "sonnet"
    clip = next(score for score in scores_of(home) if score.span_id)
    assert otel_events.event(clip)["spanId"] == clip.span_id


def test_a_score_without_a_trace_is_an_event_without_one(home: Installation) -> None:
    score = next(score for score in scores_of(home) if score.trace_id is None)
    assert not {"traceId", "spanId"} & otel_events.event(score).keys()
