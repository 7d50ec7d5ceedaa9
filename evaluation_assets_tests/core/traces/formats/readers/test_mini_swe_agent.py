"""mini-SWE-agent trajectories, and the test reports that say whether their patches are right."""

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, read, trajectories
from evaluation_assets_tests.third_party import data

FIXTURE = FIXTURES / "mini_swe_agent"
FAILED, CUT_OFF = (FIXTURE / "trajs" / f"repo__{number}.traj.json" for number in (1, 2))


@pytest.fixture
def failed() -> Trajectory:
    return trajectories(FIXTURE)[0]


@pytest.fixture
def cut_off() -> Trajectory:
    return trajectories(FIXTURE)[1]


def test_everything_in_a_run_is_represented() -> None:
    unmapped = UnmappedFields()
    for run in trajectories(FIXTURE, unmapped=unmapped):
        check(run)
    assert unmapped.table() == []


def test_the_command_is_the_call_and_the_rest_is_the_thought(failed: Trajectory) -> None:
    first = failed.calls[0]
    assert first.call is not None and first.call.name == "bash"
    assert failed.piece(first.call.raw) == "grep -n total app.py"
    assert failed.piece(first.thought) == "Let me see.\n\nI look at the code."


def test_a_reply_without_exactly_one_command_makes_no_call(failed: Trajectory) -> None:
    assert len(failed.calls) == 3
    assert "EXACTLY ONE action" in failed.text


def test_the_return_code_decides_whether_a_command_failed(failed: Trajectory) -> None:
    assert [step.result and step.result.error for step in failed.calls] == [None, "return code 1", None]


def test_calls_in_one_reply_get_their_own_results(cut_off: Trajectory) -> None:
    assert [
        (
            step.call and cut_off.arguments(step.call),
            step.result and (cut_off.piece(step.result.content), step.result.error),
        )
        for step in cut_off.calls
    ] == [({"command": "ls"}, ("app.py", None)), ({"command": "cat x"}, ("no such file", "return code 2"))]


def test_the_task_is_what_the_template_was_filled_with(failed: Trajectory) -> None:
    assert (failed.task_id, failed.task) == ("repo__1", "Totals are wrong.")
    assert failed.turns[0].user_message is not None and failed.turns[0].user_message.startswith("<pr>")


def test_the_outcome_is_the_test_report_s_and_not_the_exit_status(failed: Trajectory) -> None:
    assert (failed.extra["exit_status"], failed.success) == ("Submitted", False)
    assert failed.labels == {
        "patch_applied": True,
        "tests": {"FAIL_TO_PASS": {"success": 0, "failure": 1}, "PASS_TO_PASS": {"success": 2, "failure": 0}},
        "failed_tests": {"FAIL_TO_PASS": ["a"]},
    }


def test_without_a_report_the_outcome_is_unknown(cut_off: Trajectory) -> None:
    assert (cut_off.success, cut_off.labels) == (None, {})
    (alone,) = trajectories(FAILED)
    assert alone.success is None


def test_tokens_are_counted_a_reply_and_the_cost_once(failed: Trajectory, cut_off: Trajectory) -> None:
    assert failed.usage == Usage(input_tokens=700, cached_tokens=350, output_tokens=50, cost_usd=0.07)
    assert failed.calls[0].usage == Usage(input_tokens=100, cached_tokens=50, output_tokens=10, cost_usd=0.01)
    used = Usage(input_tokens=80, cached_tokens=40, output_tokens=9, cost_usd=0.000145, is_list_price=True)
    assert cut_off.usage == used


def test_a_run_without_a_patch_gave_no_answer(failed: Trajectory, cut_off: Trajectory) -> None:
    assert (failed.final_answer, failed.flags) == ("diff --git a/app.py b/app.py\n", ())
    assert (cut_off.final_answer, cut_off.flags) == (None, ("step_limit", "no_answer"))
    assert failed.started_at == "2025-11-19T00:15:04+00:00"


