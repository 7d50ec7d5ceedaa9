"""What a panel's verdicts average to."""

from statistics import fmean
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
from evaluation_assets.core.lake.tables import (
    CLIP_SCORES,
    CLIP_VERDICTS,
    CLIPS,
    PREPROCESSED_TRAJECTORIES,
    TRAJECTORY_VERDICTS,
    Table,
)
from evaluation_assets.core.scoring.averages import (
    Leniency,
    StaleVerdicts,
    average,
    by_subject,
    majority,
    panel_scores,
)
from evaluation_assets.core.scoring.panel_scores import (
    PanelVerdicts,
    clip_scores,
    mean_over_clips,
    tool_averages,
    trajectory_scores,
)

Panel = dict[str, dict[str, float]]
"""Scores of one criterion by subject and judge."""


# One subject


def test_the_mean_is_plain() -> None:
    result = average({"a": 0.2, "b": 0.4, "c": 0.9}, 3, 1, {})
    assert result.mean == pytest.approx(0.5)
    assert (result.median, result.min, result.max) == (0.4, 0.2, 0.9)
    assert result.std == pytest.approx(0.29439202887)
    assert (result.n_scored, result.n_judges) == (3, 3)


def test_a_missing_judge_lowers_only_the_count() -> None:
    result = average({"a": 0.2, "c": 0.4}, 3, 1, {})
    assert result.mean == pytest.approx(0.3)
    assert (result.n_scored, result.n_judges) == (2, 3)


@pytest.mark.parametrize(("scores", "quorum"), [({}, 1), ({}, 0), ({"a": 0.5}, 2), ({"a": 0.5, "b": 0.5}, 3)])
def test_below_the_quorum_nothing_is_made_up(scores: dict[str, float], quorum: int) -> None:
    result = average(scores, 3, quorum, {})
    assert (result.mean, result.adjusted_mean, result.median, result.min, result.max, result.std) == (None,) * 6
    assert (result.n_scored, result.n_judges) == (len(scores), 3)


def test_a_quorum_that_is_met_gives_a_mean() -> None:
    assert average({"a": 0.0, "b": 1.0}, 5, 2, {}).mean == 0.5


STAGES = {"small": 0, "one": 1, "other": 1}


@pytest.mark.parametrize(
    ("scores", "mean", "n_scored"),
    [
        ({"small": 1.0, "outside": 0.5}, 0.75, 2),
        ({"small": 1.0, "one": 0.0, "other": 0.5}, 0.25, 2),
        ({"small": 1.0, "one": 0.0}, 0.0, 1),
        ({"small": 1.0, "one": 0.0, "outside": 0.5}, 0.25, 2),
        ({"outside": 0.5}, 0.5, 1),
    ],
)
def test_of_a_cascade_the_last_stage_that_scored_decides(scores: dict[str, float], mean: float, n_scored: int) -> None:
    result = average(scores, 4, len(scores), {}, STAGES)
    assert (result.mean, result.n_scored) == (mean, n_scored), "all that scored count for the quorum"
    assert average(scores, 4, len(scores) + 1, {}, STAGES).mean is None


def test_of_a_cascade_only_the_last_stage_votes() -> None:
    votes = {"small": 1.0, "outside": 1.0, "one": 0.0, "other": 0.0}
    assert majority(votes, 4, 4, "lowest").mean == 0.0
    assert (
        majority(votes | {"other": 1.0}, 4, 4, "lowest", {"small": 1, "outside": 1, "one": 2, "other": 0}).mean == 0.0
    )


@pytest.mark.parametrize(("score", "leniency", "adjusted"), [(0.9, -0.3, 1.0), (0.1, 0.3, 0.0), (0.5, 0.1, 0.4)])
def test_adjusted_means_stay_within_the_scale(score: float, leniency: float, adjusted: float) -> None:
    assert average({"a": score}, 2, 1, {"a": leniency}).adjusted_mean == pytest.approx(adjusted)


def test_only_scored_verdicts_enter() -> None:
    rows = {
        "a": [{"outcome": "scored", "scores": {"x": 0.0, "y": None}}],
        "b": [{"outcome": "abstained", "scores": {"x": 0.9, "y": 0.9}}],
        "c": [{"outcome": "failed", "scores": {"x": 0.9}}],
        "d": [{"outcome": "not_run", "scores": None}],
        "e": [{"outcome": "failed", "scores": {}}],
    }
    assert panel_scores(rows) == {"x": {"a": 0.0}, "y": {}}


