"""What a model is shown of a run."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.outcomes.traits import Traits, hashes, traits_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.making import call, result, tagged_texts, trajectory


def same(one: Traits, other: Traits) -> bool:
    arrays = all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("ngrams", "answer", "changes", "calls")
    )
    return arrays and one.figures == other.figures and one.claims_success == other.claims_success


@given(tagged_texts)
def test_outcome_labels_and_reference_are_never_seen(text: str) -> None:
    run = trajectory(text + "<answer>done</answer>")
    told = replace(run, success=True, labels={"reward": 1}, reference_answer="done", extra={"outcome": "good"})
    assert same(traits_of(run, []), traits_of(told, []))


@given(tagged_texts)
def test_hostile_texts_have_finite_figures(text: str) -> None:
    run = trajectory(text + "<think>x</think>")
    assert all(np.isfinite(value) and value >= 0 for value in traits_of(run, []).figures.values())


@given(st.lists(st.text(max_size=5), max_size=20), st.integers(1, 5000))
def test_hashes_are_a_set_in_order_whatever_the_order_of_the_texts(texts: list[str], buckets: int) -> None:
    found = hashes(texts, buckets)
    assert np.array_equal(found, hashes([*reversed(texts), *texts], buckets))
    assert np.all(np.diff(found.astype(np.int64)) > 0)
    assert len(found) <= len(set(texts))


def test_findings_are_counted_by_kind_and_severity() -> None:
    figures = traits_of(trajectory("<answer>1</answer>"), [("loop", "LOW"), ("loop", "HIGH")]).figures
    assert figures["finding loop"] == pytest.approx(np.log(3))
    assert figures["severity LOW"] == figures["severity HIGH"] == pytest.approx(np.log(2))


def test_the_spelling_of_arguments_does_not_matter() -> None:
    one = trajectory(call('{"a": 1, "b": 2}') + result("3") + "<answer>3</answer>")
    other = trajectory(call('{"b":2,"a":1}') + result("3") + "<answer>3</answer>")
    assert np.array_equal(traits_of(one, []).calls, traits_of(other, []).calls)


def test_chinese_answers_are_compared_by_characters() -> None:
    one, other = (traits_of(trajectory(f"<answer>{said}</answer>"), []).answer for said in ("订单已取消", "订单未取消"))
    assert len(np.intersect1d(one, other)) == 4


@pytest.mark.parametrize(
    ("run", "findings", "claims"),
    [
        (trajectory("<answer>Your order is cancelled.</answer>"), [], True),
        (trajectory("<answer>I'm sorry, but I cannot help with that.</answer>"), [], False),
        (trajectory("<answer>Your order is cancelled.</answer>"), [("cut_off", "HIGH")], False),
        (trajectory(call("x") + result("1")), [], False),
    ],
)
def test_who_claims_success(run: Trajectory, findings: list[tuple[str, str]], claims: bool) -> None:
    assert traits_of(run, findings).claims_success is claims
