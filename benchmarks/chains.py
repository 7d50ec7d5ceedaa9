"""Trajectories for benchmarks of judging, as text, as a drop, and as the chains a judge is given."""

from collections.abc import Iterator
from pathlib import Path

import orjson

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.subjects import Chain, clip_chain
from evaluation_assets.core.traces.formats.base import Record
from evaluation_assets.core.traces.formats.readers.tagged import trajectory_of

SENTENCE = "The page of shop {number} lists 17 kinds of bread, three of them sold out since Tuesday. "


def text_of(number: int, clips: int, characters: int) -> str:
    """Calls of one tool with results of that length, and an answer: so many clips."""
    result = (SENTENCE.format(number=number) * (characters // 80 + 1))[:characters]
    call = "<think>look at page {0}</think>\n<browser_use><browser_navigate>page {0}</browser_navigate></browser_use>\n"
    calls = (call.format(f"{index} of {number}") + f"<result>{result}</result>\n" for index in range(clips - 1))
    return "".join(calls) + f"<answer>Shop {number} has 14 kinds left.</answer>"


def chains(count: int, clips: int, characters: int) -> Iterator[Chain]:
    """The chains of so many trajectories."""
    rubrics = load_rubrics()
    for number in range(count):
        fields = _fields(number, clips, characters)
        trajectory = trajectory_of(Record("drop.jsonl", number + 1, fields, orjson.dumps(fields)))
        yield clip_chain(trajectory, clips_of(trajectory), rubrics)


def write_drop(path: Path, count: int, clips: int, characters: int) -> None:
    """The same trajectories as a file."""
    with path.open("wb") as sink:
        for number in range(count):
            sink.write(orjson.dumps(_fields(number, clips, characters), option=orjson.OPT_APPEND_NEWLINE))


def _fields(number: int, clips: int, characters: int) -> dict[str, str]:
    return {
        "task_id": f"task-{number:06d}",
        "task_description": f"How many kinds of bread does shop {number} have left?",
        "raw_response": text_of(number, clips, characters),
    }
