"""Folders of Harbor's jobs: the runs of their trials, with the outcomes that their verifiers found."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.suites.recorded_expectations import unmet_expectations
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, files_of


def read_job(job: Path) -> tuple[list[Trajectory | Rejection], ImportSummary]:
    files, report = files_of(job), ImportReport()
    return list(report.read(format_of(files), files)), report.summary


def add_trial(
    job: Path,
    name: str,
    rewards: dict[str, float] | None,
    *,
    exception: str | None = None,
    steps: list[dict[str, Any]] | None = None,
    tokens: int = 30,
) -> Path:
    trial = job / name
    for folder in ("agent/episode-0", "verifier"):
        (trial / folder).mkdir(parents=True)
    asked = {"step_id": 1, "source": "user", "message": "Make hello.txt"}
    made = {
        "step_id": 2,
        "source": "agent",
        "message": "Made.",
        "metrics": {"prompt_tokens": 30, "completion_tokens": 4},
    }
    agent = {"name": "terminus-2", "version": "2.0.0"}
    write(
        trial / "agent/trajectory.json",
        {"schema_version": "ATIF-v1.6", "agent": agent, "steps": [asked, *(steps or [made])]},
    )
    write(trial / "agent/episode-0/debug.json", {"messages": [{"role": "user", "content": "Make hello.txt"}]})
    (trial / "agent/episode-0/prompt.txt").write_text("user: Make hello.txt\nassistant: Made.\n")
    (trial / "trial.log").write_text("Starting the trial\n")
    write(trial / "verifier/ctrf.json", {"results": {"summary": {"tests": 1, "passed": 1}, "tests": []}})
    write(trial / "config.json", {"trial_name": name, "task": {"path": "tasks/hello"}})
    result = {
        "trial_name": name,
        "task_name": "hello",
        "agent_info": {"name": "terminus-2", "version": "2.0.0"},
        "agent_result": {"n_input_tokens": tokens, "n_cache_tokens": 0, "n_output_tokens": 4},
        "verifier_result": None if rewards is None else {"rewards": rewards},
        "exception_info": None if exception is None else {"exception_type": exception, "exception_message": "late"},
    }
    write(trial / "result.json", result)
    return trial


def write(path: Path, data: Any) -> None:
    path.write_bytes(orjson.dumps(data))


def state_job(job: Path, trials: int) -> None:
    write(job / "result.json", {"id": "job", "n_total_trials": trials, "stats": {"n_trials": trials, "evals": {}}})
    write(job / "config.json", {"job_name": "job"})
    (job / "job.log").write_text("Starting the job\n")


def test_trials_of_a_job_are_runs_with_their_rewards(tmp_path: Path) -> None:
    state_job(tmp_path, 2)
    add_trial(tmp_path, "hello__a", {"reward": 1.0})
    add_trial(tmp_path, "hello__b", {"reward": 0.0})
    runs, summary = read_job(tmp_path)
    assert [(run.task_id, run.trial, run.success, run.labels) for run in runs if isinstance(run, Trajectory)] == [
        ("hello", 0, True, {"reward": 1.0}),
        ("hello", 1, False, {"reward": 0.0}),
    ]
    assert (len(runs), summary.trust) == (2, "complete")


def test_a_single_trial_is_read_with_its_reward(tmp_path: Path) -> None:
    trial = add_trial(tmp_path, "hello__a", {"correctness": 1.0})
    (run,), summary = read_job(trial)
    assert isinstance(run, Trajectory)
    assert (run.success, run.labels, summary.trust) == (True, {"rewards": {"correctness": 1.0}}, "complete")


def test_the_tests_of_a_trial_are_counted_and_those_that_fail_named(tmp_path: Path) -> None:
    trial = add_trial(tmp_path, "hello__a", {"reward": 0.0})
    outcomes = {"a": "passed", "b": "failed", "c": "skipped"}
    tests = [{"name": f"test_outputs.py::test_{name}", "status": status} for name, status in outcomes.items()]
    write(trial / "verifier/ctrf.json", {"results": {"tool": {"name": "pytest"}, "tests": tests}})
    for folder in (trial, tmp_path):
        (run,), summary = read_job(folder)
        assert isinstance(run, Trajectory)
        assert (run.labels, summary.trust) == (
            {
                "reward": 0.0,
                "tests": {"verifier": {"success": 1, "failure": 1}},
                "failed_tests": {"verifier": ["test_outputs.py::test_b"]},
            },
            "complete",
        )
        (issue,) = unmet_expectations(run)
        assert issue.detail == "1 of 2 tests of the task fails: test_outputs.py::test_b"


@pytest.mark.parametrize("report", ["{", "[]", '{"results": {"tests": [3, {"name": 5, "status": "failed"}]}}', "{}"])
def test_an_unusable_report_of_tests_leaves_the_trial_as_it_is(tmp_path: Path, report: str) -> None:
    trial = add_trial(tmp_path, "hello__a", {"reward": 0.0})
    (trial / "verifier/ctrf.json").write_text(report)
    (run,), _ = read_job(trial)
    assert isinstance(run, Trajectory) and run.labels == {"reward": 0.0}


def test_a_reward_between_0_and_1_is_no_outcome(tmp_path: Path) -> None:
    (run,), _ = read_job(add_trial(tmp_path, "hello__a", {"reward": 0.4, "style": 1.0}))
    assert isinstance(run, Trajectory)
    assert (run.success, run.labels) == (None, {"rewards": {"reward": 0.4, "style": 1.0}})


@pytest.mark.parametrize(
    ("rewards", "exception", "flags"),
    [
        ({"reward": 0.0}, "AgentTimeoutError", ("step_limit",)),
        (None, "VerifierTimeoutError", ("failed",)),
        ({"reward": 1.0}, "NonZeroAgentExitCodeError", ()),
    ],
)
def test_exceptions_of_trials_are_kept(
    tmp_path: Path, rewards: dict[str, float] | None, exception: str, flags: tuple[str, ...]
) -> None:
    (run,), _ = read_job(add_trial(tmp_path, "hello__a", rewards, exception=exception))
    assert isinstance(run, Trajectory)
    assert (run.flags, run.extra["error"]) == (flags, exception)


def test_totals_that_a_job_states_are_compared(tmp_path: Path) -> None:
    state_job(tmp_path, 3)
    add_trial(tmp_path, "hello__a", {"reward": 1.0}, tokens=90)
    _, summary = read_job(tmp_path)
    assert summary.trust == "partial"
    assert sorted(difference.sentence for difference in summary.differences) == [
        "3 trials stated by the source, 1 read",
        "90 input tokens stated by the source, 30 read",
    ]


def test_a_trial_without_a_trajectory_is_rejected(tmp_path: Path) -> None:
    state_job(tmp_path, 2)
    add_trial(tmp_path, "hello__a", {"reward": 1.0})
    failed = add_trial(tmp_path, "hello__b", None, exception="EnvironmentStartTimeoutError")
    (failed / "agent/trajectory.json").unlink()
    (_, rejection), summary = read_job(tmp_path)
    assert isinstance(rejection, Rejection)
    assert (rejection.source, rejection.reason) == ("hello__b/result.json", "no_trajectory_text")
    assert "EnvironmentStartTimeoutError" in rejection.detail
    assert summary.trust == "partial"


def test_logs_of_the_agent_are_not_read_beside_its_trajectory(tmp_path: Path) -> None:
    trial = add_trial(tmp_path, "hello__a", {"reward": 1.0})
    sessions = trial / "agent/sessions/projects/-app"
    sessions.mkdir(parents=True)
    (sessions / "session.jsonl").write_bytes((FIXTURES / "claude_code/session.jsonl").read_bytes())
    (run,), summary = read_job(tmp_path)
    assert isinstance(run, Trajectory)
    assert (run.format, run.task, summary.trust) == ("atif", "Make hello.txt", "complete")


def test_a_trial_with_several_runs_states_the_outcome_of_none(tmp_path: Path) -> None:
    trial = add_trial(tmp_path, "hello__a", {"reward": 1.0})
    (trial / "steps").mkdir()
    (trial / "steps/trajectory.json").write_bytes((trial / "agent/trajectory.json").read_bytes())
    runs, _ = read_job(tmp_path)
    assert [run.success for run in runs if isinstance(run, Trajectory)] == [None, None]


def test_commands_that_terminus_writes_as_json_are_calls(tmp_path: Path) -> None:
    answer = {
        "analysis": "The folder is empty.",
        "plan": "Make the file.",
        "commands": [{"keystrokes": "echo hi > hello.txt\n", "duration": 0.5}],
        "task_complete": False,
    }
    shown = {"results": [{"content": "New Terminal Output:\n\n$ echo hi > hello.txt"}]}
    step = {"step_id": 2, "source": "agent", "message": orjson.dumps(answer).decode(), "observation": shown}
    (run,), summary = read_job(add_trial(tmp_path, "hello__a", {"reward": 1.0}, steps=[step]))
    assert isinstance(run, Trajectory)
    keystrokes = {"keystrokes": "echo hi > hello.txt\n", "duration": 0.5}
    assert calls_of(run) == [("bash_command", keystrokes, "New Terminal Output:\n\n$ echo hi > hello.txt")]
    assert (summary.trust, summary.stray_results) == ("complete", 0)