@pytest.mark.parametrize(
    ("report", "outcome"),
    [
        ({"repo__1": {"resolved": True}}, True),
        ({"resolved_ids": ["repo__1"], "unresolved_ids": []}, True),
        ({"resolved_ids": [], "unresolved_ids": ["repo__1"]}, False),
        ({"resolved_ids": ["repo__2"], "empty_patch_ids": ["repo__1"]}, False),
        ({"resolved_ids": ["repo__2"], "error_ids": ["repo__1"]}, None),
        ({"resolved_ids": ["repo__2"]}, None),
        ({"no_generation": [], "no_logs": [], "resolved": ["repo__1"]}, True),  # the leaderboard's results.json
        ({"no_generation": [], "no_logs": [], "resolved": ["repo__2"]}, False),
        ({"no_generation": ["repo__1"], "no_logs": [], "resolved": []}, False),
        ({"no_generation": [], "no_logs": ["repo__1"], "resolved": ["repo__2"]}, None),
    ],
)
def test_reports_come_in_several_shapes(report: dict[str, Any], outcome: bool | None, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(orjson.dumps(report))
    (run,) = trajectories(tmp_path / "report.json", FAILED)
    assert run.success is outcome


@pytest.mark.parametrize(
    ("name", "handed_in"),
    [
        ("preds.json", {"repo__1": {"model_name_or_path": "m", "instance_id": "repo__1", "model_patch": "diff"}}),
        ("all_preds.jsonl", {"model_name_or_path": "m", "instance_id": "repo__1", "model_patch": "diff"}),
    ],
)
def test_patches_that_were_handed_in_stand_beside_their_runs(name: str, handed_in: Any, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(orjson.dumps(handed_in) + b"\n")
    (run,) = trajectories(tmp_path / name, FAILED)
    assert run.success is None


@pytest.mark.parametrize(
    ("status", "flags"),
    [
        ("ContextWindowExceededError", ("step_limit",)),
        ("RateLimitError", ("failed",)),
        ("APIConnectionError", ("failed",)),
        ("RepeatedFormatError", ()),
    ],
)
def test_an_error_of_the_endpoint_is_no_limit_of_the_agent(status: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    run = orjson.loads(FAILED.read_bytes())
    run["info"]["exit_status"] = status
    (tmp_path / FAILED.name).write_bytes(orjson.dumps(run))
    (read_again,) = trajectories(tmp_path / FAILED.name)
    assert read_again.flags == flags
    assert read_again.extra.get("error") == (status if "failed" in flags else None)


def test_another_file_of_the_drop_is_one_rejection(tmp_path: Path) -> None:
    (tmp_path / "preds.json").write_text('{"repo__1": {"model_patch": "diff"}}')
    rejected, run = read(tmp_path / "preds.json", FAILED)
    assert isinstance(rejected, Rejection) and rejected.reason == "not_this_format"
    assert isinstance(run, Trajectory)


def test_many_test_reports_before_the_runs_leave_the_reading_complete(tmp_path: Path) -> None:
    for number in range(25):
        (tmp_path / "logs" / f"other__{number}").mkdir(parents=True)
        (tmp_path / "logs" / f"other__{number}" / "report.json").write_text('{"resolved": true}')
    shutil.copy(FAILED, tmp_path / FAILED.name)
    assert summary_of(tmp_path).trust == "complete"


def test_recorded_runs_of_swe_bench() -> None:
    unmapped = UnmappedFields()
    runs = trajectories(data("mini-swe-agent"), unmapped=unmapped)
    for run in runs:
        check(run)
    assert (len(runs), len([run for run in runs if run.success])) == (26, 13)
    assert [path.rpartition(".")[2] for path, _ in unmapped.table()] == ["video_tokens"]
    assert all(run.success is not None and run.extra["exit_status"] == "Submitted" for run in runs)
    calls = [step for run in runs for step in run.calls]
    assert (len(calls), len([step for step in calls if step.result and step.result.error])) == (829, 54)
    assert all(not run.task.startswith("<") for run in runs)


def test_a_bare_list_of_messages_has_its_commands_and_what_was_handed_in(tmp_path: Path) -> None:
    submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"
    messages = [
        ("system", "One command in a fence."),
        ("user", "Mend app.py."),
        ("assistant", "<think>Where?</think>I look.\n\n```mswea_bash_command\ncat app.py\n```"),
        ("user", "<returncode>1</returncode>\n<output>\nNo such file\n</output>"),
        ("assistant", f"```mswea_bash_command\n{submit}\n```"),
        ("user", "diff --git a/app.py"),
    ]
    content = [{"role": role, "content": said} for role, said in messages]
    (tmp_path / "run.json").write_bytes(orjson.dumps(content))
    (run,) = trajectories(tmp_path / "run.json")
    check(run)
    assert (run.task, len(run.turns), run.final_answer) == ("Mend app.py.", 1, "diff --git a/app.py")
    assert calls_of(run) == [
        ("bash", {"command": "cat app.py"}, messages[3][1]),
        ("bash", {"command": submit}, messages[5][1]),
    ]
    assert [step.result and step.result.error for step in run.calls] == ["return code 1", None]
    assert run.piece(run.calls[0].thought) == "Where?\n\nI look."