def test_a_judge_that_repeats_itself_has_one_voice() -> None:
    repeated = [
        {"outcome": "scored", "scores": {"x": 0.2, "y": None}},
        {"outcome": "failed", "scores": {}},
        {"outcome": "scored", "scores": {"x": 0.6, "y": 1.0}},
    ]
    panel = panel_scores({"a": repeated, "b": [{"outcome": "scored", "scores": {"x": 1.0}}]})
    assert panel == {"x": {"a": pytest.approx(0.4), "b": 1.0}, "y": {"a": 1.0}}


# Leniency


def effects(panel: Panel) -> dict[str, float]:
    judges = sorted({judge for scores in panel.values() for judge in scores})
    leniency = Leniency(judges)
    for scores in panel.values():
        leniency.add("x", scores)
    return leniency.effects("x")


def adjusted(panel: Panel) -> dict[str, float]:
    """Adjusted means, without the limits of the scale."""
    known = effects(panel)
    return {subject: fmean(v - known.get(j, 0.0) for j, v in scores.items()) for subject, scores in panel.items()}


LENIENCY = {"mild": 0.1, "fair": 0.0, "strict": -0.1}
QUALITY = {"one": 0.3, "two": 0.5, "three": 0.7, "four": 0.6}


def test_known_leniency_is_recovered_with_missing_cells() -> None:
    missing = {("one", "mild"), ("two", "strict"), ("three", "fair"), ("four", "mild")}
    panel = {
        subject: {judge: quality + extra for judge, extra in LENIENCY.items() if (subject, judge) not in missing}
        for subject, quality in QUALITY.items()
    }
    assert effects(panel) == pytest.approx(LENIENCY)
    assert adjusted(panel) == pytest.approx(QUALITY)
    plain = {subject: fmean(scores.values()) for subject, scores in panel.items()}
    assert plain["one"] == pytest.approx(QUALITY["one"] - 0.05)
    result = average(panel["one"], 3, 1, effects(panel))
    assert result.adjusted_mean == pytest.approx(QUALITY["one"])


def test_the_limits_of_the_scale_are_no_leniency() -> None:
    panel = {"one": {"a": 1.0, "b": 1.0}, "two": {"a": 0.0, "b": 0.0}}
    assert effects(panel) == pytest.approx({"a": 0.0, "b": 0.0})


def test_a_judge_that_shares_no_subject_has_no_leniency() -> None:
    panel = {"one": {"a": 0.9, "b": 0.7}, "two": {"c": 0.1}}
    assert effects(panel) == pytest.approx({"a": 0.1, "b": -0.1, "c": 0.0})


def test_two_groups_of_judges_without_a_common_subject_are_each_their_own_measure() -> None:
    panel = {"one": {"a": 0.9, "b": 0.7}, "two": {"c": 0.5, "d": 0.1}}
    assert effects(panel) == pytest.approx({"a": 0.1, "b": -0.1, "c": 0.2, "d": -0.2})


def test_nothing_shared_gives_no_effects() -> None:
    assert effects({"one": {"a": 0.5}, "two": {"b": 0.7}}) == {}
    assert Leniency(["a"]).effects("never asked") == {}


def test_leniency_is_by_criterion() -> None:
    leniency = Leniency(["a", "b"])
    leniency.add("x", {"a": 0.6, "b": 0.4})
    leniency.add("y", {"a": 0.4, "b": 0.8})
    assert leniency.effects("x") == pytest.approx({"a": 0.1, "b": -0.1})
    assert leniency.effects("y") == pytest.approx({"a": -0.2, "b": 0.2})


shares = st.floats(0, 1, allow_nan=False)
names = st.sampled_from("abcd")
panels = st.dictionaries(
    st.sampled_from(["s1", "s2", "s3", "s4", "s5", "s6"]),
    st.dictionaries(names, shares, min_size=1, max_size=4),
    min_size=1,
)


