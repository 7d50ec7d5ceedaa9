"""Baselines, the gate, history and reviews in real Dagster runs."""

import csv
import json
import shutil
from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from evaluation_assets.core.intake.drops import find
from evaluation_assets.core.judging.panel import JudgeSettings, Panel, panel_of
from evaluation_assets.core.pipeline.settings import InvalidSettings
from evaluation_assets.core.report.index import write_index
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.user import user_name
from evaluation_assets.definitions import build_definitions, current_key
from evaluation_assets.defs.freshness import stale
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets_tests.conftest import Workspace, call, command, materialization, record
from evaluation_assets_tests.pages import without_viewer
from evaluation_assets_tests.third_party import data
from evaluation_assets_tests.towns import TASKS, check_of, promote, runs


def report_of(installation: Workspace, drop: str) -> dict[str, Any]:
    return json.loads((installation.home.reports(drop) / "report.json").read_text())


def test_without_a_baseline_the_gate_says_how_to_get_one(installation: Workspace) -> None:
    installation.drop("s/base", runs(TASKS))
    result = installation.run("s/base")
    assert result.success
    assert check_of(result).passed
    assert "baseline promote" in (check_of(result).description or "")
    assert report_of(installation, "s/base")["gate"] is None


def test_the_check_says_why_nothing_was_compared_where_there_is_a_baseline(installation: Workspace) -> None:
    installation.drop("v1", runs(TASKS))
    assert installation.run("v1").success and promote(installation, "v1").success
    installation.drop("v2", runs(1, bad=TASKS - 1).replace(b"How many people live in", b"Who lives in"))
    check = check_of(installation.run("v2"))
    why = f"{TASKS} of {TASKS} tasks have another prompt than in v1"
    assert check.passed and check.description == f"Nothing was compared: {why}"
    assert report_of(installation, "v2")["not_compared"] == why
    assert f"Not compared with a baseline: {why}." in (installation.home.reports("v2") / "report.html").read_text()


def test_the_noise_of_repeated_trials_is_metadata_that_the_ui_plots(installation: Workspace) -> None:
    """What `noise` prints; a drop with one trial of each task measures none."""
    installation.drop("once", runs(TASKS))
    assert not [name for name in materialization(installation.run("once"), "score_history").metadata if "flips" in name]
    trials = {f"t{task}": [trial < task for trial in range(4)] for task in range(5)}
    installation.drop("trials", b"".join(record(name, success=each) for name, own in trials.items() for each in own))
    plotted = materialization(installation.run("trials"), "score_history").metadata
    done = command("noise", "trials", "--format", "json", home=Path(str(installation.home.root)))
    printed = json.loads(done.stdout)
    assert {name: plotted[f"success_{name}"].value for name in ("flips", "trials_differ", "icc", "pass^4")} == {
        "flips": printed["flipped"]["value"],
        "trials_differ": printed["disagreement"]["value"],
        "icc": printed["icc"]["value"],
        "pass^4": printed["pass_hat"][3]["value"],
    }
    assert plotted["success_detectable_decrease"].value == printed["detectable"] > 0


def test_a_promotion_is_a_materialisation_and_a_file_to_review(accepted: Workspace) -> None:
    event = accepted.instance.get_latest_materialization_event(dg.AssetKey("baseline"))
    assert event is not None and event.asset_materialization is not None
    metadata = event.asset_materialization.metadata
    assert (metadata["promoted_by"].value, metadata["reason"].value) == ("ada", "release 1")
    written = json.loads((accepted.home.baselines / "s.json").read_text())
    assert written["run_id"] == event.run_id
    assert written["runs"][0]["content"]
    assert len(written["metrics"]["overall"]["values"]) == TASKS


def test_a_drop_without_a_suite_is_compared_with_what_was_accepted_under_its_name(installation: Workspace) -> None:
    installation.drop("alone", runs(TASKS))
    assert installation.run("alone").success
    assert installation.run("alone", "promote_baseline").success, "a promotion in the UI needs no configuration"
    accepted = json.loads((installation.home.baselines / "alone.json").read_text())
    assert (accepted["suite"], accepted["promoted_by"]) == ("alone", user_name())
    installation.drop("alone", runs(0, bad=TASKS))
    assert not check_of(installation.run("alone")).passed
    installation.drop("next_version", runs(0, bad=TASKS))
    assert not check_of(installation.run("next_version")).passed, "it has the same tasks"
    installation.drop("other", runs(0, bad=TASKS).replace(b"task-", b"other-"))
    assert check_of(installation.run("other")).passed


