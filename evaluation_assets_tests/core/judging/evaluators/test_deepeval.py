"""Metrics of DeepEval as judges, asked of the local model server."""

import subprocess
import sys
from pathlib import Path
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
from evaluation_assets_tests.model_server import ModelServer

pytest.importorskip("deepeval", reason="deepeval is not installed here; `make test-evaluators` tests it")


def deepeval(metric: str, **arguments: Any) -> dict[str, Any]:
    return {"package": "deepeval", "metric": metric, "arguments": arguments}


CRITERIA = {"name": "Correctness", "criteria": "Is the number right?"}


def test_answer_relevancy_asks_step_by_step(models: ModelServer, url: str) -> None:
    statements = {"statements": ["Three are in stock.", "The weather is fine."]}
    verdicts = {"verdicts": [{"verdict": "yes", "reason": None}, {"verdict": "no", "reason": "Off topic."}]}
    replies(models, statements, verdicts, {"reason": "Half of it is about the weather."})
    found = verdict_of(judge_of(models, url, deepeval("AnswerRelevancy")))
    assert (found.error, dict(found.scores)) == (None, {"deepeval_answer_relevancy": 0.5})
    assert found.reasoning == "Half of it is about the weather."
    assert (found.attempts, len(models.requests())) == (3, 3)
    assert ANSWER in prompts(models)[0]
    assert TASK in prompts(models)[1]


def test_g_eval_with_own_criteria(models: ModelServer, url: str) -> None:
    replies(models, {"steps": ["Compare the numbers."]}, {"reason": "They agree.", "score": 8})
    own = deepeval("GEval", evaluation_params=["actual_output", "expected_output"], **CRITERIA)
    found = verdict_of(judge_of(models, url, own | {"criterion": "number"}))
    assert (found.error, dict(found.scores), found.reasoning) == (None, {"number": 0.8}, "They agree.")
    assert all(text in prompts(models)[1] for text in (ANSWER, REFERENCE))


def test_g_eval_with_a_rubric(models: ModelServer, url: str) -> None:
    replies(models, {"reason": "They agree.", "score": 10})
    rubric = [
        {"score_range": [0, 5], "expected_outcome": "Wrong."},
        {"score_range": [6, 10], "expected_outcome": "Right."},
    ]
    own = deepeval("GEval", name="Number", evaluation_steps=["Compare the numbers."], rubric=rubric)
    found = verdict_of(judge_of(models, url, own))
    assert (found.error, dict(found.scores), found.attempts) == (None, {"deepeval_g_eval": 1.0}, 1)
    assert "Right." in prompts(models)[0]


@pytest.mark.parametrize(
    ("metric", "run", "reason"),
    [
        ("ContextualRecall", run_of(reference=None), "there is no reference answer"),
        ("Faithfulness", run_of(text=""), "no tool returned anything"),
        ("ArgumentCorrectness", run_of(text=""), "there is no tool call"),
        ("Toxicity", run_of(answer=None), "there is no final answer"),
    ],
)
def test_a_run_that_lacks_what_the_metric_needs_is_not_asked_about(
    models: ModelServer, url: str, metric: str, run: Any, reason: str
) -> None:
    found = verdict_of(judge_of(models, url, deepeval(metric)), run)
    assert (found.outcome, found.reasoning) == ("abstained", reason)
    assert models.requests() == []


def test_calls_of_tools_are_seen(models: ModelServer, url: str) -> None:
    replies(models, {"verdicts": [{"verdict": "yes", "reason": None}]}, {"reason": "The item is right."})
    found = verdict_of(judge_of(models, url, deepeval("ArgumentCorrectness")))
    assert (found.error, list(found.scores.values())) == (None, [1.0])
    assert "look_up" in prompts(models)[0]


def test_a_conversation(models: ModelServer, url: str) -> None:
    replies(
        models,
        {"intentions": ["Learn the stock."]},
        {"verdict": "yes", "reason": None},
        {"reason": "It was said."},
    )
    found = verdict_of(judge_of(models, url, deepeval("ConversationCompleteness")))
    assert (found.error, list(found.scores.values())) == (None, [1.0])
    assert all(text in prompts(models)[0] for text in (TASK, ANSWER))


def test_every_metric_can_be_made(models: ModelServer, url: str) -> None:
    """With whatever the model server replies to its schemas, each gives a score from 0 to 1 and no error."""
    more: dict[str, dict[str, Any]] = {
        "GEval": CRITERIA,
        "ConversationalGEval": CRITERIA,
        "Misuse": {"domain": "stocks"},
        "NonAdvice": {"advice_types": ["medical"]},
        "PatternMatch": {"pattern": ".*3.*"},
        "PromptAlignment": {"prompt_instructions": ["Name the item."]},
        "RoleAdherence": {"chatbot_role": "a clerk"},
        "RoleViolation": {"role": "a clerk"},
        "TopicAdherence": {"relevant_topics": ["stock"]},
    }
    from evaluation_assets.core.judging.evaluators.adapters import deepeval as adapter

    failed = {}
    for metric in (*adapter._SINGLE, *adapter._CONVERSATIONS):
        found = verdict_of(judge_of(models, url, deepeval(metric, **more.get(metric, {}))))
        if found.outcome != "scored":
            failed[metric] = (found.outcome, found.error)
    assert failed == {}


@pytest.mark.parametrize(
    ("evaluator", "said"),
    [
        (deepeval("AnswerRelevance"), "did you mean 'AnswerRelevancy'?"),
        (deepeval("StepEfficiency"), "deepeval has no metric StepEfficiency that judges can use"),
        (deepeval("GEval"), "deepeval:GEval"),
        (deepeval("GEval", evaluation_params=["tags"], **CRITERIA), "runs have no tags"),
        (deepeval("RoleAdherence"), "needs arguments: chatbot_role"),
        (deepeval("Bias", model="gpt"), "model is a setting of the judge"),
        (deepeval("Bias", tone="x"), "tone"),
    ],
)
def test_a_metric_that_cannot_be_used_fails_by_name(models: ModelServer, url: str, evaluator: dict, said: str) -> None:
    found = verdict_of(judge_of(models, url, evaluator))
    assert (found.outcome, found.error_kind) == ("failed", "internal")
    assert said in (found.error or "")
    assert models.requests() == []


QUIET = """
import os, sys
from evaluation_assets.core.judging.evaluators.adapters import deepeval
from deepeval.telemetry import get_backend, telemetry_opt_out
assert telemetry_opt_out(), "telemetry"
assert type(get_backend()).__name__ == "NoopBackend", get_backend()
assert "FROM_DOTENV" not in os.environ, ".env was read"
assert os.listdir(".") == [".env"], os.listdir(".")
"""


def test_the_package_sends_no_telemetry_and_reads_no_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_DOTENV=1\nDEEPEVAL_TELEMETRY_OPT_OUT=0\n")
    done = subprocess.run([sys.executable, "-c", QUIET], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
