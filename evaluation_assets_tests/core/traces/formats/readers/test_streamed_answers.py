"""Pieces of streamed answers, which hold no whole message, and answers with several choices."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import read

CHUNK = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
DELTA = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "Hi"}
MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}
DONE = {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE}


def lines(folder: Path, *records: Any) -> Path:
    path = folder / "drop.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return path


@pytest.mark.parametrize(
    ("record", "format_name", "told"),
    [
        (CHUNK, "openai_messages", "a chunk of a streamed completion; export the request's messages"),
        (DONE, "openai_responses", "an event of a streamed response; export the request and the response"),
        (DELTA, "openai_responses", "an event of a streamed response; export the request and the response"),
    ],
)
def test_a_piece_is_named(tmp_path: Path, record: Any, format_name: str, told: str) -> None:
    (found,) = read(lines(tmp_path, record), format_name=format_name)
    assert isinstance(found, Rejection)
    assert found.detail.startswith(told)


def test_further_choices_are_noted(tmp_path: Path) -> None:
    choices = [{"index": index, "message": {"role": "assistant", "content": text}} for index, text in enumerate("ABC")]
    unmapped = UnmappedFields()
    record = {"messages": [{"role": "user", "content": "q"}], "response": {"choices": choices}}
    (run,) = read(lines(tmp_path, record), unmapped=unmapped)
    assert isinstance(run, Trajectory)
    assert run.final_answer == "A"
    assert unmapped.notes == {("unknown_part", "further choices of an answer (n > 1)"): 2}
