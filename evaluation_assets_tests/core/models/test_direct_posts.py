"""Requests after the first one of an SDK are sent as the SDK would send them, and fail as it fails."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from evaluation_assets.core.models.endpoints import EndpointSettings, endpoint_of
from evaluation_assets.core.models.errors import ProviderError
from evaluation_assets.core.models.messages import Message
from evaluation_assets.core.models.messages import Request as Question
from evaluation_assets_tests.http_server import Reply, Request, http_server

ANSWERS: dict[str, Any] = {
    "openai_compatible": {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]},
    "anthropic_compatible": {"content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn"},
}
PROVIDERS = pytest.mark.parametrize("provider", ANSWERS)


def question(number: int) -> Question:
    turns = (Message("user", f"question {number} " * (number + 1)),)
    return Question(system="s", turns=turns, schema=None, max_output_tokens=10, cache_key="k")


def asked(provider: str, answer: Callable[[Request], Reply], times: int, path: str = "/v1") -> list[str]:
    """The texts of replies, and the kinds of errors with what they say."""
    with http_server(answer) as url:
        own = EndpointSettings(name="own", provider=provider, model="m", base_url=url + path)
        settings, connect, _ = endpoint_of(own)

        async def ask() -> list[str]:
            endpoint, replies = connect(), []
            for number in range(times):
                try:
                    replies.append((await endpoint.complete(question(number), settings.dialect)).text)
                except ProviderError as problem:
                    replies.append(f"{problem.kind} {problem} {problem.retry_after} {problem.endpoint_failed}")
            await endpoint.close()
            return replies

        return [said.replace(url, "URL") for said in asyncio.run(ask())]


@PROVIDERS
@pytest.mark.parametrize("path", ["/v1", "/v1?tenant=one", ""])
def test_every_request_has_the_headers_and_the_address_of_the_first(provider: str, path: str) -> None:
    seen: list[Request] = []

    def answer(request: Request) -> Reply:
        seen.append(request)
        return Reply(body=ANSWERS[provider])

    assert asked(provider, answer, 3, path) == ["yes"] * 3
    first, *later = [(request.target, request.headers | {"content-length": ""}) for request in seen]
    assert later == [first, first]
    assert [str(request.body["messages"][-1]["content"]).count("question") for request in seen] == [1, 2, 3]


@PROVIDERS
@pytest.mark.parametrize(
    "failing",
    [
        Reply(429, body={"error": {"message": "slow down", "type": "rate_limit"}}, headers={"retry-after": "7"}),
        Reply(401, body={"error": {"message": "who are you?"}}),
        Reply(500, text="<html><p>broken</p></html>"),
        Reply(503, text=""),
        Reply(302, headers={"location": "http://127.0.0.1:1/other"}, body={}),
        Reply(302, body={}),
        Reply(200, text="no JSON"),
        Reply(200, text='{"choices": [{"message": {"content": NaN}}], "content": 1}'),
        Reply(hang_up=True),
        Reply(headers={"content-encoding": "gzip"}, text="no gzip"),
        Reply(headers={"Content-Length": "100", "Connection": "close"}, text="half"),
        Reply(headers={"content-length": "100"}, text="two lengths"),
    ],
    ids=lambda reply: f"{reply.status} {(reply.text or '')[:9]}",
)
def test_later_requests_fail_as_the_first_does(provider: str, failing: Reply) -> None:
    first, second = asked(provider, lambda _: failing, 2)
    assert first == second

    answers = iter([Reply(body=ANSWERS[provider]), failing])
    assert asked(provider, lambda _: next(answers), 2) == ["yes", first]


@PROVIDERS
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        ({"content-encoding": "gzip"}, "its content is not encoded as its head says"),
        ({"Content-Length": "100", "Connection": "close"}, "it was cut off"),
        ({"content-length": "100"}, "its head or its length is not HTTP"),
    ],
    ids=["no gzip", "half a body", "two lengths"],
)
def test_what_has_answered_is_not_said_to_have_no_connection(
    provider: str, status: int, headers: dict[str, str], problem: str
) -> None:
    broken = Reply(status, headers=headers, text="half")
    assert asked(provider, lambda _: broken, 2) == [f"server unreadable response: {problem} None True"] * 2


@PROVIDERS
def test_a_page_instead_of_a_reply_is_said_to_be_no_json(provider: str) -> None:
    page = Reply(headers={"content-type": "application/json"}, text="<html>Welcome</html>")
    assert asked(provider, lambda _: page, 2) == ["server unreadable response: it is not JSON None True"] * 2


@PROVIDERS
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('data: {"choices": []}\n\ndata: [DONE]\n\n', "it is a stream of events, and not one JSON object"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "it is nested too deeply"),
        ("", "it is empty"),
        ("[]", "it is not a reply of the protocol"),
        ('{"choices": "none", "content": 1}', "`FIELD` is missing or not of the protocol's form"),
    ],
    ids=["stream", "deep", "empty", "list", "field"],
)
def test_a_reply_that_cannot_be_read_is_described(provider: str, text: str, problem: str) -> None:
    reply = Reply(headers={"content-type": "application/json"}, text=text)
    said = problem.replace("FIELD", "choices" if provider == "openai_compatible" else "content")
    assert asked(provider, lambda _: reply, 2) == [f"server unreadable response: {said} None True"] * 2


@PROVIDERS
def test_a_closed_connection_is_no_timeout(provider: str) -> None:
    said = "server the endpoint closed the connection without a reply None True"
    assert asked(provider, lambda _: Reply(hang_up=True), 2) == [said] * 2
