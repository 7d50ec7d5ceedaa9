"""Model judges on servers that speak the OpenAI protocol in their own way."""

import asyncio
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models import negotiation
from evaluation_assets_tests.judging_alone import CLIPS, chains, judge_at, verdicts
from evaluation_assets_tests.model_server import ModelServer, rule
from evaluation_assets_tests.model_server.process import Asked

GOOD = {"scored", "abstained"}
WHY = "this server has no schemas"


def judged(models: ModelServer, url: str, count: int = 20, run: str = "run", **more: Any) -> list[Verdict]:
    return asyncio.run(verdicts(judge_at(models.openai_url, url, **more), chains(count), run))


def all_good(found: list[Verdict]) -> bool:
    return bool(found) and {verdict.outcome for verdict in found} <= GOOD


def form(request: Asked) -> tuple[str | None, str, bool, bool]:
    """How a request asked for JSON, its limit's field, whether it had a system message, and a temperature."""
    body = request.body
    way = (body.get("response_format") or {}).get("type")
    field = "max_tokens" if "max_tokens" in body else "max_completion_tokens"
    return way, field, body["messages"][0]["role"] == "system", "temperature" in body


# Features that are refused


USUAL = ("json_schema", "max_tokens", True, True)
REFUSALS = [
    ([rule("no_json_schema")], 1, ("json_object", "max_tokens", True, True), "structured: json_object is used"),
    ([rule("no_json_schema", status=422)], 1, ("json_object", *USUAL[1:]), "structured: json_object is used"),
    ([rule("no_json_schema", status=500)], 1, ("json_object", *USUAL[1:]), "structured: json_object is used"),
    ([rule("no_json_schema", status=404)], 1, ("json_object", *USUAL[1:]), "structured: json_object is used"),
    ([rule("no_json_schema", message="bad request")], 1, ("json_object", *USUAL[1:]), "structured: json_object"),
    ([rule("no_response_format")], 2, (None, *USUAL[1:]), "structured: prompt is used"),
    ([rule("no_response_format", message="")], 2, (None, *USUAL[1:]), "structured: prompt is used"),
    ([rule("no_max_tokens")], 1, ("json_schema", "max_completion_tokens", True, True), "max_completion_tokens is used"),
    ([rule("no_system_role")], 1, ("json_schema", "max_tokens", False, True), "in front of the first user message"),
    ([rule("no_temperature")], 1, ("json_schema", "max_tokens", True, False), "no temperature is sent"),
    (
        [rule(kind) for kind in ("no_response_format", "no_max_tokens", "no_system_role", "no_temperature")],
        5,
        (None, "max_completion_tokens", False, False),
        "structured: prompt is used",
    ),
]


@pytest.mark.parametrize(("script", "refused", "taken", "logged"), REFUSALS)
def test_what_an_endpoint_refuses_is_found_out_once_and_remembered(
    url: str,
    models: ModelServer,
    caplog: pytest.LogCaptureFixture,
    script: list[dict[str, Any]],
    refused: int,
    taken: tuple[object, ...],
    logged: str,
) -> None:
    models.script(script)
    found = judged(models, url, parameters={"temperature": 0})
    asked = models.requests()
    assert all_good(found), "a refused request is no failed verdict"
    assert sum(request.status != 200 for request in asked) == refused, "once, although sixteen may be in flight"
    assert {form(request) for request in asked if request.status == 200} == {taken}
    assert logged in caplog.text
    assert len({request.sha256 for request in asked if request.status == 200}) == len(found), "nothing is paid twice"

    models.reset()
    again = judged(models, url, run="another run", parameters={"temperature": 0})
    assert all(verdict.from_ledger for verdict in again)
    assert models.requests() == []
    more = judged(models, url, count=22, run="a third run", parameters={"temperature": 0})
    assert all_good(more)
    assert [request.status for request in models.requests()] == [200] * 2 * CLIPS, "the next run asks rightly at once"


def test_after_failures_a_simpler_way_is_taken_for_this_run_only(url: str, models: ModelServer) -> None:
    models.script([rule("no_json_schema", message="oh", status=500)])
    assert all_good(judged(models, url))
    ways = [form(request)[0] for request in models.requests()]
    assert ways == ["json_schema"] * 2 + ["json_object"] * 20 * CLIPS
    models.script([])
    models.reset()
    assert all_good(judged(models, url, count=22, run="another run"))
    assert {form(request)[0] for request in models.requests()} == {"json_schema"}, "the server had a bad moment"


