"""Sessions of Continue: `Session` and `ChatHistoryItem` of `core/index.d.ts`."""

from copy import deepcopy
from pathlib import Path

import orjson

from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

FIXTURE = FIXTURES / "continue"
SESSION = orjson.loads((FIXTURE / "session.json").read_bytes())


def test_states_of_calls_have_what_the_calls_returned() -> None:
    (run,) = trajectories(FIXTURE)  # with the index of the sessions
    check(run)
    assert calls_of(run) == [
        ("read_file", {"filepath": "totals.py"}, "total = price"),
        ("run_terminal_command", {"command": "pytest -q"}, "Command failed: 1 failed"),
        ("run_terminal_command", {"command": "rm -rf build"}, "The user cancelled this tool call."),
    ]
    assert [step.result.error is not None for step in run.calls if step.result] == [False, True, False]
    assert (run.task, run.final_answer) == ("The totals are wrong. Fix them.", "The totals leave out the tax.")
    assert [run.piece(step.thought) for step in run.steps if step.thought] == [
        "I have to see the file first.",
        "Now the tests.",
    ]


def test_tokens_cost_and_model_are_those_of_the_session() -> None:
    (run,) = trajectories(FIXTURE)
    assert run.id == SESSION["sessionId"]
    assert [agent.model for agent in run.agents] == ["Model A"]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (630, 55, 0.02)
    assert summary_of(FIXTURE).trust == "complete"


def test_a_result_with_a_message_of_its_own_is_read_once(tmp_path: Path) -> None:
    session = deepcopy(SESSION)
    answered = {"message": {"role": "tool", "content": "total = price", "toolCallId": "call_1"}, "contextItems": []}
    session["history"].insert(3, answered)
    (tmp_path / "session.json").write_bytes(orjson.dumps(session))
    (run,) = trajectories(tmp_path)
    assert calls_of(run)[0] == ("read_file", {"filepath": "totals.py"}, "total = price")
    assert run.text.count("total = price") == 1


def test_a_total_that_is_not_that_of_the_requests_is_no_complete_reading(tmp_path: Path) -> None:
    session = deepcopy(SESSION)
    session["usage"]["promptTokens"] = 900
    (tmp_path / "session.json").write_bytes(orjson.dumps(session))
    assert summary_of(tmp_path / "session.json").trust == "partial"


def test_a_call_that_did_not_end_has_no_result(tmp_path: Path) -> None:
    session = deepcopy(SESSION)
    session["history"][4]["toolCallStates"][0]["status"] = "calling"
    (tmp_path / "session.json").write_bytes(orjson.dumps(session))
    (run,) = trajectories(tmp_path)
    assert calls_of(run)[2][2] is None
