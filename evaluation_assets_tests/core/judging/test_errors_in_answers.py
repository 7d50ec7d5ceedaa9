"""Errors that come with HTTP 200, as gateways send them once an answer has begun: nothing was billed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.embeddings import EndpointVectors, NoVectors
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.traces.prices import OwnPrice, Price
from evaluation_assets_tests.core.judging.test_hostile_replies import completion, evaluation
from evaluation_assets_tests.http_server import Reply, Request, http_server
from evaluation_assets_tests.judging_alone import chains, judge_at

Body = dict[str, Any]


def error(message: str = "no", **more: object) -> Body:
    return {"error": {"message": message, **more}}


def criteria_of(body: Body, provider: str) -> list[str]:
    form = body["response_format"]["json_schema"] if provider.startswith("openai") else body["output_config"]["format"]
    return form["schema"]["properties"]["scores"]["items"]["properties"]["criterion"]["enum"]


def asked_once_refused(first: Body, url: str, provider: str, budget: Budget) -> tuple[list[Verdict], int]:
    """The verdicts of an endpoint whose first answer is an error, and how often it was asked."""
    asked: list[Request] = []

    def answer(request: Request) -> Reply:
        asked.append(request)
        if len(asked) == 1:
            return Reply(body=first)
        said = evaluation(criteria_of(request.body, provider))
        if provider.startswith("openai"):
            return Reply(text=completion(said).decode())
        usage = {"input_tokens": 700, "output_tokens": 60}
        return Reply(body={"content": [{"type": "text", "text": said}], "usage": usage, "stop_reason": "end_turn"})

    async def work(address: str) -> list[Verdict]:
        judge = judge_at(address, url, provider=provider, structured="json_schema", max_concurrency=1)
        async with judge.opened("run", budget) as ready:
            return [each.verdict async for some in judge_chains(ready, chains(1)) for each in some]

    with http_server(answer) as address:
        given = asyncio.run(work(address + ("/v1" if provider.startswith("openai") else "")))
    return given, len(asked)


PROVIDERS = pytest.mark.parametrize("provider", ["openai_compatible", "anthropic_compatible"])


@PROVIDERS
@pytest.mark.parametrize(
    "body",
    [
        error(code=429),
        error(code="503"),
        error("Provider returned error", code=502, metadata={"raw": "upstream"}) | {"choices": None, "content": None},
        error(code=529) | {"choices": [], "content": []},
        error(type="rate_limit_error"),
        error(code="rate_limit_exceeded"),
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        error(type="internal_server_error"),
        error("Rate limit reached, slow down", code=1302),
        error("The model is overloaded. Try again later."),
        {"error": "too many requests"},
        {"object": "error", "message": "busy", "code": 503},
    ],
    ids=str,
)
def test_a_passing_error_is_asked_again_and_not_paid(url: str, provider: str, body: Body) -> None:
    given, asked = asked_once_refused(body, url, provider, budget := Budget(1.0))
    assert [verdict.outcome for verdict in given] == ["scored"] * len(given)
    assert asked == len(given) + 1
    assert budget.calls == len(given)


@PROVIDERS
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (error("the tool is unknown"), "server"),
        (error("the tool is unknown", code=99), "server"),
        (error("the tool is unknown", type="invalid_request_error"), "server"),
        (error("prompt is too long: 210000 tokens > 200000 maximum"), "context_length"),
    ],
    ids=str,
)
def test_any_other_error_fails_its_question_alone_and_is_not_paid(
    url: str, provider: str, body: Body, kind: str
) -> None:
    given, asked = asked_once_refused(body, url, provider, budget := Budget(1.0))
    if kind == "context_length":
        assert given[0].outcome == "scored", "a shorter window is tried"
    else:
        assert (given[0].outcome, given[0].error_kind) == ("failed", kind)
        assert "the tool is unknown" in (given[0].error or "")
        assert asked == len(given)
    assert {verdict.outcome for verdict in given[1:]} == {"scored"}
    assert budget.calls < asked


@PROVIDERS
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (error("no such key", code=401), "auth"),
        (error("no such key", type="authentication_error"), "auth"),
        (error("pay", code=402), "quota"),
        (error("pay", code="insufficient_quota"), "quota"),
        (error("no such model", code="model_not_found"), "not_found"),
    ],
    ids=str,
)
def test_an_error_that_stands_for_all_questions_stops_the_judge(url: str, provider: str, body: Body, kind: str) -> None:
    given, asked = asked_once_refused(body, url, provider, budget := Budget(1.0))
    assert {verdict.error_kind for verdict in given} == {kind}
    assert (asked, budget.calls) == (1, 0)


@PROVIDERS
def test_an_error_beside_a_reply_is_a_reply(url: str, provider: str) -> None:
    said = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}], "content": [{"type": "text"}]}
    given, _ = asked_once_refused(error(code=429) | said, url, provider, budget := Budget(1.0))
    assert budget.calls == len(given) + 1, "what was said is no verdict, and is corrected"


@pytest.mark.parametrize(
    ("body", "asked_twice"),
    [(error(code=429), True), (error("Rate limit reached"), True), (error("no such input"), False)],
    ids=str,
)
def test_errors_for_embeddings(tmp_path: Path, body: Body, asked_twice: bool) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Reply:
        asked.append(request)
        if len(asked) == 1:
            return Reply(body=body)
        return Reply(body={"data": [{"index": 0, "embedding": [1.0, 2.0]}], "usage": {"prompt_tokens": 2}})

    budget = Budget(1.0)
    with http_server(answer) as url:
        vectors = EndpointVectors(
            model="m",
            base_url=f"{url}/v1",
            key_variable=None,
            ledger=Ledger(f"sqlite:///{tmp_path}/ledger.sqlite"),
            pricing=OwnPrice(Price(input=1.0, output=1.0)),
            run="run",
            budget=budget,
        )
        if asked_twice:
            assert [list(vector) for vector in vectors.of(["a text"])] == [[1.0, 2.0]]
        else:
            with pytest.raises(NoVectors, match="no such input"):
                vectors.of(["a text"])
    assert len(asked) == 1 + asked_twice
    assert budget.calls == asked_twice
