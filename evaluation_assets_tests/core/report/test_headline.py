"""What a report opens with: outcomes where they are known, and the score by its name."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.gating.outcome import GateOutcome, MetricComparison
from evaluation_assets.core.gating.settings import HeadlineSettings
from evaluation_assets.core.pipeline.settings import InvalidSettings, load_settings
from evaluation_assets.core.report.findings.process_summary import ProcessSummary
from evaluation_assets.core.report.headline import Change, Measure, Rate, criterion_rate, headline
from evaluation_assets.core.report.headline import rate as rate_of_runs
from evaluation_assets.core.report.scores.distributions import statistic
from evaluation_assets.core.scoring.panel_scores import SCORING_VERSION
from evaluation_assets_tests.conftest import command


def rate(measure: Measure, outcomes: dict[str, list[bool]]) -> Rate | None:
    """The rate of runs whose outcomes are all known."""
    return rate_of_runs(measure, outcomes, sum(map(len, outcomes.values())))


def test_success_comes_before_the_suite_and_a_score_is_no_outcome() -> None:
    success, passed = rate("success", {"a": [True, False]}), rate("passed", {"a": [True]})
    assert success is not None and passed is not None
    both = headline([success, passed, None], statistic([0.9]), by_rules_only=True)
    assert (both.measure, both.text, both.rates) == ("success", success.text, [success, passed])
    neither = headline([None, rate("passed", {}), None], statistic([0.9]), by_rules_only=True)
    assert (neither.measure, neither.rates) == ("score", [])
    assert neither.text == "overall score of the embedded judge 0.900 over 1 run; no outcome is known"
    unjudged = headline([], statistic([]), by_rules_only=False)
    assert (unjudged.score_name, unjudged.text) == ("overall score", "no overall score; no outcome is known")


def test_the_process_score_goes_before_the_score_of_rules_and_after_that_of_other_judges() -> None:
    process = ProcessSummary(statistic=statistic([0.5, None]), success=None)
    own, judged = "process score 0.500 over 1 run (1 run without a score)", "0.900 over 1 run"
    rules = headline([], statistic([0.9]), by_rules_only=True, process=process)
    assert (rules.is_process, rules.score, rules.text) == (True, 0.5, f"{own}; no outcome is known")
    assert rules.scores == [own, f"overall score of the embedded judge {judged}"]
    models = headline([], statistic([0.9]), by_rules_only=False, process=process)
    assert (models.is_process, models.score, models.scores) == (False, 0.9, [f"overall score {judged}", own])
    unchecked = ProcessSummary(statistic=statistic([None]), success=None)
    asked = HeadlineSettings(by="overall")
    assert headline([], statistic([0.9]), by_rules_only=True, process=unchecked).score == 0.9
    assert headline([], statistic([0.9]), by_rules_only=True, process=process, settings=asked).score == 0.9


def test_a_rate_in_words() -> None:
    found = rate("success", {str(task): [task < 43] for task in range(100)})
    assert found is not None
    assert found.text == "success 43 of 100 (43.0%, 95% CI 33.7% to 52.8%)"
    trials = rate("passed", {"a": [True, True], "b": [False, False]})
    assert trials is not None
    assert trials.text.startswith("passed 2 of 4 runs of 2 tasks (50.0%, 95% CI 9.5% to 90.5%)")
    many = rate("success", {str(task): [task < 1622] for task in range(2000)})
    assert many is not None and many.text.startswith("success 1,622 of 2,000 (81.1%")


@given(st.dictionaries(st.text(max_size=3), st.lists(st.booleans(), max_size=4), max_size=9))
def test_a_rate_lies_in_its_interval(outcomes: dict[str, list[bool]]) -> None:
    found = rate("success", outcomes)
    assert (found is None) == (not any(outcomes.values()))
    if found is not None:
        assert 0 <= found.ci_low <= found.rate <= found.ci_high <= 1


def test_gate_yaml_says_what_the_headline_counts(tmp_path: Path) -> None:
    (tmp_path / "gate.yaml").write_text("headline: {by: criterion, criterion: answer.correctness, threshold: 0.75}")
    settings = load_settings(UPath(tmp_path / "gate.yaml")).headline
    success = rate("success", {"a": [True]})
    reached = criterion_rate([("a", 0.8), ("a", 0.7), ("b", None)], 3, settings)
    assert reached is not None
    assert reached.text.startswith("answer.correctness at least 0.75 1 of 2 runs of 1 task (50.0%, ")
    assert reached.text.endswith("); 1 more without a score")
    found = headline([success, None, reached], statistic([0.9]), by_rules_only=False, settings=settings)
    assert (found.measure, [known.measure for known in found.rates]) == ("criterion", ["criterion", "success"])
    default = headline([success, None, reached], statistic([0.9]), by_rules_only=False)
    assert default.measure == "success"
    assert (found.note, default.note) == (None, None)
    unknown = HeadlineSettings(by="criterion", criterion="luck")
    missed = headline([success, None, None], statistic([0.9]), by_rules_only=False, settings=unknown)
    assert missed.measure == "success"
    assert missed.note == "gate.yaml puts scores of the criterion luck first, but the drop has none"
    overall = HeadlineSettings(by="overall")
    by_score = headline([success, None, None], statistic([0.9]), by_rules_only=False, settings=overall)
    assert (by_score.measure, by_score.text) == ("score", "overall score 0.900 over 1 run")
    (tmp_path / "gate.yaml").write_text("headline: {by: luck}")
    with pytest.raises(InvalidSettings, match=r"headline\.by"):
        load_settings(UPath(tmp_path / "gate.yaml"))


def test_the_change_against_the_baseline_stands_in_the_headline() -> None:
    compared = MetricComparison(
        metric="success",
        gates=True,
        baseline=0.5,
        current=0.4,
        difference=-0.1,
        ci_low=-0.2,
        ci_high=0.0,
        n_tasks=50,
        verdict="fail",
        reason="",
    )
    gate = GateOutcome.model_construct(metrics=[compared], confidence=0.9)
    success = rate("success", {str(task): [task < 20] for task in range(50)})
    found = headline([success], statistic([0.9]), by_rules_only=True, gate=gate)
    assert found.text.endswith("; -0.100 against the baseline (90% CI -0.200 to 0.000, 50 tasks)")
    uneven = rate("success", {"a": [False] * 4, **{str(task): [task < 20] for task in range(49)}})
    found = headline([uneven], statistic([0.9]), by_rules_only=True, gate=gate)
    assert "success 20 of 53 runs of 50 tasks (37.7%" in found.text
    assert found.text.endswith(
        "; mean over tasks 0.400, -0.100 against the baseline (90% CI -0.200 to 0.000, 50 tasks)"
    )
    assert found.short_change == "mean over tasks 0.400, -0.100 against the baseline"
    scored = headline([], statistic([0.6]), by_rules_only=False, gate=_gate_of("overall", 0.5))
    assert scored.text.startswith("overall score 0.600 over 1 run; adjusted mean over tasks 0.500, -0.100 against")
    assert found.change is None


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A drop whose runs all failed, with answers in perfect form."""
    folder = tmp_path_factory.mktemp("headline")
    lines = [
        {
            "task_id": f"t{number}",
            "task_description": f"How high is mountain {number}?",
            "raw_response": f"<think>I know it.</think><answer>It is {number}000 m high.</answer>",
            "success": number == 9,
        }
        for number in range(10)
    ]
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = command("evaluate", folder / "runs.jsonl", "--quiet", home=folder / "home")
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "home" / "reports" / "runs"


