"""Trajectories of Trae Agent."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories

RUN = FIXTURES / "trae_agent" / "trajectory.json"


def test_requests_have_what_is_new_and_the_last_result_stands_in_a_step() -> None:
    (run,) = trajectories(RUN)
    assert calls_and_errors(run) == [
        ('{"command":"notes"}', "notes: command not found"),
        ('{"command":"ls"}', None),
        ("{}", None),
    ]
    assert [turn.user_message for turn in run.turns] == [
        "[Problem statement]: Find the note.",
        "ERROR! Your Patch is empty. Please provide a patch that fixes the problem.",
    ]
    assert (run.task, run.final_answer, run.success) == ("Find the note.", "The note is in note.txt.", None)
    assert run.usage == Usage(input_tokens=520, cached_tokens=350, output_tokens=42)
    assert (run.agents[0].description, run.agents[0].model, run.duration_s) == (
        "You are a software engineer.",
        "glm-4.6",
        13.5,
    )
    assert summary_of(RUN).trust == "complete"


def test_cached_tokens_of_anthropic_are_added(tmp_path: Path) -> None:
    run = orjson.loads(RUN.read_bytes())
    for request in run["llm_interactions"]:
        request["provider"] = "anthropic"
    (read,) = trajectories(written(tmp_path, run))
    assert read.usage == Usage(input_tokens=870, cached_tokens=350, cache_write_tokens=0, output_tokens=42)


def test_a_request_that_is_missing_makes_a_run_partial(tmp_path: Path) -> None:
    run = orjson.loads(RUN.read_bytes())
    del run["llm_interactions"][2]
    assert summary_of(written(tmp_path, run)).trust == "partial"


@pytest.mark.parametrize(
    ("result", "error", "flags"),
    [
        ("Task execution exceeded maximum steps without completion.", None, ("step_limit",)),
        ("connection refused", "connection refused", ("failed",)),
    ],
)
def test_a_run_that_a_limit_or_an_error_ended_has_no_answer(
    tmp_path: Path, result: str, error: str | None, flags: tuple[str, ...]
) -> None:
    run = orjson.loads(RUN.read_bytes()) | {"success": False, "final_result": result}
    run["agent_steps"][-1]["error"] = error
    (read,) = trajectories(written(tmp_path, run))
    assert (read.flags, read.final_answer) == (flags, None)