def test_a_baseline_of_a_suite_is_none_of_a_drop_that_has_its_name(accepted: Workspace) -> None:
    accepted.drop("s", runs(0, bad=TASKS))
    assert check_of(accepted.run("s")).passed


def test_a_drop_is_promoted_to_the_baseline_of_the_suite_that_is_given(installation: Workspace) -> None:
    installation.drop("first", runs(TASKS))
    assert installation.run("first").success
    assert promote(installation, "first", suite="s").success
    installation.drop("s/next", runs(0, bad=TASKS))
    assert not check_of(installation.run("s/next")).passed


def test_the_same_runs_again_pass(accepted: Workspace) -> None:
    accepted.drop("s/again", runs(TASKS))
    result = accepted.run("s/again")
    assert result.success
    assert check_of(result).passed
    gate = report_of(accepted, "s/again")["gate"]
    assert (gate["verdict"], gate["fallen_tasks"]) == ("pass", [])
    assert {each["metric"]: each["difference"] for each in gate["metrics"] if each["gates"]} == {"success": 0.0}


def test_a_regressed_drop_fails_the_blocking_check_and_the_report_says_why(
    accepted: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALUATION_REPORTS_URL", "https://reports.example.com/")
    accepted.drop("s/worse", runs(1, bad=TASKS - 1))
    result = accepted.run("s/worse")
    assert not result.success
    check = check_of(result)
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert (check.description or "").startswith("fail: ")
    assert check.metadata["verdict"].value == "fail"
    assert "success -0.917 on 12 tasks" in str(check.metadata["why"].value)
    assert check.metadata["difference_success"].value == pytest.approx(-11 / 12)
    page = "https://reports.example.com/s/worse/report.html"
    assert check.metadata["report"] == dg.MetadataValue.url(f"{page}#gate")
    (failed,) = (event.step_failure_data for event in result.all_events if event.is_step_failure)
    assert failed.error is not None and failed.error.stack == [], "the page of the run shows a sentence, no frames"
    assert failed.error.message.startswith("1 blocking check failed. s/worse: regression_gate: fail: success -0.917")
    assert failed.user_failure_data is not None
    assert failed.user_failure_data.metadata["report"] == check.metadata["report"]
    assert result.dagster_run.tags["dagster/retry_on_asset_or_op_failure"] == "false", "it would fail again"
    assert check.metadata["fallen: task-1"] == dg.MetadataValue.url(f"{page}#/compare/task-1")
    written = materialization(result, "evaluation_report")
    assert written.metadata["report_url"] == dg.MetadataValue.url(page)
    spec = build_definitions(accepted.home, Panel()).resolve_asset_graph().get(dg.AssetKey("evaluation_report"))
    assert spec.metadata["all_reports"] == dg.MetadataValue.url("https://reports.example.com/index.html")
    gate = report_of(accepted, "s/worse")["gate"]
    assert gate["verdict"] == "fail"
    assert {each["task_id"] for each in gate["fallen_tasks"]} == {f"task-{number}" for number in range(1, TASKS)}
    folder = accepted.home.reports("s/worse")
    page, text = ((folder / f"report.{name}").read_text() for name in ("html", "md"))
    assert "worse than the baseline" in page
    assert (
        'Blocking check failed: <a href="#gate">' in page and page.count('<p class="gate-line"><a href="#gate">') == 0
    )
    write_index(accepted.home)
    listed = (accepted.home.root / "reports" / "index.html").read_text()
    assert "<td>success 1 of 12 (8.3%) <small>-0.917 against the baseline</small></td>" in listed
    assert "**fail**" in text
    assert "Scores are means over tasks, without each judge’s leniency" in page, "other sections have it"
    assert "Means over tasks, without each judge’s leniency" in page
    assert "Scores are means over tasks, without each judge's leniency" in text


@pytest.mark.slow
def test_a_recorded_pair_of_runs_is_inconclusive_and_three_tasks_fell(installation: Workspace) -> None:
    names = {"base": "gpt-4.1", "tuned": "ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm"}
    folder = Path(installation.home.drops.path) / "airline"
    folder.mkdir(parents=True)
    for key, name in names.items():
        shutil.copy(data(f"tau2-bench/ab/{name}_airline_default_gpt-4.1_1trials.json"), folder / f"{key}.json")
        installation.run(f"airline/{key}", ops={"evaluate_drop": {"config": {"on_violation": "flag"}}})
        if key == "base":
            assert promote(installation, "airline/base").success
    gate = report_of(installation, "airline/tuned")["gate"]
    assert gate["verdict"] == "inconclusive"
    assert [each["task_id"] for each in gate["fallen_tasks"]] == ["18", "29", "45"]
    cost = next(each for each in gate["metrics"] if each["metric"] == "cost_usd")
    assert (cost["verdict"], cost["difference"]) == ("inconclusive", None)


def with_panel(accepted: Workspace, *judges: str) -> Workspace:
    panel = Panel(judges=tuple(JudgeSettings(name=name, provider="rules") for name in judges))
    return Workspace(accepted.home, build_definitions(accepted.home, panel), accepted.instance)


def assert_incomparable(result: dg.ExecuteInProcessResult, part: str) -> None:
    check = check_of(result)
    assert result.success
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert check.metadata["verdict"].value == "incomparable"
    assert part in (check.description or "")


def with_other_rubric(accepted: Workspace) -> Workspace:
    shipped = files("evaluation_assets.core.judging.rubrics").joinpath("clip/general.yaml").read_text("utf-8")
    folder = Path(accepted.home.rubrics.path) / "clip"
    folder.mkdir(parents=True)
    (folder / "general.yaml").write_text(shipped.replace("version: 1", "version: 2"))
    return with_panel(accepted, "rules")


def gate_on_scores(accepted: Workspace) -> None:
    accepted.home.gate_file.write_text("gate: {metrics: [success, overall]}")


def test_another_judge_is_incomparable_where_its_scores_gate_never_a_failure(accepted: Workspace) -> None:
    gate_on_scores(accepted)
    other = with_panel(accepted, "another")
    other.drop("s/other", runs(TASKS))
    assert_incomparable(other.run("s/other"), "judge rules is in the baseline but not in this run")


def test_a_changed_rubric_is_incomparable_where_its_scores_gate_never_a_failure(accepted: Workspace) -> None:
    gate_on_scores(accepted)
    other = with_other_rubric(accepted)
    other.drop("s/other", runs(TASKS))
    assert_incomparable(other.run("s/other"), "rubric clip/general")


def test_outcomes_gate_whatever_judges_score(accepted: Workspace) -> None:
    """A judge more, and nothing was compared until the baseline was promoted again."""
    other = with_panel(accepted, "rules", "another")
    for drop, content, verdict in (
        ("s/same", runs(TASKS), "pass"),
        ("s/worse", runs(1, bad=TASKS - 1), "fail"),
    ):
        other.drop(drop, content)
        check = check_of(other.run(drop))
        assert check.metadata["verdict"].value == verdict
        gate = report_of(other, drop)["gate"]
        assert {each["metric"] for each in gate["metrics"]} == {"success", "latency_s"}, "scores are not compared"
        (note,) = [reason for reason in gate["reasons"] if "not compared" in reason]
        assert note == "scores of judges are not compared: judge another is in this run but not in the baseline"


def test_missing_tasks_fail_the_blocking_check_by_name(accepted: Workspace) -> None:
    others = b"".join(
        record(f"other-{number}", "<answer></answer>", success=False, task_description=str(number))
        for number in range(9)
    )
    accepted.drop("s/others", others)
    result = accepted.run("s/others")
    assert not result.success
    assert (check_of(result).description or "").startswith("fail: 12 of 12 tasks are missing: task-0, task-1, ")


def test_an_agent_that_loops_fails_whether_its_runs_are_kept_or_removed(accepted: Workspace) -> None:
    looping = b"".join(
        record(
            f"task-{number}",
            "".join(call(f"try {turn}", "Error: timeout") for turn in range(20)) + "<answer>?</answer>",
            success=False,
            task_description=f"How many people live in town {number}?",
        )
        for number in range(TASKS)
    )
    accepted.drop("s/loops", looping)
    kept = check_of(accepted.run("s/loops"))
    assert not kept.passed and "success -1.000 on 12 tasks" in (kept.description or "")
    accepted.drop("s/loops2", looping)
    config = {"evaluate_drop": {"config": {"on_violation": "remove"}}}
    removed = accepted.run("s/loops2", ops=config)
    assert not removed.success
    assert "12 of 12 tasks are missing: task-0" in (check_of(removed).description or "")


def test_what_blocks_is_configured(accepted: Workspace) -> None:
    (accepted.home.gate_file).write_text("gate:\n  floors: {success: 0.95}\n  rule: tolerance\n")
    other = with_panel(accepted, "rules")
    other.drop("s/lower", runs(TASKS - 1, bad=1))
    result = other.run("s/lower")
    assert not result.success
    assert "success 0.9167 over 12 tasks is below its floor of 0.95" in (check_of(result).description or "")


@pytest.mark.parametrize(
    "text",
    [
        *("gate: {dleta: 1}", "gate: {alpha: 2}", "gate: [", "[]", "lineage: {owners: [x@y]}"),
        *("schedules: {nightly: often}", 'schedules: {nightly: "99 99 * * *"}', 'schedules: {weekly: "0 0 31 2 *"}'),
    ],
)
def test_settings_that_cannot_be_used_name_the_file(tmp_path: Path, text: str) -> None:
    home = Installation.at(str(tmp_path))
    home.gate_file.write_text(text)
    with pytest.raises(InvalidSettings, match=r"gate\.yaml"):
        build_definitions(home, Panel())


def test_history_is_drawn_and_broken_where_the_question_changes(accepted: Workspace) -> None:
    accepted.drop("s/second", runs(TASKS))
    assert accepted.run("s/second").success
    page = (accepted.home.reports("s/second") / "report.html").read_text()
    assert 'id="history"' in page
    assert page.count('class="trend-line"') >= 1
    assert 'class="break"' not in page
    assert "<script" not in without_viewer(page)
    other = with_panel(accepted, "another")
    other.drop("s/third", runs(TASKS))
    assert other.run("s/third").success
    page = (accepted.home.reports("s/third") / "report.html").read_text()
    assert 'class="break"' in page
    rows = [row for row in accepted.rows("s/third", "score_history") if row["metric"] == "overall"]
    assert [(row["suite"], row["n"]) for row in rows] == [("s", TASKS)]
    assert rows[0]["std_error"] < 1e-9
    assert rows[0]["ci_low"] is None, "equal scores have no interval"


def overview(installation: Workspace) -> dg.ExecuteInProcessResult:
    job = installation.definitions.resolve_job_def("overview")
    return job.execute_in_process(instance=installation.instance, raise_on_error=False)


def test_a_truncated_table_of_a_neighbour_is_named_and_the_others_go_on(accepted: Workspace) -> None:
    for drop in ("s/broken", "s/next"):
        accepted.drop(drop, runs(TASKS))
    assert accepted.run("s/broken").success
    for table in ("task_metrics", "score_history", "session_agents", "review_queue"):
        path = Path(accepted.table("s/broken", table).path.path)
        path.write_bytes(path.read_bytes()[:-20])
    result = accepted.run("s/next")
    assert result.success
    report = materialization(result, "evaluation_report")
    assert "score_history/s/broken.parquet is damaged" in str(report.metadata["damaged_tables"].value)
    assert "is damaged" in (accepted.home.reports("s/next") / "report.md").read_text()
    ranked = overview(accepted)
    assert ranked.success
    assert {row["drop"] for row in accepted.home.whole_table("pass_rates").rows()} >= {"s/next"}
    (board,) = ranked.asset_materializations_for_node("leaderboard")
    assert "task_metrics/s/broken.parquet is damaged" in str(board.metadata["damaged_tables"].value)
    assert list(accepted.home.whole_table("leaderboard").rows())


def test_the_overview_calibrates_and_ranks(accepted: Workspace) -> None:
    accepted.drop("s/again", runs(TASKS))
    accepted.run("s/again")
    accepted.drop("s/worse", runs(1, bad=TASKS - 1))
    Path(accepted.home.drops.path, "s/worse.drop.yaml").write_text("agent: careless\n")
    accepted.run("s/worse")
    assert overview(accepted).success
    ranked = [row for row in accepted.home.whole_table("leaderboard").rows() if row["metric"] == "success"]
    assert [(row["rank"], row["agent"], row["drops"]) for row in ranked] == [
        (1, None, ["s/again"]),
        (1, None, ["s/base"]),
        (3, "careless", ["s/worse"]),
    ]
    calibrated = list(accepted.home.whole_table("gate_calibration").rows())
    assert {(row["metric"], row["source"]) for row in calibrated} == {("success", "versions")}


def test_what_hangs_on_what_labels_say_is_declared(installation: Workspace) -> None:
    graph = installation.definitions.resolve_asset_graph()
    cards = dg.AssetKey("judge_cards")
    assert cards in graph.get(dg.AssetKey("task_metrics")).parent_keys
    assert dg.AssetKey("task_metrics") not in graph.get_ancestor_asset_keys(cards)
    Path(installation.home.root.path).mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize(
    ("text", "assets"),
    [
        (
            "review: {min_kappa: 0.5}",
            {"task_metrics", "review_queue", "judge_cards", "pass_rates", "evaluation_report"},
        ),
        ("gate: {delta: 0.1}", {"gate_calibration", "drift", "evaluation_report"}),
        (
            "gate: {min_pass_rates: {s: 0.5}}",
            {"tool_use_results", "gate_calibration", "drift", "evaluation_report"},
        ),
    ],
)
def test_code_versions_follow_the_settings_that_assets_depend_on(
    installation: Workspace, text: str, assets: set[str]
) -> None:
    graph = installation.definitions.resolve_asset_graph()
    Path(installation.home.root.path).mkdir(parents=True, exist_ok=True)
    installation.home.gate_file.write_text(text)
    changed = build_definitions(installation.home, Panel()).resolve_asset_graph()
    keys = graph.get_all_asset_keys()
    differ = {key.to_user_string() for key in keys if graph.get(key).code_version != changed.get(key).code_version}
    assert differ == assets


@pytest.mark.slow
def test_a_lasting_fall_turns_the_overview_red(accepted: Workspace) -> None:
    for night in range(6):
        accepted.drop(f"s/night{night}", runs(2, bad=TASKS - 2))
        assert not accepted.run(f"s/night{night}").success
    result = overview(accepted)
    assert not result.success
    drift = next(check for check in result.get_asset_check_evaluations() if check.check_name == "no_drift")
    assert "s success has fallen" in (drift.description or "")


@pytest.mark.parametrize("table", ["raw_trajectories", "preprocessed_trajectories", "clips", "findings"])
def test_a_previous_drop_that_is_damaged_is_not_compared_with(installation: Workspace, table: str) -> None:
    installation.drop("s/one", runs(3))
    assert installation.run("s/one").success
    file = Path(installation.home.table("s/one", table).path.path)
    file.write_bytes(file.read_bytes()[:200])
    installation.drop("s/two", runs(2, bad=1))
    assert installation.run("s/two").success
    assert report_of(installation, "s/two")["records"]["kept"] == 3


def test_labels_make_judge_cards_and_keep_a_poor_judge_out_of_the_gate(accepted: Workspace) -> None:
    accepted.home.gate_file.write_text("review: {min_labels: 5}\n")
    strict = with_panel(accepted, "rules")
    strict.drop("s/mixed", runs(6, bad=6))
    strict.run("s/mixed")
    sheet = (accepted.home.reports("s/mixed") / "review.csv").read_text()
    queue = {row["trajectory_id"]: row for row in csv.DictReader(sheet.splitlines())}
    assert {row["reason"] for row in queue.values()} <= {"finding", "low", "threshold", "disagreement", "random"}
    labels = Path(accepted.home.labels.path)
    labels.mkdir()
    contrary = [
        {"drop": "s/mixed", "trajectory_id": f"task-{number}", "label": "fail" if number < 6 else "pass"}
        for number in range(12)
    ]
    (labels / "ada.jsonl").write_text("\n".join(json.dumps(label) for label in [*contrary, {"drop": "s/mixed"}]))
    result = overview(strict)
    assert result.success
    checks = {check.check_name: check for check in result.get_asset_check_evaluations() if not check.passed}
    assert set(checks) == {"readable", "may_gate"}
    (card,) = accepted.home.whole_table("judge_cards").rows()
    assert (card["judge"], card["n_labels"], card["may_gate"]) == ("rules", 12, False)
    assert card["kappa"] < 0
    rates = {row["judge"]: row for row in accepted.home.whole_table("pass_rates").rows() if row["drop"] == "s/mixed"}
    assert rates["panel"]["n_subjects"] == 12
    # Evaluated before the labels came: the judge stops gating there too, and outcomes go on.
    accepted.home.gate_file.write_text("review: {min_labels: 5}\ngate: {metrics: [overall, success]}\n")
    chosen = with_panel(accepted, "rules")
    earlier = chosen.definitions.resolve_job_def("gate").execute_in_process(
        tags={"dagster/partition": "s/mixed"}, instance=chosen.instance, raise_on_error=False
    )
    assert "judge rules is disqualified: kappa" in (check_of(earlier).description or "")
    assert "overall: no task has values in both runs" in (check_of(earlier).description or "")
    assert "success -0.500 on 12 tasks" in (check_of(earlier).description or "")
    strict.drop("s/next", runs(TASKS))
    next_run = strict.run("s/next")
    assert next_run.success
    assert "judge rules is excluded: kappa" in (check_of(next_run).description or "")
    assert {row["metric"] for row in strict.rows("s/next", "task_metrics")} == {"success", "latency_s"}


def test_judges_of_a_panel_are_compared_with_each_other(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    panel = Panel(judges=tuple(JudgeSettings(name=name, provider="rules") for name in ("first", "second")))
    with dg.DagsterInstance.ephemeral() as instance:
        installation = Workspace(home, build_definitions(home, panel), instance)
        installation.drop("d", runs(3, bad=3))
        assert installation.run("d").success
        rows = installation.rows("d", "panel_reliability")
    assert {(row["level"], row["judge"]) for row in rows} >= {("clip", "first"), ("trajectory", "second")}
    varying = [row for row in rows if row["alpha"] is not None]
    assert varying
    assert all(row["alpha"] == pytest.approx(1) and abs(row["leniency"]) < 1e-9 for row in varying)


def weekly(kept: Workspace, panel: Panel, prefix: Sequence[str] = ()) -> list[dg.RunRequest]:
    definitions = build_definitions(kept.home, panel)
    with dg.build_schedule_context(
        instance=kept.instance,
        scheduled_execution_time=datetime(2026, 1, 4),
        resources={"home": HomeResource(url=str(kept.home.root), key_prefix=[*prefix])},
        repository_def=definitions.get_repository_def(),
    ) as context:
        return list(definitions.resolve_schedule_def("weekly_full_panel").evaluate_tick(context).run_requests or [])


def test_the_weekly_schedule_takes_the_newest_drop_of_every_suite_and_agent(kept: Workspace) -> None:
    for key in ("s/older", "s/newer", "alone", "later"):
        kept.drop(key, runs(1))
        assert kept.run(key).success
    assert [request.partition_key for request in weekly(kept, Panel())] == ["later", "s/newer"]


def test_runs_of_the_weekly_schedule_belong_to_their_installation(kept: Workspace) -> None:
    kept.drop("d", runs(1))
    assert kept.run("d").success
    assert [run.tags["evaluation/key_prefix"] for run in weekly(kept, Panel(), ["evals"])] == ["evals"]


def test_the_weekly_schedule_asks_judges_that_are_not_asked_every_day(kept: Workspace) -> None:
    judges = [{"name": name, "provider": "rules"} for name in ("cheap", "dear")]
    panel = panel_of({"judges": judges, "everyday": ["cheap"]}, "test")
    workspace = Workspace(kept.home, build_definitions(kept.home, panel), kept.instance)
    workspace.drop("d", runs(1))
    assert workspace.run("d").success
    asked = {name: workspace.table("d", "clip_verdicts", name).count for name in ("cheap", "dear")}
    assert asked["cheap"] and not asked["dear"]
    assert {row["n_judges"] for row in workspace.rows("d", "clip_scores")} == {1}
    page = (kept.home.reports("d") / "report.html").read_text()
    judges_of_page = page[page.index("<dt>Judges</dt>") :].partition("</dd>")[0]
    assert "cheap" in judges_of_page and "dear" not in judges_of_page, "it was not asked"
    (request,) = weekly(kept, panel)
    assert workspace.run("d", **request.run_config).success
    assert workspace.table("d", "clip_verdicts", "dear").count == asked["cheap"]
    assert {row["n_judges"] for row in workspace.rows("d", "clip_scores")} == {2}
    assert list(stale(kept.instance, kept.home, [find(kept.home.drops, "d")], current_key(kept.home, panel))) == []


def test_a_run_that_asks_an_unknown_judge_says_who_there_is(installation: Workspace) -> None:
    installation.drop("d", runs(1))
    result = installation.run("d", ops={"evaluate_drop": {"config": {"ask_also": ["nobody"]}}})
    failure = next(event for event in result.all_events if event.is_step_failure).step_failure_data
    assert failure.user_failure_data is not None
    assert "no judge 'nobody' in the panel; choose one of: rules" in (failure.user_failure_data.description or "")


def test_cron_is_configured(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    home.gate_file.write_text('schedules: {nightly: "15 1 * * *", weekly: "0 0 * * 1"}')
    definitions = build_definitions(home, Panel())
    assert definitions.resolve_schedule_def("nightly_stale_drops").cron_schedule == "15 1 * * *"
    assert definitions.resolve_schedule_def("weekly_full_panel").cron_schedule == "0 0 * * 1"
