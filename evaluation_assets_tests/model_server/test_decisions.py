"""Questions to decision models, through the real SDK and as System One has them."""

import asyncio
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI
from openai.types import Decision

from evaluation_assets_tests.model_server import ERRORS, ModelServer, rule

QUESTIONS: list[Any] = [
    {"type": "predicate", "name": "done", "instructions": "Is it done?"},
    {
        "type": "choice",
        "name": "kind",
        "instructions": "Which kind?",
        "choices": [{"value": "good", "description": "It works."}, {"value": "bad"}],
    },
    {
        "type": "score",
        "name": "quality",
        "instructions": "How good?",
        "levels": [{"label": "0"}, {"label": "5"}, {"label": "10"}],
    },
]


def decide(server: ModelServer, questions: list[Any] = QUESTIONS, **more: Any) -> Decision:
    async def call() -> Decision:
        async with AsyncOpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as client:
            given: dict[str, Any] = {"model": "gpt", "input": "An answer.", "questions": questions}
            return await client.decisions.create(**given | more)

    return asyncio.run(call())


def ask(server: ModelServer, **more: Any) -> httpx2.Response:
    noul = {"type": "noul", "instructions": "Is it done?", "criteria": {"true": "It is.", "false": "It is not."}}
    score = {"type": "score", "instructions": "How good?", "criteria": ["bad", "medium", "good"]}
    choice = {"type": "choice", "instructions": "Which kind?", "criteria": {"good": "It works.", "bad": None}}
    asked = {"model": "m", "state": "An answer.", "questions": {"done": noul, "quality": score, "kind": choice}}
    headers = {"Authorization": "Bearer k"}
    return httpx2.post(f"{server.openai_url}/systemone", json=asked | more, headers=headers)


def test_each_question_has_an_answer_of_its_type_in_order(server: ModelServer) -> None:
    found = decide(server)
    done, kind, quality = found.answers
    assert [each.name for each in found.answers] == ["done", "kind", "quality"]
    assert done.type == "predicate" and 0 <= done.probability <= 1
    assert kind.type == "choice" and kind.choice in ("good", "bad")
    assert sum(each.probability for each in kind.probabilities) == pytest.approx(1)
    assert quality.type == "score" and [each.label for each in quality.probabilities] == ["0", "5", "10"]
    assert quality.score == pytest.approx(sum(each.value * each.probability for each in quality.probabilities))
    assert found.usage.input_tokens == found.usage.total_tokens > 0
    assert decide(server).answers == found.answers, "the same question has the same answer"
    assert decide(server, input=[{"role": "user", "content": "Another one."}]).answers != found.answers


def test_a_question_can_be_refused_left_out_or_added(server: ModelServer) -> None:
    server.script([rule("refusal", property="kind", times=1), rule("missing", property="kind", times=1), rule("extra")])
    assert [each.type for each in decide(server).answers] == ["predicate", "refusal", "score"]
    assert [each.name for each in decide(server).answers] == ["done", "quality"]
    assert decide(server).answers[-1].name == "surprise"


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_are_those_of_the_other_endpoints(server: ModelServer, kind: str) -> None:
    server.script([rule(kind)])
    with pytest.raises(openai.APIStatusError) as failed:
        decide(server)
    assert failed.value.status_code == ERRORS[kind].status == ask(server).status_code


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [{"type": "predicate"}],
        [{"type": "score", "instructions": "?", "levels": [{"label": "1"}]}],
        [{"type": "choice", "instructions": "?", "choices": [{"value": "a"}, {"value": "a"}]}],
        [{"type": "noul", "instructions": "?"}],
    ],
)
def test_questions_that_the_provider_would_not_take(server: ModelServer, questions: list[Any]) -> None:
    with pytest.raises(openai.BadRequestError):
        decide(server, questions)


def test_system_one_answers_by_name(server: ModelServer) -> None:
    found = ask(server).json()
    assert found["answers"].keys() == {"done", "quality", "kind"}
    assert 0 <= found["answers"]["done"]["noul"] <= 1
    assert found["answers"]["kind"]["probabilities"].keys() == {"good", "bad"}
    quality = found["answers"]["quality"]
    assert quality["legend"].keys() == quality["probabilities"].keys() == {"0", "1", "2"}
    assert sum(quality["probabilities"].values()) == pytest.approx(1)
    assert ask(server, questions={"q": {"type": "score", "criteria": ["one"]}}).status_code == 400
