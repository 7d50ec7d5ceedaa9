"""What a judge does when its endpoint, its ledger or another worker is in the way."""

import asyncio
import errno
import json
import logging
import multiprocessing
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest.mock import Mock

import pytest

from evaluation_assets.core.judging.panel import JudgeSettings
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.circuit import MOST_FAILURES
from evaluation_assets.core.models.client import Budget, Client
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.endpoints import endpoint_of
from evaluation_assets.core.models.known_replies import Answered
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.messages import Message, Request, ToolAnswer
from evaluation_assets.core.models.providers import bounded
from evaluation_assets.core.traces.trajectories.model import Tool
from evaluation_assets_tests import small_disks
from evaluation_assets_tests.conftest import SAMPLE, command
from evaluation_assets_tests.judging_alone import (
    CLIPS,
    HEAD,
    Answer,
    Endpoint,
    chains,
    endpoint,
    judge_at,
    verdicts,
    work,
)
from evaluation_assets_tests.model_server import ModelServer, model_server, rule

FIRST_WAVE = 16
"""Requests that a judge may have in flight before it knows anything: its max_concurrency."""

GOOD = {"scored", "abstained"}


def outcomes(found: list[Verdict]) -> Counter[tuple[str, str | None]]:
    return Counter((verdict.outcome, verdict.error_kind) for verdict in found)


def all_good(found: list[Verdict]) -> bool:
    return {verdict.outcome for verdict in found} <= GOOD


# Endpoints that do not answer


async def hang_up(made: Endpoint, writer: asyncio.StreamWriter) -> None:
    """No answer at all."""


async def fail(made: Endpoint, writer: asyncio.StreamWriter) -> None:
    await made.send(writer, b"HTTP/1.1 503 Unavailable\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")


