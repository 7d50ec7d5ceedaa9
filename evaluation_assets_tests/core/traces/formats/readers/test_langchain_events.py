"""Events that LangChain streams (`astream_events`)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories

EVENTS = FIXTURES / "langchain" / "streamed_events.jsonl"
Event = dict[str, Any]
CALLS = [('{"city":"Bern"}', None), ('{"city":"Brn"}', "no such city")]


def _events() -> list[Event]:
    return [orjson.loads(line) for line in EVENTS.read_bytes().splitlines()]


def _written(tmp_path: Path, events: list[Event]) -> Path:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, events)))
    return path


def _without_end(events: list[Event]) -> list[Event]:
    return events[:-1]


def _without_parents(events: list[Event]) -> list[Event]:
    """As in the first version of these events."""
    return [{key: value for key, value in event.items() if key != "parent_ids"} for event in events]


def _in_pieces(events: list[Event]) -> list[Event]:
    """The last answer as pieces only."""
    return [event for event in events[:-1] if (event["event"], event["run_id"]) != ("on_chat_model_end", "m2")]


@pytest.mark.parametrize("change", [list, _without_end, _without_parents])
def test_a_stream_is_a_run_with_its_calls_and_results(
    tmp_path: Path, change: Callable[[list[Event]], list[Event]]
) -> None:
    path = _written(tmp_path, change(_events()))
    (run,) = trajectories(path)
    assert calls_and_errors(run) == CALLS
    assert (run.task, run.final_answer) == ("How warm is Bern?", "It is 12 degrees.")
    assert (run.usage, run.agents[0].description) == (Usage(input_tokens=90, output_tokens=14), "Answer briefly.")
    assert summary_of(path).trust == "complete"


def test_an_answer_may_be_there_in_pieces_only(tmp_path: Path) -> None:
    (run,) = trajectories(_written(tmp_path, _in_pieces(_events())))
    assert (calls_and_errors(run), run.final_answer) == (CALLS, "It is 12 degrees.")


def test_an_error_of_a_tool_is_its_result(tmp_path: Path) -> None:
    events = _without_end(_events())
    failed = next(event for event in events if (event["event"], event["run_id"]) == ("on_tool_end", "t2"))
    failed |= {"event": "on_tool_error", "data": {"error": "timeout"}}
    (run,) = trajectories(_written(tmp_path, events))
    assert calls_and_errors(run) == [CALLS[0], (CALLS[1][0], "timeout")]


def test_streams_of_several_runs_are_told_apart_by_their_first_parents(tmp_path: Path) -> None:
    again = orjson.loads(orjson.dumps(_events()).replace(b'"r0"', b'"q0"'))
    assert len(list(trajectories(_written(tmp_path, [*_events(), *again])))) == 2
