"""What holds for the reader of every format, tried on its fixtures whole and damaged."""

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.traces.formats.base import DropFile, Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.files.pages import page_in
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.registry import FORMATS, format_of, read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import (
    FIXTURES,
    check,
    check_is_stored,
    files_of,
    records_of,
    trajectories,
)

NAMES = sorted(folder.name for folder in FIXTURES.iterdir() if folder.is_dir())
DEEP: Any = "x"
for _ in range(300):
    DEEP = [DEEP]
STRANGE = (
    None, True, False, 0, -1, 1.5, 1e300, 2**63, "", " ", "x", "null", "{}", "[1]", "\x00", "\ud7ff", "<think>",
    "</think>", "<result>", "9" * 400, [], [[]], [None], [1, "x"], {}, {"x": None}, {"type": "text"}, [{}],
    [{"role": 1}], DEEP, 10**30, -(10**30), 10**400, float("nan"), float("-inf"), "\ud800", "²", "9999-99-99",
    "tool='t' tool_input={[]: 1} log='x'", "tool='t' tool_input={1: [10**30, 2**70]} log='x'",
    "tool='t' tool_input={'n': " + "9" * 40 + "} log='\\ud83d'", "tool='t' tool_input=" + "[" * 900 + " log='x'",
    {"lc": 1, "id": [[]], "kwargs": {}}, {"$ref": "#"}, 2**53, "{", "x\x00é", {"a": []},
)  # fmt: skip
"""Values that stand where others are expected."""


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_has_a_fixture(name: str) -> None:
    assert name in NAMES, f"add a file that you wrote yourself to fixtures/formats/{name}/"


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_is_recognised_as_its_own_format_and_as_no_other(name: str) -> None:
    files = files_of(FIXTURES / name)
    assert format_of(files).name == name
    samples = [sample_of(file) for file in files]
    samples += [page[1] for sample in samples if (page := page_in(sample)) is not None]
    assert [known for known, format_ in FORMATS.items() if any(map(format_.detect, samples))] == [name]


