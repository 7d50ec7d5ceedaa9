"""Suites in the chain: from the drop's sidecar to tables, check, report and commands."""

import json
import re
from pathlib import Path

import orjson
import pytest
from upath import UPath

from evaluation_assets.core.intake.copying.suites import take_in_suite
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.suites.formats.registry import load_suite
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import Workspace, command, failed_checks, record
from evaluation_assets_tests.pages import without_viewer

EXAMPLES = Path(__file__).parents[2] / "examples"
WEATHER = EXAMPLES / "suites" / "weather.yaml"
RUNS = (EXAMPLES / "tool_use" / "weather.jsonl").read_bytes()
WRONG = RUNS.replace(rb"\"days\": 5", rb"\"days\": 9")


def with_suite(installation: Workspace, drop: str, content: bytes, suite: str | None = None) -> None:
    """A drop that belongs to a suite."""
    installation.drop(drop, content)
    (Path(installation.home.drops.path) / f"{drop}.drop.yaml").write_text("suite: weather\n")
    folder = Path(installation.home.suites.path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "weather.yaml").write_text(WEATHER.read_text() if suite is None else suite)


def report_of(installation: Workspace, drop: str) -> dict:
    return json.loads((installation.home.reports(drop) / "report.json").read_text())


@pytest.mark.parametrize(("name", "cases"), [("weather.yaml", 3), ("research.yaml", 4), ("calculator.xml", 8)])
def test_the_shipped_suites_can_be_used(name: str, cases: int) -> None:
    loaded = load_suite(UPath(EXAMPLES / "suites" / name))
    assert (len(loaded.suite.cases), loaded.incomplete) == (cases, ())


def test_every_shipped_suite_is_tested() -> None:
    assert {path.name for path in (EXAMPLES / "suites").iterdir()} == {
        "weather.yaml",
        "research.yaml",
        "calculator.xml",
    }


def test_runs_are_measured_by_the_suite_of_their_drop(installation: Workspace) -> None:
    with_suite(installation, "d", RUNS)
    result = installation.run("d")
    assert result.success
    rows = installation.rows("d", "tool_use_results")
    assert [(row["case_id"], row["passed"], row["score"]) for row in rows] == [
        ("T001_current_weather", True, 1),
        ("T002_5day_forecast", True, 1),
        ("T003_no_tool_needed", True, 1),
    ]
    assert installation.rows("d", "failure_patterns") == []
    use = report_of(installation, "d")["tool_use"]
    assert (use["suite"], use["passed"], use["runs"], use["pass_rate"]) == ("weather", 3, 3, 1)
    assert {row["category"] for row in use["categories"]} == {"current", "forecast", "knowledge"}


