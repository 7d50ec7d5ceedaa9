"""The gate on made and on recorded runs."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.gating.baselines import (
    FAILED_MOSTLY,
    SCORED_NO_CLIPS,
    Baseline,
    InvalidBaseline,
    baseline_file,
    gating_metrics,
    judges_in,
    make_baseline,
    read_baseline,
)
from evaluation_assets.core.gating.gate import decide
from evaluation_assets.core.gating.outcome import Difference, GateOutcome
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import DropMetrics, TaskValue
from evaluation_assets.core.gating.wording import differs
from evaluation_assets.core.lake.stored import publish_document
from evaluation_assets.core.report.gate.gate_formats import as_github, as_json, as_junit, as_text
from evaluation_assets.core.text.report_addresses import ReportAddress
from evaluation_assets_tests.third_party import data

Metrics = Mapping[str, Mapping[str, float]]
KEY = {"judge a": "m 1", "judge b": "m 2", "rubric clip/general": "1-abc", "quorum": "1"}


def drop(metrics: Metrics, name: str = "s/d", **fields: Any) -> DropMetrics:
    tasks = {task: "asks" for values in metrics.values() for task in values}
    values = {
        metric: {task: TaskValue(value, value, value) for task, value in known.items()}
        for metric, known in metrics.items()
    }
    return DropMetrics(**{"drop": name, "suite": "s", "comparability": KEY, "tasks": tasks, "metrics": values} | fields)


def baseline(*drops: DropMetrics) -> Baseline:
    return make_baseline(drops, promoted_by="ada", promoted_at="2026-01-01T00:00:00Z", reason="release", run_id="run-1")


def gate(before: Metrics, after: Metrics, settings: GateSettings | None = None, **fields: Any) -> GateOutcome:
    outcome = decide(baseline(drop(before)), drop(after, **fields), settings or GateSettings())
    assert outcome is not None
    return outcome


def test_the_gate_names_the_outcomes_that_contradict_each_other_and_what_the_others_would_give() -> None:
    before = {"success": {f"t{n}": 1.0 for n in range(20)}}
    after = {"success": {f"t{n}": float(n >= 8) for n in range(20)}}
    disputed = tuple((f"t{n}#1", f"t{n}", False) for n in range(8))
    assert not any("recorded both" in reason for reason in gate(before, after).reasons)
    outcome = gate(before, after, disputed=disputed)
    said = f"8 runs recorded both as success and as failure: {', '.join(run for run, _, _ in disputed)}"
    assert outcome.verdict == "fail" and outcome.disputed_runs == [run for run, _, _ in disputed]
    assert outcome.reasons[-1] == f"{said}; with the other outcome of each, the verdict would be pass"
    assert "would be the same" in gate(before, after, disputed=disputed[:1]).reasons[-1]
    back = decide(baseline(drop(after, disputed=disputed)), drop(before), GateSettings())
    assert back is not None and back.reasons[-1] == f"in the baseline, {said}"
    scored = GateSettings(metrics=("overall",))
    both = [{**metrics, "overall": metrics["success"]} for metrics in (before, after)]
    assert gate(both[0], both[1], scored, disputed=disputed).disputed_runs == []


def scores(values: np.ndarray) -> dict[str, float]:
    return {f"t{index}": float(value) for index, value in enumerate(values)}


def noisy(n: int, drop_by: float = 0.0, spread: float = 0.05) -> tuple[Metrics, Metrics]:
    random = np.random.default_rng(3)
    before = random.uniform(0.4, 0.8, n)
    return {"overall": scores(before)}, {"overall": scores(before - drop_by + random.normal(0, spread, n))}


def test_a_clear_drop_fails_and_the_other_way_round_passes() -> None:
    before, after = noisy(40, drop_by=0.15)
    assert gate(before, after).verdict == "fail"
    assert gate(after, before).verdict == "pass"


def test_a_small_certain_drop_is_a_warning() -> None:
    before, after = noisy(60, drop_by=0.02, spread=0.02)
    outcome = gate(before, after)
    assert outcome.verdict == "warn"
    assert "within the margin" in outcome.reasons[0]


@given(st.lists(st.floats(0, 1), min_size=11, max_size=30))  # of fewer outcomes, the same again shows too little
def test_a_run_against_itself_passes_with_zero(values: list[float]) -> None:
    same = {"overall": scores(np.array(values))}
    outcome = gate(same, same)
    assert (outcome.verdict, outcome.metrics[0].difference, outcome.fallen_tasks) == ("pass", 0.0, [])


@given(st.dictionaries(st.sampled_from("abcdefghijkl"), st.floats(0, 1), min_size=9), st.data())
def test_the_order_of_tasks_means_nothing(values: dict[str, float], random: st.DataObject) -> None:
    after = {task: random.draw(st.floats(0, 1)) for task in values}
    shuffled = dict(reversed(after.items()))
    assert gate({"overall": values}, {"overall": after}) == gate({"overall": values}, {"overall": shuffled})


def test_too_few_tasks_decide_nothing() -> None:
    before, after = noisy(7, drop_by=0.3, spread=0.01)
    assert gate(before, after).verdict == "inconclusive"


def test_a_missing_metric_is_inconclusive_never_a_fall_to_0() -> None:
    before, after = noisy(20)
    outcome = gate({**before, "success": scores(np.ones(20))}, after)
    assert outcome.verdict == "inconclusive"
    assert "success: no task has values in both runs" in outcome.reasons
    missing = next(each for each in outcome.metrics if each.metric == "success")
    assert (missing.baseline, missing.current, missing.difference) == (None, None, None)


def test_a_metric_that_many_tasks_lack_is_inconclusive_however_good_the_rest() -> None:
    before = {"overall": scores(np.full(20, 0.5) + np.arange(20) / 100)}
    after = {"overall": {task: value + 0.2 for task, value in list(before["overall"].items())[:15]}}
    outcome = decide(
        baseline(drop(before)), drop(after, tasks=dict.fromkeys(before["overall"], "asks")), GateSettings()
    )
    assert outcome is not None
    assert outcome.verdict == "inconclusive"
    assert outcome.reasons == ["overall: values in both runs for 15 of 20 tasks only"]


def test_outcomes_that_fell_even_if_all_others_improved_fail() -> None:
    asked = {f"t{index}": "asks" for index in range(20)}
    fell = {"success": scores(np.array([0.0] * 5 + [1.0] * 10))}
    outcome = gate({"success": scores(np.ones(20))}, fell, tasks=asked)
    assert outcome.verdict == "fail"
    assert outcome.reasons == ["success -0.333 on 15 tasks (p = 0.021, even if the other 5 tasks improved)"]
    before = baseline(drop({"success": scores(np.ones(15))}, tasks=asked))
    after = drop({"success": scores(np.array([0.0] * 5 + [1.0] * 15))}, tasks=asked)
    risen = decide(before, after, GateSettings())
    assert risen is not None and risen.verdict == "inconclusive", "the other 5 may have risen by as much"


def test_a_comparison_with_another_agent_says_so() -> None:
    same = {"overall": scores(np.linspace(0.1, 0.9, 20))}
    for agent, said in (("porter", ["another agent than in the baseline: porter, not concierge"]), ("concierge", [])):
        outcome = decide(baseline(drop(same, agent="concierge")), drop(same, agent=agent), GateSettings())
        assert outcome is not None and outcome.verdict == "pass"
        assert [reason for reason in outcome.reasons if "agent" in reason] == said


def test_an_unknown_cost_is_no_improvement() -> None:
    before, after = noisy(20)
    cost = scores(np.linspace(0.1, 0.3, 20))
    settings = GateSettings(metrics=("overall", "cost_usd"))
    assert gate({**before, "cost_usd": cost}, after, settings).verdict == "inconclusive"


def test_cost_and_time_are_compared_as_ratios_and_less_is_better() -> None:
    cost = np.geomspace(0.01, 10, 20)
    noise = np.random.default_rng(5).normal(0, 0.05, 20)
    settings = GateSettings(metrics=("cost_usd",))
    dearer = gate({"cost_usd": scores(cost)}, {"cost_usd": scores(cost * np.exp(0.3 + noise))}, settings)
    assert dearer.verdict == "fail"
    difference = dearer.metrics[0]
    assert difference.difference == pytest.approx(np.exp(0.3 + noise.mean()) - 1)
    assert difference.ci_low is not None and difference.ci_high is not None
    assert difference.ci_low < np.exp(0.3) - 1 < difference.ci_high
    assert gate({"cost_usd": scores(cost)}, {"cost_usd": scores(cost * 0.5)}, settings).verdict == "pass"


def test_only_gating_metrics_decide() -> None:
    before, after = noisy(30)
    worse = {"accuracy": scores(np.full(30, 0.9) - np.arange(30) / 1000)}
    outcome = gate({**before, **worse}, {**after, "accuracy": scores(np.full(30, 0.2))})
    assert outcome.verdict == gate(before, after).verdict == "pass"
    accuracy = next(each for each in outcome.metrics if each.metric == "accuracy")
    assert (accuracy.gates, accuracy.verdict) == (False, "fail")


def test_the_embedded_judges_overall_gates_only_by_choice() -> None:
    before, after = noisy(40, drop_by=0.2)
    outcomes = {"success": scores(np.tile([0.0, 1.0], 20))}
    embedded: Any = {"comparability": {"judge rules": "rules rules 1"}}
    base = baseline(drop({**before, **outcomes}, **embedded))
    now = drop({**after, **outcomes}, **embedded)

    def gating(settings: GateSettings, base: Baseline = base, now: DropMetrics = now) -> tuple[str, list[str]]:
        outcome = decide(base, now, settings)
        assert outcome is not None
        return outcome.verdict, [each.metric for each in outcome.metrics if each.gates]

    assert gating(GateSettings()) == ("pass", ["success"])
    assert gating(GateSettings(metrics=("overall",))) == ("fail", ["overall"])
    alone = decide(baseline(drop(before, **embedded)), drop(after, **embedded), GateSettings())
    assert alone is not None and alone.verdict == "inconclusive"
    assert alone.reasons[0].startswith("no metric gates: record outcomes")
    judged: Any = {"comparability": {"judge rules": "rules rules 1", "judge m": "openai gpt 1"}}
    base, now = baseline(drop({**before, **outcomes}, **judged)), drop({**after, **outcomes}, **judged)
    assert gating(GateSettings(), base, now) == ("fail", ["success", "overall"])


def test_single_tasks_that_fell_are_listed_even_when_the_mean_rose() -> None:
    random = np.random.default_rng(2)
    before = {"overall": scores(np.full(40, 0.5) + np.arange(40) / 1000)}
    noise = scores(random.normal(0.1, 0.02, 40))
    after = {"overall": {task: value + noise[task] for task, value in before["overall"].items()} | {"t3": 0.1}}
    outcome = gate(before, after)
    assert outcome.verdict == "warn"
    assert [(each.task_id, each.current) for each in outcome.fallen_tasks] == [("t3", 0.1)]


def test_tasks_that_fell_no_further_than_noise_goes_are_listed_without_a_warning() -> None:
    random = np.random.default_rng(11)
    before = random.uniform(0.3, 0.7, 300)
    outcome = gate({"overall": scores(before)}, {"overall": scores(before + 0.05 + random.normal(0, 0.2, 300))})
    assert outcome.verdict == "pass"
    assert outcome.fallen_tasks
    assert not any(each.beyond_noise for each in outcome.fallen_tasks)


def test_a_task_has_fallen_only_when_every_trial_did() -> None:
    before = {"success": scores(np.ones(20))}
    same = drop(before)
    trials = {
        "success": dict(same.metrics["success"])
        | {"t1": TaskValue(0.5, 1.0, 0.0, 2), "t2": TaskValue(0.0, 0.0, 0.0, 2)}
    }
    outcome = decide(baseline(same), replace(same, metrics=trials), GateSettings())
    assert outcome is not None
    assert [each.task_id for each in outcome.fallen_tasks] == ["t2"]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"comparability": {k: v for k, v in KEY.items() if k != "judge b"}}, "judge b"),
        ({"comparability": {**KEY, "rubric clip/general": "2-def"}}, "rubric clip/general"),
        ({"comparability": {**KEY, "preprocessing beta_threshold": "9"}}, "preprocessing beta_threshold"),
        ({"suite": "other"}, "suite name"),
        ({"kept_out": {"b": "kappa 0.31 on 40 labels"}}, "judge b kept out of gates"),
    ],
)
def test_another_question_is_incomparable_and_says_what_differs(change: dict, part: str) -> None:
    before, after = noisy(20, drop_by=0.4)
    outcome = gate(before, after, **change)
    assert outcome.verdict == "incomparable"
    assert list(outcome.comparability.differs) == [part]
    assert any(part in reason for reason in outcome.reasons)
    assert outcome.metrics == []


def without(metrics: Metrics, *tasks: str) -> Metrics:
    return {
        name: {task: value for task, value in values.items() if task not in tasks} for name, values in metrics.items()
    }


@pytest.mark.parametrize(
    ("tasks", "verdict", "words"),
    [
        (
            8,
            "inconclusive",
            "only a decrease of 0.312 would have shown (95% confidence), 11 tasks needed to show a decre",
        ),
        (10, "inconclusive", "only a decrease of 0.259 would have shown"),
        (11, "pass", "a decrease of 0.238 would have shown (95% confidence)"),
        (12, "pass", "a decrease of 0.221 would have shown (95% confidence)"),
    ],
)
def test_outcomes_of_few_tasks_that_all_passed_twice_show_little(tasks: int, verdict: str, words: str) -> None:
    same = {"success": scores(np.ones(tasks))}
    outcome = gate(same, same)
    assert outcome.verdict == verdict
    assert outcome.reasons[0].startswith(f"success: unchanged on {tasks} tasks; {words}")
    assert outcome.metrics[0].smallest_drop == pytest.approx(1 - 0.05 ** (1 / tasks))
    assert outcome.metrics[0].tasks_needed == 59, "to rule out the margin"


def test_tasks_of_few_families_that_all_passed_twice_show_as_little_as_that_many_tasks() -> None:
    same = {"success": {f"f{number % 4}-{number}": 1.0 for number in range(40)}}
    outcome = gate(same, same, GateSettings(task_family="^f[0-9]"))
    assert outcome.verdict == "inconclusive"
    assert gate(same, same).verdict == "pass"


def test_where_every_task_failed_before_nothing_can_fall() -> None:
    same = {"success": scores(np.zeros(8))}
    outcome = gate(same, same)
    assert (outcome.verdict, outcome.reasons) == ("pass", ["success: 0 on 8 tasks in both runs, so it cannot fall"])
    assert outcome.metrics[0].smallest_drop is None


def test_missing_tasks_fail_by_name_however_good_the_others_are() -> None:
    before, _ = noisy(20)
    better = {"overall": {task: value + 0.1 for task, value in before["overall"].items()}}
    outcome = gate(before, without(better, "t3", "t7"))
    assert (outcome.verdict, outcome.only_in_baseline) == ("fail", ["t3", "t7"])
    assert outcome.reasons[0] == "2 of 20 tasks are missing: t3, t7 (tolerated: 5%)"
    assert outcome.metrics[0].n_tasks == 18
    all_gone = gate(before, {"overall": {}}, tasks={})
    assert (all_gone.verdict, len(all_gone.only_in_baseline)) == ("fail", 20)
    assert gate(before, without(better, "t3")).verdict == "warn"


def test_partial_runs_are_allowed_by_choice_and_new_tasks_are_a_note() -> None:
    before, _ = noisy(20)
    partial = gate(before, without(before, "t3", "t7"), GateSettings(max_missing=1))
    assert (partial.verdict, partial.only_in_baseline) == ("warn", ["t3", "t7"])
    more = {"overall": {**before["overall"], **{f"new{index}": 0.5 for index in range(20)}}}
    outcome = gate(before, more)
    assert (outcome.verdict, len(outcome.only_in_current)) == ("pass", 20)
    assert "20 tasks not compared: not in the baseline" in outcome.reasons


def test_missing_tasks_fail_under_another_judge_and_not_under_another_suite() -> None:
    before, _ = noisy(20)
    fewer = without(before, "t3", "t7")
    assert gate(before, fewer, comparability={**KEY, "judge a": "m 9"}).verdict == "fail"
    assert gate(before, fewer, comparability={**KEY, "suite": "v2"}).verdict == "incomparable"


def test_tasks_with_other_words_are_compared_and_named() -> None:
    before, _ = noisy(20)
    outcome = gate(before, before, tasks={f"t{index}": "asks" if index else "asks otherwise" for index in range(20)})
    assert (outcome.verdict, outcome.reworded_tasks) == ("pass", ["t0"])
    assert "1 task with the same ID but a different prompt than in the baseline" in outcome.reasons


def test_tolerance_is_the_fixed_rule() -> None:
    settings = GateSettings(rule="tolerance")
    before = {"overall": {"a": 0.9, "b": 0.8}}
    assert gate(before, {"overall": {"a": 0.84, "b": 0.78}}, settings).verdict == "pass"
    assert gate(before, {"overall": {"a": 0.84, "b": 0.74}}, settings).verdict == "fail"
    assert gate(before, {"success": {"a": 1.0, "b": 1.0}}, settings).verdict == "inconclusive"


def test_tasks_that_improved_stand_beside_those_that_fell_in_every_format() -> None:
    before = scores(np.array([1.0] * 6 + [0.0] * 6 + [1.0] * 18))
    after = scores(np.array([0.0] * 6 + [1.0] * 6 + [1.0] * 18))
    outcome = gate({"success": before}, {"success": after})
    assert outcome.metrics[0].difference == 0
    assert [each.task_id for each in outcome.fallen_tasks] == [f"t{index}" for index in range(6)]
    assert sorted(each.task_id for each in outcome.improved_tasks) == sorted(f"t{index}" for index in range(6, 12))
    assert set(json.loads(as_json(outcome))["improved_tasks"][0]) == set(
        json.loads(as_json(outcome))["fallen_tasks"][0]
    )
    for text in (as_text(outcome), as_junit(outcome)):
        assert "tasks that fell (6)" in text and "tasks that improved (6)" in text
        assert "t7: success 0.00 -&gt; 1.00" in text.replace("->", "-&gt;")
    assert "title=tasks%3A 6 fell%2C 6 improved::" in as_github(outcome)


def test_every_format_of_the_gate_leads_to_the_tasks_that_fell() -> None:
    fallen, kept = [0.0] * 12, [1.0] * 18
    outcome = gate({"success": scores(np.array([1.0] * 30))}, {"success": scores(np.array(fallen + kept))})
    assert outcome.verdict == "fail"
    served = ReportAddress.of("https://reports.example.com", "week/1")
    page = "https://reports.example.com/week/1/report.html"
    assert f"      {page}#/compare/t3" in as_text(outcome, served).splitlines()
    assert f"report: {page}#gate" in as_text(outcome, served)
    assert f"{page}#/compare/t3" in as_github(outcome, served)
    assert json.loads(as_json(outcome, served))["report_url"] == page
    failures = ElementTree.fromstring(as_junit(outcome, served)).findall("testcase/failure")
    assert [failure.text is not None and f"t3: {page}#/compare/t3" in failure.text for failure in failures] == [
        True,
        True,
    ]
    assert "http" not in as_text(outcome) + as_github(outcome)
    assert "t3: report.html#/compare/t3" in as_junit(outcome)


HOSTILE = [
    "::error file=x::owned",
    "a\n::error::owned",
    "a\r##[error]owned",
    "\x00\x1b]0;owned\x07\u202e\ufffe]]>",
    "%0A::x::",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_tasks_are_no_commands_and_no_markup_in_any_format(name: str) -> None:
    tasks = [f"{name}{number}" for number in range(30)]
    before, after = dict.fromkeys(tasks, 1.0), {task: float(number > 11) for number, task in enumerate(tasks)}
    outcome = gate({"success": before}, {"success": after}).model_copy(update={"drop": name, "suite": name})
    assert outcome.fallen_tasks
    served = ReportAddress.of("https://reports.example.com", "week/1")
    for report in (served, ReportAddress()):
        annotations = as_github(outcome, report).split("\n")
        assert all(re.match(r"::(notice|warning|error) title=[^:,]*::", line) for line in annotations)
        assert len(annotations) == 2, "the verdict with its reason, and the tasks: names begin no annotation"
        assert not any(set(line) & set("\r\x00\x1b\u202e") for line in annotations)
        assert not re.search(r"^\s*::|##\[|[\x00\x1b\r]", as_text(outcome, report), re.MULTILINE)
        suite = ElementTree.fromstring(as_junit(outcome, report))
        assert {each.tag for each in suite.iter()} <= {"testsuite", "testcase", "failure", "skipped", "system-out"}


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=8, max_size=12), st.booleans())
def test_intervals_stay_in_range(pairs: list[tuple[float, float]], round_off: bool) -> None:
    before, after = (np.array(side).round() if round_off else np.array(side) for side in zip(*pairs, strict=True))
    outcome = gate({"overall": scores(before)}, {"overall": scores(after)})
    (metric,) = outcome.metrics
    assert metric.ci_low is not None and metric.ci_high is not None
    assert -1 <= metric.ci_low <= metric.ci_high <= 1
    assert 0 <= (metric.smallest_drop or 0) <= 1
    made = baseline(drop({"overall": scores(before)})).metrics["overall"]
    assert made.ci_low is None or made.ci_high is None or 0 <= made.ci_low <= made.ci_high <= 1


def test_limits_know_the_direction_of_their_metric() -> None:
    settings = GateSettings(floors={"cost_usd": 0.5, "latency_s": 10, "success": 0.5})
    run = {"cost_usd": {"a": 0.6, "b": 0.6}, "latency_s": {"a": 5.0}, "success": {"a": 1.0}}
    outcome = decide(None, drop(run), settings)
    assert outcome is not None
    assert (outcome.verdict, outcome.reasons) == ("fail", ["cost_usd 0.6 over 2 tasks is above its limit of 0.5"])
    rounded = decide(None, drop({"success": {"a": 0.7999999999999999}}), GateSettings(floors={"success": 0.8}))
    assert rounded is not None and rounded.verdict == "pass"
    cheaper = decide(None, drop({**run, "cost_usd": {"a": 0.1, "b": 0.2}}), settings)
    assert cheaper is not None and cheaper.verdict == "pass"


@pytest.mark.parametrize("metric", ["suite_score", "completed", "tool_coverage", "keyword_score", "efficiency"])
def test_metrics_of_the_suite_can_gate(metric: str) -> None:
    random = np.random.default_rng(0)
    before, after = np.ones(40), (random.random(40) < 0.6).astype(float)
    outcome = gate({metric: scores(before)}, {metric: scores(after)}, GateSettings(metrics=(metric,)))
    assert (outcome.verdict, outcome.metrics[0].metric) == ("fail", metric)


def test_a_floor_needs_no_baseline_and_is_not_rounded() -> None:
    settings = GateSettings(floors={"pass_rate": 0.9})
    passes = {"pass_rate": scores(np.array([1.0] * 899 + [0.0] * 101))}
    outcome = decide(None, drop(passes), settings)
    assert outcome is not None
    assert outcome.verdict == "fail"
    assert "0.899 over 1,000 tasks is below its floor of 0.9" in outcome.reasons[0]
    assert decide(None, drop(passes), GateSettings()) is None


def test_tasks_of_one_family_hang_together() -> None:
    random = np.random.default_rng(1)
    families = np.repeat(random.normal(-0.06, 0.1, 6), 10)
    before = {"overall": {f"{index // 10}-{index}": 0.7 for index in range(60)}}
    after = {"overall": {f"{index // 10}-{index}": 0.7 + float(families[index]) for index in range(60)}}
    alone = gate(before, after).metrics[0]
    together = gate(before, after, GateSettings(task_family=r"^\d+")).metrics[0]
    assert alone.ci_high is not None and together.ci_high is not None
    assert together.ci_high > alone.ci_high
    assert alone.difference == pytest.approx(together.difference)


def test_a_baseline_that_was_saved_by_an_editor_of_windows_is_read(tmp_path: Any) -> None:
    made = baseline(drop({"overall": {"a": 0.25, "b": 0.5}}, "s/1"))
    file = baseline_file(UPath(tmp_path), made.suite)
    publish_document(file, made)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert read_baseline(file) == made


def test_a_baseline_of_a_newer_version_is_named_as_one(tmp_path: Any) -> None:
    made = baseline(drop({"overall": {"a": 0.25, "b": 0.5}}, "s/1"))
    file = baseline_file(UPath(tmp_path), made.suite)
    publish_document(file, made)
    file.write_text(file.read_text().replace('"format": 1', '"format": 2, "later": 3'))
    with pytest.raises(InvalidBaseline, match=r"format: is that of a newer version; upgrade evaluation-assets"):
        read_baseline(file)


@pytest.mark.parametrize("value", ["NaN", "1e999", "true", '"0.5"'])
def test_a_value_of_a_baseline_that_is_no_number_is_refused(tmp_path: Any, value: str) -> None:
    made = baseline(drop({"overall": {"a": 0.25, "b": 0.5}}, "s/1"))
    file = baseline_file(UPath(tmp_path), made.suite)
    publish_document(file, made)
    file.write_text(file.read_text().replace("0.25", value))
    with pytest.raises(InvalidBaseline, match=r"is not a valid baseline: metrics\.overall\.values\.a: must be a"):
        read_baseline(file)


@pytest.mark.parametrize(
    ("metric", "value", "said"),
    [
        ("overall", "-5", "overall is -5.0; it has to be a number, not negative"),
        ("overall", "1.5", "overall is 1.5; it has to be from 0 to 1"),
        ("cost_usd", "-5", "cost_usd is -5.0; it has to be a number, not negative"),
        ("cost_usd", "1.5", None),
    ],
)
def test_a_value_that_a_metric_cannot_have_is_refused(tmp_path: Any, metric: str, value: str, said: str | None) -> None:
    made = baseline(drop({metric: {"a": 0.25, "b": 0.5}}, "s/1"))
    file = baseline_file(UPath(tmp_path), made.suite)
    publish_document(file, made)
    file.write_text(file.read_text().replace('"a": 0.25', f'"a": {value}'))
    if said is None:
        assert read_baseline(file) is not None
        return
    with pytest.raises(InvalidBaseline, match=f"is not a valid baseline: {re.escape(said)}"):
        read_baseline(file)


def test_a_baseline_of_several_drops_is_their_mean_and_survives_its_file(tmp_path: Any) -> None:
    made = baseline(drop({"overall": {"a": 0.2, "b": 0.4}}, "s/1"), drop({"overall": {"a": 0.4, "b": 0.4}}, "s/2"))
    assert made.metrics["overall"].values == pytest.approx({"a": 0.3, "b": 0.4})
    assert made.name == "s/1, s/2"
    file = baseline_file(UPath(tmp_path), made.suite)
    publish_document(file, made)
    assert read_baseline(file) == made
    file.write_text("{}")
    with pytest.raises(InvalidBaseline, match="is not a valid baseline: suite"):
        read_baseline(file)


def test_a_judge_without_clips_is_said_to_have_none() -> None:
    part = f"judge haiku{SCORED_NO_CLIPS}"
    assert differs(part, Difference(baseline=None, current="1")) == "judge haiku scored no clips in this run"
    assert differs(part, Difference(baseline="1", current=None)) == "judge haiku scored no clips in the baseline"


def test_a_run_in_which_a_judge_failed_mostly_is_not_compared_by_judges() -> None:
    """What is left of its verdicts is too little to correct for its leniency: unchanged runs would fail."""
    before, after = noisy(40)
    parts = {**KEY, f"judge b{FAILED_MOSTLY}": "yes"}
    outcome = gate(before, after, comparability=parts)
    assert (outcome.verdict, outcome.reasons) == ("incomparable", ["judge b failed on most questions in this run"])
    assert "For a full comparison, evaluate s/d again, so that its judges answer." in as_text(outcome)
    assert judges_in(parts) == ["a", "b"]
    both = ({"success": scores(np.tile([0.0, 1.0, 1.0], 14)), **each} for each in (before, after))
    assert gate(*both, comparability=parts, settings=GateSettings(metrics=("success",))).verdict == "pass"


def test_tasks_of_which_none_is_the_same_are_counted_on_both_sides() -> None:
    outcome = gate({"success": {"a": 1.0, "b": 0.0}}, {"success": {"c": 1.0}})
    assert "no task in common: 2 tasks in the baseline, 1 other now" in outcome.reasons


def test_drops_that_differ_make_no_baseline() -> None:
    one = drop({"overall": {"a": 0.2}}, "s/1")
    with pytest.raises(InvalidBaseline, match="differ in suite, judges, settings or tasks"):
        baseline(one, drop({"overall": {"b": 0.2}}, "s/2"))


@pytest.mark.parametrize("suite", ["../../etc/passwd", "a/b", "", "..", "plain"])
def test_a_suite_name_is_made_a_file_name(tmp_path: Any, suite: str) -> None:
    folder = UPath(tmp_path)
    assert baseline_file(folder, suite).parent == folder


def rewards(name: str) -> dict[str, float]:
    recorded = json.loads(data(f"tau2-bench/ab/{name}_airline_default_gpt-4.1_1trials.json").read_text())
    return {run["task_id"]: float(run["reward_info"]["reward"]) for run in recorded["simulations"]}


def test_a_recorded_pair_is_inconclusive_and_names_the_three_tasks_that_fell() -> None:
    before, after = rewards("gpt-4.1"), rewards("ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm")
    outcome = gate({"success": before}, {"success": after})
    assert outcome.verdict == "inconclusive"
    assert [each.task_id for each in outcome.fallen_tasks] == ["18", "29", "45"]
    success = outcome.metrics[0]
    assert (success.baseline, success.current, success.n_tasks) == (0.5, 0.65, 20)
    assert success.p_regression == 1
    assert success.smallest_drop is not None and success.smallest_drop > 0.25
    assert success.tasks_needed is not None and success.tasks_needed > 1000
    itself = gate({"success": before}, {"success": before})
    assert (itself.verdict, itself.metrics[0].difference, itself.fallen_tasks) == ("pass", 0.0, [])


def solved(trial: int) -> dict[str, float]:
    recorded = json.loads(data(f"reflexion-alfworld/base_run_logs/env_results_trial_{trial}.json").read_text())
    return {environment["name"]: float(environment["is_success"]) for environment in recorded}


@pytest.mark.parametrize("trial", range(6))
def test_recorded_trials_that_only_get_better_show_no_regression_and_reversed_exactly_the_differences(
    trial: int,
) -> None:
    before, after = solved(trial), solved(trial + 1)
    gained = sorted(task for task in before if after[task] > before[task])
    forward = gate({"success": before}, {"success": after})
    assert forward.verdict == "pass"
    assert forward.fallen_tasks == []
    reversed_ = gate({"success": after}, {"success": before})
    assert sorted(each.task_id for each in reversed_.fallen_tasks) == gained
    # One trial cannot be told from noise: the tasks are listed, and so few of them are no evidence together.
    assert not any(each.beyond_noise for each in reversed_.fallen_tasks)
    assert sorted(each.task_id for each in forward.improved_tasks) == gained
    assert (reversed_.verdict == "fail") == (len(gained) > 4)


def test_the_first_recorded_trial_against_the_last_fails() -> None:
    outcome = gate({"success": solved(6)}, {"success": solved(0)})
    assert outcome.verdict == "fail"
    assert outcome.metrics[0].difference == pytest.approx(-17 / 134)
    assert len(outcome.fallen_tasks) == 17


def test_overall_of_rules_alone_does_not_gate_whoever_else_is_on_the_panel() -> None:
    rules, model = {"judge rules": "rules rules 1"}, {"judge big": "anthropic big 1"}
    outcomes = ("success", "pass_rate")
    assert gating_metrics(GateSettings(), rules) == outcomes
    assert gating_metrics(GateSettings(), rules | model) == (*outcomes, "overall")
    assert gating_metrics(GateSettings(), rules | model | {f"judge big{SCORED_NO_CLIPS}": "yes"}) == outcomes
    assert gating_metrics(GateSettings(), rules | model | {f"judge rules{SCORED_NO_CLIPS}": "yes"}) == (
        *outcomes,
        "overall",
    )


def test_the_number_of_tasks_needed_is_no_single_task_more() -> None:
    random = np.random.default_rng(0)
    flips = np.array([1.0] * 8 + [-1.0] * 7 + [0.0] * 35)
    before = np.where(flips == 0, random.random(50) < 0.6, flips < 0).astype(float)
    outcome = gate({"success": scores(before)}, {"success": scores(before + flips)})
    assert outcome.verdict == "inconclusive"
    assert outcome.reasons[0].endswith(
        "with about 63 tasks, 95% of unchanged runs would pass, as 30% of the tasks changed their outcome"
    )


def test_a_few_runs_that_are_much_dearer_show_in_the_total() -> None:
    before = scores(np.full(40, 0.1))
    after = scores(np.array([0.09] * 38 + [5.0, 5.0]))
    settings = GateSettings(metrics=("cost_usd",))
    outcome = gate({"cost_usd": before}, {"cost_usd": after}, settings)
    assert outcome.reasons[0].startswith("cost_usd +10.0% per task, +235.5% in total, on 40 tasks")
    assert outcome.metrics[0].mean_difference == pytest.approx(2.355)
    assert "\n  in total: cost_usd +235.5%" in as_text(outcome)
    alike = gate({"cost_usd": before}, {"cost_usd": scores(np.full(40, 0.11))}, settings)
    assert "cost_usd +10.0% on 40 tasks" in alike.reasons[0]
    assert "+10.0%" in as_text(alike) and "total" not in as_text(alike)


def test_a_judge_of_one_side_only_is_one_reason_with_a_remedy() -> None:
    before, after = noisy(40)
    parts = {**KEY, "judge c": "m 3", "selection of c": "quick", "judge c scored no clips": "yes"}
    outcome = gate(before, after, comparability=parts)
    assert (
        outcome.reasons == ["judge c is in this run but not in the baseline"]
        and len(outcome.comparability.differs) == 3
    )
    assert "For a full comparison, promote s/d again." in as_text(outcome), "the baseline is of this drop"
    later = as_text(outcome.model_copy(update={"drop": "s/e"}))
    assert "comparison, promote s/d again, once it is evaluated with the judges and settings of now." in later
    excluded = gate(before, after, kept_out={"b": "kappa 0.31 on 40 labels"})
    assert excluded.reasons[0] == "judge b kept out of gates in this run"
    other = gate(before, after, comparability={**KEY, "suite": "v2"})
    assert "For a full comparison" not in as_text(other), "it would have other tasks again"
    old, new = (drop(side, comparability={**KEY, "suite": each}) for side, each in ((before, "v1"), (after, "v2")))
    changed = decide(baseline(old), new, GateSettings())
    assert changed is not None and "For a full comparison, promote s/d again." in as_text(changed)


def test_the_table_fits_a_terminal_and_has_metrics_that_do_not_gate_below_the_others() -> None:
    before, after = noisy(40, drop_by=0.15)
    names: tuple[str, ...] = ("success", "overall", "answer.reasoning_quality", "problem_resolution")
    old: Metrics = {**dict.fromkeys(names, before["overall"]), "latency_s": scores(np.full(40, 0.0308))}
    slow: Metrics = {"latency_s": scores(np.array([0.008] * 39 + [3.0])), "answer_correctness": {}}
    new: Metrics = {**dict.fromkeys(names, after["overall"]), **slow}
    text = as_text(gate(old, new, GateSettings(metrics=("success",))))
    assert "answer_correctness" not in text
    lines = text.splitlines()
    header, first, below = (
        next(at for at, line in enumerate(lines) if line.startswith(start))
        for start in ("  metric", "  success", "  not gating:")
    )
    assert (first, below) == (header + 1, header + 2)
    assert {line.split()[0] for line in lines[below + 1 : below + 4]} == {*names} - {"success"}
    assert lines[below + 4] == "  1 metric that does not gate did not get worse"
    assert max(map(len, lines[header:])) <= 80


@pytest.mark.parametrize("metrics", [("success",), ("overall",)], ids=["gates", "does not gate"])
def test_the_row_of_a_metric_beyond_its_floor_says_what_the_gate_says(metrics: tuple[str, ...]) -> None:
    values = {
        "success": scores(np.array([1.0, 0.0] * 20)),
        "overall": scores(np.full(40, 0.7)),
        "latency_s": scores(np.full(40, 5.0)),
    }
    settings = GateSettings(metrics=metrics, floors={"success": 0.9, "latency_s": 4})
    outcome = gate(values, values, settings)
    rows = {each.metric: each for each in outcome.metrics}
    assert outcome.verdict == "fail"
    assert {name for name, row in rows.items() if row.verdict == "fail"} == {"success", "latency_s"}
    assert all(rows[name].gates for name in ("success", "latency_s")), "what fails the gate gates"
    assert [reason for reason in outcome.reasons if "success" in reason] == [rows["success"].reason]
    limit = "success 0.5 over 40 tasks is below its floor of 0.9"
    alone = "; success: unchanged on 40 tasks; a decrease of 0.072 would have shown (95% confidence)"
    assert rows["success"].reason in (limit, limit + alone)
    assert rows["overall"].verdict == "pass"
    (line,) = [line for line in as_text(outcome).splitlines() if line.startswith("  success ")]
    assert "fail" in line and "*" not in line
    failures = {
        case.get("name") for case in ElementTree.fromstring(as_junit(outcome)) if case.find("failure") is not None
    }
    assert failures == {"success", "latency_s", "regression gate"}


def test_outcomes_that_are_unknown_now_do_not_pass() -> None:
    """The failed trials of a run lost their outcome: the mean of the others is no improvement."""
    tasks = [f"t{index}" for index in range(20)]
    trials = dict.fromkeys(tasks, 3)
    some = {task: TaskValue(2 / 3, 1.0, 0.0, 3) for task in tasks}
    before = DropMetrics(
        drop="s/a", suite="s", tasks=dict.fromkeys(tasks, "x"), trials=trials, metrics={"success": some}
    )
    lost = replace(before, drop="s/b", metrics={"success": {task: TaskValue(1.0, 1.0, 1.0, 2) for task in tasks}})
    outcome = decide(baseline(before), lost, GateSettings())
    assert outcome is not None
    assert (outcome.verdict, outcome.reasons) == ("inconclusive", ["success: known for 40 of 60 runs only"])
    fewer = replace(lost, trials=dict.fromkeys(tasks, 2))
    assert (same := decide(baseline(before), fewer, GateSettings())) and same.verdict == "pass"
    as_before = decide(baseline(lost), lost, GateSettings())
    assert as_before is not None and as_before.verdict == "pass"
    worse = {task: TaskValue(0.0, 0.0, 0.0, 2) for task in tasks}
    failed = decide(baseline(before), replace(lost, metrics={"success": worse}), GateSettings())
    assert failed is not None and failed.verdict == "fail"


def test_trials_that_are_missing_altogether_are_a_warning() -> None:
    """The failed runs are not there: what is left is no improvement. Fewer trials of every task are a choice."""
    tasks = [f"t{index}" for index in range(20)]
    some = {task: TaskValue(1 / 3, 1.0, 0.0, 3) for task in tasks}
    before = replace(drop({"success": dict.fromkeys(tasks, 1.0)}), trials=dict.fromkeys(tasks, 3))
    before = replace(before, metrics={"success": some})

    def after(trials: Mapping[str, int], settings: GateSettings, *earlier: DropMetrics) -> GateOutcome:
        only_good = {task: TaskValue(1.0, 1.0, 1.0, trials[task]) for task in tasks}
        lost = replace(before, trials={task: n for task, n in trials.items() if n > 1}, metrics={"success": only_good})
        outcome = decide(baseline(before, *earlier), lost, settings)
        assert outcome is not None
        return outcome

    one = dict.fromkeys(tasks, 1)
    lost = after(one | {"t0": 3}, GateSettings())
    assert (lost.verdict, lost.reasons) == ("warn", ["38 of 60 trials of the tasks compared are missing"])
    assert after(one | {"t0": 3}, GateSettings(), before).reasons == lost.reasons
    more_of_others = {task: 2 if index < 10 else 4 for index, task in enumerate(tasks)}
    assert after(more_of_others, GateSettings()).reasons == ["10 of 60 trials of the tasks compared are missing"]
    assert after(dict.fromkeys(tasks, 3) | {"t0": 1}, GateSettings()).verdict == "pass"
    assert after(one, GateSettings()).verdict == "pass"
    assert after(one | {"t0": 3}, GateSettings(max_missing=1)).verdict == "pass"
