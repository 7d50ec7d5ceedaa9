"""Saved states of runs of the OpenAI Agents SDK."""

import re
from pathlib import Path

from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, trajectories

STATE = FIXTURES / "openai_run_state" / "state.json"


def _in_snake_case(folder: Path) -> Path:
    """The state as the SDK for Python saves it."""
    path = folder / "state.json"
    path.write_text(re.sub(r'[A-Z](?=\w*":)', lambda letter: f"_{letter[0].lower()}", STATE.read_text()))
    path.write_text(path.read_text().replace("$schema_version", "$schemaVersion"))
    return path


def test_a_state_is_the_run_so_far(tmp_path: Path) -> None:
    for path in (STATE, _in_snake_case(tmp_path)):
        (run,) = trajectories(path)
        assert (run.format, run.task, run.final_answer) == (
            "openai_run_state",
            "Refund order 7.",
            "Order 7 is refunded.",
        )
        assert calls_of(run)[1] == ("refund", {"order": 7}, "done")
        assert {agent.id for agent in run.agents} == {"Desk", "Refunds"}
        assert run.usage is not None
        assert (run.usage.input_tokens, run.usage.output_tokens) == (40, 10)