@given(panels, st.floats(-0.5, 0.5), names)
def test_a_judge_that_gives_more_to_everyone_changes_no_difference(panel: Panel, more: float, judge: str) -> None:
    judges = {name for scores in panel.values() for name in scores} | {judge}
    panel = panel | {"all": dict.fromkeys(judges, 0.5)}
    raised = {
        subject: {name: value + (more if name == judge else 0.0) for name, value in scores.items()}
        for subject, scores in panel.items()
    }
    before, after = adjusted(panel), adjusted(raised)
    for subject in panel:
        assert after[subject] - after["all"] == pytest.approx(before[subject] - before["all"], abs=1e-9)


@given(
    st.dictionaries(names, shares, min_size=4),
    st.dictionaries(names, shares, min_size=4),
    panels,
    names,
    st.floats(-0.5, 0.5),
)
def test_where_all_judged_the_adjusted_mean_is_the_plain_one(
    one: dict[str, float], other: dict[str, float], panel: Panel, judge: str, more: float
) -> None:
    panel = panel | {"one": one, "other": other}
    means = adjusted(panel)
    assert means["one"] == pytest.approx(fmean(one.values()), abs=1e-9)
    assert means["other"] == pytest.approx(fmean(other.values()), abs=1e-9)


@given(panels)
def test_effects_are_differences_between_judges(panel: Panel) -> None:
    known = effects(panel)
    assume(known)
    assert sum(known.values()) == pytest.approx(0, abs=1e-9)


@given(panels)
def test_the_order_of_subjects_does_not_matter(panel: Panel) -> None:
    assert effects(panel) == pytest.approx(effects(dict(reversed(panel.items()))), abs=1e-9)


# Tools and trajectories


def score(clip: int, tool: str, criterion: str, mean: float | None, trajectory_id: str = "t") -> dict[str, Any]:
    return {"trajectory_id": trajectory_id, "clip_index": clip, "tool_type": tool, "criterion": criterion, "mean": mean}


def test_the_overall_score_is_the_mean_over_clips() -> None:
    rows = [
        score(0, "microsandbox", "code", 0.8),
        score(0, "microsandbox", "use", 0.6),
        score(1, "microsandbox", "code", 0.4),
        score(1, "microsandbox", "use", None),
        score(2, "deepsearch", "depth", 0.1),
        score(3, "final", "done", None),
    ]
    averages = tool_averages(rows)
    assert set(averages) == {"microsandbox", "deepsearch"}
    assert averages["microsandbox"].criteria == pytest.approx({"code": 0.6, "use": 0.6})
    assert averages["microsandbox"].overall == pytest.approx((0.7 + 0.4) / 2)
    assert [len(averages[tool].clips) for tool in ("microsandbox", "deepsearch")] == [2, 1]
    assert mean_over_clips(averages) == pytest.approx((0.7 + 0.4 + 0.1) / 3)


def test_a_criterion_weighs_by_the_clips_it_was_scored_in() -> None:
    criteria = ("quality", "coherence", "resolution")
    rows = [score(clip, "final", criterion, 0.7) for clip in range(16) for criterion in criteria]
    rows += [score(clip, "final", "completion", 0.1 if clip < 2 else None) for clip in range(16)]
    found = tool_averages(rows)["final"]
    assert found.criteria["completion"] == pytest.approx(0.1)
    assert found.overall == pytest.approx((14 * 0.7 + 2 * (3 * 0.7 + 0.1) / 4) / 16)


def test_clips_of_several_trajectories_count_apart() -> None:
    rows = [score(0, "a", "x", 1.0, "t1"), score(0, "a", "x", 0.0, "t2"), score(0, "b", "x", 0.0, "t2")]
    averages = tool_averages(rows)
    assert len(averages["a"].clips) == 2
    assert mean_over_clips(averages) == pytest.approx(1 / 3)


def test_nothing_scored_has_no_overall_score() -> None:
    assert mean_over_clips(tool_averages([])) is None
    assert mean_over_clips(tool_averages([score(0, "a", "x", None)])) is None


# From verdict tables to score tables


def stored(name: str, table: Table, rows: list[dict[str, Any]]) -> Stored:
    """A table whose rows have the named columns; all others are missing."""
    path = UPath(f"memory://averages/{name}/{table.name}.parquet")
    blank: dict[str, Any] = dict.fromkeys(table.schema.names)
    write(path, Stream(table, batched([blank | row for row in rows], table)))
    return Stored(table, path)


