"""Records in memory, such as the runs of a notebook, as a file that is read like any other."""

import os
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import is_dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypeGuard

import orjson

from evaluation_assets.api.errors import UnusableInput
from evaluation_assets.core.traces.trajectories.model import Trajectory

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
        return _rows(source)
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return [source] if isinstance(source, Mapping) else source
    raise UnusableInput(f"expected a path or records, got {type(source).__name__}")


def _rows(frame: Any) -> Iterator[Any]:
    """The rows of a data frame, with the index if it is named and no column is.

    A column of IDs that are whole has become one of floats where pandas lacks a value; they are whole again.
    """
    columns = list(frame.columns)
    if (twice := next((name for name in columns if columns.count(name) > 1), None)) is not None:
        raise UnusableInput(f"two columns are called {twice!r}; rename one")
    names = [name for name in getattr(getattr(frame, "index", None), "names", ()) if name is not None]
    if names and set(names).isdisjoint(columns):
        frame = frame.reset_index()
    for row in frame.to_dict("records"):
        yield {key: int(value) if _is_whole_id(key, value) else value for key, value in row.items()}


def _is_whole_id(key: Any, value: Any) -> bool:
    return isinstance(value, float) and value.is_integer() and str(key).lower().endswith("id")


def _line(record: Any, number: int) -> bytes:
    is_object = hasattr(record, "model_dump") or (is_dataclass(record) and not isinstance(record, Trajectory))
    if not isinstance(record, Mapping | list) and not is_object:
        kind = type(record).__name__
        raise UnusableInput(f"record {number} is of type {kind}; expected a dictionary or a list of messages")
    try:
        return orjson.dumps(record, _plain, orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS) + b"\n"
    except orjson.JSONEncodeError as problem:
        raise UnusableInput(f"record {number} cannot be written as JSON: {problem}") from problem


def _plain(value: Any) -> Any:
    """Values of Python and objects of libraries, as of the OpenAI SDK, pydantic and pandas, as values that JSON has."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):  # as boto3 gives the numbers of DynamoDB
        return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    if isinstance(value, Set):
        return sorted(value, key=str)
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError
