"""The commands `gate` and `baseline`, and the example workflow, as processes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.towns import TASKS, runs

WORKFLOW = Path(__file__).parents[2] / "docs" / "ci" / "evaluation.yml"


@pytest.mark.slow
def test_the_gate_asks_no_judge_and_has_no_rates_for_them(tmp_path: Path) -> None:
    for rate in ("--max-concurrency", "--requests-per-minute"):
        for name in ("gate", "evaluate"):
            assert f"No such option '{rate}'" in command(name, rate, "1", home=tmp_path).stderr, "panel.yaml has them"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with a baseline, and a drop that is worse."""
    folder = tmp_path_factory.mktemp("gate")
    for name, content in (("base", runs(TASKS)), ("worse", runs(1, bad=TASKS - 1))):
        path = folder / "in" / "support" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert command("evaluate", folder / "in", "--quiet", home=folder / "home").returncode == 0
    assert command("baseline", "promote", "support/base", home=folder / "home").returncode == 0
    promoted = command("baseline", "promote", "support/base", "--reason", "first", "--by", "ada", home=folder / "home")
    assert promoted.returncode == 0, promoted.stderr
    assert promoted.stdout.strip() == f"support: {folder / 'home' / 'baselines' / 'support.json'}"
    return folder / "home"


def test_a_worse_drop_is_exit_status_1_and_json_says_what(home: Path) -> None:
    done = command("gate", "support/worse", "--format", "json", home=home)
    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    assert (said["drop"], said["baseline"], said["suite"], said["verdict"], said["rule"]) == (
        "support/worse",
        "support/base",
        "support",
        "fail",
        "paired",
    )
    assert {
        "metric",
        "baseline",
        "current",
        "difference",
        "ci_low",
        "ci_high",
        "p_regression",
        "p_non_inferior",
    } <= set(said["metrics"][0])
    assert {"n_tasks", "tasks_needed", "verdict"} <= set(said["metrics"][0])
    assert set(said["fallen_tasks"][0]) >= {"task_id", "metric", "baseline", "current"}


def test_the_table_names_verdict_and_tasks(home: Path) -> None:
    done = command("gate", "support/worse", home=home)
    assert done.returncode == 1
    assert "support/worse against support/base: FAIL" in done.stdout
    assert "task-9: success 1.00 -> 0.00" in done.stdout
    assert done.stderr == ""


def test_a_drop_that_has_changed_since_is_told(home: Path, tmp_path: Path) -> None:
    copied = tmp_path / "home"
    shutil.copytree(home, copied)
    assert "has changed" not in command("gate", "support/base", home=copied).stderr
    (copied / "drops" / "support" / "base.jsonl").write_bytes(runs(1, bad=TASKS - 1))
    done = command("gate", "support/base", home=copied)
    assert done.returncode == 0, done.stderr
    assert (
        "support/base has changed, this is what it was before. Evaluate it: evaluation-assets evaluate support/base"
        in (done.stderr)
    )
    (copied / "drops" / "support" / "base.jsonl").unlink()
    assert "has changed" not in command("gate", "support/base", home=copied).stderr


def test_a_drop_against_itself_passes_in_every_format(home: Path) -> None:
    text = command("gate", "support/base", home=home)
    assert (text.returncode, text.stderr) == (0, "")
    junit = ElementTree.fromstring(command("gate", "support/base", "--format", "junit", home=home).stdout)
    assert (junit.tag, junit.get("failures"), junit.get("skipped")) == ("testsuite", "0", "0")
    assert command("gate", "support/base", "--format", "github", home=home).stdout.startswith(
        "::notice title=gate pass::"
    )


def test_another_baseline_and_what_is_missing(home: Path, tmp_path: Path) -> None:
    shutil.copy(home / "baselines" / "support.json", tmp_path / "other.json")
    done = command("gate", "support/worse", "--baseline", tmp_path / "other.json", home=home)
    assert done.returncode == 1
    (tmp_path / "broken.json").write_text("{}")
    broken = command("gate", "support/worse", "--baseline", tmp_path / "broken.json", home=home)
    assert broken.returncode == 2
    assert "broken.json is not a valid baseline" in broken.stderr
    unknown = command("gate", "none", home=home)
    assert unknown.returncode == 2
    assert "none has not been evaluated; evaluated drops: support/base, support/worse" in unknown.stderr
    assert "'' has not been evaluated; evaluated drops: support/base" in command("gate", "", home=home).stderr
    assert "suite '' has no baseline in" in command("baseline", "show", "", home=home).stderr
    without_suite = command("gate", "worse", home=home)
    assert "worse has not been evaluated; did you mean 'support/worse'?" in without_suite.stderr


def test_an_evaluation_with_a_broken_baseline_is_told_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(runs(2))
    (tmp_path / "home" / "baselines").mkdir(parents=True)
    (tmp_path / "home" / "baselines" / "d.json").write_text("{")
    done = command("evaluate", tmp_path / "d.jsonl", "--quiet", home=tmp_path / "home")
    assert done.returncode == 2
    assert f"d: {tmp_path}/home/baselines/d.json is not a valid baseline" in done.stdout + done.stderr


def test_a_drop_of_no_suite_is_told_which_baseline_there_is(home: Path, tmp_path: Path) -> None:
    (tmp_path / "worse.jsonl").write_bytes(runs(1, bad=TASKS - 1))
    how = "worse belongs to no suite; --as support/worse compares it with the baseline of support"
    done = command("evaluate", tmp_path / "worse.jsonl", home=home)
    assert f"  gate               no baseline: {how}\n" in done.stdout
    gated = command("gate", "worse", home=home)
    assert gated.returncode == 2 and gated.stderr.splitlines() == [
        f"evaluation-assets: there is no baseline for worse: {how}. To compare it as it is:",
        f"  evaluation-assets gate worse --baseline support --home {home}",
    ]
    compared = command("gate", "worse", "--baseline", "support", home=home)
    assert compared.returncode == 1 and "worse against support/base: FAIL" in compared.stdout
    nothing = command("gate", "worse", "--baseline", "shop", home=home)
    assert nothing.returncode == 2 and "'shop' is neither a file nor a suite with a baseline" in nothing.stderr
    other = [json.loads(line) | {"task_id": f"other {number}"} for number, line in enumerate(runs(1).splitlines())]
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(run) + "\n" for run in other))
    promote = f"evaluation-assets baseline promote other --home {home}"
    accept = f"  gate               no baseline; to accept this drop as one: {promote}\n"
    assert accept in command("evaluate", tmp_path / "other.jsonl", home=home).stdout
    assert command("gate", "other", home=home).stderr.splitlines() == [
        "evaluation-assets: there is no baseline for other. Promote an accepted drop, or compare two drops:",
        f"  evaluation-assets baseline promote OTHER --home {home}",
        f"  evaluation-assets compare OTHER other --home {home}",
    ]
    shutil.copy(home / "baselines" / "support.json", home / "baselines" / "retail.json")
    gated = command("gate", "worse", home=home)
    (home / "baselines" / "retail.json").unlink()
    assert "--as SUITE/worse compares it with the baseline of retail, support." in gated.stderr