async def hang(made: Endpoint, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def drip(made: Endpoint, writer: asyncio.StreamWriter) -> None:
    await made.send(writer, HEAD + b"content-length: 1000\r\n\r\n")
    for _ in range(1000):
        await made.send(writer, b" ")
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("answer", [hang_up, fail, hang, drip])
def test_a_dead_endpoint_costs_a_handful_of_requests_in_all(url: str, answer) -> None:
    waits = {"request_s": 0.4, "outage_s": 2.0} if answer in (hang, drip) else {}

    async def run() -> tuple[list[Verdict], list[Verdict], int, int]:
        async with endpoint(answer) as made:
            judge = judge_at(made.url, url, timeouts=waits)
            first = await verdicts(judge, chains(40))
            asked = len(made.asked)
            return first, await verdicts(judge, chains(40)), asked, len(made.asked) - asked

    first, second, asked, asked_again = asyncio.run(run())
    assert asked <= FIRST_WAVE + MOST_FAILURES
    assert asked_again <= 1, "the next level tries once"
    for found in (first, second):
        assert len(found) == 40 * CLIPS
        assert {verdict.outcome for verdict in found} == {"failed", "not_run"}
        (stopped,) = {(each.error_kind, each.error) for each in found if each.outcome == "not_run"}
        assert stopped[0] == "unavailable"
        assert "http://127.0.0.1:" in str(stopped[1]) and "check that it runs" in str(stopped[1])


@pytest.mark.parametrize(
    ("address", "reason"),
    [("http://127.0.0.1:9/v1", "connection refused"), ("http://no-such-host.invalid/v1", "not known|name resolution")],
)
def test_a_request_that_reached_nobody_is_no_call_and_has_a_reason(url: str, address: str, reason: str) -> None:
    found = asyncio.run(verdicts(judge_at(address, url, timeouts={"first_backoff_s": 0.02}), chains(3)))
    assert {verdict.attempts for verdict in found} == {0}
    failed = next(verdict for verdict in found if verdict.outcome == "failed")
    assert re.search(rf"^no connection \(.*({reason})\)$", str(failed.error))


@pytest.mark.slow
def test_an_endpoint_that_comes_back_loses_nothing(url: str, models: ModelServer) -> None:
    models.script([rule("unavailable", times=MOST_FAILURES - 1)])
    assert all_good(asyncio.run(verdicts(judge_at(models.openai_url, url), chains(10))))


@pytest.mark.parametrize(("after", "is_lost"), [(0, True), (3, False)])
def test_a_model_that_has_answered_is_not_missing(url: str, models: ModelServer, after: int, is_lost: bool) -> None:
    models.script([rule("not_found", times=2, after=after)])
    found = asyncio.run(verdicts(judge_at(models.openai_url, url, max_concurrency=1), chains(5)))
    assert all_good(found) != is_lost
    assert (outcomes(found)["failed", "not_found"] > 0) == is_lost


def test_a_question_that_an_endpoint_cannot_take_stops_nothing_else(url: str, models: ModelServer) -> None:
    models.script([rule("server_error", contains="question 1")])
    found = asyncio.run(verdicts(judge_at(models.openai_url, url, max_concurrency=1), chains(3)))
    assert [verdict.outcome in GOOD for verdict in found] == [True, True, False, False, True, True]
    assert outcomes(found)["failed", "server"] == CLIPS


def test_an_endpoint_that_is_only_slow_is_no_dead_one(url: str) -> None:
    with model_server(latency=0.15) as server:
        judge = judge_at(server.openai_url, url, max_concurrency=1, timeouts={"question_s": 1.5, "outage_s": 1.5})
        assert all_good(asyncio.run(verdicts(judge, chains(10)))), "time in line does not count"


def test_a_pause_of_a_day_is_cut_and_told(url: str, models: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    models.script([rule("rate_limited", times=1, retry_after=86_400)])
    judge = judge_at(models.openai_url, url, timeouts={"pause_s": 0.1})
    assert all_good(asyncio.run(verdicts(judge, chains(3))))
    assert "pause of 86400 s; waiting 0.1 s" in caplog.text


def test_an_endpoint_that_refuses_everything_is_given_up(url: str, models: ModelServer) -> None:
    models.script([rule("rate_limited", retry_after=86_400)])
    judge = judge_at(models.openai_url, url, timeouts={"pause_s": 0.2, "outage_s": 1.0})
    found = asyncio.run(verdicts(judge, chains(40)))
    assert outcomes(found)["not_run", "unavailable"] > 70
    assert len(models.requests(bodies=False)) < 40


def test_the_request_to_put_a_reply_right_has_no_time_of_its_own(url: str) -> None:
    with model_server([rule("text", text="no JSON", seconds=0.4)]) as server:
        judge = judge_at(server.openai_url, url, timeouts={"question_s": 0.6})
        (first, *_) = asyncio.run(verdicts(judge, chains(1)))
        assert (first.outcome, first.error_kind) == ("failed", "timeout")


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_json_that_is_sent_as_text_is_read(url: str, models: ModelServer, protocol: str) -> None:
    models.script([{"content_type": "text/plain; charset=utf-8"}])
    address = models.openai_url if protocol == "openai" else models.anthropic_url
    judge = judge_at(address, url, provider=f"{protocol}_compatible")
    assert all_good(asyncio.run(verdicts(judge, chains(2))))


async def go_on_for_ever(made: Endpoint, writer: asyncio.StreamWriter) -> None:
    await made.send(writer, HEAD + b"transfer-encoding: chunked\r\n\r\n")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    while True:
        await made.send(writer, chunk)


async def send_200_megabytes(made: Endpoint, writer: asyncio.StreamWriter) -> None:
    await made.send(writer, HEAD + b"content-length: 200000000\r\n\r\n")
    for _ in range(200):
        await made.send(writer, b" " * 1_000_000)


@pytest.mark.parametrize("answer", [go_on_for_ever, send_200_megabytes])
@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_an_endless_reply_is_cut_off_and_not_asked_for_again(url: str, protocol: str, answer: Answer) -> None:
    async def run() -> tuple[list[Verdict], Endpoint]:
        async with endpoint(answer) as made:
            return await verdicts(judge_at(made.url, url, provider=f"{protocol}_compatible"), chains(1)), made

    found, made = asyncio.run(run())
    assert outcomes(found) == {("failed", "server"): CLIPS}
    assert "longer than 32 MiB" in str(found[0].error)
    assert len(made.asked) == CLIPS
    assert made.sent < CLIPS * (bounded.LARGEST_REPLY + 16 * 2**20), "what is in the buffers of both sides"


BIG = 123456789012345678901234567890
CALLED = {
    "openai": {
        "choices": [
            {
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "seed": BIG,
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "f", "arguments": json.dumps({"n": BIG})}}
                    ],
                },
            }
        ]
    },
    "anthropic": {
        "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"n": BIG}}],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_a_call_with_an_integer_of_thirty_digits_is_kept_and_sent_back(url: str, protocol: str) -> None:
    async def call(made: Endpoint, writer: asyncio.StreamWriter) -> None:
        body = json.dumps(CALLED[protocol]).encode()
        await made.send(writer, HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)

    async def run() -> None:
        async with endpoint(call) as made:
            judge = JudgeSettings(name="one", provider=f"{protocol}_compatible", model="m", base_url=made.url)
            settings, connected, pricing = endpoint_of(judge)
            provider, ledger = connected(), Ledger(url)
            client = Client(settings, provider, ledger, pricing, "run", Budget())

            async def ask(turns: tuple[Message, ...]) -> Answered:
                request = Request(system="", turns=turns, schema=None, max_output_tokens=9, cache_key="", tools=(TOOL,))
                asked = {"turns": [turn.wire or turn.text for turn in turns]}
                return await client.ask(asked, request, lambda entries: entries[0] if entries else None, Cost())

            first = (await ask(ASKED)).entry.reply
            assert json.loads(first.calls[0].arguments) == {"n": BIG}
            again = await ask(ASKED)
            assert again.from_ledger and again.entry.reply == first
            answers = Message("user", "", answers=(ToolAnswer(id="c", content="done"),))
            second = await ask((*ASKED, Message("assistant", "", wire=first.wire), answers))
            assert not second.from_ledger
            assert len(made.bodies) == 2
            assert str(BIG).encode() in made.bodies[1], "it goes back as it came"
            client.close()
            ledger.close()
            await provider.close()

    asyncio.run(run())


ASKED = (Message("user", "go"),)
TOOL = Tool(name="f", description="", parameters=None)


@pytest.mark.parametrize(
    ("variables", "read"),
    [
        ({}, "GEMINI_API_KEY"),
        ({"GOOGLE_API_KEY": "a"}, "GOOGLE_API_KEY"),
        ({"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"}, "GEMINI_API_KEY"),
    ],
)
def test_googles_two_variables_are_read(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], read: str) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert JudgeSettings(name="one", provider="google").key_variable == read
    assert JudgeSettings(name="one", provider="google", api_key_env="MINE").key_variable == "MINE"