def test_runs_that_a_rule_removes_count_as_well(tmp_path: Path) -> None:
    call = "<search_tool><find>x</find></search_tool><result>y</result>"
    texts = {"good": call + "<answer>y</answer>", "loop": call * 3 + "<answer>y</answer>"}
    lines = [
        {"task_id": name, "task_description": name, "raw_response": text, "success": name == "good"}
        for name, text in texts.items()
    ]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = command("evaluate", tmp_path / "runs.jsonl", "--quiet", "--on-violation", "remove", home=tmp_path / "home")
    assert "success 1 of 2 (50.0%" in done.stdout


def test_the_terminal_says_success_before_any_score(evaluated: tuple[str, Path]) -> None:
    printed, _ = evaluated
    assert "  outcome            success 1 of 10 (10.0%, 95% CI 1.8% to 40.4%)" in printed
    assert "score" not in printed


def test_every_form_of_the_report_opens_with_success(evaluated: tuple[str, Path]) -> None:
    _, reports = evaluated
    data = json.loads((reports / "report.json").read_text())
    assert data["headline"]["measure"] == "success"
    assert (data["headline"]["rates"][0]["count"], data["headline"]["rates"][0]["n"]) == (1, 10)
    assert data["overall"]["mean"] == data["headline"]["score"]
    markdown = (reports / "report.md").read_text()
    assert markdown.splitlines()[2] == "**Success 1 of 10 (10.0%, 95% CI 1.8% to 40.4%)**"
    assert [row["correct"] for row in data["trajectories"]] == [False] * 9 + [True]
    page = (reports / "report.html").read_text()
    assert page.index("Recorded success rate") < page.index("Overall score of the embedded judge")
    assert '<p class="figure"><a href="#/runs?q=recorded%3Apass">10.0%</a></p>' in page


def test_scores_of_another_averaging_are_not_comparable(evaluated: tuple[str, Path]) -> None:
    _, reports = evaluated
    assert json.loads((reports / "report.json").read_text())["comparability"]["scoring"] == SCORING_VERSION


def test_no_change_at_all_is_said_in_a_word() -> None:
    same = Change(baseline=0.5, difference=0.0, ci_low=0.0, ci_high=0.0, confidence=0.9, n_tasks=12)
    assert same.text == "unchanged against the baseline (12 tasks)"
    noisy = Change(baseline=0.5, difference=0.0, ci_low=-0.1, ci_high=0.1, confidence=0.9, n_tasks=12)
    assert noisy.text == "0.000 against the baseline (90% CI -0.100 to +0.100, 12 tasks)"


def _gate_of(metric: str, current: float) -> GateOutcome:
    figures = {"baseline": current + 0.1, "difference": -0.1, "ci_low": -0.2, "ci_high": 0.0, "n_tasks": 50}
    compared = MetricComparison.model_construct(metric=metric, current=current, **figures)
    return GateOutcome.model_construct(metrics=[compared], confidence=0.9)