@pytest.mark.slow
def test_a_second_version_in_its_own_file_is_compared_with_the_first(tmp_path: Path) -> None:
    """Without a suite, the runs of the same tasks in another file or folder are those of an earlier version."""

    def gated(name: str, content: bytes) -> str:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
        done = command("evaluate", tmp_path / name, "--quiet", home=tmp_path / "home")
        return next(line.split("gate", 1)[1].strip() for line in done.stdout.splitlines() if line.startswith("  gate"))

    def promote(drop: str) -> None:
        assert command("baseline", "promote", drop, home=tmp_path / "home").returncode == 0

    def said_by(agent: str, content: bytes) -> bytes:
        return b"".join(
            json.dumps(json.loads(line) | {"agent": agent}).encode() + b"\n" for line in content.splitlines()
        )

    assert gated("v1.jsonl", runs(TASKS)).startswith("no baseline")
    promote("v1")
    assert gated("v2.jsonl", runs(1, bad=TASKS - 1)).startswith("fail against v1: ")
    assert gated("next/v3.jsonl", runs(1, bad=TASKS - 1)).startswith("fail against v1: ")
    assert gated("some.jsonl", b"".join(runs(TASKS).splitlines(True)[: TASKS // 2 - 1])).startswith("no baseline")
    promote("v2")
    assert gated("next/v3.jsonl", runs(1, bad=TASKS - 1)).startswith("pass against v2: ")
    promote("v1")
    assert gated("next/v3.jsonl", runs(1, bad=TASKS - 1)).startswith("fail against v1: ")
    assert gated("v2.jsonl", runs(1, bad=TASKS - 1)).startswith("pass: ")
    assert gated("mine.jsonl", said_by("mine", runs(TASKS))).startswith("pass against v1: ")
    (tmp_path / "home" / "baselines" / "v1.json").unlink()
    (tmp_path / "home" / "baselines" / "v2.json").write_text("{")
    promote("mine")
    assert gated("yours.jsonl", said_by("yours", runs(TASKS))).startswith("no baseline")
    assert gated("mine_2.jsonl", said_by("mine", runs(TASKS))).startswith("pass against mine: ")


def simulated(words: str, *, good: int, goal: str | None = None, disputed: int = 0) -> str:
    """Runs of tau-bench, of which some are good: each begins with other words of its simulated user.

    The first ones are `disputed`: their source has the other outcome, too.
    """
    runs = (
        {
            "task_id": n,
            "reward": float(n < good),
            "info": {
                "task": {"actions": [], **({"instruction": f"{goal} {n}"} if goal else {})},
                "reward_info": {"reward": float((n < good) != (n < disputed))},
            },
            "traj": [{"role": "user", "content": f"{words} {n}"}, {"role": "assistant", "content": "Done."}],
        }
        for n in range(TASKS)
    )
    return "".join(json.dumps(run) + "\n" for run in runs)


@pytest.mark.slow
def test_a_task_of_a_simulated_user_is_its_goal_whatever_the_words(tmp_path: Path) -> None:
    """Two runs of tau-bench share no first message; without the goals, the gate says what differs."""

    def gated(drop: str, content: str) -> str:
        (tmp_path / f"{drop}.jsonl").write_text(content)
        done = command("evaluate", tmp_path / f"{drop}.jsonl", "--quiet", home=tmp_path / "home")
        return next(line.split("gate", 1)[1].strip() for line in done.stdout.splitlines() if line.startswith("  gate"))

    gated("v1", simulated("Hello", good=TASKS, goal="Cancel flight"))
    assert command("baseline", "promote", "v1", home=tmp_path / "home").returncode == 0
    assert gated("v2", simulated("Hi", good=1, goal="Cancel flight")).startswith("fail against v1: ")
    done = command("gate", "v2", home=tmp_path / "home")
    assert done.returncode == 1 and "different prompt" not in done.stdout
    why = f"{TASKS} of {TASKS} tasks have another prompt than in v1"
    assert gated("bags", simulated("Hello", good=1, goal="Add bags to flight")) == f"no baseline: {why}"
    assert gated("unknown", simulated("Hi", good=1)) == f"no baseline: {why}"
    done = command("gate", "unknown", home=tmp_path / "home")
    assert done.returncode == 2 and done.stderr.splitlines() == [
        f"evaluation-assets: there is no baseline for unknown: {why}. To compare it as it is:",
        f"  evaluation-assets gate unknown --baseline v1 --home {tmp_path}/home",
    ]
    forced = command("gate", "unknown", "--baseline", "v1", home=tmp_path / "home").stdout
    assert f"{TASKS} tasks with the same ID but a different prompt than in the baseline" in forced


@pytest.mark.slow
def test_outcomes_that_contradict_each_other_are_named_wherever_a_person_looks(tmp_path: Path) -> None:
    """Of the runs that fail the gate, the source has another outcome, too: a person has to see which."""
    for drop, content in {
        "v1": simulated("Hello", good=TASKS, goal="Cancel"),
        "v2": simulated("Hi", good=0, goal="Cancel", disputed=TASKS),
    }.items():
        (tmp_path / f"{drop}.jsonl").write_text(content)
    assert command("evaluate", tmp_path / "v1.jsonl", "--quiet", home=tmp_path / "home").returncode == 0
    assert command("baseline", "promote", "v1", home=tmp_path / "home").returncode == 0
    runs = ", ".join(map(str, range(TASKS)))
    for done in (
        command("import", tmp_path / "v2.jsonl", home=tmp_path / "home"),
        command("evaluate", tmp_path / "v2.jsonl", "--quiet", home=tmp_path / "home"),
    ):
        assert "(`reward`, `info.reward_info.reward`); counted as failure: 0, 1, 2, " in done.stdout
    said = f"{TASKS} runs recorded both as success and as failure: {runs}; with the other outcome of each, the verdict"
    for form in ("text", "json", "github", "junit"):
        assert f"{said} would be pass" in command("gate", "v2", "--format", form, home=tmp_path / "home").stdout
    page = (tmp_path / "home" / "reports" / "v2" / "report.html").read_text()
    assert '<a href="#/runs?q=flag%3A%22two_outcomes%22">Reading doubtful' in page


def test_a_floor_of_a_metric_that_does_not_exist_is_refused(home: Path) -> None:
    (home / "gate.yaml").write_text("gate: {floors: {findings.loop: 0.0}}")
    done = command("gate", "support/base", home=home)
    (home / "gate.yaml").unlink()
    assert done.returncode == 2 and "did you mean 'finding.loop'?" in done.stderr


def test_figures_without_tasks_are_floors_with_a_tolerance(home: Path, tmp_path: Path) -> None:
    def gated(drop: str, **figures: float) -> subprocess.CompletedProcess[str]:
        (tmp_path / "scores.json").write_text(json.dumps(figures))
        return command("gate", drop, "--baseline", tmp_path / "scores.json", home=home)

    reached = gated("support/base", success=1.0)
    assert (reached.returncode, "all floors are met" in reached.stdout) == (0, True)
    missed = gated("support/worse", success=0.9)
    assert missed.returncode == 1
    assert "below the floor of 0.85" in missed.stdout or "0.85" in missed.stdout
    unknown = gated("support/base", success=1.0, completion_rate=0.95)
    assert "completed" in unknown.stdout and "INCONCLUSIVE" in unknown.stdout
    assert gated("support/base", **{"finding.loop": 0.0}).returncode == 0
    unknown_kind = gated("support/base", **{"finding.lop": 0.0})
    assert unknown_kind.returncode == 2 and "did you mean 'finding.loop'?" in unknown_kind.stderr
    typo = gated("support/base", pass_rat=0.9)
    assert (
        typo.returncode == 2 and "scores.json: no metric is called pass_rat; did you mean 'pass_rate'?" in typo.stderr
    )
    no_number = gated("support/base", success=float("nan"))
    assert no_number.returncode == 2 and "success is nan; it has to be a number" in no_number.stderr
    percent = gated("support/base", success=95)
    assert percent.returncode == 2
    assert "success is 95.0; it has to be from 0 to 1" in percent.stderr


def test_show_says_who_why_and_what(home: Path) -> None:
    shown = command("baseline", "show", "support", home=home).stdout
    assert "by ada: first" in shown
    figures = shown.splitlines()[4:]
    assert [line.split()[0] for line in figures if line.startswith("  success")] == ["success"]
    assert len({line.index(" over ") for line in figures}) == 1, "the columns are aligned"
    assert command("baseline", "show", "none", home=home).returncode == 2
    assert "support" in command("baseline", "show", home=home).stdout.splitlines()


def test_calibrate_as_json_is_its_rows(home: Path) -> None:
    done = command("gate", "--calibrate", "--format", "json", home=home)
    assert {"suite", "metric", "drop_size", "fails"} <= json.loads(done.stdout)[0].keys()
    refused = command("gate", "--calibrate", "--format", "junit", home=home)
    assert refused.returncode and "--calibrate is printed as text or json" in refused.stderr


def test_calibrate_prints_the_false_alarms(home: Path) -> None:
    done = command("gate", "--calibrate", home=home)
    assert done.returncode == 0, done.stderr
    assert "support, success: 2 versions, whose differences count as noise, 12 tasks" in done.stdout
    assert "unchanged runs: fail" in done.stdout


@pytest.mark.slow
def test_the_commands_of_the_example_workflow_run(home: Path, tmp_path: Path) -> None:
    steps = yaml.safe_load(WORKFLOW.read_text())["jobs"]["gate"]["steps"]
    scripts = [step["run"] for step in steps if step.get("run", "").startswith("evaluation-assets")]
    assert len(scripts) == 3
    shutil.copytree(home / "baselines", tmp_path / ".evaluation" / "baselines")
    place = tmp_path / "trajectories" / "support" / "current.jsonl"
    place.parent.mkdir(parents=True)
    place.write_bytes(runs(TASKS))
    for script in scripts:
        done = subprocess.run(
            ["bash", "-ec", script.replace("evaluation-assets", f"{sys.executable} -m evaluation_assets.cli")],
            cwd=tmp_path,
            env=os.environ | {"EVALUATION_HOME": ".evaluation"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert ElementTree.parse(tmp_path / "gate.xml").getroot().get("failures") == "0"
    assert (tmp_path / "reports" / "support" / "current" / "report.html").exists()
