"""The ledger: what is paid is kept, and paid once."""

import multiprocessing
import os
import signal
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import orjson
import pyarrow as pa
import pytest

from evaluation_assets.core.models.errors import LedgerError, UnusableLedger
from evaluation_assets.core.models.ledger import Ledger, question_key
from evaluation_assets.core.models.ledger_errors import told
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets_tests import postgres

REPLY = Reply(
    text='{"über": "alles"}' * 50, finish="stop", usage=TokenUsage(input_tokens=7, output_tokens=3), served_model="m-1"
)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path)
    return postgres.database(request.getfixturevalue("postgres_url"))


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'ledger.sqlite'}"


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    opened = Ledger(url)
    yield opened
    opened.close()


def paid(ledger: Ledger, key: str, run: str = "r1", cost: float | None = 0.5) -> None:
    ledger.commit(key, run=run, provider="p", model="m", reply=REPLY, cost_usd=cost, latency_ms=12.5, attempts=2)


def test_a_reply_comes_back_as_it_was(ledger: Ledger) -> None:
    paid(ledger, "k")
    (entry,) = ledger.entries("k")
    assert entry.reply == REPLY
    assert (entry.run, entry.number, entry.cost_usd, entry.latency_ms, entry.attempts) == ("r1", 0, 0.5, 12.5, 2)
    assert ledger.entries("other") == []


