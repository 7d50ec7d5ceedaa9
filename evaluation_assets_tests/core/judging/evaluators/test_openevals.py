"""Metrics of openevals and agentevals as judges, asked of the local model server."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from evaluation_assets.core.judging.evaluators.asked_model import NoModel, Said
from evaluation_assets.core.judging.evaluators.case import case_of
from evaluation_assets.core.judging.evaluators.metrics import metric_of
from evaluation_assets.core.judging.evaluators.settings import EvaluatorSettings
from evaluation_assets.core.judging.own.checks import Score
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.subjects import trajectory_chain
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

pytest.importorskip("openevals", reason="openevals is not installed here; `make test-evaluators` tests it")

CORRECTNESS = {"package": "openevals", "metric": "correctness"}


def openevals(metric: str, **arguments: Any) -> dict[str, Any]:
    return {"package": "openevals", "metric": metric, "arguments": arguments}


def test_correctness_sees_task_answer_and_reference(models: ModelServer, url: str) -> None:
    replies(models, {"reasoning": "It is right.", "score": True})
    found = verdict_of(judge_of(models, url, CORRECTNESS))
    assert (found.error, found.outcome, dict(found.scores)) == (None, "scored", {"openevals_correctness": 1.0})
    assert (found.reasoning, found.attempts) == ("It is right.", 1)
    (prompt,) = prompts(models)
    assert all(text in prompt for text in (TASK, ANSWER, REFERENCE))


def test_a_run_without_a_reference_answer_is_not_asked_about(models: ModelServer, url: str) -> None:
    found = verdict_of(judge_of(models, url, CORRECTNESS), run_of(reference=None))
    assert (found.outcome, found.reasoning) == ("abstained", "there is no reference answer")
    assert models.requests() == []


def test_arguments_of_a_judge(models: ModelServer, url: str) -> None:
    replies(models, {"reasoning": "Half of it.", "score": 0.5})
    judge = judge_of(models, url, openevals("conciseness", choices=[0, 0.5, 1]))
    assert dict(verdict_of(judge).scores) == {"openevals_conciseness": 0.5}


def test_a_score_off_the_scale_is_a_failure(models: ModelServer, url: str) -> None:
    replies(models, {"reasoning": "Seven of ten.", "score": 7})
    found = verdict_of(judge_of(models, url, openevals("conciseness", continuous=True)))
    assert (found.outcome, found.error_kind, found.scores) == (
        "failed",
        "out_of_range",
        {"openevals_conciseness": None},
    )


def test_where_true_is_bad_the_score_is_reversed(models: ModelServer, url: str) -> None:
    replies(models, {"reasoning": "An insult.", "score": True})
    found = verdict_of(judge_of(models, url, openevals("toxicity")))
    assert dict(found.scores) == {"openevals_toxicity": 0.0}
    assert found.reasoning == "An insult.\n1 of the metric, where lower is better"


def test_groundedness_sees_what_the_tools_returned(models: ModelServer, url: str) -> None:
    replies(models, {"reasoning": "It is in there.", "score": True})
    assert verdict_of(judge_of(models, url, openevals("rag_groundedness"))).outcome == "scored"
    assert '{"stock": 3}' in prompts(models)[0]
    found = verdict_of(judge_of(models, url, openevals("rag_groundedness")), run_of(text=""))
    assert (found.outcome, found.reasoning) == ("abstained", "no tool returned anything")


def test_an_own_prompt(models: ModelServer, url: str) -> None:
    replies(models, {"reasoning": "Polite.", "score": True})
    own = openevals("llm_as_judge", prompt="Is this {tone}? {outputs}", tone="polite") | {"criterion": "polite"}
    assert dict(verdict_of(judge_of(models, url, own)).scores) == {"polite": 1.0}
    assert f"Is this polite? {ANSWER}" in prompts(models)[0]


@pytest.mark.parametrize("metric", ["task_completion", "trajectory_accuracy"])
def test_conversations_and_trajectories_are_messages_with_calls(models: ModelServer, url: str, metric: str) -> None:
    replies(models, {"reasoning": "Done.", "score": True})
    found = verdict_of(judge_of(models, url, openevals(metric)))
    assert (found.error, list(found.scores.values())) == (None, [1.0])
    assert all(text in prompts(models)[0] for text in (TASK, "look_up", ANSWER))


def test_agentevals_judges_the_trajectory(models: ModelServer, url: str) -> None:
    replies(models, {"reasoning": "It makes sense.", "score": True})
    judge = judge_of(models, url, {"package": "agentevals", "metric": "trajectory_accuracy"})
    found = verdict_of(judge, run_of(answer=None))
    assert (found.error, dict(found.scores)) == (None, {"agentevals_trajectory_accuracy": 1.0})
    assert "look_up" in prompts(models)[0]


@pytest.mark.parametrize(("metric", "score"), [("exact_match", 0.0), ("levenshtein_distance", 0.8)])
def test_metrics_without_a_model(url: str, metric: str, score: float) -> None:
    found = verdict_of(judge_of(None, url, openevals(metric)), run_of(answer="house", reference="mouse"))
    assert (found.error, list(found.scores.values())) == (None, [pytest.approx(score)])


class Watching(NoModel):
    """A model that looks whether the call is traced."""

    traced = True

    async def ask(self, messages: Sequence[Said], schema: Mapping[str, Any] | None = None) -> str:
        from langsmith import get_current_run_tree

        self.traced = get_current_run_tree() is not None
        return '{"reasoning": "It is right.", "score": true}'


def test_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """LangSmith's own variables do not make openevals send the texts of runs there."""
    from langsmith.utils import get_env_var

    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "any")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    get_env_var.cache_clear()  # type: ignore[attr-defined]
    metric = metric_of(EvaluatorSettings.model_validate(CORRECTNESS))
    case, model = case_of(trajectory_chain(run_of(), [], load_rubrics()).subjects[0]), Watching()
    assert asyncio.run(metric.score(case, model)) == Score(True, "It is right.")
    assert not model.traced


@pytest.mark.parametrize(
    ("evaluator", "said"),
    [
        (openevals("correctnes"), "openevals has no metric correctnes; did you mean 'correctness'?"),
        (openevals("language_detection"), "openevals has no metric language_detection"),
        (openevals("llm_as_judge"), "openevals:llm_as_judge needs arguments: prompt"),
        (openevals("plan_adherence"), "openevals:plan_adherence needs arguments: plan"),
        (openevals("correctness", tone="x"), "openevals:correctness takes no argument tone"),
        (openevals("trajectory_accuracy_with_reference"), "compares with a reference trajectory"),
        (openevals("exact_match", tone="x"), "takes no argument tone"),
        ({"package": "agentevals", "metric": "strict"}, "agentevals has no metric strict that needs no reference"),
    ],
)
def test_a_metric_that_cannot_be_used_fails_by_name(models: ModelServer, url: str, evaluator: dict, said: str) -> None:
    found = verdict_of(judge_of(models, url, evaluator))
    assert (found.outcome, found.error_kind) == ("failed", "internal")
    assert said in (found.error or "")
    assert models.requests() == []