def clip_row(trajectory: str, index: int, tool: str, final: bool = False) -> dict[str, Any]:
    return {"trajectory_id": trajectory, "clip_index": index, "tool_type": tool, "is_final": final}


def verdict(trajectory: str, index: int, outcome: str, **scores: float | None) -> dict[str, Any]:
    return {"trajectory_id": trajectory, "clip_index": index, "outcome": outcome, "scores": scores}


def test_clip_scores_name_their_denominators() -> None:
    clips = stored("clips", CLIPS, [clip_row("t1", 0, "a"), clip_row("t1", 1, "final", True), clip_row("t2", 0, "a")])
    verdicts = {
        "one": stored(
            "one",
            CLIP_VERDICTS,
            [
                verdict("t1", 0, "scored", x=0.8, y=None),
                verdict("t1", 1, "abstained", z=None),
                verdict("t2", 0, "scored", x=0.4, y=0.5),
            ],
        ),
        "two": stored("two", CLIP_VERDICTS, [verdict("t1", 0, "scored", x=0.6, y=0.2), verdict("t1", 1, "failed")]),
    }
    rows = list(clip_scores("d", clips, PanelVerdicts(verdicts, quorum=1)))
    found = {
        (r["trajectory_id"], r["clip_index"], r["criterion"]): (r["mean"], r["n_scored"], r["n_judges"]) for r in rows
    }
    assert found == {
        ("t1", 0, "x"): (pytest.approx(0.7), 2, 2),
        ("t1", 0, "y"): (pytest.approx(0.2), 1, 2),
        ("t1", 1, "z"): (None, 0, 2),
        ("t2", 0, "x"): (pytest.approx(0.4), 1, 2),
        ("t2", 0, "y"): (pytest.approx(0.5), 1, 2),
    }
    adjusted_means = {(r["trajectory_id"], r["criterion"]): r["adjusted_mean"] for r in rows}
    assert adjusted_means["t2", "x"] == pytest.approx(0.3)
    write(UPath("memory://averages/out.parquet"), Stream(CLIP_SCORES, batched(rows, CLIP_SCORES)))


def test_trajectories_get_an_overall_score_and_their_criteria() -> None:
    trajectories = stored(
        "run", PREPROCESSED_TRAJECTORIES, [{"trajectory_id": "t1", "task_id": "t", "final_answer": "a"}]
    )
    scores = stored(
        "run",
        CLIP_SCORES,
        [
            score(0, "a", "x", 0.9) | {"trajectory_id": "t1", "adjusted_mean": 0.8, "n_scored": 1, "n_judges": 2},
            score(1, "b", "x", 0.3) | {"trajectory_id": "t1", "adjusted_mean": 0.4, "n_scored": 1, "n_judges": 2},
        ],
    )
    judged = [
        {"trajectory_id": "t1", "subject": "trajectory", "outcome": "scored", "scores": {"done": 0.5}},
        {"trajectory_id": "t1", "subject": "answer", "outcome": "scored", "scores": {"accuracy": 1.0}},
    ]
    verdicts = {"one": stored("one", TRAJECTORY_VERDICTS, judged), "two": stored("two", TRAJECTORY_VERDICTS, [])}
    rows = list(trajectory_scores("d", trajectories, scores.rows(), PanelVerdicts(verdicts, quorum=1)))
    assert [(r["criterion"], r["mean"], r["n_judges"]) for r in rows] == [
        ("overall", pytest.approx(0.6), 2),
        ("done", 0.5, 2),
        ("answer.accuracy", 1.0, 2),
    ]
    assert rows[0]["adjusted_mean"] == pytest.approx(0.6)


def test_verdicts_on_clips_that_are_gone_are_told() -> None:
    rows = [{"t": "a", "scores": {}}, {"t": "b", "scores": {}}]
    with pytest.raises(StaleVerdicts, match="one"):
        list(by_subject({"one": rows}, [("a",)], ["t"]))


def test_a_judge_without_a_verdict_on_a_subject_is_left_out_there() -> None:
    one, two = [{"t": "a"}, {"t": "c", "sample": 0}, {"t": "c", "sample": 1}], [{"t": "b"}]
    found = list(by_subject({"one": one, "two": two}, [("a",), ("b",), ("c",)], ["t"]))
    assert found == [(("a",), {"one": one[:1]}), (("b",), {"two": two}), (("c",), {"one": one[1:]})]