# A ledger that cannot be written


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of eight megabytes."""
    folder = tmp_path / "disk"
    with small_disks.small_disk(folder, "8m"):
        yield folder


def fill(folder: Path) -> Path:
    """Leave no byte free."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as sink:
        for size in (65536, 4096, 1):
            try:
                while True:
                    sink.write(b"x" * size)
            except OSError:
                continue
    return ballast


def test_with_a_full_disk_no_paid_answer_is_lost_and_no_other_is_paid_for(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"sqlite:///{small_disk / 'ledger.sqlite'}"

    async def run(server: ModelServer) -> list[Verdict]:
        judge = judge_at(server.openai_url, url, timeouts={"ledger_s": 0.5})
        asyncio.get_running_loop().call_later(0.5, fill, small_disk)  # while answers are under way
        return await verdicts(judge, chains(60))

    with model_server(latency=0.2) as server:
        found = asyncio.run(run(server))
        answered = sum(request.status == 200 for request in server.requests(bodies=False))
    assert outcomes(found)["not_run", "ledger"] > 0
    assert "the disk is full" in str(found[-1].error) and str(small_disk) in str(found[-1].error)
    used = [verdict for verdict in found if verdict.outcome in GOOD]
    assert len(used) == answered < 120, "each answer that was paid for is a verdict"
    assert "no more requests are sent until it can be written" in caplog.text


def test_a_judge_ends_where_nothing_can_be_logged_either(small_disk: Path) -> None:
    """As in a run of Dagster whose storage and logs are on the same disk: its handlers raise."""
    url = f"sqlite:///{small_disk / 'ledger.sqlite'}"
    failing = logging.Handler()
    failing.emit = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    log = logging.getLogger("evaluation_assets")

    async def run(server: ModelServer) -> list[Verdict]:
        judge = judge_at(server.openai_url, url, timeouts={"ledger_s": 0.5})
        asyncio.get_running_loop().call_later(0.5, fill, small_disk)
        return await asyncio.wait_for(verdicts(judge, chains(60)), 60)

    log.addHandler(failing)
    try:
        with model_server(latency=0.2) as server:
            assert outcomes(asyncio.run(run(server)))["not_run", "ledger"] > 0
    finally:
        log.removeHandler(failing)


def test_when_there_is_space_again_the_judge_goes_on_and_nothing_is_paid_twice(small_disk: Path) -> None:
    url = f"sqlite:///{small_disk / 'ledger.sqlite'}"

    async def run(server: ModelServer) -> list[Verdict]:
        judge = judge_at(server.openai_url, url, timeouts={"ledger_s": 60.0})
        loop = asyncio.get_running_loop()
        loop.call_later(0.5, fill, small_disk)
        loop.call_later(1.5, lambda: (small_disk / "ballast").unlink())
        return await verdicts(judge, chains(30))

    with model_server(latency=0.2) as server:
        assert all_good(asyncio.run(run(server)))
        asked = Counter(request.sha256 for request in server.requests(bodies=False))
        assert set(asked.values()) == {1}
        server.reset()
        again = asyncio.run(verdicts(judge_at(server.openai_url, url), chains(30), "another run"))
        assert all(verdict.from_ledger for verdict in again), "what was kept in memory is stored"
        assert server.requests() == []


# Replies that were paid for


def test_a_whole_reply_counts_under_another_limit_of_output_tokens(url: str, models: ModelServer) -> None:
    models.script([rule("length", contains="question 1", after=CLIPS - 1, times=2)])
    first = asyncio.run(verdicts(judge_at(models.openai_url, url, max_output_tokens=400), chains(3)))
    asked = len(models.requests(bodies=False))
    assert outcomes(first)["failed", "truncated"] == 1
    again = asyncio.run(verdicts(judge_at(models.openai_url, url, max_output_tokens=3000), chains(3), "second"))
    assert all_good(again)
    assert sum(not verdict.from_ledger for verdict in again) == 1, "that which was cut"
    assert len(models.requests(bodies=False)) == asked + 1
    back = asyncio.run(verdicts(judge_at(models.openai_url, url, max_output_tokens=400), chains(3), "third"))
    assert all_good(back) and all(verdict.from_ledger for verdict in back)
    assert len(models.requests(bodies=False)) == asked + 1


def test_a_correction_counts_under_another_limit_of_output_tokens(url: str, models: ModelServer) -> None:
    models.script([rule("invalid_json", times=1)])
    for run, limit in (("first", 400), ("second", 3000)):
        found = asyncio.run(verdicts(judge_at(models.openai_url, url, max_output_tokens=limit), chains(2), run=run))
        assert all_good(found)
    assert all(verdict.from_ledger for verdict in found)


# Other workers


def started(*arguments: object) -> BaseProcess:
    process = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
    process.start()
    return process


@pytest.mark.slow
def test_two_workers_at_a_low_rate_never_pay_twice(url: str) -> None:
    """Claims are shorter than the time in line and than a request."""
    more = {"requests_per_minute": 300, "max_concurrency": 8, "lease_s": 1.2}
    with model_server(latency=1.5) as server:
        workers = [started(server.openai_url, url, 8, more) for _ in range(2)]
        for worker in workers:
            worker.join(120)
            assert worker.exitcode == 0
        asked = Counter(request.sha256 for request in server.requests(bodies=False))
    assert len(asked) == 8 * CLIPS
    assert set(asked.values()) == {1}


@pytest.mark.slow
def test_when_a_worker_is_killed_another_goes_on_at_once(url: str) -> None:
    with model_server([rule("slow", seconds=3600, times=1)]) as server:
        victim = started(server.openai_url, url, 1, {})
        while not server.requests(bodies=False):
            assert victim.is_alive()
            time.sleep(0.05)
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGKILL)
        victim.join()
        judge = judge_at(server.openai_url, url, timeouts={"question_s": 60.0})
        assert all_good(asyncio.run(verdicts(judge, chains(1)))), "a claim lasts longer than that"


