"""Transcripts of agents in the manner of ReAct, as text: files, or records with such a text in a field.

A file or record has a run for each question in it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.files.opening import read_text
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import own_files, sample_of
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.messages.react_texts import conversations_in
from evaluation_assets.core.traces.formats.readers.openai_messages import trajectory_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

NAME = "react"
DESCRIPTION = "Transcripts in the manner of ReAct: Thought, Action, Observation, in text files or in records"
DETECTION = "texts with lines that begin with 'Action:' or 'Action 1:', and later with 'Observation'"

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ENDED = re.compile(r"^> Finished chain\.\s*$", re.MULTILINE)
"""What LangChain prints at the end of a run."""


def detect(sample: Sample) -> bool:
    """Whether a sample is such a text, or has a record with one."""
    return bool(conversations_in(sample.text) if sample.is_plain_text else any(map(_text_field, sample.records)))


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield a trajectory or rejection for each question."""
    for file in own_files(files, detect, NAME):
        if isinstance(file, Rejection):
            yield file
        elif sample_of(file).is_plain_text:
            text = read_text(file.path, file.source)
            yield from _runs(Record(file.source, 1, text, text.encode()), text, {}, unmapped)
        else:
            for record in read_records(file):
                yield from [record] if isinstance(record, Rejection) else _runs_of(record, unmapped)


def _runs_of(record: Record, unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    name = _text_field(record.data)
    if name is None:
        yield record.rejected(
            UnusableRecord("not_this_format", "no text of the record has an action and an observation")
        )
        return
    beside = {key: value for key, value in record.data.items() if key != name}
    yield from _runs(record, record.data[name], beside, unmapped)


def _runs(record: Record, text: str, beside: JsonObject, unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """The runs of a text. What its record says is about the run, if there is only one."""
    conversations = conversations_in(_ENDED.sub("", _COLOUR.sub("", text)))
    about = beside if len(conversations) == 1 else {}
    for messages in conversations:
        read = partial(_trajectory, {**about, "messages": messages}, unmapped)
        yield usable(record, lambda _, read=read: read(), is_whole=len(conversations) == 1)


def _trajectory(data: JsonObject, unmapped: UnmappedFields) -> Trajectory:
    return replace(trajectory_of(unmapped, [data]), format=NAME)


def _text_field(record: Any) -> str | None:
    """The first field whose text has actions with observations."""
    texts = ((key, value) for key, value in object_in(record).items() if isinstance(value, str))
    return next((key for key, text in texts if conversations_in(text)), None)
