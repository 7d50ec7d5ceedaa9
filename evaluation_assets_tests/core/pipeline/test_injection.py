"""Judges and detectors on planted faults: who flags everything alike notices nothing."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from evaluation_assets.core.intake.clips.tool_types import shipped_tool_types
from evaluation_assets.core.judging.asking import answer_of
from evaluation_assets.core.judging.rubrics.model import Level, load_rubrics
from evaluation_assets.core.judging.rules.judge import RulesJudge
from evaluation_assets.core.judging.selection import Selection
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.pipeline.injection import (
    Pairs,
    asked_about_runs,
    by_findings,
    chosen_runs,
    detected_pairs,
    judge_pairs,
    pairs_of,
    region,
)
from evaluation_assets.core.report.findings.injection_table import figures, injection_lines
from evaluation_assets.core.scoring.discrimination import Noticed, discrimination
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.sections.findings.faults.registry import OPERATORS
from evaluation_assets.core.sections.findings.finding import Finding, Place
from evaluation_assets.core.traces.trajectories.calls import call_key
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.making import answer, call, result
from evaluation_assets_tests.core.making import trajectory as tagged


def run(number: int) -> Trajectory:
    text = (
        "<think>Look it up.</think>"
        + call(f'{{"order": "ORD-{number}234", "day": "2024-05-20"}}', "get_order")
        + result(f"ORD-{number}234 costs 1,250")
        + call(f'{{"order": "ORD-{number}234"}}', "cancel_order")
        + result("cancelled")
        + answer("Your order of 1,250 is cancelled.")
    )
    return replace(tagged(text, final_result="Your order of 1,250 is cancelled."), id=str(number), task_id=str(number))


RUNS = [run(number) for number in range(10, 20)]


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return pairs_of(RUNS, list(OPERATORS.values()), 0)


def finding(kind: str, place: Place) -> Finding:
    return Finding(kind=kind, severity="LOW", place=place, evidence="", detector="d", detector_version="1")


def everything(trajectory: Trajectory) -> Iterator[Finding]:
    for at in Course(trajectory).steps:
        for operator in OPERATORS.values():
            if operator.kind is not None:
                yield finding(operator.kind, at.place())


def repeats(trajectory: Trajectory) -> Iterator[Finding]:
    before = None
    for at in Course(trajectory).steps:
        key = call_key(trajectory, at.step) if at.step.call else None
        if key is not None and key == before:
            yield finding("repeated_call", at.place())
        before = key


def of(pairs: Pairs, name: str, detect: object) -> list[Noticed]:
    return [each for operator, each in detected_pairs(pairs.pairs, detect) if operator.name == name]  # type: ignore[arg-type]


def test_who_flags_everything_notices_nothing(pairs: Pairs) -> None:
    for name in OPERATORS:
        figures_of = discrimination(of(pairs, name, everything))
        if figures_of is not None:
            assert figures_of.net.value == 0
            assert figures_of.found is None or figures_of.found.value == 0
            assert figures_of.recall is None or figures_of.recall.value == 1


def test_a_detector_is_measured_by_its_kind_and_place(pairs: Pairs) -> None:
    found = discrimination(of(pairs, "repeated_call", repeats))
    assert found is not None
    assert (found.pairs, found.net.value, found.falls.value) == (10, 1, 1)
    assert found.recall is not None
    assert found.found is not None
    assert (found.recall.value, found.found.value) == (1, 1)
    other = discrimination(of(pairs, "unsupported_claim", repeats))
    assert other is not None
    assert other.recall is not None
    assert (other.net.value, other.recall.value) == (0, 0)
    assert found.net.low is not None
    assert 0 < found.net.low < 1, "an interval over ten tasks"


def test_a_new_finding_in_a_control_is_a_false_alarm(pairs: Pairs) -> None:
    def polite(trajectory: Trajectory) -> Iterator[Finding]:
        if "anything else" in trajectory.text:
            yield finding("cut_off", Place())

    found = discrimination(of(pairs, "polite_ending", polite))
    assert found is not None
    assert (found.falls.value, found.rises.value) == (1, 0)
    quiet = discrimination(of(pairs, "key_order", polite))
    assert quiet is not None
    assert quiet.falls.value == 0


def test_the_embedded_judge_notices_errors_and_no_order_of_keys(pairs: Pairs) -> None:
    noticed = answer_of(
        RulesJudge(), partial(judge_pairs, pairs=pairs, rubrics=load_rubrics(), types=shipped_tool_types()), Budget()
    )
    errors = discrimination([each for operator, each in noticed if operator.name == "ignored_error"])
    keys = discrimination([each for operator, each in noticed if operator.name == "key_order"])
    assert errors is not None
    assert keys is not None
    assert errors.net.value == 1
    assert errors.found is not None
    assert errors.found.value == 1
    assert (keys.falls.value, keys.rises.value) == (0, 0)
    lines = list(injection_lines(pairs, noticed))
    assert max(map(len, lines)) <= 80
    assert "    cut_off_at_user          0  fits none of 10 runs" in lines
    (missing,) = [each for each in figures(pairs, noticed) if each["operator"] == "cut_off_at_user"]
    assert missing["not_applicable"] == {"no later message of a user with a call after it": 10}


def test_no_score_of_the_embedded_judge_rises_for_a_fault_or_moves_for_a_control(pairs: Pairs) -> None:
    noticed = answer_of(
        RulesJudge(), partial(judge_pairs, pairs=pairs, rubrics=load_rubrics(), types=shipped_tool_types()), Budget()
    )
    for name, operator in OPERATORS.items():
        own = discrimination([each for planted, each in noticed if planted.name == name])
        if own is not None:
            assert own.rises.value == 0, name
            assert not operator.is_control or own.falls.value == 0, name
    for name in ("repeated_call", "cut_off_midway"):
        own = discrimination([each for planted, each in noticed if planted.name == name])
        assert own is not None
        assert own.falls.value == 1, name


def test_a_judge_is_asked_what_it_is_asked_about_in_a_run(pairs: Pairs) -> None:
    ask = partial(judge_pairs, pairs=pairs, rubrics=load_rubrics(), types=shipped_tool_types())
    asked: dict[tuple[Level, ...], int] = {}
    selections: tuple[tuple[Level, ...], ...] = (
        ("clip", "trajectory", "answer"),
        ("clip",),
        ("trajectory",),
        ("answer",),
    )
    for levels in selections:
        selection = Selection(levels=frozenset(levels))
        steps: list[None] = []
        noticed = answer_of(RulesJudge(selection=selection), ask, Budget(), lambda steps=steps: steps.append(None))
        asked[asked_about_runs(selection)] = len(steps)
        has_place = any(each.is_found is not None for _, each in noticed)
        assert (len(noticed) > 0, has_place) == (levels[0] != "answer", "clip" in levels)
    runs = len(pairs.trajectories())
    assert asked == {("clip", "trajectory"): 2 * runs, ("clip",): runs, ("trajectory",): runs, (): 0}


def test_the_process_score_from_findings_falls_for_faults_and_for_no_control(pairs: Pairs) -> None:
    scored = by_findings(pairs)["process_score"]
    for name, operator in OPERATORS.items():
        own = discrimination([each for planted, each in scored if planted.name == name])
        if own is None:
            continue
        assert own.rises.value == 0, name
        assert own.recall is None
        if operator.is_control:
            assert (own.falls.value, own.found) == (0, None), name
    for name in ("repeated_call", "cut_off_midway"):
        own = discrimination([each for planted, each in scored if planted.name == name])
        assert own is not None
        assert own.falls.value > 0.9, name


def test_a_rise_is_no_fall() -> None:
    pairs = [Noticed(cluster=at, before=0.5, after=0.5 + sign / 10) for at, sign in enumerate((-1, -1, -1, 0, 1, 1))]
    found = discrimination(pairs)
    assert found is not None
    assert (found.falls.value, found.rises.value) == (0.5, pytest.approx(1 / 3))
    assert found.net.value == pytest.approx(1 / 6)
    assert discrimination([]) is None


def test_places_are_parts_of_the_text() -> None:
    first = Course(RUNS[0]).steps[0]
    assert region(RUNS[0], first.place()) == (first.step.start, first.step.end)
    assert region(RUNS[0], Place(turn=0)) == (0, list(RUNS[0].steps)[-1].end)
    assert region(RUNS[0], Place()) == (0, len(RUNS[0].text))


def test_runs_are_drawn_by_their_ids() -> None:
    few = chosen_runs(RUNS, 4, 0)
    assert [each.id for each in few] == [each.id for each in chosen_runs(list(reversed(RUNS)), 4, 0)][::-1]
    assert [each.id for each in chosen_runs(RUNS, 4, 1)] != [each.id for each in few]
    assert chosen_runs(RUNS, 99, 0) == RUNS
