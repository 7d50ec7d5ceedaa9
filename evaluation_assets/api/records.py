"""Records in memory, such as the runs of a notebook, as a file that is read like any other."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypeGuard

import orjson

from evaluation_assets.api.errors import UnusableInput

Source: TypeAlias = str | os.PathLike[str] | Iterable[Any]
"""A file, a folder with one drop, or records: dictionaries, lists of messages, or a data frame with a row for each."""

_NAME = "runs"


@contextmanager
def as_path(source: Source) -> Iterator[Path]:
    """The path of a file or folder; of records that of a file, `runs.jsonl`, which lasts as long as the context.

    Raises:
        UnusableInput: there are no records, or one is none, or holds what JSON lacks.
    """
    if is_path(source):
        yield Path(source)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{_NAME}.jsonl"
        with path.open("wb") as file:
            number = 0
            for number, record in enumerate(_records(source), 1):
                file.write(_line(record, number))
        if not number:
            raise UnusableInput("there are no records")
        yield path


def is_path(source: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is a file or folder, and not records."""
    return isinstance(source, str | os.PathLike)


def _records(source: Any) -> Iterable[Any]:
    if hasattr(source, "columns") and hasattr(source, "to_dict"):  # a data frame
        return source.to_dict("records")
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return [source] if isinstance(source, Mapping) else source
    raise UnusableInput(f"expected a path or records, got {type(source).__name__}")


def _line(record: Any, number: int) -> bytes:
    if not isinstance(record, Mapping | list) and not hasattr(record, "model_dump"):
        kind = type(record).__name__
        raise UnusableInput(f"record {number} is of type {kind}; expected a dictionary or a list of messages")
    try:
        return orjson.dumps(record, _plain, orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS) + b"\n"
    except orjson.JSONEncodeError as problem:
        raise UnusableInput(f"record {number} cannot be written as JSON: {problem}") from problem


def _plain(value: Any) -> Any:
    """Objects of libraries, as of the OpenAI SDK, pydantic and pandas, as values that JSON has."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError
