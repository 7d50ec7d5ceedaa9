"""Read human labels of trajectories and clips from the completed files of a review queue, or from other files."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from upath import UPath

from evaluation_assets.core.system.own_files import files_below
from evaluation_assets.core.text.csv_rows import csv_rows
from evaluation_assets.core.text.plain_text import from_csv_cell

PASSED = "passed"
"""The criterion of a label about a trajectory or a clip as a whole."""

_WORDS = {"pass": 1.0, "yes": 1.0, "true": 1.0, "good": 1.0, "fail": 0.0, "no": 0.0, "false": 0.0, "bad": 0.0}
_LONGEST_INDEX = 10
"""Digits of the number of a clip."""

_SHEETS = (".csv", ".tsv")
_NOT_READ = {
    **dict.fromkeys((".xlsx", ".xls", ".ods", ".numbers"), "a workbook is not read; save it as CSV UTF-8"),
    **dict.fromkeys((".json", ".ndjson"), "only .csv, .tsv and .jsonl are read; save it as JSON Lines, .jsonl"),
}
"""Files that people take for labels, and what to do with them."""

_UNKNOWN = "unknown"

_NEEDED = ("drop", "trajectory_id", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One person's word on one trajectory, or on one of its clips, 0..1. `source` and `line` say where it stands."""

    drop: str
    trajectory_id: str
    clip_index: int | None = None
    criterion: str
    annotator: str
    label: float
    comment: str
    source: str
    line: int


@dataclass(frozen=True, slots=True)
class UnreadableLabel:
    """A line that is no label, and why."""

    source: str
    line: int
    reason: str


def read_labels(folder: UPath) -> Iterator[Label | UnreadableLabel]:
    """All labels below a folder, file by file in the order of their names.

    Files are CSV with a header or JSON Lines, with the columns `drop`, `trajectory_id`, `label` and, optionally,
    `clip_index`, `criterion`, `annotator`, `comment`; workbooks are named, others ignored. A line whose label is empty
    is not filled in yet. Of several labels that a person who is named gave, the last counts.
    """
    if not folder.exists():
        return
    found = list(_all_lines(folder))
    last = {_given(label): label for label in found if isinstance(label, Label)}
    for each in found:
        if isinstance(each, UnreadableLabel) or each.annotator == _UNKNOWN or last[_given(each)] is each:
            yield each
        elif (counts := last[_given(each)]).label != each.label:
            there = f"{counts.source}:{counts.line}"
            yield UnreadableLabel(
                each.source, each.line, f"{each.annotator} labels it otherwise in {there}, which counts"
            )


def _all_lines(folder: UPath) -> Iterator[Label | UnreadableLabel]:
    for path in files_below(folder):
        source = path.path.removeprefix(folder.path).strip("/")
        if path.suffix.lower() in (*_SHEETS, ".jsonl"):
            yield from read_label_file(path, source)
        elif (reason := _NOT_READ.get(path.suffix.lower())) is not None:
            yield UnreadableLabel(source, 0, reason)


def _given(label: Label) -> tuple[str, str, int | None, str, str]:
    return label.drop, label.trajectory_id, label.clip_index, label.criterion, label.annotator


def read_label_file(path: UPath, source: str) -> Iterator[Label | UnreadableLabel]:
    """The labels of one file, which they name as their `source`."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        yield UnreadableLabel(source, 0, "the file is not UTF-8; save it as UTF-8")
        return
    lines = _csv_lines(text) if path.suffix.lower() in _SHEETS else _json_lines(text)
    for line, fields in lines:
        label = _label(source, line, fields)
        if label is not None:
            yield label


def _csv_lines(text: str) -> Iterator[tuple[int, Any]]:
    """The rows with the lines that they end in.

    A quotation mark that is not closed would take all that follows for its text: the row it stands in is the last.
    """
    reader = csv_rows(text)
    ended = 1
    try:
        for row in reader:
            ended = reader.line_num
            yield ended, {name: from_csv_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()}
    except csv.Error as problem:
        yield ended + 1, f"no CSV from here on: {problem}; look at the quotation marks"


def _json_lines(text: str) -> Iterator[tuple[int, Any]]:
    for line, content in enumerate(text.split("\n"), 1):
        if content.strip():
            try:
                yield line, orjson.loads(content)
            except orjson.JSONDecodeError as problem:
                yield line, f"not JSON: {problem}"


def _label(source: str, line: int, fields: Any) -> Label | UnreadableLabel | None:
    if not isinstance(fields, dict):
        return UnreadableLabel(source, line, fields if isinstance(fields, str) else "no JSON object")
    texts = {name: str(value).strip() for name, value in fields.items() if isinstance(name, str) and value is not None}
    if missing := [name for name in _NEEDED[:2] if not texts.get(name)]:
        return UnreadableLabel(source, line, f"{' and '.join(missing)} missing")
    if "label" not in fields:
        return UnreadableLabel(source, line, "label missing")
    if not texts.get("label"):
        return None
    value = _value(texts["label"])
    if value is None:
        return UnreadableLabel(source, line, f"label {texts['label'][:40]!r} is neither pass, fail nor 0 to 1")
    clip = texts.get("clip_index") or None
    if clip is not None and not (clip.isascii() and clip.isdecimal() and len(clip) <= _LONGEST_INDEX):
        return UnreadableLabel(source, line, f"clip_index {clip[:40]!r} is not the number of a clip")
    return Label(
        drop=texts["drop"],
        trajectory_id=texts["trajectory_id"],
        clip_index=None if clip is None else int(clip),
        criterion=texts.get("criterion") or PASSED,
        annotator=texts.get("annotator") or _UNKNOWN,
        label=value,
        comment=texts.get("comment", ""),
        source=source,
        line=line,
    )


def _value(text: str) -> float | None:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None
