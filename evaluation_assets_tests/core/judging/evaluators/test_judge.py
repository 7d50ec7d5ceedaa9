"""Evaluators of other packages as judges: ledger, corrections, failures, redaction, versions and settings."""

import asyncio
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.evaluators import judge as module
from evaluation_assets.core.judging.evaluators import packages
from evaluation_assets.core.judging.evaluators.asked_model import ChatModel, Said
from evaluation_assets.core.judging.evaluators.case import Case
from evaluation_assets.core.judging.evaluators.metrics import Metric
from evaluation_assets.core.judging.evaluators.settings import snake_case
from evaluation_assets.core.judging.judge import Judge, judge_chains
from evaluation_assets.core.judging.own.checks import Score
from evaluation_assets.core.judging.panel import InvalidPanel, Panel, panel_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.subjects import trajectory_chain
from evaluation_assets.core.judging.trial import try_panel
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.errors import ProviderError
from evaluation_assets_tests.conftest import KEY
from evaluation_assets_tests.core.judging.evaluators.judging import (
    judge_of,
    panel,
    prompts,
    replies,
    run_of,
    verdict_of,
)
from evaluation_assets_tests.model_server import ModelServer, rule

FACTUALITY = {"package": "autoevals", "metric": "Factuality"}
SUPERSET = {"reasons": "It says the same and more.", "choice": "B"}
WRONG = {"reasons": "No such choice.", "choice": "F"}


def test_a_model_behind_the_protocol_of_anthropic(models: ModelServer, url: str) -> None:
    replies(models, SUPERSET)
    there = {"provider": "anthropic_compatible", "base_url": models.anthropic_url}
    found = verdict_of(judge_of(models, url, FACTUALITY, **there))
    assert (found.error, dict(found.scores)) == (None, {"autoevals_factuality": 0.6})
    assert [asked.path for asked in models.requests()] == ["/anthropic/v1/messages"]


def test_an_endpoint_without_json_schemas_is_asked_in_words(models: ModelServer, url: str) -> None:
    models.script([rule("no_json_schema"), rule("text", text='{"reasons": "It says more.", "choice": "B"}')])
    found = verdict_of(judge_of(models, url, FACTUALITY))
    assert (found.error, dict(found.scores)) == (None, {"autoevals_factuality": 0.6})
    assert models.requests()[-1].body["response_format"] == {"type": "json_object"}


def test_a_reply_is_paid_for_once(models: ModelServer, url: str) -> None:
    replies(models, SUPERSET)
    first = verdict_of(judge_of(models, url, FACTUALITY), run_id="monday")
    again = verdict_of(judge_of(models, url, FACTUALITY), run_id="tuesday")
    assert len(models.requests()) == 1
    assert again.from_ledger
    assert (again.scores, again.reasoning, again.ledger_key) == (first.scores, first.reasoning, first.ledger_key)


def test_samples_are_asked_separately(models: ModelServer, url: str) -> None:
    replies(models, SUPERSET)
    judge = judge_of(models, url, FACTUALITY, repeats=3)
    assert asyncio.run(samples_of(judge)) == [0, 1, 2]
    assert len(models.requests()) == 3


async def samples_of(judge: Judge) -> list[int]:
    whole = run_of()
    chain = judge.selection.chain(trajectory_chain(whole, clips_of(whole), load_rubrics()))
    assert chain is not None
    async with judge.opened("run", Budget()) as ready:
        return [each.sample async for some in judge_chains(ready, [chain]) for each in some]


def test_a_reply_that_does_not_fit_is_corrected_once(models: ModelServer, url: str) -> None:
    replies(models, WRONG, f"Let me see.</think> {SUPERSET}".replace("'", '"'))
    found = verdict_of(judge_of(models, url, FACTUALITY))
    assert (found.outcome, found.attempts, dict(found.scores)) == ("scored", 2, {"autoevals_factuality": 0.6})
    assert "it does not fit the JSON schema (choice: enum)" in prompts(models)[1]


def test_a_reply_that_never_fits_is_a_failure_and_is_asked_again_by_the_next_run(models: ModelServer, url: str) -> None:
    replies(models, WRONG, "no JSON", SUPERSET)
    found = verdict_of(judge_of(models, url, FACTUALITY), run_id="monday")
    assert (found.outcome, found.error_kind, dict(found.scores)) == (
        "failed",
        "invalid_json",
        {"autoevals_factuality": None},
    )
    assert found.error == "it is not a JSON object."
    assert verdict_of(judge_of(models, url, FACTUALITY), run_id="tuesday").scores == {"autoevals_factuality": 0.6}


@pytest.mark.parametrize(
    ("fault", "outcome", "kind"),
    [
        ("wrong_key", "failed", "auth"),
        ("length", "failed", "truncated"),
        ("refusal", "failed", "refusal"),
        ("bad_request", "failed", "server"),
    ],
)
def test_a_model_that_fails_gives_no_number(models: ModelServer, url: str, fault: str, outcome: str, kind: str) -> None:
    models.script([rule(fault)])
    found = verdict_of(judge_of(models, url, FACTUALITY))
    assert (found.outcome, found.error_kind, dict(found.scores)) == (outcome, kind, {"autoevals_factuality": None})
    assert KEY not in (found.error or "")


def test_a_budget_that_is_spent_stops_the_judge(models: ModelServer, url: str) -> None:
    found = verdict_of(judge_of(models, url, FACTUALITY), budget=0.000001)
    assert (found.outcome, found.error_kind) == ("not_run", "budget")
    assert models.requests() == []


