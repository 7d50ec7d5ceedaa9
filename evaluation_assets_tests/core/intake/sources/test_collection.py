"""Looks at a source: which drops they make, and that each trace is in one drop exactly once."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.intake.drops import find, scan
from evaluation_assets.core.intake.sources.collection import (
    OVERLAP,
    Limits,
    Look,
    Source,
    collect,
    from_cursor,
    to_cursor,
)
from evaluation_assets.core.intake.sources.drops import HourDrop
from evaluation_assets.core.intake.sources.settings import FolderSettings
from evaluation_assets.core.intake.sources.store import Trace
from evaluation_assets.core.traces.trajectories.identity import fraction_of
from evaluation_assets_tests.core.intake.sources.memory_store import START, MemoryStore, at


def source(**fields: Any) -> Source:
    return Source("app", FolderSettings(type="folder", path="unused", **fields))


def contents(drops: UPath) -> dict[str, list[str]]:
    """The IDs in each drop, in stored order."""
    return {
        key: [json.loads(line)["id"] for line in (drops / key / "traces.jsonl").read_text().splitlines()]
        for key in scan(drops).drops
    }


def look(store: MemoryStore, drops: UPath, minutes: float, cursor: datetime = START, **options: Any) -> Look:
    store.now = at(minutes)
    return collect(options.pop("of", source()), store, drops, cursor, store.now, **options)


def test_traces_become_one_drop_for_each_hour(tmp_path: Path) -> None:
    store = MemoryStore()
    for name, minutes in {"a": 1, "b": 29.99, "c": 30, "d": 31, "busy": 55}.items():
        store.ends(name, minutes)
    made = look(store, UPath(tmp_path), 60)
    assert contents(UPath(tmp_path)) == {"app/2026-03-01T09": ["a", "b"], "app/2026-03-01T10": ["c", "d"]}
    assert str(made) == "4 traces into 2 drops"
    assert made.cursor == at(50)


def test_a_drop_says_where_it_came_from_and_what_the_settings_say(tmp_path: Path) -> None:
    store = MemoryStore()
    store.ends("a", 1)
    look(store, UPath(tmp_path), 60, of=source(agent="support", labels={"team": "x"}, format="mlflow"))
    sidecar = find(UPath(tmp_path), "app/2026-03-01T09").sidecar()
    assert (sidecar.suite, sidecar.agent, sidecar.format, sidecar.labels) == ("app", "support", "mlflow", {"team": "x"})
    assert sidecar.model_extra == {"source": "app"}


def test_a_second_look_fetches_and_writes_nothing(tmp_path: Path) -> None:
    store = MemoryStore()
    store.ends("a", 1)
    made = look(store, UPath(tmp_path), 60)
    file = tmp_path / "app" / "2026-03-01T09" / "traces.jsonl"
    before, store.fetched = file.stat().st_mtime_ns, []
    again = look(store, UPath(tmp_path), 61, made.cursor)
    assert (again.added, store.fetched, file.stat().st_mtime_ns) == (Counter(), [], before)


def test_a_trace_that_goes_on_after_it_was_fetched_is_not_fetched_again(tmp_path: Path) -> None:
    store = MemoryStore()
    store.ends("a", 29)
    made = look(store, UPath(tmp_path), 60)
    store.ends("a", 51)
    assert look(store, UPath(tmp_path), 70, made.cursor).added == Counter()


def test_a_look_stops_at_its_limit_and_the_next_goes_on(tmp_path: Path) -> None:
    store = MemoryStore()
    for number in range(5):
        store.ends(f"t{number}", number)
    first = look(store, UPath(tmp_path), 60, limits=Limits(traces=2))
    assert (first.added.total(), first.cursor, first.is_complete) == (2, at(1), False)
    assert "2 traces into 1 drop; read up to 2026-03-01 09:31:00 UTC" in str(first)
    second = look(store, UPath(tmp_path), 60, first.cursor)
    assert (second.added.total(), second.is_complete) == (3, True)


def test_a_look_stops_at_its_time_limit(tmp_path: Path) -> None:
    store = MemoryStore()
    for number in range(3):
        store.ends(f"t{number}", number)
    seconds = iter(range(100))
    stopped = look(store, UPath(tmp_path), 60, limits=Limits(seconds=2), clock=lambda: float(next(seconds)))
    assert stopped.added.total() < 3
    assert not stopped.is_complete
    assert look(store, UPath(tmp_path), 60, stopped.cursor).added.total() == 3 - stopped.added.total()


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    store = MemoryStore()
    store.ends("a", 1)
    assert look(store, UPath(tmp_path), 60, is_dry_run=True).added == {"app/2026-03-01T09": 1}
    assert list(tmp_path.iterdir()) == []


def test_the_first_look_goes_back_as_far_as_the_settings_say() -> None:
    cursor = from_cursor(None, source(since="7d").settings, START)
    assert cursor == START - timedelta(days=7)
    assert from_cursor(to_cursor(Look(cursor, START)), source().settings, START) == cursor
    assert from_cursor("2026-01-02", source().settings, START).tzinfo is not None
    with pytest.raises(ValueError, match="garbage"):  # the sensor begins anew
        from_cursor("garbage", source().settings, START)


def test_files_are_copied_and_a_changed_file_replaces_its_copy(tmp_path: Path) -> None:
    logs, drops = tmp_path / "logs", UPath(tmp_path / "drops")
    logs.mkdir()
    log = logs / "run.jsonl"
    hour = HourDrop(drops, "app", source().settings, datetime(2026, 3, 1, 9, tzinfo=UTC))
    for number in (1, 2):
        log.write_text(f"{number}\n")
        trace = Trace(id=f"run.jsonl@{at(number).isoformat()}", ended_at=at(number), files=[("run.jsonl", UPath(log))])
        assert trace.id not in hour.ids(MemoryStore())
        hour.add([trace])
        assert trace.id in hour.ids(MemoryStore())
    folder = tmp_path / "drops" / "app" / "2026-03-01T09"
    assert (folder / "run.jsonl").read_text() == "2\n"
    assert yaml.safe_load((folder / "_drop.yaml").read_text())["files"] == {"run.jsonl": at(2).isoformat()}


LATEST = OVERLAP.total_seconds() / 60 - 1
ARRIVALS = st.lists(st.tuples(st.floats(0, 300), st.floats(0, LATEST)), max_size=30)
LOOKS = st.lists(st.tuples(st.floats(0, 60), st.integers(1, 6), st.sampled_from(["stored", "lost", "crash"])))


class Crash(Exception):
    """The process ends in the middle of a look."""


@settings(max_examples=150, deadline=None)
@given(ARRIVALS, LOOKS, st.sampled_from([1.0, 0.5]))
def test_each_sampled_trace_is_in_one_drop_exactly_once(
    arrivals: list[tuple[float, float]], looks: list[tuple[float, int, str]], share: float
) -> None:
    """Whatever the order of arrivals, the sizes of looks, and crashes before or after a drop is written."""
    store = MemoryStore()
    for number, (minutes, delay) in enumerate(arrivals):
        store.ends(f"t{number}", minutes, delay)
    with TemporaryDirectory() as folder:
        drops, cursor, now = UPath(folder), START, 0.0
        of = source(share=share)
        for pause, most, outcome in looks:
            now += pause
            clock = crashing_clock(most) if outcome == "crash" else lambda: 0.0
            try:
                made = look(store, drops, now, cursor, of=of, limits=Limits(traces=most), clock=clock)
            except Crash:
                continue
            if outcome == "stored":
                cursor = made.cursor
        is_complete = False
        while not is_complete:
            made = look(store, drops, 1000, cursor, of=of, limits=Limits(traces=3))
            cursor, is_complete = made.cursor, made.is_complete
        found = Counter(name for names in contents(drops).values() for name in names)
    assert found == Counter(name for name in store.traces if fraction_of(name) < share)


def crashing_clock(ticks: int) -> Callable[[], float]:
    """A clock that ends the look after some traces."""
    left = iter(range(ticks + 1))

    def clock() -> float:
        if next(left, None) is None:
            raise Crash
        return 0.0

    return clock
