"""Scores over time, drift, and agents side by side."""

from typing import Any

import numpy as np
import pytest

from evaluation_assets.core.gating.history import drift_since, history_rows, leaderboard, with_earlier
from evaluation_assets.core.gating.task_metrics import DropMetrics
from evaluation_assets_tests.core.gating.test_gate import KEY, baseline, drop


def agent(name: str, version: str, scores: dict[str, float], **fields: Any) -> DropMetrics:
    return drop({"overall": scores}, f"s/{name}-{version}", agent=name, agent_version=version, **fields)


def test_a_point_names_its_interval_and_its_tasks() -> None:
    rows = list(
        history_rows(
            drop({"overall": dict(zip("abcde", [0.2, 0.4, 0.3, 0.2, 0.4], strict=True)), "success": {}}), "2026-01-01"
        )
    )
    assert [row["metric"] for row in rows] == ["overall"]
    assert (rows[0]["mean"], rows[0]["n"]) == (pytest.approx(0.3), 5)
    assert rows[0]["ci_low"] < 0.3 < rows[0]["ci_high"]


def test_a_point_replaces_those_of_its_own_comparability_key() -> None:
    earlier = [{"comparability_key": key, "mean": 0.1} for key in ("x", "y", "x")]
    new = [{"comparability_key": "x", "mean": mean} for mean in (0.2, 0.3)]
    assert list(with_earlier(earlier, iter(new))) == [earlier[1], *new]
    assert list(with_earlier(earlier, [])) == earlier


def test_agents_are_ranked_on_the_tasks_they_share() -> None:
    found = leaderboard(
        [
            agent("slow", "1", {"a": 0.5, "b": 0.5, "hard": 0.0}),
            agent("quick", "1", {"a": 0.9, "b": 0.7}),
            agent("quick", "2", {"a": 0.8, "b": 0.4}),
        ],
        "overall",
    )
    assert [(row["agent"], row["agent_version"], row["mean"]) for row in found] == [
        ("quick", "1", pytest.approx(0.8)),
        ("quick", "2", pytest.approx(0.6)),
        ("slow", "1", pytest.approx(0.5)),
    ]
    assert {row["n_tasks"] for row in found} == {2}
    assert found[2]["difference"] == pytest.approx(-0.3)


def test_equal_means_share_a_rank() -> None:
    agents = [agent(name, "1", {"a": one, "b": other}) for name, one, other in (("x", 0.1, 0.6), ("y", 0.6, 0.1))]
    found = leaderboard([*agents, agent("z", "1", {"a": 0.2, "b": 0.3})], "overall")
    assert [(row["agent"], row["rank"]) for row in found] == [("x", 1), ("y", 1), ("z", 3)]


def test_another_question_is_not_ranked() -> None:
    last = agent("quick", "1", {"a": 0.9, "b": 0.7})
    judged_otherwise = agent("slow", "1", {"a": 1.0, "b": 1.0}, comparability={**KEY, "quorum": "2"})
    assert [row["agent"] for row in leaderboard([judged_otherwise, last], "overall")] == ["quick"]
    assert leaderboard([], "overall") == []


def test_of_cost_less_is_better() -> None:
    drops = [drop({"cost_usd": {"a": cost}}, f"s/{name}", agent=name) for name, cost in (("dear", 2.0), ("cheap", 1.0))]
    assert [row["agent"] for row in leaderboard(drops, "cost_usd")] == ["cheap", "dear"]


def test_drift_counts_only_nights_that_can_be_compared() -> None:
    random = np.random.default_rng(4)
    tasks = [f"t{index}" for index in range(40)]

    def night(shift: float, **fields: Any) -> DropMetrics:
        scores = dict(zip(tasks, (0.7 - shift + random.normal(0, 0.1, 40)).tolist(), strict=True))
        return drop({"overall": scores}, content=str(random.random()), **fields)

    first = night(0.0)
    good = [night(0.0) for _ in range(10)]
    bad = [night(0.08) for _ in range(10)]
    other = night(0.5, comparability={**KEY, "quorum": "2"})
    assert drift_since(baseline(first), [first, *good, other], "overall", 0.05).alarm is None
    assert len(drift_since(baseline(first), [first, *good, other], "overall", 0.05).z) == 10
    assert drift_since(baseline(first), [*good, *bad], "overall", 0.05).alarm is not None
    assert drift_since(baseline(first), good, "success", 0.05).z == ()


def test_drops_before_the_baseline_are_no_drift() -> None:
    """A better version was promoted, and all runs of the versions before it counted as a decrease since then."""
    worse = [drop({"overall": {str(task): 0.4 for task in range(20)}}, f"s/{n}", content=f"w{n}") for n in range(8)]
    better = [drop({"overall": {str(task): 0.8 for task in range(20)}}, f"s/b{n}", content=f"b{n}") for n in range(2)]
    assert drift_since(baseline(better[0]), [*worse, *better], "overall", 0.05).z == (0.0,)
