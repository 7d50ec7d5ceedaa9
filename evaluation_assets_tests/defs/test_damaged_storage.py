"""Damaged tables, a damaged ledger, and a ledger whose server is killed: evaluations are processes."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests import postgres
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.model_judging import CLIPS, drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server

pytestmark = pytest.mark.slow

QUESTIONS = CLIPS + 1 + 2
"""Of one trajectory: clips, the category, the trajectory and its answer."""

PAGE = 4096
TABLE_LEAF = 0x0D
"""The first byte of a page with rows, in the SQLite file format; the low byte of their number is the fifth."""


def panel(folder: Path, server: ModelServer, **more: Any) -> Path:
    file = folder / "panel.yaml"
    file.write_text(json.dumps({"judges": [judge(server, **more)]}))
    return file


def drop(folder: Path, count: int) -> Path:
    file = folder / "d.jsonl"
    file.write_bytes(drop_of(count))
    return file


# Tables


def cut(content: bytearray) -> None:
    del content[len(content) // 2 :]


def flip_the_footer(content: bytearray) -> None:
    begin = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[begin : begin + 32] = bytes(byte ^ 0xFF for byte in content[begin : begin + 32])


def flip_a_bit_of_each_column(content: bytearray) -> None:
    """At the end of its values, which zstd would unpack to others."""
    groups = pq.ParquetFile(pa.BufferReader(bytes(content))).metadata
    for group in range(groups.num_row_groups):
        for number in range(groups.num_columns):
            column = groups.row_group(group).column(number)
            first = column.dictionary_page_offset or column.data_page_offset
            content[first + column.total_compressed_size - 1] ^= 1


@pytest.mark.parametrize("damage", [cut, flip_the_footer, flip_a_bit_of_each_column])
def test_damaged_tables_are_named_and_made_again_from_what_is_paid(
    tmp_path: Path, server: ModelServer, damage: Callable[[bytearray], None]
) -> None:
    home = tmp_path / "home"
    evaluate = ("evaluate", drop(tmp_path, 8), "--panel", panel(tmp_path, server), "--quiet")
    assert command(*evaluate, home=home).returncode == 0
    asked = len(server.requests(bodies=False))
    scores = Installation.at(str(home)).table("d", "clip_scores")
    before = list(scores.rows())

    tables = [path for path in home.glob("lake/**/d.parquet") if not path.parent.name.endswith("_history")]
    for path in tables:
        content = bytearray(path.read_bytes())
        damage(content)
        path.write_bytes(content)
    explain = ("explain", "d", before[0]["trajectory_id"])
    reading = command(*explain, home=home)
    assert reading.returncode == 2
    (line,) = reading.stderr.splitlines()
    named = next(path for path in tables if str(path) in line)
    assert line.startswith(f"evaluation-assets: {named} is damaged: ")
    assert line.endswith("Delete it and evaluate the drop again.")

    assert command(*evaluate, home=home).returncode == 0
    assert len(server.requests(bodies=False)) == asked, "verdicts are made of what is paid"
    assert list(scores.rows()) == before
    assert command(*explain, home=home).returncode == 0


# A ledger in an SQLite file


def test_a_damaged_page_of_the_ledger_stops_the_judge_and_the_rest_is_kept(tmp_path: Path, server: ModelServer) -> None:
    home, count = tmp_path / "home", 30
    evaluate = ("evaluate", drop(tmp_path, count), "--panel", panel(tmp_path, server))
    assert command(*evaluate, home=home).returncode == 0
    ledger = home / "ledger.sqlite"
    content = bytearray(ledger.read_bytes())
    leaves = [at for at in range(PAGE, len(content), PAGE) if content[at] == TABLE_LEAF and content[at + 4] > 1]
    middle = leaves[len(leaves) // 2]
    content[middle : middle + PAGE] = bytes(PAGE)
    ledger.write_bytes(content)

    server.reset()
    shutil.rmtree(home / "dagster" / "outcomes")  # an unchanged drop is not evaluated, and needs no ledger
    stopped = command(*evaluate, home=home)
    assert stopped.returncode != 0
    remedy = f"the ledger {ledger}: it is damaged: keep what can be read with `evaluation-assets ledger repair`"
    assert remedy in stopped.stderr
    paid_again = len(server.requests(bodies=False))

    repaired = command("ledger", "repair", home=home)
    assert repaired.returncode == 0, repaired.stderr
    kept = int(repaired.stdout.split(": kept ")[1].split()[0])
    assert count * QUESTIONS > kept - paid_again >= count * QUESTIONS - 40, "a page holds few replies"
    assert (home / "ledger.sqlite.damaged").stat().st_size >= len(content)
    assert command("ledger", "repair", home=home).stdout == f"{ledger} is not damaged\n"

    assert command(*evaluate, home=home).returncode == 0
    asked = Counter(request.sha256 for request in server.requests(bodies=False))
    assert len(asked) == count * QUESTIONS - kept + paid_again, "only what could not be read is paid again"
    assert set(asked.values()) == {1}


def test_a_ledger_of_which_nothing_can_be_read_is_left_as_it_is(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    ledger.write_bytes(b"SQLite format 3\0" + b"x" * 9000)
    refused = command("ledger", "repair", home=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr == (
        f"evaluation-assets: nothing of the ledger {ledger} can be read: restore a copy, or move it away\n"
    )
    assert [path.name for path in tmp_path.glob("ledger*")] == ["ledger.sqlite"]


# A ledger in PostgreSQL


def started(drop: Path, panel: Path, home: Path, url: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "evaluation_assets.cli", "evaluate", str(drop), "--home", str(home)]
    return subprocess.Popen(
        [*command, "--panel", str(panel)],
        env=os.environ | {"EVALUATION_LEDGER_URL": url},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def replies(url: str) -> int:
    with sa.create_engine(url).connect() as connection:
        return connection.execute(sa.text("SELECT count(*) FROM replies")).scalar_one()


def wait_for_requests(server: ModelServer, count: int, run: subprocess.Popen[str]) -> None:
    while len(server.requests(bodies=False)) < count:
        assert run.poll() is None
        time.sleep(0.05)


def test_when_postgresql_is_killed_and_started_again_the_run_goes_on_and_pays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "any")
    count = 40
    with postgres.running() as database, model_server(latency=0.1) as server:
        run = started(
            drop(tmp_path, count), panel(tmp_path, server, max_concurrency=8), tmp_path / "home", database.url
        )
        wait_for_requests(server, 60, run)
        database.kill()
        time.sleep(1)
        database.start()
        _, said = run.communicate(timeout=300)
        assert run.returncode == 0, said
        assert "no more requests are sent until it can be written" in said
        asked = Counter(request.sha256 for request in server.requests(bodies=False))
        assert len(asked) == count * QUESTIONS
        assert set(asked.values()) == {1}
        assert replies(database.url) == count * QUESTIONS


def test_when_postgresql_stays_away_the_run_names_it_and_the_next_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "any")
    count, in_flight = 40, 8
    with postgres.running() as database, model_server(latency=0.1) as server:
        judges = panel(tmp_path, server, max_concurrency=in_flight, timeouts={"ledger_s": 1.0})
        run = started(drop(tmp_path, count), judges, tmp_path / "home", database.url)
        wait_for_requests(server, 60, run)
        database.kill()
        _, said = run.communicate(timeout=300)
        assert run.returncode == 1
        assert "the ledger postgresql+psycopg://tests@127.0.0.1:" in said
        database.start()
        assert started(drop(tmp_path, count), judges, tmp_path / "home", database.url).wait(300) == 0
        asked = Counter(request.sha256 for request in server.requests(bodies=False))
        assert len(asked) == count * QUESTIONS
        assert sum(times - 1 for times in asked.values()) <= in_flight
        assert replies(database.url) == count * QUESTIONS