def test_a_worker_in_another_container_is_not_taken_for_dead(url: str) -> None:
    ledger = Ledger(url)
    assert ledger.claim("k")
    script = f"from evaluation_assets.core.models.ledger import Ledger; print(Ledger({url!r}).claim('k'))"
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", script]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if "unshare failed" in asked.stderr or "Operation not permitted" in asked.stderr:
        pytest.skip("a pid namespace of its own needs privileges")
    assert asked.stdout == "False\n", asked.stderr
    ledger.close()


# Damaged things, and secrets in addresses


@pytest.mark.parametrize("fault", ["invalid_json", "missing"])
def test_what_was_corrected_is_not_paid_for_again(url: str, models: ModelServer, fault: str) -> None:
    models.script([rule(fault, times=1)])
    first = asyncio.run(verdicts(judge_at(models.openai_url, url), chains(2)))
    assert all_good(first) and sum(verdict.attempts == 2 for verdict in first) == 1
    models.reset()
    again = asyncio.run(verdicts(judge_at(models.openai_url, url), chains(2), "another run"))
    assert models.requests() == []
    assert [verdict.scores for verdict in again] == [verdict.scores for verdict in first]


def test_a_damaged_reply_is_asked_for_again(
    url: str, models: ModelServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(verdicts(judge_at(models.openai_url, url), chains(2)))
    models.reset()
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("UPDATE replies SET reply = x'ffffffff00' WHERE key = (SELECT max(key) FROM replies)")
        connection.execute("UPDATE replies SET reply = x'' WHERE key = (SELECT min(key) FROM replies)")
    with caplog.at_level(logging.WARNING):
        found = asyncio.run(verdicts(judge_at(models.openai_url, url), chains(2), "another run"))
    assert all_good(found)
    assert len(models.requests()) == 2
    assert "is damaged" in caplog.text


@pytest.mark.parametrize(
    "content", [b"this is a text file, and no database at all " * 50, b"SQLite format 3\0" + b"x" * 9000]
)
@pytest.mark.parametrize("what", ["evaluate", "plan"])
def test_a_ledger_that_is_none_is_one_line(tmp_path: Path, models: ModelServer, content: bytes, what: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "ledger.sqlite").write_bytes(content)
    judge = {"name": "one", "provider": "openai_compatible", "model": "m", "base_url": models.openai_url}
    (home / "panel.yaml").write_text(json.dumps({"judges": [judge]}))
    done = command(what, SAMPLE, home=home)
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert str(home / "ledger.sqlite") in line
    assert "move" in line


def test_a_judge_whose_ledger_cannot_be_opened_says_so_in_every_verdict(tmp_path: Path, models: ModelServer) -> None:
    judge = judge_at(models.openai_url, f"sqlite:///{tmp_path / 'no such folder' / 'ledger.sqlite'}")
    found = asyncio.run(verdicts(judge, chains(1)))
    assert outcomes(found) == {("not_run", "ledger"): CLIPS}
    assert "no such folder" in str(found[0].error)
    assert models.requests() == []


def test_a_password_in_an_address_is_sent_and_nowhere_else(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> tuple[list[Verdict], Endpoint, str]:
        async with endpoint(fail) as made:
            address = made.url.replace("http://", "http://user:s3cr3t@")
            judge = judge_at(address, url)
            assert judge.version == judge_at(made.url, url).version
            assert judge.settings.endpoint == made.url
            return await verdicts(judge, chains(3)), made, address

    with caplog.at_level(logging.DEBUG):
        found, made, address = asyncio.run(run())
    assert all(b"Basic dXNlcjpzM2NyM3Q=" in head for head in made.asked)
    assert "s3cr3t" in address
    assert "s3cr3t" not in repr(found) + caplog.text
    assert b"s3cr3t" not in (tmp_path / "ledger.sqlite").read_bytes()


def test_the_password_of_a_ledger_is_not_told(tmp_path: Path, models: ModelServer) -> None:
    ledger = "postgresql+psycopg://user:s3cr3t@127.0.0.1:1/replies"
    judge = {"name": "one", "provider": "openai_compatible", "model": "m", "base_url": models.openai_url}
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [judge]}))
    done = command("evaluate", SAMPLE, home=tmp_path, EVALUATION_LEDGER_URL=ledger)
    assert done.returncode == 2
    assert "127.0.0.1:1/replies" in done.stderr
    assert "s3cr3t" not in done.stderr + done.stdout
