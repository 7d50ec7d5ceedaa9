"""Sessions of Grok Build: the lines of `~/.grok/sessions/<folder>/<session>/chat_history.jsonl`."""

from pathlib import Path

from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

FIXTURE = FIXTURES / "grok"
LINES = (FIXTURE / "chat_history.jsonl").read_bytes().splitlines(keepends=True)


def test_calls_have_their_results_and_those_of_the_provider_their_status() -> None:
    (run,) = trajectories(FIXTURE)  # with the summary of the session
    check(run)
    assert calls_of(run) == [
        ("read_file", {"target_file": "totals.py"}, "total = price\n"),
        ("run_terminal_cmd", {"command": "pytest -q"}, "exit: 1\n1 failed\n"),
        ("web_search", {"type": "search", "query": "sales tax"}, "completed"),
    ]
    assert summary_of(FIXTURE).trust == "complete"


def test_what_the_client_says_is_no_turn() -> None:
    (run,) = trajectories(FIXTURE)
    assert [turn.user_message for turn in run.turns] == ["The totals are wrong. Fix them.", "Thanks, now the docs."]
    assert run.extra["interruptions"] == 1


def test_the_agent_has_its_prompt_and_model() -> None:
    (run,) = trajectories(FIXTURE)
    (agent,) = run.agents
    assert (agent.name, agent.model, agent.description) == ("Grok Build", "grok-a", "You are Grok, a coding agent.")


def test_reasoning_stands_before_what_it_led_to(tmp_path: Path) -> None:
    path = tmp_path / "chat_history.jsonl"
    path.write_bytes(b"".join([*LINES[:5], LINES[10], LINES[11]]))
    (run,) = trajectories(path)
    thoughts = [
        [run.piece(step.thought) for one in turn.interactions for step in one.steps if step.thought]
        for turn in run.turns
    ]
    assert thoughts == [["I have to see the file first."], []]
