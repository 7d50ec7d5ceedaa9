"""LangSmith, as a local server that answers as the requests of its SDK expect (langsmith 0.15.0).

`POST /feedback` creates, and refuses an ID that exists with 409; `PATCH /feedback/{id}` changes the fields that are
sent; `GET /feedback` filters by `run` and is read by `limit` and `offset`. Scores have at most four decimals.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from evaluation_assets.core.report.sinks.stores.langsmith import LangsmithSink
from evaluation_assets_tests.core.report.sinks.making import connected, score
from evaluation_assets_tests.http_server import Reply, Request, http_server

RUN = "0199f0aa-0000-7000-8000-000000000001"


class Langsmith:
    """The feedback of a workspace by ID."""

    def __init__(self) -> None:
        self.feedback: dict[str, dict[str, Any]] = {}

    def answer(self, request: Request) -> Reply:
        _, _, _, _, *name = request.path.split("/")
        if request.method == "POST":
            if round(request.body["score"], 4) != request.body["score"]:
                return Reply(422, {"detail": "at most 4 decimals"})
            if str(UUID(request.body["id"])) in self.feedback:
                return Reply(409, {"detail": "Feedback already exists"})
            self.feedback[request.body["id"]] = request.body
            return Reply(200, request.body)
        if request.method == "PATCH":
            self.feedback[name[0]] |= request.body
            return Reply(200, self.feedback[name[0]])
        start, limit = int(request.query["offset"][0]), int(request.query["limit"][0])
        found = [each for each in self.feedback.values() if each["run_id"] in request.query["run"]]
        return Reply(200, found[start : start + limit])


@contextmanager
def langsmith() -> Iterator[tuple[Langsmith, LangsmithSink]]:
    store = Langsmith()
    with http_server(store.answer) as url, connected(url) as http:
        yield store, LangsmithSink(http, "0199f0aa-0000-7000-8000-00000000000f")


def test_a_score_is_feedback_on_the_root_run_and_is_updated() -> None:
    with langsmith() as (store, sink):
        for value in (1 / 3, 0.75):
            (done,) = sink.send([score("clarity", value, trace_id=RUN)])
            assert done.status == "delivered"
    (kept,) = store.feedback.values()
    assert (kept["id"], kept["run_id"], kept["key"], kept["score"]) == (done.remote_id, RUN, "clarity", 0.75)
    assert kept["session_id"] and kept["comment"] == "because"


def test_scores_of_models_and_of_rules_are_told_apart() -> None:
    with langsmith() as (store, sink):
        list(sink.send([score("a", trace_id=RUN), score("b", trace_id=RUN, is_computed=False)]))
    assert {each["key"]: each["feedback_source"]["type"] for each in store.feedback.values()} == {
        "a": "api",
        "b": "model",
    }


def test_feedback_of_people_comes_back_and_ours_does_not() -> None:
    with langsmith() as (store, sink):
        list(sink.send([score("clarity", trace_id=RUN)]))
        for number in range(150):
            by = {"type": "app", "user_id": f"user{number}"}
            store.feedback[str(number)] = {"run_id": RUN, "key": "correctness", "score": 1, "feedback_source": by}
        found = list(sink.annotations([RUN]))
    assert [each.annotator for each in found] == [f"user{number}" for number in range(150)]
    assert {(each.trace_id, each.name, each.label) for each in found} == {(RUN, "correctness", 1.0)}
