"""The spool of the receiver, and the traces in it."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.intake.sources.collection import Source, collect
from evaluation_assets.core.intake.sources.otlp.documents import parts_of
from evaluation_assets.core.intake.sources.received import ReceivedTraces, Spool, SpoolError
from evaluation_assets.core.intake.sources.settings import ReceivedSettings
from evaluation_assets.core.intake.sources.store import StoreError, Trace
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.receiving import ROOT, document, span

MINUTE = 60.0
START = datetime(2026, 3, 1, 12, 20, tzinfo=UTC)
QUIET = timedelta(minutes=10)
GIGABYTE = 10**9


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


class Spooled:
    """A spool with a clock in minutes after `START`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "received.sqlite"
        self.spool = Spool(self.path, GIGABYTE)
        self.now = 0.0
        self._spans = 0

    def arrive(self, minutes: float, trace: int, *, root: bool = True, number: int | None = None) -> int:
        """Receive a span; return its number."""
        self._spans += 1
        own = self._spans if number is None else number
        parts = parts_of(document([span(trace, own, None if root else 999_999)]), "traces").parts
        self.spool.add(parts, at(minutes).timestamp())
        return own

    def store(self) -> ReceivedTraces:
        return ReceivedTraces(self.path, QUIET, lambda: at(self.now).timestamp())

    def ended(self, after: float = -1e4, until: float | None = None) -> list[Trace]:
        end = self.now - 10 if until is None else until
        return list(self.store().ended(at(after), at(end), lambda _name: True))


@pytest.fixture
def spooled(tmp_path: Path) -> Spooled:
    return Spooled(tmp_path)