def test_an_endpoint_that_takes_everything_is_asked_as_usual(url: str, models: ModelServer) -> None:
    assert all_good(judged(models, url, parameters={"temperature": 0}))
    assert {form(request) for request in models.requests()} == {USUAL}
    assert len(models.requests()) == 20 * CLIPS


def test_the_system_text_and_the_schema_stand_in_front_of_the_first_user_message(url: str, models: ModelServer) -> None:
    models.script([rule("no_system_role"), rule("no_response_format")])
    assert all_good(judged(models, url, count=1))
    first, *later = models.requests()[-1].body["messages"]
    assert first["role"] == "user"
    assert first["content"].startswith("You evaluate what an AI agent did")
    assert 0 < first["content"].index("<schema>") < first["content"].index("question 0")
    assert {message["role"] for message in later} <= {"user", "assistant"}


def test_after_a_week_it_is_found_out_again_and_nothing_is_paid_again(
    url: str, models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.script([rule("no_json_schema")])
    judged(models, url)
    models.reset()
    monkeypatch.setattr(negotiation, "REMEMBERED_S", -1.0)
    again = judged(models, url, run="another run")
    assert all(verdict.from_ledger for verdict in again)
    assert [request.status for request in models.requests()] == [400]


def test_a_damaged_memory_is_none(url: str, models: ModelServer, tmp_path: Path) -> None:
    models.script([rule("no_json_schema")])
    judged(models, url, count=1)
    for value in ("no JSON", "{}", '{"at": 1e12, "accepted": [], "surprise": 1}', "[]"):
        with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
            changed = connection.execute("UPDATE settings SET value = ? WHERE name LIKE 'dialect %'", (value,))
            assert changed.rowcount == 1
        assert all_good(judged(models, url, count=1, run=value))


def test_a_request_that_is_refused_for_another_reason_changes_nothing(url: str, models: ModelServer) -> None:
    models.script([rule("bad_request", contains="question 1")])
    found = judged(models, url, count=4, max_concurrency=1)
    assert Counter(verdict.error_kind for verdict in found)["server"] == CLIPS
    assert {form(request)[0] for request in models.requests() if request.status == 200} == {"json_schema"}


def test_one_bad_moment_is_no_refusal(url: str, models: ModelServer) -> None:
    models.script([rule("server_error", times=1)])
    assert all_good(judged(models, url))
    assert {form(request)[0] for request in models.requests()} == {"json_schema"}


def test_an_endpoint_that_refuses_every_form_says_why(url: str, models: ModelServer) -> None:
    models.script([rule("bad_request", message="no adapter named x")])
    found = judged(models, url, count=1)
    assert {(verdict.outcome, verdict.error_kind) for verdict in found} == {("failed", "server")}
    assert "the server says: no adapter named x" in str(found[0].error)


# What the panel demands


@pytest.mark.parametrize(
    ("demanded", "sent"),
    [
        ({"structured": "json_schema"}, USUAL),
        ({"structured": "json_object"}, ("json_object", *USUAL[1:])),
        ({"structured": "prompt"}, (None, *USUAL[1:])),
        ({"max_tokens_field": "max_tokens"}, USUAL),
        ({"max_tokens_field": "max_completion_tokens"}, ("json_schema", "max_completion_tokens", True, True)),
    ],
)
def test_the_panel_says_how_the_endpoint_is_asked(
    url: str, models: ModelServer, demanded: dict[str, Any], sent: tuple[object, ...]
) -> None:
    assert all_good(judged(models, url, count=2, parameters={"temperature": 0}, **demanded))
    assert {form(request) for request in models.requests()} == {sent}


@pytest.mark.parametrize(
    ("demanded", "refusal"),
    [({"structured": "json_schema"}, "no_json_schema"), ({"max_tokens_field": "max_tokens"}, "no_max_tokens")],
)
def test_what_the_panel_demands_is_not_given_up(
    url: str, models: ModelServer, demanded: dict[str, Any], refusal: str
) -> None:
    models.script([rule(refusal)])
    found = judged(models, url, count=1, **demanded)
    assert {verdict.outcome for verdict in found} == {"failed"}
    assert "not supported" in str(found[0].error)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"structured": "schema"}, "'auto', 'json_schema', 'json_object' or 'prompt'"),
        ({"max_tokens_field": "max_new_tokens"}, "'auto', 'max_tokens' or 'max_completion_tokens'"),
        ({"provider": "anthropic_compatible", "structured": "json_object"}, "choose auto, json_schema or prompt"),
        ({"provider": "anthropic_compatible", "max_tokens_field": "max_tokens"}, "remove max_tokens_field"),
    ],
)
def test_a_demand_that_cannot_be_met_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        judge_at("http://localhost:1/v1", "sqlite://", **given)


