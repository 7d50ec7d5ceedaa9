"""Families of tasks that change together."""

import numpy as np
import pytest

from evaluation_assets.core.gating.families import families_of, suspected_families
from evaluation_assets.core.gating.pairs import Pairs
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.text.user_error import UserError
from evaluation_assets_tests.core.gating.test_gate import gate

FAMILIES, VARIANTS = 15, 4


def pairs(random: np.random.Generator, name: str, together: float, families: int = FAMILIES) -> Pairs:
    """Tasks of families, of whose differences this share of the variance is common to the family."""
    common = np.repeat(random.normal(0, together**0.5, families), VARIANTS)
    differences = 0.1 * (common + random.normal(0, (1 - together) ** 0.5, families * VARIANTS))
    tasks = [
        name.format(family=f"f{family:c}", variant=variant)
        for family in range(97, 97 + families)
        for variant in range(VARIANTS)
    ]
    return Pairs("overall", tasks, np.full(len(tasks), 0.5), 0.5 + differences, len(tasks))


@pytest.mark.parametrize(
    "name", ["{family}-{variant}", "{family}_v{variant}", "{family}/easy/{variant}", "{family} case {variant} b"]
)
def test_variants_of_a_task_that_change_together_are_noticed(name: str) -> None:
    found = suspected_families(pairs(np.random.default_rng(1), name, 0.7))
    assert found is not None and found.families == FAMILIES
    assert " " not in found.pattern, "a terminal breaks lines at spaces"
    assert found.correlation == pytest.approx(0.7, abs=0.3)


def test_tasks_that_change_each_for_itself_are_rarely_suspected() -> None:
    random = np.random.default_rng(2)
    suspected = [suspected_families(pairs(random, "{family}-{variant}", 0.0)) is not None for _ in range(300)]
    assert np.mean(suspected) <= 0.03


def test_the_gate_suggests_families_and_no_longer_once_they_are_set() -> None:
    made = pairs(np.random.default_rng(1), "{family}-{variant}", 0.7)
    before, after = (dict(zip(made.tasks, map(float, side), strict=True)) for side in (made.baseline, made.current))
    settings = GateSettings(metrics=("overall",))
    (note,) = [
        reason for reason in gate({"overall": before}, {"overall": after}, settings).reasons if "famil" in reason
    ]
    pattern = note.split("task_family: ")[1].strip("'")
    assert "15 families change together in overall" in note
    known = settings.model_copy(update={"task_family": pattern})
    outcome = gate({"overall": before}, {"overall": after}, known)
    assert not any("famil" in reason for reason in outcome.reasons)
    assert outcome.metrics[0].method == "paired t-test, tasks clustered by family"


def test_few_families_are_told_and_not_suggested_as_what_is_tested() -> None:
    made = pairs(np.random.default_rng(3), "{family}-{variant}", 0.9, families=5)
    before, after = (dict(zip(made.tasks, map(float, side), strict=True)) for side in (made.baseline, made.current))

    def notes(settings: GateSettings) -> list[str]:
        reasons = gate({"overall": before}, {"overall": after}, settings).reasons
        return [reason for reason in reasons if "famil" in reason]

    settings = GateSettings(metrics=("overall",))
    (note,) = notes(settings)
    assert "5 families change together in overall" in note and "task_family" not in note
    (few,) = notes(settings.model_copy(update={"task_family": "^f."}))
    assert few == "only 5 families (task_family): only a very large decrease shows over so few"


def test_an_expression_that_takes_practically_forever_is_named() -> None:
    with pytest.raises(UserError, match=r"gate.task_family: .* takes longer than 1 s in the task 'aaa"):
        families_of(["short", "a" * 60 + "!"], "^(a|aa)+$")
