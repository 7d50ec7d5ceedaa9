"""Scorers of Inspect AI as judges, asked of the local model server."""

from typing import Any

import pytest

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

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed here; `make test-evaluators` tests it")


def scorer(metric: str, **arguments: Any) -> dict[str, Any]:
    return {"package": "inspect", "metric": metric, "arguments": arguments}


def test_a_fact_is_graded_by_the_model_of_the_judge(models: ModelServer, url: str) -> None:
    replies(models, "Both say three.\nGRADE: C")
    found = verdict_of(judge_of(models, url, scorer("model_graded_fact")))
    assert (found.error, dict(found.scores)) == (None, {"inspect_model_graded_fact": 1.0})
    assert (found.reasoning, found.attempts) == ("Both say three.\nGRADE: C", 1)
    (prompt,) = prompts(models)
    assert all(text in prompt for text in (TASK, ANSWER, REFERENCE))


@pytest.mark.parametrize(("grade", "score"), [("C", 1.0), ("P", 0.5), ("I", 0.0)])
def test_partial_credit(models: ModelServer, url: str, grade: str, score: float) -> None:
    replies(models, f"GRADE: {grade}")
    judge = judge_of(models, url, scorer("model_graded_qa", partial_credit=True, include_history=True))
    assert list(verdict_of(judge).scores.values()) == [score]
    assert "look_up" in prompts(models)[0]


def test_a_target_of_the_panel(models: ModelServer, url: str) -> None:
    replies(models, "GRADE: I")
    judge = judge_of(models, url, scorer("model_graded_qa", target="It names a price."))
    found = verdict_of(judge, run_of(reference=None))
    assert (found.error, list(found.scores.values())) == (None, [0.0])
    assert "[Criterion]: It names a price." in prompts(models)[0]


def test_a_reply_without_a_grade_is_a_failure(models: ModelServer, url: str) -> None:
    replies(models, "I cannot decide.")
    found = verdict_of(judge_of(models, url, scorer("model_graded_fact")))
    assert (found.outcome, dict(found.scores)) == ("failed", {"inspect_model_graded_fact": None})
    assert found.error_kind == "missing_criterion"
    assert "I cannot decide." in (found.error or "")


def test_an_endpoint_that_fails_is_a_failure(models: ModelServer, url: str) -> None:
    models.script([rule("bad_request")])
    found = verdict_of(judge_of(models, url, scorer("model_graded_fact")))
    assert (found.outcome, found.error_kind) == ("failed", "server")
    assert len(models.requests()) == 1


def test_a_run_without_a_reference_answer_is_not_asked_about(models: ModelServer, url: str) -> None:
    found = verdict_of(judge_of(models, url, scorer("model_graded_fact")), run_of(reference=None))
    assert (found.outcome, found.reasoning) == ("abstained", "there is no reference answer")
    assert models.requests() == []


@pytest.mark.parametrize(
    ("evaluator", "answer", "reference", "score"),
    [
        (scorer("match"), "the answer is 3", "3", 1.0),
        (scorer("includes"), "there are 3 of it", "3", 1.0),
        (scorer("exact"), "three", "3", 0.0),
        (scorer("f1"), "three red apples", "three apples", pytest.approx(0.8)),
        (scorer("pattern", pattern=r"stock: (\d)"), "stock: 3", "3", 1.0),
        (scorer("answer", pattern="word"), "ANSWER: 3", "3", 1.0),
    ],
)
def test_scorers_without_a_model(url: str, evaluator: dict, answer: str, reference: str, score: float) -> None:
    found = verdict_of(judge_of(None, url, evaluator), run_of(answer=answer, reference=reference))
    assert (found.error, list(found.scores.values())) == (None, [score])


@pytest.mark.parametrize(
    ("evaluator", "said"),
    [
        (scorer("model_graded_facts"), "did you mean 'model_graded_fact'?"),
        (scorer("perplexity"), "inspect has no scorer perplexity that judges can use"),
        (scorer("model_graded_fact", model="openai/gpt"), "model is a setting of the judge"),
        (scorer("pattern"), "missing a required argument: 'pattern'"),
        (scorer("match", tone="x"), "tone"),
    ],
)
def test_a_scorer_that_cannot_be_used_fails_by_name(models: ModelServer, url: str, evaluator: dict, said: str) -> None:
    found = verdict_of(judge_of(models, url, evaluator))
    assert (found.outcome, found.error_kind) == ("failed", "internal")
    assert said in (found.error or "")
    assert models.requests() == []