def test_a_ledger_that_cannot_be_opened_is_named(models: ModelServer, tmp_path: Path) -> None:
    found = verdict_of(judge_of(models, f"sqlite:///{tmp_path / 'gone' / 'ledger.sqlite'}", FACTUALITY))
    assert (found.outcome, found.error_kind) == ("not_run", "ledger")


def test_secrets_of_a_run_are_redacted_before_they_leave(models: ModelServer, url: str) -> None:
    replies(models, SUPERSET)
    secret = "sk-ant-api03-" + "Ab3dEf6h" * 10
    verdict_of(judge_of(models, url, FACTUALITY), run_of(answer=f"The key is {secret}.", task=f"Is {secret} valid?"))
    (prompt,) = prompts(models)
    assert secret not in prompt
    assert "[REDACTED:" in prompt


def test_the_version_covers_package_metric_arguments_and_model(
    models: ModelServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = {"package": "autoevals", "metric": "ClosedQA"}
    versions = [
        judge_of(models, url, FACTUALITY).version,
        judge_of(models, url, closed).version,
        judge_of(models, url, closed | {"arguments": {"criteria": "short"}}).version,
        judge_of(models, url, FACTUALITY | {"criterion": "facts"}).version,
        judge_of(models, url, FACTUALITY | {"lower_is_better": True}).version,
        judge_of(models, url, FACTUALITY, model="other").version,
        judge_of(models, url, FACTUALITY, parameters={"temperature": 0}).version,
        judge_of(None, url, FACTUALITY).version,
    ]
    assert judge_of(models, url, FACTUALITY).version == versions[0]
    monkeypatch.setattr(module, "installed_version", lambda _package: "99")
    versions.append(judge_of(models, url, FACTUALITY).version)
    assert len(set(versions)) == len(versions)


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = packages.PACKAGES["autoevals"].__class__("a-package-that-is-not-there", "autoevals")
    monkeypatch.setattr(packages, "PACKAGES", {"autoevals": gone})
    with pytest.raises(InvalidPanel, match=r"is not installed; .* -m pip install 'autoevals"):
        panel(None, FACTUALITY)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"provider": "rules"}, "provider rules has no evaluator"),
        ({"function": "my_checks:check"}, "remove function"),
        ({"preset": "quick"}, "remove preset"),
        ({"probability": True}, "remove probability"),
        ({"mode": "batch"}, "remove mode: batch"),
        ({"evaluator": {"package": "nothing", "metric": "x"}}, "judges[0].evaluator.package"),
        ({"evaluator": FACTUALITY | {"criterion": "Facts!"}}, "judges[0].evaluator.criterion"),
    ],
)
def test_settings_that_mean_nothing_are_refused(models: ModelServer, more: dict[str, Any], said: str) -> None:
    known = {"evaluator": FACTUALITY} | more
    with pytest.raises(InvalidPanel, match=re.escape(said)):
        panel(models, known.pop("evaluator"), **known)


def test_an_evaluator_keeps_its_levels_when_a_preset_is_chosen(models: ModelServer) -> None:
    (judge,) = panel(models, FACTUALITY, levels=["answer"]).with_preset("quick").judges
    assert (judge.selection.levels, judge.selection.is_quick) == ({"answer"}, False)
    assert panel(models, FACTUALITY).judges[0].selection.levels == {"trajectory"}


def test_different_evaluators_do_not_share_a_criterion() -> None:
    first = {"package": "autoevals", "metric": "ClosedQA", "arguments": {"criteria": "It is short."}}
    second = {"package": "autoevals", "metric": "ClosedQA", "arguments": {"criteria": "It is polite."}}

    def both(one: dict[str, Any], other: dict[str, Any]) -> Panel:
        judges = [{"name": f"j{at}", "provider": "python", "evaluator": each} for at, each in enumerate((one, other))]
        return panel_of({"judges": judges}, "panel.yaml")

    assert both(first, dict(first))
    assert both(first, second | {"criterion": "polite"})
    with pytest.raises(InvalidPanel, match="different evaluators score the criterion autoevals_closed_qa"):
        both(first, second)


def test_a_metric_that_swallows_a_failure_of_its_model_gives_no_number(models: ModelServer, url: str) -> None:
    """What the model of a metric raised counts, whatever the metric made of it."""
    models.script([rule("bad_request")])
    judge = judge_of(models, url, FACTUALITY)
    assert isinstance(judge, module.EvaluatorJudge)

    async def swallowing(case: Case, model: ChatModel) -> Score:
        with suppress(ProviderError):
            await model.ask([Said("user", case.input)])
        return Score(1.0)

    async def judged() -> Verdict:
        assert judge.asked is not None
        subject = trajectory_chain(run_of(), [], load_rubrics()).subjects[0]
        async with judge.asked.opened("run", Budget()) as model:
            return await module.OpenEvaluator(judge, Metric(swallowing), model).judge(subject, [])

    found = asyncio.run(judged())
    assert (found.outcome, found.error_kind, dict(found.scores)) == ("failed", "server", {"autoevals_factuality": None})


def test_panel_test_makes_a_real_call(models: ModelServer) -> None:
    replies(models, SUPERSET)
    ((name, found),) = asyncio.run(try_panel(panel(models, FACTUALITY), load_rubrics()))
    assert (name, found.outcome, found.attempts) == ("one", "scored", 1)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Factuality", "factuality"),
        ("ClosedQA", "closed_qa"),
        ("JSONDiff", "json_diff"),
        ("GEval", "g_eval"),
        ("answer-relevancy", "answer_relevancy"),
        ("model_graded_qa", "model_graded_qa"),
    ],
)
def test_names_of_metrics_become_names_of_criteria(name: str, plain: str) -> None:
    assert snake_case(name) == plain