def test_too_few_passed_runs_block_at_the_end_when_the_report_is_there(
    installation: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALUATION_REPORTS_URL", "https://reports.example.com/")
    with_suite(installation, "d", WRONG)
    result = installation.run("d")
    assert not result.success
    assert failed_checks(result) == {"suite_pass_rate"}
    (check,) = [each for each in result.get_asset_check_evaluations() if not each.passed]
    assert check.metadata["report"].value == "https://reports.example.com/d/report.html#tool-use"
    assert check.metadata["failed_runs"].value == "https://reports.example.com/d/report.html#/runs?q=outcome%3Afail"
    queue = [row for row in installation.rows("d", "review_queue") if row["reason"] == "failed_case"]
    assert [(row["task_id"], row["stratum"], row["probability"]) for row in queue] == [
        ("T002_5day_forecast", "chosen", 1.0)
    ]
    assert queue[0]["detail"].startswith("case T002_5day_forecast: wrong_parameter get_forecast.days")
    (pattern, defect) = installation.rows("d", "failure_patterns")
    assert (pattern["failure_class"], pattern["n_failed_runs"]) == ("parameter_error", 1)
    assert pattern["parameter_names"] == ["get_forecast.days"]
    assert pattern["examples"] == ["T002_5day_forecast: days expected 5, got 9"]
    assert defect["failure_class"] == "schema_defect"
    page = (installation.home.reports("d") / "report.html").read_text()
    assert re.search(r"<dt>Passed</dt><dd><b><a [^>]*>2</a> of 3</b> runs", page)
    assert "get_<wbr>forecast" in page
    assert "expected 5, got 9" in page
    flagged = {row["tool"] for row in report_of(installation, "d")["tool_use"]["tools"] if row["flagged"]}
    assert flagged == {"get_forecast"}


def test_runs_with_a_low_score_by_their_case_or_their_findings_are_reviewed(installation: Workspace) -> None:
    home = installation.home
    vague = RUNS.replace(b"Weather is", b"One is").replace(b"climate is", b"the other is")
    measured = "min_score: 0.4\nweighting: {precision: 1, content: 1}\nmin_pass_rate:"
    with_suite(installation, "d", vague, WEATHER.read_text().replace("min_pass_rate:", measured))
    home.checks_file.write_text("constraints: {no_weather: {never: get_weather, severity: warn}}\n")
    configured = Workspace(home, build_definitions(home, Panel()), installation.instance)
    configured.run("d")
    queue = {row["trajectory_id"]: (row["reason"], row["detail"]) for row in configured.rows("d", "review_queue")}
    assert queue["T001_current_weather"] == ("low", "process score 0.50")
    assert queue["T003_no_tool_needed"] == ("low", "case score 0.50")


def test_gate_yaml_sets_the_pass_rate_of_a_suite(installation: Workspace) -> None:
    wrong = record("T001_current_weather", text="<answer>I do not know.</answer>")
    with_suite(installation, "d", b"".join([wrong, *RUNS.splitlines(keepends=True)[1:]]))
    assert "suite_pass_rate" in failed_checks(installation.run("d"))
    installation.home.gate_file.write_text("gate: {min_pass_rates: {weather: 0.1}}\n")
    configured = Workspace(installation.home, build_definitions(installation.home, Panel()), installation.instance)
    assert "suite_pass_rate" not in failed_checks(configured.run("d"))
    assert report_of(installation, "d")["tool_use"]["min_pass_rate"] == 0.1


def test_a_run_that_rules_keep_from_the_judges_is_still_measured(installation: Workspace) -> None:
    call = '<tool_call>{"name": "get_weather", "arguments": {"city": "Hanoi"}}</tool_call>\n<result>31</result>\n'
    loop = record("T001_current_weather", text=call * 3 + "<answer>Hanoi: weather</answer>")
    with_suite(installation, "d", b"".join([loop, *RUNS.splitlines(keepends=True)[1:]]))
    installation.run("d", ops={"evaluate_drop": {"config": {"on_violation": "remove"}}})
    assert [row["reason"] for row in installation.rows("d", "rejected_records")] == ["duplicates"]
    row = installation.rows("d", "tool_use_results")[0]
    assert (row["passed"], row["precision"], row["loops"]) == (False, pytest.approx(1 / 3), 1)
    assert {issue["kind"] for issue in row["issues"]} == {"repeated_call", "loop"}


def test_a_case_without_a_run_is_a_row_and_fails_the_check(installation: Workspace) -> None:
    with_suite(installation, "d", b"".join(RUNS.splitlines(keepends=True)[:2]) + record("stranger"))
    result = installation.run("d")
    assert failed_checks(result) == {"suite_pass_rate"}
    rows = installation.rows("d", "tool_use_results")
    assert [(row["case_id"], row["passed"], row["trajectory_id"]) for row in rows][-1] == (
        "T003_no_tool_needed",
        None,
        None,
    )
    use = report_of(installation, "d")["tool_use"]
    assert (use["pass_rate"], use["not_run"], use["without_case"]) == (1, ["T003_no_tool_needed"], ["stranger"])


def test_without_a_suite_the_tables_are_empty_and_say_so(installation: Workspace) -> None:
    installation.drop("folder/d", record())
    result = installation.run("folder/d")
    assert result.success
    assert installation.table("folder/d", "tool_use_results").count == 0
    assert installation.table("folder/d", "failure_patterns").count == 0
    assert report_of(installation, "folder/d")["tool_use"] is None
    notes = [
        event.step_materialization_data.materialization.metadata["note"].value
        for event in result.get_asset_materialization_events()
        if event.asset_key and event.asset_key.path == ["tool_use_results"]
    ]
    assert notes == ["No suite: the drop names 'folder', which is not in suites/."]


def test_a_broken_suite_fails_its_check_and_nothing_else(installation: Workspace) -> None:
    with_suite(installation, "d", RUNS, "cases:\n  - id: 5\n")
    result = installation.run("d")
    assert failed_checks(result) == {"suite_pass_rate"}
    assert "weather.yaml:2: cases[0].id" in report_of(installation, "d")["tool_use"]["problem"]
    assert installation.table("d", "trajectory_scores").count > 0


def test_hostile_names_and_values_stay_text(installation: Workspace) -> None:
    hostile = "<script>alert(1)</script>|[x](http://a)"
    request = json.dumps({"name": hostile, "arguments": {hostile: hostile}})
    call = f"<tool_call>{request}</tool_call>\n<result>x</result>"
    with_suite(installation, "d", record("T001_current_weather", text=call + f"<answer>{hostile}</answer>"))
    installation.run("d")
    assert "<script" not in without_viewer((installation.home.reports("d") / "report.html").read_text())
    markdown = (installation.home.reports("d") / "report.md").read_text()
    section = markdown.split("## Tool use (test suite)")[1].split("## Judges")[0]
    assert "wrong_tool" in section
    assert "<script" not in section
    assert "http:" not in section


def test_evaluate_takes_a_suite_in_and_notes_it_for_the_drop(tmp_path: Path) -> None:
    drop = tmp_path / "runs.jsonl"
    drop.write_bytes(RUNS)
    home = tmp_path / "home"
    done = command("evaluate", drop, "--suite", WEATHER, home=home)
    assert done.returncode == 0, done.stderr
    assert "outcome            passed 3 of 3 (100.0%" in done.stdout
    assert (home / "suites" / "weather.yaml").read_bytes() == WEATHER.read_bytes()
    assert (home / "drops" / "runs.drop.yaml").read_text() == "suite: weather\n"
    drop.write_bytes(WRONG)
    again = command("evaluate", drop, home=home)
    assert again.returncode == 1
    assert "check failed       evaluation_report: suite_pass_rate" in again.stdout
    assert "Wrong argument (1 run)" in again.stdout


def test_the_pass_rate_of_a_suite_is_printed_beside_recorded_outcomes(tmp_path: Path) -> None:
    runs = [json.loads(line) | {"success": True} for line in RUNS.splitlines()]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, runs)))
    done = command("evaluate", tmp_path / "runs.jsonl", "--suite", WEATHER, home=tmp_path / "home")
    assert "  outcome            success 3 of 3 (100.0%" in done.stdout
    assert "  suite              weather: 3 of 3 runs passed (100.0%)\n" in done.stdout


