"""Records in what an API answers: read as if each stood on a line of its own."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.report.provenance.sources import item_range
from evaluation_assets.core.traces.formats.base import Rejection, Sample
from evaluation_assets.core.traces.formats.files.pages import page_in
from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import _NOT_IN_PAGES, format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, files_of, read, records_of

RUNS: list[Any] = [
    {
        "task_id": name,
        "messages": [{"role": "user", "content": "Is it paid?"}, {"role": "assistant", "content": f"{name} is."}],
    }
    for name in "ab"
]
PAGES: dict[str, Any] = {
    "a list": {"object": "list", "data": RUNS, "has_more": False},
    "with its place": {"items": RUNS, "page": 1, "page_size": 50, "total": 2},
    "with its place in an object": {"traces": RUNS, "meta": {"page": 1, "limit": 50, "totalItems": 2}},
    "a status": {"code": 0, "message": "ok", "result": {"records": RUNS, "total": 2}},
    "a search": {
        "took": 3,
        "timed_out": False,
        "hits": {
            "total": {"value": 2, "relation": "eq"},
            "hits": [{"_index": "runs", "_id": run["task_id"], "_score": None, "_source": run} for run in RUNS],
        },
    },
    "rows of a table": {
        "features": [{"name": "task_id"}, {"name": "messages"}],
        "rows": [{"row_idx": number, "row": run, "truncated_cells": []} for number, run in enumerate(RUNS)],
        "num_rows_total": 2,
        "partial": False,
    },
    "edges of a graph": {
        "data": {"runs": {"edges": [{"cursor": "x", "node": run} for run in RUNS], "pageInfo": {"hasNextPage": False}}}
    },
}


def saved(folder: Path, content: Any, name: str = "page.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content, indent=1), "utf-8")
    return path


def summary(*paths: Path) -> tuple[str, list[str]]:
    """How far a reading can be trusted, and what the sources contradict."""
    files, report = files_of(*paths), ImportReport()
    list(report.read(format_of(files), files))
    return report.summary.trust, [difference.sentence for difference in report.summary.differences]


def alike(items: list[Trajectory | Rejection]) -> list[Trajectory | Rejection]:
    """What was read, without its place in the file and how it was written there."""
    return [
        replace(item, source=None) if isinstance(item, Trajectory) else replace(item, source="", raw="")
        for item in items
    ]


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_records_are_found_in_pages(tmp_path: Path, page: Any) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(json.dumps(run) + "\n" for run in RUNS), "utf-8")
    path = saved(tmp_path, page)
    assert alike(read(path)) == alike(read(lines))
    assert summary(path) == ("complete", [])


EVENTS = [
    {"run": run, "event": kind, "text": text}
    for run in "ab"
    for kind, text in (("user_input", "Is it paid?"), ("final_answer", f"{run} is."))
]


@pytest.mark.parametrize(
    "page",
    [
        {"took": 3, "hits": {"hits": [{"_id": str(number), "_source": event} for number, event in enumerate(EVENTS)]}},
        {"data": {"events": {"edges": [{"node": event} for event in EVENTS]}}},
    ],
)
def test_records_of_an_own_form_are_found_where_each_has_a_wrapper(tmp_path: Path, page: Any) -> None:
    first, second = read(saved(tmp_path, page))
    assert isinstance(first, Trajectory) and isinstance(second, Trajectory)
    assert (first.final_answer, second.final_answer) == ("a is.", "b is.")


SAME = [
    path
    for path in sorted(FIXTURES.rglob("*.json*"))
    if path.parent.parent == FIXTURES and path.parent.name not in {*_NOT_IN_PAGES, "openhands_sdk", "harbor"}
]


@pytest.mark.parametrize("path", SAME, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_records_of_every_format_are_read_the_same_in_a_page(tmp_path: Path, path: Path) -> None:
    records = records_of(path)
    if not all(isinstance(record, dict) and "role" not in record for record in records):
        pytest.skip("messages are one conversation, not records of a page")
    if page_in(Sample(tuple(records))) is not None:
        pytest.skip("a page of its own")
    named = tmp_path / path.name
    named.write_bytes(path.read_bytes())
    try:
        alone = read(named)
    except ValueError:
        pytest.skip("a file that is read together with others")
    assert alike(read(saved(tmp_path, {"records": records, "limit": 100}))) == alike(alone)


def test_a_page_says_how_many_records_there_are(tmp_path: Path) -> None:
    page = saved(tmp_path, {"data": RUNS, "meta": {"totalItems": 7}})
    assert summary(page) == ("partial", ["7 records stated by the source, 2 read"])


def test_a_total_of_zero_was_not_counted(tmp_path: Path) -> None:
    assert summary(saved(tmp_path, {"data": RUNS, "total": 0, "limit": 0, "errors": None})) == ("complete", [])


def test_a_page_says_that_more_follow_until_the_last_is_there(tmp_path: Path) -> None:
    first = saved(tmp_path, {"data": RUNS[:1], "has_more": True, "next_cursor": "c"}, "1.json")
    assert summary(first) == ("partial", ["2 pages stated by the source, 1 read"])
    last = saved(tmp_path, {"data": RUNS[1:], "has_more": False, "next_cursor": None}, "2.json")
    assert summary(first, last) == ("complete", [])


def test_pages_may_stand_on_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    answers = [{"data": [run], "next": None if run is RUNS[-1] else "c"} for run in RUNS]
    path.write_text("".join(json.dumps(each) + "\n" for each in answers), "utf-8")
    assert [item.task_id for item in read(path) if isinstance(item, Trajectory)] == ["a", "b"]
    assert summary(path) == ("complete", [])


@pytest.mark.parametrize(
    "record",
    [
        {"model": "model-a", "data": RUNS},
        {"data": RUNS, "meta": {"agent": "clerk"}},
        {"success": True, "events": RUNS},
        {"data": RUNS, "other": RUNS},
        {"id": "r1", "log": RUNS},
        {"chat": RUNS[0]["messages"]},
        {"data": []},
        {"data": ["a"]},
        {"a.b": RUNS},
    ],
)
def test_what_says_more_is_no_page(record: Any) -> None:
    assert page_in(Sample((record,))) is None


def test_a_run_of_a_page_has_its_place_in_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path, PAGES["with its place in an object"])
    second = [item for item in read(path) if isinstance(item, Trajectory)][1]
    assert second.source is not None and (second.source.line, second.source.within) == (2, "traces")
    start, end = item_range(path.read_bytes(), second.source.line, second.source.within)
    assert json.loads(path.read_bytes()[start:end]) == RUNS[1]


def test_a_file_without_runs_is_rejected(tmp_path: Path) -> None:
    listed = [json.loads((FIXTURES / "inspect_ai" / "log.json").read_text("utf-8"))]
    found = read(saved(tmp_path, listed))
    assert [item.reason for item in found if isinstance(item, Rejection)] and not alike(
        [item for item in found if isinstance(item, Trajectory)]
    )
