"""GitHub, as a local server that answers as its REST documentation says (API version 2022-11-28).

Check runs are listed by name for a commit, created, and updated by ID; comments of an issue are listed by page.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from evaluation_assets.core.report.sinks.github import GithubSink, Target
from evaluation_assets.core.report.sinks.settings import GithubSinkSettings
from evaluation_assets_tests.core.report.sinks.making import connected, outcome
from evaluation_assets_tests.http_server import Reply, Request, http_server

SHA = "0123456789abcdef0123456789abcdef01234567"


class Github:
    """The comments of pull request 7 of o/r, and the check runs and statuses of a commit."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = [{"id": n, "body": "a person's comment"} for n in range(120)]
        self.check_runs: list[dict[str, Any]] = []
        self.statuses: list[dict[str, Any]] = []
        self.hang_up_after_creating = False

    def answer(self, request: Request) -> Reply:
        match request.method, request.path.removeprefix("/repos/o/r").split("/")[1:]:
            case "GET", ["issues", "7", "comments"]:
                page, size = int(request.query["page"][0]), int(request.query["per_page"][0])
                return Reply(200, self.comments[(page - 1) * size : page * size])
            case "POST", ["issues", "7", "comments"]:
                return self._create(self.comments, request.body)
            case "PATCH", ["issues", "comments", name]:
                return self._update(self.comments, name, request.body)
            case "GET", ["commits", sha, "check-runs"] if sha == SHA:
                (name,) = request.query["check_name"]
                return Reply(200, {"check_runs": [run for run in self.check_runs if run["name"] == name]})
            case "POST", ["check-runs"]:
                return self._create(self.check_runs, request.body)
            case "PATCH", ["check-runs", name]:
                return self._update(self.check_runs, name, request.body)
            case "POST", ["statuses", sha] if sha == SHA:
                return self._create(self.statuses, request.body)
        return Reply(404, {"message": "Not Found"})

    def _create(self, items: list[dict[str, Any]], body: dict[str, Any]) -> Reply:
        items.append({"id": len(items), **body})
        hang_up, self.hang_up_after_creating = self.hang_up_after_creating, False
        return Reply(201, items[-1], hang_up=hang_up)

    def _update(self, items: list[dict[str, Any]], name: str, body: dict[str, Any]) -> Reply:
        items[int(name)] |= body
        return Reply(200, items[int(name)])


@contextmanager
def github(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Iterator[tuple[Github, GithubSink]]:
    monkeypatch.setenv("GITHUB_REPOSITORY", "o/r")
    monkeypatch.setenv("GITHUB_SHA", SHA)
    monkeypatch.setenv("GITHUB_REF", "refs/pull/7/merge")
    store = Github()
    with http_server(store.answer) as url, connected(url) as http:
        yield store, GithubSink(http, GithubSinkSettings(type="github", api_url=url, **settings))


def test_one_comment_and_one_check_run_are_updated_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with github(monkeypatch) as (store, sink):
        done = [sink.tell(outcome(verdict)) for verdict in ("fail", "pass")]
    assert [each.status for each in done] == ["delivered"] * 2
    (own,) = (each for each in store.comments if "person" not in each["body"])
    assert own["body"].endswith("### s/d\n\n**pass**") and own["body"].startswith("<!--")
    (run,) = store.check_runs
    assert (run["head_sha"], run["name"], run["conclusion"]) == (SHA, "evaluation s/d", "success")


@pytest.mark.parametrize("status", ["check_run", "commit_status"])
def test_agents_of_one_suite_have_a_comment_and_a_mark_each(status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with github(monkeypatch, status=status) as (store, sink):
        for verdict, drop in (("fail", "support/gpt"), ("pass", "support/claude")):
            sink.tell(outcome(verdict, drop=drop, suite="support"))
    comments = [each["body"].splitlines()[1:] for each in store.comments if "person" not in each["body"]]
    assert [comment[-1] for comment in comments] == ["**fail**", "**pass**"]
    marks = {mark.get("name") or mark["context"] for mark in store.check_runs + store.statuses}
    assert marks == {"evaluation support/gpt", "evaluation support/claude"}


@pytest.mark.parametrize(
    ("drops", "comments"),  # the first folder of a drop is its suite
    [
        (("support/0a1b2c3", f"support/{SHA}"), 1),
        (("support/gpt-0a1b2c3", "support/gpt-3c2b1a0"), 1),
        (("support/2026-01-02", "support/20260103", "support/2026-01-03T04:05"), 1),
        (("support/4511", "support/4512"), 1),
        (("support/gpt-4o-2024-08-06", "support/gpt-4o-2024-11-20"), 2),
        (("support/py3.11", "support/py3.12", "sales/py3.12"), 3),
        (("support/current", "support/feedback-1234567"), 2),
        (("0a1b2c3", "1a1b2c3"), 2),
    ],
)
def test_drops_that_differ_in_commit_or_date_share_a_comment(
    drops: tuple[str, ...], comments: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with github(monkeypatch, status="none") as (store, sink):
        assert [sink.tell(outcome(drop=drop, suite=drop.rpartition("/")[0] or None)).status for drop in drops] == [
            "delivered"
        ] * len(drops)
    assert len(store.comments) - 120 == comments


def test_suites_that_sidecars_name_have_a_comment_each_whatever_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    with github(monkeypatch, status="none") as (store, sink):
        for suite, drop in (("support", "run-0a1b2c3"), ("sales", "run-0a1b2c4"), ("sales", "run-0a1b2c5")):
            sink.tell(outcome(drop=drop, suite=suite))
    assert len(store.comments) - 120 == 2


def test_a_verdict_that_blocks_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    with github(monkeypatch) as (store, sink):
        sink.tell(outcome("fail"))
        sink.tell(outcome(None, drop="first", suite=None))
    assert [run["conclusion"] for run in store.check_runs] == ["failure", "neutral"]


def test_a_connection_that_breaks_after_creating_doubles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with github(monkeypatch, status="none") as (store, sink):
        store.hang_up_after_creating = True
        assert sink.tell(outcome()).status == "delivered"
    assert len(store.comments) == 121


def test_a_commit_status_instead_of_a_check_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with github(monkeypatch, status="commit_status", comment=False) as (store, sink):
        assert sink.tell(outcome("fail")).status == "delivered"
    assert [(status["state"], status["context"]) for status in store.statuses] == [("failure", "evaluation s/d")]
    assert len(store.comments) == 120


def test_the_labels_of_the_drop_name_the_target_before_the_environment() -> None:
    environment = {"GITHUB_REPOSITORY": "o/r", "GITHUB_SHA": SHA, "GITHUB_REF": "refs/heads/main"}
    assert Target.of({}, environment) == Target("o/r", SHA, None)
    labels = {"github_repository": "a/b", "github_sha": "f" * 40, "github_pr": 12}
    assert Target.of(labels, environment) == Target("a/b", "f" * 40, 12)


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({}, "no repository"),
        ({"GITHUB_REPOSITORY": "../../x"}, "no repository"),
        ({"GITHUB_REPOSITORY": "o/r", "GITHUB_REF": "refs/heads/main"}, "no commit or pull request"),
    ],
)
def test_without_a_target_the_reason_says_what_to_set(environment: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Target.of({}, environment)
