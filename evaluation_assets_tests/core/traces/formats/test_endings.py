"""How runs ended, in the words of their records."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.readers.test_own_counts import ACT, BLOCKS, CHAT
from evaluation_assets_tests.core.traces.formats.reading import trajectories

RECORDS: list[JsonObject] = [
    {"messages": CHAT},
    {"messages": BLOCKS},
    {"chat_log": CHAT},
    {"task": "Pay.", "steps": [ACT], "final_answer": "It is."},
]


@pytest.fixture(params=RECORDS, ids=["chat", "blocks", "nested", "steps"])
def record(request: pytest.FixtureRequest) -> JsonObject:
    return request.param


@pytest.mark.parametrize(
    ("about", "success"),
    [
        ({"result": "PASS"}, True),
        ({"result": "incorrect"}, False),
        ({"result": True}, True),
        ({"result": {"passed": False}}, False),
        ({"outcome": "success"}, True),
        ({"outcome": "failed"}, False),
        ({"verdict": "FAIL"}, False),
        ({"evaluation": {"verdict": "pass"}}, True),
        ({"success": "PASS"}, True),
        ({"eval_result": "PASS"}, True),
        ({"final_result": "failed"}, False),
        ({"status": "FAIL"}, False),
        ({"status": "success"}, None),
        ({"status": "failed"}, None),
        ({"result": "The order is paid."}, None),
        ({"result": None}, None),
    ],
)
def test_a_verdict_in_words_is_the_outcome(
    tmp_path: Path, record: JsonObject, about: JsonObject, success: bool | None
) -> None:
    (run,) = trajectories(written(tmp_path, {**record, **about}))
    assert run.success is success
    assert run.final_answer == "It is."
    assert run.flags == ()


@pytest.mark.parametrize(
    ("about", "error"),
    [
        ({"status": "error"}, "error"),
        ({"status": "ERROR", "error": "connection reset"}, "connection reset"),
        ({"error": {"type": "ReadTimeout", "message": "no reply"}}, "no reply"),
        ({"error": ["no reply", {"message": "gave up"}]}, "no reply; gave up"),
        ({"error": True}, "error"),
        ({"is_error": True}, "error"),
        ({"exception": "KeyError: 'a'"}, "KeyError: 'a'"),
        ({"outcome": "crashed"}, "crashed"),
    ],
)
def test_the_error_of_a_run_broke_it(tmp_path: Path, record: JsonObject, about: JsonObject, error: str) -> None:
    (run,) = trajectories(written(tmp_path, {**record, **about}))
    assert "failed" in run.flags
    assert run.extra["error"] == error


@pytest.mark.parametrize(
    "about", [{"status": "timeout"}, {"stopped_by": "max_steps"}, {"error": "Max turns reached"}, {"timed_out": True}]
)
def test_a_limit_cuts_a_run_off(tmp_path: Path, record: JsonObject, about: JsonObject) -> None:
    (run,) = trajectories(written(tmp_path, {**record, **about}))
    assert "step_limit" in run.flags and "failed" not in run.flags


@pytest.mark.parametrize("error", [None, "", [], {}, False, 0, "none", "No error"])
def test_no_error_breaks_no_run(tmp_path: Path, record: JsonObject, error: Any) -> None:
    (run,) = trajectories(written(tmp_path, {**record, "status": "completed", "error": error}))
    assert run.flags == ()


def test_errors_that_a_run_met_did_not_break_it(tmp_path: Path, record: JsonObject) -> None:
    (run,) = trajectories(written(tmp_path, {**record, "errors": ["no reply", "too many requests"]}))
    assert run.flags == ()
    assert run.extra["errors"] == "no reply; too many requests"


def test_a_run_with_an_outcome_was_not_broken(tmp_path: Path, record: JsonObject) -> None:
    (run,) = trajectories(written(tmp_path, {**record, "success": False, "error": "no refund"}))
    assert run.success is False
    assert run.flags == ()
    assert run.extra["error"] == "no refund"


def test_verdicts_that_differ_are_a_contradiction(tmp_path: Path, record: JsonObject) -> None:
    assert summary_of(written(tmp_path, {**record, "success": True, "result": "FAIL"})).trust == "doubtful"
    assert summary_of(written(tmp_path, {**record, "success": True, "result": "PASS"})).trust == "complete"


@pytest.mark.parametrize(
    ("about", "is_broken"),
    [
        ({"success": False, "error": "InfrastructureError: the machine is gone"}, True),
        ({"reward": 0.0, "termination_reason": "infrastructure_error"}, True),
        ({"resolved": False, "exit_status": "docker_error"}, True),
        ({"passed": False, "error_type": "environment setup failed"}, True),
        ({"passed": False, "error": "Environment reset failed"}, True),
        ({"success": False, "error": "EnvironmentError: no such file"}, False),
        ({"success": False, "error": "The docker build failed"}, False),
        ({"success": False, "termination_reason": "user_stop"}, False),
    ],
)
def test_a_run_whose_harness_failed_has_no_outcome(
    tmp_path: Path, record: JsonObject, about: JsonObject, is_broken: bool
) -> None:
    (run,) = trajectories(written(tmp_path, {**record, **about}))
    assert (run.success, "failed" in run.flags) == ((None, True) if is_broken else (False, False))