def filled(value: Any) -> Any:
    """The value, in whose lists every object has the fields of the others, null where it lacks them.

    Parquet and dumps of typed objects have them.
    """
    if isinstance(value, dict):
        return {key: filled(inner) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    items = [filled(item) for item in value]
    missing = dict.fromkeys(key for item in items if isinstance(item, dict) for key in item)
    return [missing | item if isinstance(item, dict) else item for item in items]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/*.json*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_field_that_is_null_is_as_one_that_is_missing(tmp_path: Path, path: Path) -> None:
    records = [filled(record) for record in records_of(path)]
    given, nulls = tmp_path / path.name, tmp_path / "nulls" / path.name
    nulls.parent.mkdir()
    given.write_bytes(path.read_bytes())
    is_list = path.suffix == ".jsonl" or path.read_bytes().lstrip().startswith(b"[")
    lines = b"\n".join(orjson.dumps(record) for record in records)
    nulls.write_bytes(lines if path.suffix == ".jsonl" else orjson.dumps(records if is_list else records[0]))
    try:
        expected = summary_of(given)
    except UnreadableDrop:
        pytest.skip("a file that is read together with others")
    found = summary_of(nulls)
    assert (found.trust, found.calls, found.results) == (expected.trust, expected.calls, expected.results)
    assert (found.input_tokens, found.output_tokens) == (expected.input_tokens, expected.output_tokens)


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_is_read_whole(name: str) -> None:
    for trajectory in trajectories(FIXTURES / name):
        assert trajectory.format == name
        check(trajectory)


@pytest.mark.parametrize("name", NAMES)
def test_fields_of_records_are_freed_without_a_search_for_cycles(name: str) -> None:
    gc.collect(generation=0)  # the objects made from here on are those of this generation
    gc.disable()  # as while a table is written
    try:
        trajectories(FIXTURES / name)
        left = [each for each in gc.get_objects(generation=0) if isinstance(each, Fields)]
    finally:
        gc.enable()
    assert not left


@pytest.mark.parametrize("name", NAMES)
def test_a_drop_of_the_same_bytes_is_read_the_same(name: str) -> None:
    assert trajectories(FIXTURES / name) == trajectories(FIXTURES / name)


@pytest.mark.parametrize("name", NAMES)
@given(random=st.randoms(use_true_random=False), hits=st.integers(1, 6))
def test_whatever_is_missing_or_mistyped_a_record_or_a_reason_comes_back(name: str, random: Random, hits: int) -> None:
    _read_damaged(name, lambda source, content: _with_damaged_fields(source, content, random, hits))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=settings().max_examples // 3)
@given(random=st.randoms(use_true_random=False))
def test_damaged_bytes_never_raise_anything_but_that_the_drop_is_unreadable(name: str, random: Random) -> None:
    _read_damaged(name, lambda _, content: _with_damaged_bytes(content, random))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_another_format_is_rejected(name: str) -> None:
    foreign = UPath("memory://formats/foreign.jsonl")
    foreign.parent.mkdir(parents=True, exist_ok=True)
    foreign.write_bytes(b'{"nothing": "that is known"}\n')
    items = list(read_trajectories([DropFile(foreign, "foreign.jsonl")], UnmappedFields(), name))
    assert items
    assert all(isinstance(item, Rejection) and item.reason for item in items)


def _read_damaged(name: str, damaged: Callable[[str, bytes], bytes]) -> None:
    """Read a format's fixtures, each file damaged, by its own reader."""
    files = []
    for file in files_of(FIXTURES / name):
        path = UPath(f"memory://formats/{name}/{file.source}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(damaged(file.source, file.path.read_bytes()))
        files.append(DropFile(path, file.source))
    try:
        for sample, known in product(map(sample_of, files), FORMATS.values()):
            known.detect(sample)
        for item in read_trajectories(files, UnmappedFields(), name):
            check(item)
            check_is_stored(item)
    except UnreadableDrop as problem:
        assert str(problem) and "the reader of" not in str(problem)  # one record is never the whole drop


def _with_damaged_fields(source: str, content: bytes, random: Random, hits: int) -> bytes:
    """A file of JSON whose fields were deleted, doubled, cut or exchanged; other files lose bytes."""
    is_lines = source.endswith(".jsonl")
    try:
        documents = [orjson.loads(part) for part in (content.splitlines() if is_lines else [content]) if part.strip()]
    except orjson.JSONDecodeError:
        return _with_damaged_bytes(content, random)
    documents = [_opened(document, random) for document in documents]
    for _ in range(hits):
        _hit(documents, random)
    if random.randrange(5) == 0:  # the writer was stopped
        written = documents if is_lines or not documents or not isinstance(documents[0], list) else documents[0]
        del written[random.randint(0, len(written)) :]
    documents = [_closed(document) for document in documents]
    if is_lines:
        return b"".join(json.dumps(document).encode() + b"\n" for document in documents)
    return json.dumps(documents[0] if documents else None, indent=random.choice((None, 1))).encode()


class _JsonText(list[Any]):
    """A text that is JSON: the one value in it, so that its fields are damaged like all others."""


def _opened(value: Any, random: Random) -> Any:
    """A value with some of the JSON texts in it opened."""
    if isinstance(value, dict):
        return {key: _opened(inner, random) for key, inner in value.items()}
    if isinstance(value, list):
        return [_opened(inner, random) for inner in value]
    if isinstance(value, str) and value.startswith(("{", "[")) and random.randrange(2):
        with suppress(orjson.JSONDecodeError):
            return _JsonText([_opened(orjson.loads(value), random)])
    return value


def _closed(value: Any) -> Any:
    """A value with its JSON texts as texts again; one whose value was deleted is empty."""
    if isinstance(value, _JsonText):
        return "".join(json.dumps(_closed(inner)) for inner in value)
    if isinstance(value, dict):
        return {key: _closed(inner) for key, inner in value.items()}
    return [_closed(inner) for inner in value] if isinstance(value, list) else value


def _hit(documents: list[Any], random: Random) -> None:
    places = list(_places(documents))
    if not places:
        return
    holder, key = random.choice(places)
    action = random.randrange(5)
    if action == 0:
        del holder[key]
    elif action == 1:
        holder[key] = deepcopy(random.choice(STRANGE))
    elif action == 2 and isinstance(holder[key], str | list):
        holder[key] = holder[key][: random.randint(0, len(holder[key]))]
    elif action == 3 and isinstance(holder, list):
        holder.insert(random.randint(0, len(holder)), deepcopy(holder[key]))
    else:
        other, place = random.choice(places)
        holder[key] = deepcopy(other[place])


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every field and every item inside a value."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            yield holder, key
            waiting.append(holder[key])


def _with_damaged_bytes(content: bytes, random: Random) -> bytes:
    cut = random.randint(0, len(content))
    action = random.randrange(3)
    if action == 0:
        return content[:cut]
    if action == 1:
        return content[:cut] + bytes(random.randrange(256) for _ in range(5)) + content[cut + 5 :]
    return content[:cut] + content[max(0, cut - 50) :]