def test_a_suite_of_several_files_becomes_one(tmp_path: Path) -> None:
    questions = [
        {"id": "simple_0", "question": [[{"role": "user", "content": "4?"}]], "function": [{"name": "f"}]},
        {"id": "simple_1", "question": [[{"role": "user", "content": "5?"}]], "function": [{"name": "f"}]},
    ]
    (tmp_path / "possible_answer").mkdir()
    (tmp_path / "q.json").write_text("\n".join(map(json.dumps, questions)))
    (tmp_path / "possible_answer" / "q.json").write_text('{"id": "simple_0", "ground_truth": [{"f": {}}]}')
    home = Installation.at(str(tmp_path / "home"))
    loaded = take_in_suite(home, tmp_path / "q.json")
    assert [task.task for task in loaded.incomplete] == ["simple_1"]
    assert load_suite(home.suites / "q.json").suite == loaded.suite


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("cases:\n  - id: 5\n", "s.yaml:2: cases[0].id: must be text"),
        ("cases: [", "s.yaml:1: not YAML"),
    ],
)
def test_a_broken_suite_is_exit_status_2_with_its_line(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "s.yaml").write_text(content)
    (tmp_path / "runs.jsonl").write_bytes(RUNS)
    for arguments in (["suite", "check", tmp_path / "s.yaml"], ["evaluate", tmp_path / "runs.jsonl", "--suite"]):
        whole = arguments if arguments[0] == "suite" else [*arguments, tmp_path / "s.yaml"]
        done = command(*whole, home=tmp_path / "home")
        assert done.returncode == 2
        assert complaint in done.stderr
        assert "Traceback" not in done.stderr


def test_suite_commands(tmp_path: Path) -> None:
    checked = command("suite", "check", EXAMPLES / "suites" / "calculator.xml", home=tmp_path)
    assert checked.stdout.startswith("calculator: 8 cases, format task-xml\n")
    schema = command("suite", "schema", home=tmp_path)
    assert "cases" in json.loads(schema.stdout)["properties"]
    converted = command("suite", "convert", WEATHER, home=tmp_path)
    (tmp_path / "weather.json").write_text(converted.stdout)
    assert load_suite(UPath(tmp_path / "weather.json")).suite == load_suite(UPath(WEATHER)).suite
    assert "tau-bench" in command("suite", "formats", home=tmp_path).stdout


def test_trials_of_a_case_are_counted(installation: Workspace) -> None:
    runs = [orjson.loads(line) for line in RUNS.splitlines()]
    wrong = [orjson.loads(line) for line in WRONG.splitlines()]
    content = b"\n".join(map(orjson.dumps, [*runs, *wrong]))
    with_suite(installation, "d", content)
    installation.run("d")
    trials = report_of(installation, "d")["tool_use"]["trials"]
    assert [(rate["k"], rate["n_tasks"]) for rate in trials] == [(1, 3), (2, 3)]
    assert trials[1]["pass_hat"] == pytest.approx(2 / 3)
    assert trials[1]["pass_at"] == 1
