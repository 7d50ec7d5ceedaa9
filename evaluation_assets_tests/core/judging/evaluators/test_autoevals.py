"""Metrics of autoevals as judges, asked of the local model server."""

import pytest

from evaluation_assets_tests.core.judging.evaluators.judging import (
    ANSWER,
    CALL,
    REFERENCE,
    TASK,
    judge_of,
    prompts,
    replies,
    run_of,
    verdict_of,
)
from evaluation_assets_tests.model_server import ModelServer

FACTUALITY = {"package": "autoevals", "metric": "Factuality"}
SUPERSET = {"reasons": "It says the same and more.", "choice": "B"}


def test_factuality_asks_the_model_of_the_judge_and_scores(models: ModelServer, url: str) -> None:
    replies(models, SUPERSET)
    found = verdict_of(judge_of(models, url, FACTUALITY))
    assert (found.outcome, dict(found.scores)) == ("scored", {"autoevals_factuality": 0.6})
    assert found.reasoning == "It says the same and more.\nchoice: B"
    (asked,) = models.requests()
    assert asked.body["model"] == "m"
    assert asked.body["response_format"]["json_schema"]["schema"]["additionalProperties"] is False
    (prompt,) = prompts(models)
    assert all(text in prompt for text in (f"[Question]: {TASK}", f"[Expert]: {REFERENCE}", f"[Submission]: {ANSWER}"))
    assert (found.attempts, found.served_model, found.from_ledger) == (1, "m", False)
    assert found.usage.cost_usd is not None
    assert found.usage.cost_usd > 0


def test_a_run_without_a_reference_answer_is_not_asked_about(models: ModelServer, url: str) -> None:
    found = verdict_of(judge_of(models, url, FACTUALITY), run_of(reference=None))
    assert (found.outcome, found.reasoning) == ("abstained", "there is no reference answer")
    assert models.requests() == []


def test_a_run_without_an_answer_is_not_asked_about(models: ModelServer, url: str) -> None:
    found = verdict_of(judge_of(models, url, FACTUALITY), run_of(answer=None))
    assert (found.outcome, found.reasoning) == ("abstained", "there is no final answer")
    assert models.requests() == []


def test_arguments_stand_in_the_prompt(models: ModelServer, url: str) -> None:
    replies(models, {"reasons": "It is.", "choice": "Y"})
    closed = {"package": "autoevals", "metric": "ClosedQA", "arguments": {"criteria": "The number is right."}}
    found = verdict_of(judge_of(models, url, closed))
    assert dict(found.scores) == {"autoevals_closed_qa": 1.0}
    assert "[Criterion]: The number is right." in prompts(models)[0]


def test_an_own_classifier(models: ModelServer, url: str) -> None:
    replies(models, {"choice": "rude"})
    arguments = {
        "name": "tone",
        "prompt_template": "Is this polite? {{output}}",
        "choice_scores": {"polite": 1, "rude": 0},
        "use_cot": False,
    }
    own = {"package": "autoevals", "metric": "LLMClassifier", "arguments": arguments, "criterion": "tone"}
    found = verdict_of(judge_of(models, url, own), run_of(reference=None))
    assert (found.outcome, dict(found.scores)) == ("scored", {"tone": 0.0})


def test_faithfulness_makes_two_calls_and_sees_what_the_tools_returned(models: ModelServer, url: str) -> None:
    verdicts = [{"statement": "There are three.", "verdict": 1, "reason": "So it says."}]
    replies(models, {"statements": ["There are three."]}, {"faithfulness": verdicts})
    found = verdict_of(judge_of(models, url, {"package": "autoevals", "metric": "Faithfulness"}))
    assert (found.error, dict(found.scores)) == (None, {"autoevals_faithfulness": 1.0})
    assert (found.attempts, len(models.requests())) == (2, 2)
    assert '{\\"stock\\": 3}' in prompts(models)[1] or '{"stock": 3}' in prompts(models)[1]


def test_answer_correctness_without_its_embeddings(models: ModelServer, url: str) -> None:
    replies(models, {"TP": ["There are three."], "FP": [], "FN": ["Today."]})
    weights = {"answer_similarity_weight": 0, "factuality_weight": 1}
    judge = judge_of(models, url, {"package": "autoevals", "metric": "AnswerCorrectness", "arguments": weights})
    assert dict(verdict_of(judge).scores) == {"autoevals_answer_correctness": pytest.approx(2 / 3)}


@pytest.mark.parametrize(
    ("metric", "answer", "reference", "score"),
    [
        ("ExactMatch", "3", "3", 1.0),
        ("ExactMatch", "three", "3", 0.0),
        ("Levenshtein", "house", "mouse", 0.8),
        ("NumericDiff", "3", "3", 1.0),
        ("ValidJSON", '{"a": 1}', "any", 1.0),
        ("ListContains", '["a", "b"]', '["a", "b"]', 1.0),
        ("JSONDiff", '{"a": 1}', '{"a": 1}', 1.0),
    ],
)
def test_metrics_without_a_model(url: str, metric: str, answer: str, reference: str, score: float) -> None:
    judge = judge_of(None, url, {"package": "autoevals", "metric": metric})
    found = verdict_of(judge, run_of(answer=answer, reference=reference))
    assert (found.error, list(found.scores.values())) == (None, [pytest.approx(score)])


def test_a_text_where_the_metric_compares_numbers_is_a_failure(url: str) -> None:
    judge = judge_of(None, url, {"package": "autoevals", "metric": "NumericDiff"})
    found = verdict_of(judge, run_of(answer="three", reference="3"))
    assert (found.outcome, list(found.scores.values())) == ("failed", [None])


def test_a_metric_with_a_model_needs_one(url: str) -> None:
    found = verdict_of(judge_of(None, url, FACTUALITY))
    assert (found.outcome, found.error) == ("failed", "the metric needs a model: set provider and model of the judge")


@pytest.mark.parametrize(
    ("evaluator", "said"),
    [
        ({"metric": "Factualty"}, "autoevals has no metric Factualty; did you mean 'Factuality'?"),
        ({"metric": "Scorer"}, "autoevals has no metric Scorer"),
        ({"metric": "EmbeddingSimilarity"}, "autoevals:EmbeddingSimilarity needs embeddings"),
        ({"metric": "AnswerCorrectness"}, "set answer_similarity_weight: 0"),
        ({"metric": "Moderation"}, "autoevals:Moderation needs a moderation endpoint"),
        ({"metric": "ClosedQA"}, "autoevals:ClosedQA needs arguments: criteria"),
        ({"metric": "Factuality", "arguments": {"tone": 1}}, "autoevals:Factuality takes no argument tone"),
        ({"metric": "Factuality", "arguments": {"model": "x"}}, "model is a setting of the judge"),
        ({"metric": "ExactMatch", "arguments": {"tone": 1}}, "tone"),
        ({"metric": "LLMClassifier"}, "missing 3 required positional arguments"),
    ],
)
def test_a_metric_that_cannot_be_used_fails_by_name(models: ModelServer, url: str, evaluator: dict, said: str) -> None:
    found = verdict_of(judge_of(models, url, {"package": "autoevals", **evaluator}))
    assert (found.outcome, found.error_kind) == ("failed", "internal")
    assert said in (found.error or "")
    assert models.requests() == []


def test_a_task_with_braces_is_a_text(models: ModelServer, url: str) -> None:
    replies(models, SUPERSET)
    verdict_of(judge_of(models, url, FACTUALITY), run_of(task="What is {{expected}}?", text=CALL))
    assert "[Question]: What is {{expected}}?" in prompts(models)[0]