def spans_in(trace: Trace) -> list[int]:
    assert trace.record is not None
    return [
        int(span["spanId"], 16)
        for resource in trace.record["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def test_a_trace_ends_when_it_has_been_silent(spooled: Spooled) -> None:
    first, second = spooled.arrive(0, 1, root=False), spooled.arrive(3, 1)
    spooled.now = 12.9
    assert spooled.ended() == []
    spooled.now = 13
    (trace,) = spooled.ended()
    assert (trace.id, trace.ended_at, spans_in(trace)) == (f"{1:032x}", at(3), [first, second])


def test_a_trace_without_its_root_span_waits_for_an_hour(spooled: Spooled) -> None:
    """A person who approves a step in half an hour is no end; the root span of such a run arrives last."""
    spooled.arrive(0, 1, root=False)
    spooled.now = 40
    assert spooled.ended() == []
    spooled.arrive(40, 1)
    spooled.now = 50
    assert [trace.ended_at for trace in spooled.ended()] == [at(40)]


def test_a_trace_whose_root_span_never_arrives_is_collected_after_an_hour(spooled: Spooled) -> None:
    spooled.arrive(0, 1, root=False)
    spooled.now = 59.9
    assert spooled.ended() == []
    spooled.now = 60
    assert [trace.ended_at for trace in spooled.ended()] == [at(50)]  # not before the cursor of a look a minute ago


def test_late_spans_do_not_move_the_end_of_a_trace(spooled: Spooled) -> None:
    first = spooled.arrive(0, 1)
    late = spooled.arrive(200, 1, root=False)
    spooled.now = 205
    assert list(spooled.store().late(at(100), at(195))) == []  # more may follow
    spooled.now = 300
    for (trace,) in (spooled.ended(), list(spooled.store().late(at(100), at(290)))):
        assert (trace.ended_at, spans_in(trace)) == (at(0), [first, late])


def test_a_span_that_is_sent_twice_is_in_the_record_once(spooled: Spooled) -> None:
    first = spooled.arrive(0, 1)
    spooled.arrive(1, 1)
    spooled.arrive(2, 1, number=first)
    spooled.now = 20
    assert sorted(spans_in(spooled.ended()[0])) == [1, 2]


def test_the_store_knows_its_records(spooled: Spooled) -> None:
    spooled.arrive(0, 7)
    spooled.now = 20
    (trace,) = spooled.ended()
    assert trace.record is not None
    assert spooled.store().id_of(trace.record) == trace.id
    assert spooled.store().id_of({"resourceSpans": []}) is None


@settings(max_examples=40, deadline=None)
@given(
    arrivals=st.lists(st.tuples(st.integers(0, 400), st.integers(1, 4), st.booleans()), min_size=1, max_size=12),
    looks=st.lists(st.tuples(st.integers(1, 120), st.booleans(), st.booleans()), min_size=1, max_size=12),
)
def test_every_span_is_in_one_drop_once(
    tmp_path_factory: pytest.TempPathFactory,
    arrivals: Sequence[tuple[int, int, bool]],
    looks: Sequence[tuple[int, bool, bool]],
) -> None:
    """Looks come at any time, before or after spans; some crash before, others after their drops are written."""
    spooled = Spooled(tmp_path_factory.mktemp("home"))
    drops = UPath(spooled.path.parent / "drops")
    source = Source("live", ReceivedSettings(type="received", quiet_minutes=10))
    waiting = sorted(arrivals)
    sent: defaultdict[int, set[int]] = defaultdict(set)
    cursor = at(-60)

    def look(until: float, is_stored: bool) -> None:
        nonlocal cursor
        while waiting and waiting[0][0] <= until:
            minutes, trace, root = waiting.pop(0)
            sent[trace].add(spooled.arrive(minutes, trace, root=root))
        spooled.now = until
        done = collect(source, spooled.store(), drops, cursor, at(until))
        cursor = done.cursor if is_stored else cursor

    now = 0
    for minutes, is_stored, is_dry in looks:
        now += minutes
        if not is_dry:
            look(now, is_stored)
    now = max(now, 400)
    for minutes in (0, 30, 200):  # at last all silences are over
        look(now + minutes, True)
    found: defaultdict[int, list[set[int]]] = defaultdict(list)
    for records in drops.rglob("traces.jsonl"):
        for line in records.read_bytes().splitlines():
            record = orjson.loads(line)
            name = spooled.store().id_of(record)
            assert name is not None
            found[int(name, 16)].append(set(spans_in(Trace(id=name, ended_at=START, record=record))))
    assert found == {trace: [spans] for trace, spans in sent.items()}


def test_a_received_trace_is_read_as_a_trajectory(spooled: Spooled, tmp_path: Path) -> None:
    root = span(5, 1)
    call = span(5, 2, 1, **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"})
    chat = span(5, 3, 1, **{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})
    messages = [{"role": "user", "parts": [{"type": "text", "content": "Where is my order?"}]}]
    answer = [
        {"role": "assistant", "parts": [{"type": "text", "content": "It is on its way."}], "finish_reason": "stop"}
    ]
    for key, value in (("gen_ai.input.messages", messages), ("gen_ai.output.messages", answer)):
        chat["attributes"].append({"key": key, "value": {"stringValue": json.dumps(value)}})
    for spans in ([call], [chat], [root]):  # as a batch processor may cut them
        spooled.spool.add(parts_of(document(spans), "traces").parts, at(0).timestamp())
    spooled.now = 20
    (trace,) = spooled.ended()
    file = tmp_path / "traces.jsonl"
    file.write_bytes(orjson.dumps(trace.record) + b"\n")
    files = [DropFile(UPath(file), "traces.jsonl")]
    chosen = format_of(files)
    (run,) = chosen.read(files, UnmappedFields())
    assert chosen.name == "otel"
    assert isinstance(run, Trajectory)
    assert [step.call.name for step in run.calls if step.call] == ["search"]
    assert "It is on its way." in run.text


def test_nothing_was_received_yet(tmp_path: Path) -> None:
    store = ReceivedTraces(tmp_path / "received.sqlite", QUIET)
    assert list(store.ended(at(0), at(9), lambda _name: True)) == []


def test_a_damaged_spool_is_a_problem_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "received.sqlite"
    path.write_bytes(b"no database at all, " * 100)
    with pytest.raises(SpoolError, match=r"received\.sqlite: it is not a spool: move the file away"):
        Spool(path, GIGABYTE)
    with pytest.raises(StoreError, match="it is not a spool: move the file away"):
        list(ReceivedTraces(path, QUIET).ended(at(0), at(9), lambda _name: True))


def test_a_full_spool_refuses_and_loses_nothing(tmp_path: Path) -> None:
    spooled = Spooled(tmp_path)
    spooled.spool.close()
    spooled.spool = Spool(spooled.path, 200_000)
    stored = 0
    with pytest.raises(SpoolError, match="raise --max-spool-gb"):
        for number in range(10_000):
            spooled.arrive(0, number + 1)
            stored += 1
    spooled.now = 20
    assert len(spooled.ended()) == stored > 10


def test_a_trace_has_a_largest_size(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "received.sqlite", GIGABYTE, largest_trace=2_000)
    added = [spool.add(parts_of(document([span(1, number)]), "traces").parts, 0.0) for number in range(1, 10)]
    kept = sum(not each.refused for each in added)
    assert [each.refused for each in added] == [0] * kept + [1] * (9 - kept)
    assert 1 < kept < 9
    assert added[-1].reason == "a trace has more than 2,000 bytes"
    assert [each.new_traces for each in added] == [1] + [0] * 8


def test_old_traces_are_deleted_whole(spooled: Spooled) -> None:
    spooled.arrive(0, 1)
    spooled.arrive(100, 1)
    spooled.arrive(1, 2)
    assert spooled.spool.expire(at(50).timestamp()) == 1
    spooled.now = 200
    assert [trace.id for trace in spooled.ended()] == [f"{1:032x}"]


WRITER = """
import sys
from pathlib import Path
from evaluation_assets.core.intake.sources.otlp.documents import parts_of
from evaluation_assets.core.intake.sources.received import Spool
from evaluation_assets_tests.receiving import document, span
spool = Spool(Path(sys.argv[1]), 10**9)
for number in range(1, 10**6):
    spool.add(parts_of(document([span(int(sys.argv[2]), number)]), "traces").parts, float(number))
    print(number, flush=True)
"""


@pytest.mark.slow
def test_what_two_processes_added_survives_their_death(tmp_path: Path) -> None:
    path = tmp_path / "received.sqlite"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name], cwd=ROOT, stdout=subprocess.PIPE, text=True) for name in "12"]
    told = []
    for writer in writers:
        assert writer.stdout is not None
        for _ in range(50):
            writer.stdout.readline()
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
        lines = writer.communicate()[0].splitlines(keepends=True)
        told.append(max((int(line) for line in lines if line.endswith("\n")), default=50))
    with sqlite3.connect(path) as connection:
        for name, last in zip("12", told, strict=True):
            (count,) = connection.execute(
                "SELECT count(*) FROM parts WHERE trace = ?", (f"{int(name):032x}",)
            ).fetchone()
            assert count >= last


def test_a_look_reads_while_spans_arrive(spooled: Spooled) -> None:
    for trace in range(1, 6):
        spooled.arrive(0, trace)
    spooled.now = 20
    found = spooled.store().ended(at(-10), at(10), lambda _name: True)
    next(found)
    spooled.arrive(20, 9)
    assert len(list(found)) == 4
