"""Model judges at work without a run of Dagster: chains of clips, endpoints that misbehave, workers in processes."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import orjson

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import JudgeSettings
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.subjects import Chain, clip_chain
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.endpoints import endpoint_of
from evaluation_assets.core.models.ledger import LEASE_S, Ledger
from evaluation_assets.core.traces.formats.base import Record
from evaluation_assets.core.traces.formats.readers.tagged import trajectory_of
from evaluation_assets_tests.conftest import call

CLIPS = 2


def chains(count: int, first: int = 0, result: str = "result") -> Iterator[Chain]:
    """One call and an answer each."""
    rubrics = load_rubrics()
    for number in range(first, first + count):
        text = call(f"question {number}", f"{result} {number}") + f"<answer>{number}</answer>"
        fields = {"task_id": f"t{number}", "task_description": "How many?", "raw_response": text}
        trajectory = trajectory_of(Record("d.jsonl", number + 1, fields, orjson.dumps(fields)))
        yield clip_chain(trajectory, clips_of(trajectory), rubrics)


def judge_at(base_url: str, ledger_url: str, *, lease_s: float = LEASE_S, **more: Any) -> ModelJudge:
    """A judge behind an address that needs no key, which soon asks again."""
    known: dict[str, Any] = {"name": "one", "provider": "openai_compatible", "model": "m", "base_url": base_url}
    known["timeouts"] = {"first_backoff_s": 0.01} | more.pop("timeouts", {})
    known["price"] = {"input": 1.0, "output": 10.0}
    settings, connected, pricing = endpoint_of(JudgeSettings.model_validate(known | more))
    return ModelJudge(settings, connected, partial(Ledger, ledger_url, lease_s=lease_s), pricing)


async def verdicts(judge: ModelJudge, given: Iterator[Chain], run: str = "run") -> list[Verdict]:
    """All verdicts of one level."""
    async with judge.opened(run, Budget()) as ready:
        return [judgement.verdict async for some in judge_chains(ready, given) for judgement in some]


def work(base_url: str, ledger_url: str, count: int, more: dict[str, Any]) -> None:
    """A worker: a process of its own."""
    os.environ.setdefault("TEST_KEY", "any")
    asyncio.run(verdicts(judge_at(base_url, ledger_url, **more), chains(count), run=f"run of {os.getpid()}"))


@dataclass
class Endpoint:
    """Where a server of one's own listens, what it was asked, and how many bytes it got rid of."""

    url: str = ""
    asked: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    sent: int = 0

    async def send(self, writer: asyncio.StreamWriter, content: bytes) -> None:
        writer.write(content)
        await writer.drain()
        self.sent += len(content)


Answer = Callable[[Endpoint, asyncio.StreamWriter], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@asynccontextmanager
async def endpoint(answer: Answer) -> AsyncIterator[Endpoint]:
    """A server that answers every request like this and hangs up."""
    made = Endpoint()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            made.bodies.append(await reader.readexactly(int(length.partition(b":")[2])))
            made.asked.append(head)
            await answer(made, writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield made
    finally:
        server.close()
