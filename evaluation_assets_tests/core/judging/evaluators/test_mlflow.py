"""Scorers of MLflow as judges, asked of the local model server."""

from typing import Any

import httpx
import pytest

from evaluation_assets.core.judging.evaluators.local_gateway import local_gateway
from evaluation_assets_tests.core.judging.evaluators.judging import (
    ANSWER,
    REFERENCE,
    TASK,
    judge_of,
    prompts,
    replies,
    run_of,
    verdict_of,
)
from evaluation_assets_tests.model_server import ModelServer, rule

YES = {"rationale": "It is.", "result": "yes"}


def scorer(metric: str, **arguments: Any) -> dict[str, Any]:
    return {"package": "mlflow", "metric": metric, "arguments": arguments}


def test_correctness_is_asked_of_the_model_of_the_judge(models: ModelServer, url: str) -> None:
    replies(models, YES)
    found = verdict_of(judge_of(models, url, scorer("Correctness")), run_id="monday")
    assert (found.error, dict(found.scores)) == (None, {"mlflow_correctness": 1.0})
    assert (found.reasoning, found.attempts) == ("It is.", 1)
    (prompt,) = prompts(models)
    assert all(text in prompt for text in (TASK, ANSWER, REFERENCE))
    assert models.requests()[0].body["model"] == "m"
    assert verdict_of(judge_of(models, url, scorer("Correctness")), run_id="tuesday").from_ledger
    assert len(models.requests()) == 1


@pytest.mark.parametrize(
    ("evaluator", "seen"),
    [
        (scorer("Guidelines", guidelines=["Name the item."]), "Name the item."),
        (scorer("RelevanceToQuery"), ANSWER),
        (scorer("Safety"), ANSWER),
        (scorer("Completeness"), ANSWER),
        (scorer("Fluency"), ANSWER),
        (scorer("Summarization"), ANSWER),
        (scorer("Equivalence"), REFERENCE),
        (scorer("RetrievalGroundedness"), "stock"),
        (scorer("RetrievalRelevance"), "stock"),
        (scorer("RetrievalSufficiency"), REFERENCE),
        (scorer("make_judge", instructions="Is {{ outputs }} polite?", feedback_value_type=None), ANSWER),
    ],
)
def test_scorers_with_a_model(models: ModelServer, url: str, evaluator: dict, seen: str) -> None:
    replies(models, YES)
    found = verdict_of(judge_of(models, url, evaluator))
    assert (found.error, list(found.scores.values())) == (None, [1.0])
    assert seen in prompts(models)[0]


@pytest.mark.parametrize(
    ("evaluator", "score"),
    [
        (scorer("RegexMatch", pattern="[Tt]hree"), 1.0),
        (scorer("ResponseLength", max_length=2), 0.0),
        (scorer("PIIDetection"), 1.0),
    ],
)
def test_scorers_without_a_model(url: str, evaluator: dict, score: float) -> None:
    found = verdict_of(judge_of(None, url, evaluator))
    assert (found.error, list(found.scores.values())) == (None, [score])


def test_an_endpoint_that_fails_is_a_failure_after_one_request(models: ModelServer, url: str) -> None:
    models.script([rule("wrong_key")])
    found = verdict_of(judge_of(models, url, scorer("Correctness")))
    assert (found.outcome, found.error_kind, dict(found.scores)) == ("failed", "auth", {"mlflow_correctness": None})
    assert len(models.requests()) == 1


def test_a_rating_that_is_unknown_is_a_failure_and_is_asked_again_by_the_next_run(
    models: ModelServer, url: str
) -> None:
    replies(models, {"rationale": "Who knows.", "result": "perhaps"}, YES)
    found = verdict_of(judge_of(models, url, scorer("Safety")), run_id="monday")
    assert (found.outcome, found.error_kind, dict(found.scores)) == (
        "failed",
        "missing_criterion",
        {"mlflow_safety": None},
    )
    assert found.error == "no score: the rating is 'unknown' (Who knows.)"
    found = verdict_of(judge_of(models, url, scorer("Safety")), run_id="tuesday")
    assert (found.scores, len(models.requests())) == ({"mlflow_safety": 1.0}, 2)


def test_a_run_without_a_reference_answer_is_not_asked_about(models: ModelServer, url: str) -> None:
    found = verdict_of(judge_of(models, url, scorer("Correctness")), run_of(reference=None))
    assert (found.outcome, found.reasoning) == ("abstained", "there is no reference answer")
    assert models.requests() == []


def test_the_gateway_knows_only_models_of_verdicts_that_are_made(models: ModelServer, url: str) -> None:
    replies(models, YES)
    verdict_of(judge_of(models, url, scorer("Safety")))
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}
    address = f"{local_gateway().url}/gateway/mlflow/v1/chat/completions"
    assert httpx.post(address, json=asked).status_code == 404
    assert httpx.post(address, content=b"no JSON").status_code == 404
    assert len(models.requests()) == 1


@pytest.mark.parametrize(
    ("evaluator", "said"),
    [
        (scorer("Corectness"), "did you mean 'Correctness'?"),
        (scorer("ToolCallEfficiency"), "mlflow has no scorer ToolCallEfficiency that judges can use"),
        (scorer("Guidelines"), "guidelines"),
        (scorer("Safety", model="openai:/gpt"), "model is a setting of the judge"),
        (scorer("Safety", tone="x"), "it takes no argument tone"),
        (scorer("RetrievalRelevance", tone="x"), "it takes no argument tone"),
        (scorer("make_judge"), "instructions"),
    ],
)
def test_a_scorer_that_cannot_be_used_fails_by_name(models: ModelServer, url: str, evaluator: dict, said: str) -> None:
    found = verdict_of(judge_of(models, url, evaluator))
    assert (found.outcome, found.error_kind) == ("failed", "internal")
    assert said in (found.error or "")
    assert models.requests() == []