def test_a_reply_that_was_stored_before_it_named_its_model_still_reads(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    ledger = Ledger(url)
    paid(ledger, "k")
    old = orjson.dumps({"text": "t", "finish": "stop", "usage": {"input_tokens": 1}})
    packed = len(old).to_bytes(4, "little") + pa.compress(old, codec="zstd", asbytes=True)
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("UPDATE replies SET reply = ?", (packed,))
    (entry,) = ledger.entries("k")
    assert entry.reply == Reply(text="t", finish="stop", usage=TokenUsage(input_tokens=1))
    assert entry.reply.served_model is None


def test_several_replies_to_a_question_are_all_kept_newest_first(ledger: Ledger) -> None:
    paid(ledger, "k", "r1")
    paid(ledger, "k", "r2")
    assert [(entry.number, entry.run) for entry in ledger.entries("k")] == [(1, "r2"), (0, "r1")]


def test_the_newest_replies_to_many_questions_are_read_at_once(ledger: Ledger) -> None:
    keys = [f"k{number}" for number in range(501)]
    answered = {"k0": ["first", "second"], "k7": ["only"], "k500": ["last"]}
    about = {"run": "r", "provider": "p", "model": "m", "cost_usd": None, "latency_ms": 1.0, "attempts": 1}
    for key, texts in answered.items():
        for text in texts:
            ledger.commit(key, reply=replace(REPLY, text=text), **about)
    assert {key: reply.text for key, reply in ledger.newest(keys).items()} == {
        "k0": "second",
        "k7": "only",
        "k500": "last",
    }
    assert ledger.newest([]) == {}


def test_a_question_is_claimed_by_one(url: str, ledger: Ledger) -> None:
    other = Ledger(url)
    assert ledger.claim("k")
    assert not other.claim("k")
    ledger.release("k")
    assert other.claim("k")
    paid(other, "k")
    assert ledger.claim("k")
    other.close()


def test_nobody_gives_back_the_claim_of_another(url: str, ledger: Ledger) -> None:
    other = Ledger(url)
    assert ledger.claim("k")
    other.release("k")
    assert not other.claim("k")
    other.close()


def test_a_claim_of_a_dead_worker_expires(url: str) -> None:
    dead, heir = Ledger(url, lease_s=-1), Ledger(url)
    assert dead.claim("k")
    assert heir.claim("k")
    dead.close()
    heir.close()


def die_with_a_claim(url: str) -> None:
    Ledger(url).claim("k")
    os.kill(os.getpid(), signal.SIGKILL)


def test_the_claim_of_a_killed_process_is_free_at_once(url: str, ledger: Ledger) -> None:
    process = multiprocessing.get_context("spawn").Process(target=die_with_a_claim, args=(url,))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert ledger.claim("k")


def test_the_secret_is_shared_and_stays(url: str, ledger: Ledger) -> None:
    other = Ledger(url)
    assert ledger.secret() == other.secret() == ledger.secret()
    assert len(ledger.secret()) == 64
    other.close()


def test_several_may_open_a_new_ledger_at_once(url: str) -> None:
    with ThreadPoolExecutor(8) as together:
        assert len(set(together.map(lambda _: Ledger(url).secret(), range(8)))) == 1


def test_what_a_run_spent_is_the_sum_of_known_prices(ledger: Ledger) -> None:
    paid(ledger, "a", "r1", 0.25)
    paid(ledger, "b", "r1", None)
    paid(ledger, "c", "r2", 9.0)
    assert ledger.spent("r1") == 0.25
    assert ledger.spent("nobody") == 0.0


def test_replies_are_stored_compressed_and_survive_the_death_of_the_process(tmp_path: Path) -> None:
    paid(Ledger(sqlite_url(tmp_path)), "k")
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        (stored,) = connection.execute("SELECT reply FROM replies").fetchone()
    assert len(stored) < len(REPLY.text) / 2


def test_the_key_depends_on_every_part_and_not_on_order() -> None:
    one = {"system": "s", "turns": [["user", "a"]], "model": "m"}
    assert question_key(one) == question_key(dict(reversed(one.items())))
    assert len({question_key(one), question_key(one | {"model": "n"}), question_key(one | {"turns": []})}) == 3


def claim_all(url: str, keys: list[str], won: "multiprocessing.Queue[str]") -> None:
    ledger = Ledger(url)
    for key in keys:
        if not ledger.entries(key) and ledger.claim(key):
            if not ledger.entries(key):
                paid(ledger, key)
                won.put(key)
            ledger.release(key)
    ledger.close()


def test_two_processes_never_pay_for_the_same(url: str, ledger: Ledger) -> None:
    context = multiprocessing.get_context("spawn")
    won: multiprocessing.Queue[str] = context.Queue()
    keys = [f"k{number}" for number in range(60)]
    workers = [context.Process(target=claim_all, args=(url, keys, won)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    paid_for = [won.get(timeout=5) for _ in keys if any(True for _ in ledger.entries(_))]
    assert sorted(paid_for) == sorted(keys)
    assert all(len(ledger.entries(key)) == 1 for key in keys)


@pytest.mark.parametrize("said", ["attempt to write a readonly database", "database disk image is malformed"])
def test_what_no_wait_mends_is_told_from_what_one_does(tmp_path: Path, said: str) -> None:
    for words, kind in ((said, UnusableLedger), ("database or disk is full", LedgerError)):
        with pytest.raises(LedgerError) as problem, told(sqlite_url(tmp_path)):
            raise sqlite3.OperationalError(words)
        assert type(problem.value) is kind


def test_a_disk_error_names_its_remedy(tmp_path: Path) -> None:
    """SQLite says so too where a full disk has no place for the index of its write-ahead log."""
    url = sqlite_url(tmp_path)
    with (
        pytest.raises(LedgerError, match=r"ledger\.sqlite: .* free some space if it is full$"),
        told(url),
    ):
        raise sqlite3.OperationalError("disk I/O error")


@pytest.mark.parametrize("password", ["p@ssw0rd", "p@ss/w0rd", "pa/ss@w0rd"])
def test_no_part_of_a_password_with_an_at_sign_is_told(password: str) -> None:
    with pytest.raises(LedgerError) as raised:
        Ledger(f"postgresql+psycopg://user:{password}@127.0.0.1:1/ledger")
    assert "write %40 for @" in str(raised.value) and "w0rd" not in str(raised.value)