# Where the reply stands


@pytest.mark.parametrize("kind", ["parts", "in_reasoning", "thinking", "thinking_without_begin", "fenced", "prose"])
def test_a_reply_is_found_where_the_server_puts_it(url: str, models: ModelServer, tmp_path: Path, kind: str) -> None:
    usual = judged(models, url, count=3)
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:  # its secret is part of the prompt
        connection.execute("DELETE FROM replies")
    models.script([rule(kind)])
    found = judged(models, url, count=3)
    assert [verdict.scores for verdict in found] == [verdict.scores for verdict in usual]
    assert all_good(found)
    assert {verdict.attempts for verdict in found} == {1}


# Replies that are cut


def test_a_reply_that_is_cut_is_asked_for_again_once_with_twice_the_limit(url: str, models: ModelServer) -> None:
    models.script([rule("length", contains='"max_tokens":2000')])
    found = judged(models, url, count=2)
    assert all_good(found)
    limits = Counter(request.body["max_tokens"] for request in models.requests())
    assert limits == {2000: 2 * CLIPS, 4000: 2 * CLIPS}
    assert {verdict.attempts for verdict in found} == {2}, "both are paid"
    models.reset()
    assert all(verdict.from_ledger for verdict in judged(models, url, count=2, run="another run"))
    assert models.requests() == [], "both are in the ledger"


def test_a_reply_of_the_messages_protocol_that_is_cut_is_asked_for_again(url: str, models: ModelServer) -> None:
    models.script([rule("length", contains='"max_tokens":2000')])
    judge = judge_at(models.anthropic_url, url, provider="anthropic_compatible")
    found = asyncio.run(verdicts(judge, chains(2)))
    assert all_good(found)
    assert Counter(request.body["max_tokens"] for request in models.requests()) == {2000: 2 * CLIPS, 4000: 2 * CLIPS}


def test_a_reply_that_is_cut_again_is_a_failure(url: str, models: ModelServer) -> None:
    models.script([rule("length")])
    found = judged(models, url, count=1)
    assert {(verdict.outcome, verdict.error_kind) for verdict in found} == {("failed", "truncated")}
    assert [request.body["max_tokens"] for request in models.requests()] == [2000, 4000] * CLIPS
    models.reset()
    judged(models, url, count=1, run="another run")
    assert [request.body["max_tokens"] for request in models.requests()] == [4000] * CLIPS, "half of it is known"


def test_a_model_that_cannot_write_so_much_is_cut(url: str, models: ModelServer) -> None:
    models.script(
        [
            rule("length", contains='"max_tokens":2000'),
            rule("bad_request", contains='"max_tokens":4000', message="max_tokens must be at most 2048"),
        ]
    )
    found = judged(models, url, count=1)
    assert {(verdict.outcome, verdict.error_kind) for verdict in found} == {("failed", "truncated")}
    assert "cut at 2000 output tokens, and the endpoint does not take 4000" in str(found[0].error)
    assert "max_tokens must be at most 2048" in str(found[0].error), "the server's reason"


def test_a_limit_among_the_parameters_is_not_doubled(url: str, models: ModelServer) -> None:
    models.script([rule("length")])
    judged(models, url, count=1, parameters={"max_tokens": 50})
    assert [request.body["max_tokens"] for request in models.requests()] == [50] * CLIPS


# A window that is too small


def test_a_prompt_that_is_too_long_is_tried_shorter_and_never_as_it_was(url: str, models: ModelServer) -> None:
    said = "the request exceeds the available context size. try increasing the context size or enable context shift"
    models.script([rule("server_error", status=500, message=said)])
    found = judged(models, url, count=1)
    assert {(verdict.outcome, verdict.error_kind) for verdict in found} == {("failed", "context_length")}
    assert f"the server says: {said}" in str(found[0].error)
    assert len(models.requests()) <= 2 * CLIPS
    assert json.dumps(found[0].error).count("HTTP 500") == 1
