"""Chat histories of Aider. The fixture is written by hand after `aider/io.py` and `coders/base_coder.py`."""

from pathlib import Path

import pytest
from upath import UPath

from evaluation_assets.core.intake.drops import InvalidDrop, one_file
from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.readers import aider
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES

HISTORY = FIXTURES / "aider" / "history.txt"


def read(path: Path | UPath) -> tuple[list[Trajectory | Rejection], UnmappedFields]:
    unmapped = UnmappedFields()
    return list(aider.read([DropFile(UPath(path), path.name)], unmapped)), unmapped


def run_of(folder: Path, chat: str) -> Trajectory:
    path = folder / "aider.txt"
    path.write_text(f"# aider chat started at 2025-03-01 10:00:00\n\n{chat}")
    (run,), _ = read(path)
    assert isinstance(run, Trajectory)
    return run


def test_a_history() -> None:
    (run,), unmapped = read(HISTORY)
    assert isinstance(run, Trajectory)
    assert [turn.user_message for turn in run.turns] == [
        "The total of an order ignores the discount.\nPlease fix it.",
        "Does a test cover this?",
    ]
    assert [step.call.name for step in run.calls if step.call] == ["apply_edit"]
    assert "<<<<<<< SEARCH" in run.text
    assert (
        run.turns[1].interactions[0].response
        == "Not yet. `tests/test_orders.py` only covers orders without a discount."
    )
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (15_100, 259, pytest.approx(0.03))
    assert run.agents[0].model == "claude-sonnet-4"
    assert run.extra == {
        "started_at_local": "2025-03-01 10:02:11",
        "commits": [{"hash": "1a2b3c4", "message": "fix: Subtract the discount from the total of an order"}],
    }
    assert unmapped.counts == {
        "starts in which nothing was asked": 1,
        "commands of the user": 1,
        "other lines that Aider printed": 3,
    }


def test_a_prompt_that_is_sent_with_a_command_is_read_once(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        "#### /code Sort the orders.  \n\n#### Sort the orders.  \n\n"
        "Done.\n\n#### Sort the orders.  \n\nThey are sorted.\n",
    )
    assert [turn.user_message for turn in run.turns] == ["Sort the orders.", "Sort the orders."]


def test_a_heading_in_an_answer_is_not_of_the_user(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        "#### How do I install it?  \n####   \n#### Both ways.  \n\n"
        "One of these:\n\n#### With npm\nnpm install\n\n#### With yarn\nyarn add\n",
    )
    assert [turn.user_message for turn in run.turns] == ["How do I install it?\n\nBoth ways."]
    assert (run.final_answer or "").endswith("#### With yarn\nyarn add")


def test_lines_whose_ends_were_cut_are_still_of_the_user(tmp_path: Path) -> None:
    run = run_of(tmp_path, "#### Fix it.\n\nDone.\n\n#### Thanks.\n\nBye.\n")
    assert [turn.user_message for turn in run.turns] == ["Fix it.", "Thanks."]


def test_a_start_without_an_answer_is_a_run_without_one(tmp_path: Path) -> None:
    found = run_of(tmp_path, "#### Fix it.  \n\n> litellm.AuthenticationError  \n")
    assert (found.task, found.flags, found.final_answer) == ("Fix it.", ("no_answer",), None)


def test_the_file_that_aider_writes_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_bytes(HISTORY.read_bytes())
    with pytest.raises(InvalidDrop, match=r"is a chat history of Aider; copy it to a file that ends in \.txt"):
        one_file(UPath(path))


def test_a_history_may_have_lines_of_json(tmp_path: Path) -> None:
    path = tmp_path / "aider.txt"
    path.write_text(HISTORY.read_text().replace("Not yet.", 'Not yet.\n\n{"total": 17}\n'))
    assert format_of([DropFile(UPath(path), path.name)]).name == "aider"
