"""Errors, keys, and connections that break."""

import asyncio
from typing import Any

import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic

from evaluation_assets_tests.model_server import ERRORS, ModelServer, rule
from evaluation_assets_tests.model_server.calling import (
    SDKS,
    Saying,
    both,
    chat,
    messages,
    said_by_chat,
    said_by_messages,
)


@pytest.mark.parametrize(
    ("kind", "status", "of_openai", "code", "of_anthropic", "error_type"),
    [
        ("bad_request", 400, "BadRequestError", None, "BadRequestError", "invalid_request_error"),
        (
            "context_length",
            400,
            "BadRequestError",
            "context_length_exceeded",
            "BadRequestError",
            "invalid_request_error",
        ),
        ("wrong_key", 401, "AuthenticationError", "invalid_api_key", "AuthenticationError", "authentication_error"),
        ("payment_required", 402, "APIStatusError", None, "PaymentRequiredError", "billing_error"),
        ("forbidden", 403, "PermissionDeniedError", None, "PermissionDeniedError", "permission_error"),
        ("not_found", 404, "NotFoundError", "model_not_found", "NotFoundError", "not_found_error"),
        ("rate_limited", 429, "RateLimitError", "rate_limit_exceeded", "RateLimitError", "rate_limit_error"),
        ("insufficient_quota", 429, "RateLimitError", "insufficient_quota", "RateLimitError", "rate_limit_error"),
        ("server_error", 500, "InternalServerError", None, "InternalServerError", "api_error"),
        ("unavailable", 503, "InternalServerError", None, "ServiceUnavailableError", "api_error"),
        ("overloaded", 529, "InternalServerError", "overloaded", "OverloadedError", "overloaded_error"),
    ],
)
def test_errors(
    server: ModelServer,
    kind: str,
    status: int,
    of_openai: str,
    code: str | None,
    of_anthropic: str,
    error_type: str,
) -> None:
    server.script([rule(kind)])
    with pytest.raises(openai.APIStatusError) as failed:
        chat(server)
    assert type(failed.value).__name__ == of_openai
    assert (failed.value.status_code, failed.value.code, failed.value.request_id) == (status, code, "req_1")
    assert "retry-after" not in failed.value.response.headers
    with pytest.raises(anthropic.APIStatusError) as refused:
        messages(server)
    assert type(refused.value).__name__ == of_anthropic
    assert (refused.value.status_code, refused.value.type, refused.value.request_id) == (status, error_type, "req_2")
    if kind == "context_length":
        assert "prompt is too long" in str(refused.value)
    assert [(asked.status, asked.fault) for asked in server.requests()] == [(status, kind)] * 2


def test_every_error_is_tested() -> None:
    cases = next(mark for mark in test_errors.pytestmark if mark.name == "parametrize").args[1]  # type: ignore[attr-defined]
    assert {case[0] for case in cases} == set(ERRORS)


def test_errors_are_worded_by_the_script(server: ModelServer) -> None:
    server.script([rule("rate_limited", retry_after=7, message="later", code="busy")])
    with pytest.raises(openai.RateLimitError, match="later") as failed:
        chat(server)
    assert (failed.value.response.headers["retry-after"], failed.value.code) == ("7", "busy")
    with pytest.raises(anthropic.RateLimitError, match="later") as refused:
        messages(server)
    assert (refused.value.response.headers["retry-after"], refused.value.error_code) == ("7", "busy")
    server.script([rule("server_error", status=504, retry_after="Wed, 21 Oct 2026 07:28:00 GMT")])
    with pytest.raises(anthropic.InternalServerError) as gone:
        messages(server)
    assert gone.value.status_code == 504
    assert gone.value.response.headers["retry-after"].endswith("GMT")


def test_keys(server: ModelServer) -> None:
    server.script([{"keys": ["good"]}])
    said_by_chat(server, key="good")
    said_by_messages(server, key="good")
    with pytest.raises(openai.AuthenticationError):
        chat(server, key="bad")
    with pytest.raises(anthropic.AuthenticationError):
        messages(server, key="bad")
    unset = {"Authorization": anthropic.omit}
    said_by_messages(server, extra_headers=unset | {"x-api-key": "good"})
    with pytest.raises(openai.AuthenticationError):
        chat(server, extra_headers={"Authorization": "good"})


def test_requests_no_provider_would_take(server: ModelServer) -> None:
    with pytest.raises(openai.BadRequestError):
        chat(server, messages="hello")
    with pytest.raises(openai.BadRequestError, match="stream"):
        chat(server, stream=True)
    with pytest.raises(anthropic.BadRequestError):
        messages(server, messages=[{"role": "user"}])
    loop: dict[str, Any] = {"$ref": "#"}
    with pytest.raises(anthropic.BadRequestError, match="schema"):
        messages(server, output_config={"format": {"type": "json_schema", "schema": loop}})
    assert {asked.fault for asked in server.requests()} == {"malformed"}

    async def elsewhere() -> None:
        async with AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0) as client:
            await client.messages.create(model="claude", max_tokens=1, messages=[{"role": "user", "content": "a"}])

    with pytest.raises(anthropic.NotFoundError):
        asyncio.run(elsewhere())
    assert server.requests()[-1].status == 404


@both
@pytest.mark.parametrize("kind", ["drop", "truncated_body"])
def test_connections_break(server: ModelServer, say: Saying, kind: str) -> None:
    server.script([rule(kind, times=1)])
    with pytest.raises(SDKS[say].APIConnectionError) as failed:
        say(server)
    assert not isinstance(failed.value, SDKS[say].APITimeoutError)
    say(server)
    first, second = server.requests()
    assert (first.fault, first.status) == (kind, None if kind == "drop" else 200)
    assert (second.fault, second.status) == (None, 200)


@both
def test_slow_answers_run_into_the_timeout(server: ModelServer, say: Saying) -> None:
    server.script([rule("slow", seconds=5, contains="late", times=1)])
    with pytest.raises(SDKS[say].APITimeoutError):
        say(server, "late", timeout=0.5)
    assert say(server, "late")[1] == "stop"
    assert [asked.fault for asked in server.requests()] == ["slow", None]
    server.script([rule("overloaded", seconds=0.1)])
    with pytest.raises(SDKS[say].InternalServerError):
        say(server)
    asked = server.requests()[-1]
    assert asked.answered is not None
    assert asked.answered > asked.arrived
