"""The check of the regression gate: whether it passes, whether it blocks, and what it says."""

from typing import Any

import pytest

from evaluation_assets.core.gating.outcome import ChangedTask, Comparability, GateOutcome, MetricComparison
from evaluation_assets.core.gating.settings import GateSettings, GateVerdict
from evaluation_assets.core.pipeline.checks.gating import regression_gate


def outcome(verdict: GateVerdict, **more: Any) -> GateOutcome:
    known: dict[str, Any] = {
        "drop": "s/d",
        "baseline": "s/base",
        "suite": "s",
        "rule": "paired",
        "reasons": ["overall -0.200 on 12 tasks", "1 task fell"],
        "metrics": [],
        "fallen_tasks": [],
        "only_in_baseline": [],
        "only_in_current": [],
        "reworded_tasks": [],
        "judges_kept_out": {},
        "comparability": Comparability(baseline_key="a", current_key="a", differs={}),
    }
    return GateOutcome(verdict=verdict, **(known | more))


def test_without_a_baseline_the_check_passes_and_says_how_to_make_one() -> None:
    found = regression_gate(None, GateSettings())
    assert (found.passed, found.severity) == (True, "error")
    promote = "there is no baseline yet. Promote one: evaluation-assets baseline promote DROP"
    assert found.description == f"Nothing was compared: {promote}"
    assert found.metadata == {}
    found = regression_gate(None, GateSettings(), "4 of 5 tasks have another prompt than in b")
    assert found.description == "Nothing was compared: 4 of 5 tasks have another prompt than in b"


VERDICTS: list[GateVerdict] = ["pass", "warn", "fail", "inconclusive", "incomparable"]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_only_a_regression_blocks_and_only_a_pass_passes(verdict: GateVerdict) -> None:
    found = regression_gate(outcome(verdict), GateSettings())
    assert found.passed == (verdict == "pass")
    assert found.severity == ("error" if verdict == "fail" else "warn")
    assert found.description == f"{verdict}: overall -0.200 on 12 tasks; 1 task fell"
    assert (found.metadata["verdict"], found.metadata["baseline"]) == (verdict, "s/base")


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_verdicts_that_block_are_those_of_the_settings(verdict: GateVerdict) -> None:
    settings = GateSettings(blocks=("inconclusive", "incomparable"))
    blocks = regression_gate(outcome(verdict), settings).severity == "error"
    assert blocks == (verdict in ("inconclusive", "incomparable"))


def test_a_changed_judge_blocks_whatever_the_settings_say() -> None:
    changed = outcome("incomparable", judges_changed=["judge changed: one scores 12 canary clips by 0.3 lower"])
    found = regression_gate(changed, GateSettings(blocks=()))
    assert (found.passed, found.severity) == (False, "error")


def test_gating_metrics_are_numbers_that_can_be_plotted() -> None:
    compared = [
        MetricComparison(metric="success", gates=True, difference=-0.25, verdict="fail", reason="fell"),
        MetricComparison(metric="overall", gates=True, verdict="inconclusive", reason="unknown"),
        MetricComparison(metric="steps", gates=False, difference=2.0, verdict="pass", reason="same"),
    ]
    fallen = [ChangedTask(task_id="t", metric="success", baseline=1.0, current=0.0, beyond_noise=True)]
    found = regression_gate(outcome("fail", metrics=compared, fallen_tasks=fallen), GateSettings())
    assert {name: value for name, value in found.metadata.items() if name.startswith("difference")} == {
        "difference_success": -0.25
    }
    assert found.metadata["fallen_tasks"] == 1
    assert found.metadata["why"] == "overall -0.200 on 12 tasks\n1 task fell"
    assert GateOutcome.model_validate(found.metadata["outcome"]).fallen_tasks == fallen
