"""Judging in processes of its own: a bare loop over the SDK, the engine, a Dagster run, the whole command."""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.chains import chains, write_drop
from evaluation_assets_tests.model_server import ModelServer

KEY = "BENCHMARK_KEY"
MODELS = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5"}
"""Whose list prices are shown."""


@dataclass(frozen=True, slots=True)
class Load:
    """What is judged, and how."""

    trajectories: int
    clips: int
    characters: int
    in_flight: int
    protocol: str = "openai"
    judges: int = 1
    a_minute: int | None = None
    model: str | None = None
    """Instead of the usual one, so that processes with one ledger have questions of their own."""
    folder: str | None = None
    """That of the ledger; a temporary one by default."""

    @property
    def verdicts(self) -> int:
        return self.trajectories * self.clips * self.judges


def models(load: Load) -> list[str]:
    """The model of each judge: different ones, because the same question to the same model is asked once."""
    return ["one", "two", "three"][: load.judges] if load.judges > 1 else [load.model or MODELS[load.protocol]]


def panel(url: str, load: Load) -> dict[str, Any]:
    """A panel of model judges behind the server, with one limit for all of them."""
    address = {"openai": "/v1", "anthropic": "/anthropic"}[load.protocol]
    judge: dict[str, Any] = {"provider": f"{load.protocol}_compatible", "levels": ["clip"]}
    judge |= {"base_url": url + address, "api_key_env": KEY, "max_concurrency": load.in_flight}
    judge |= {"price": {"input": 1.0, "output": 4.0}, "requests_per_minute": load.a_minute}
    named = zip(("one", "two", "three"), models(load), strict=False)
    return {"judges": [judge | {"name": name, "model": model} for name, model in named]}


async def bare(url: str, load: Load, *, aiohttp: bool = False) -> dict[str, float]:
    """The loop one would write by hand: the SDK, a semaphore, the same conversations, ready made.

    The SDK as it comes sends with httpx; `aiohttp` is its other transport, which it installs as an extra.
    """
    from openai import AsyncOpenAI, DefaultAioHttpClient

    from evaluation_assets.core.judging.fences import fence_of
    from evaluation_assets.core.judging.judge import Judgement
    from evaluation_assets.core.judging.prompts import render, reply_schema
    from evaluation_assets.core.judging.verdicts import Verdict

    http_client = DefaultAioHttpClient() if aiohttp else None
    client = AsyncOpenAI(api_key="any", base_url=f"{url}/v1", http_client=http_client)
    slots = asyncio.Semaphore(load.in_flight)
    conversations = []
    for model, chain in product(models(load), chains(load.trajectories, load.clips, load.characters)):
        fence = fence_of("secret", chain.trajectory.text)
        earlier = [Judgement(subject, Verdict(outcome="failed")) for subject in chain.subjects]
        asked = [render(subject, earlier[:at], fence, 100_000) for at, subject in enumerate(chain.subjects)]
        schema = {"name": "evaluation", "strict": True, "schema": reply_schema(chain.subjects[0].chain_rubrics)}
        conversations.append((model, asked[0].system, schema, [rendered.turns[-1].text for rendered in asked]))

    async def judge(model: str, system: str, schema: Any, pieces: Sequence[str]) -> None:
        messages: list[Any] = [{"role": "system", "content": system}]
        for piece in pieces:
            messages.append({"role": "user", "content": piece})
            async with slots:
                answer = await client.chat.completions.create(
                    model=model,
                    messages=messages,
                    max_tokens=2000,
                    response_format={"type": "json_schema", "json_schema": schema},
                )
            evaluation = json.loads(answer.choices[0].message.content or "")
            said = {"scores": {entry["criterion"]: entry["score"] for entry in evaluation["scores"]}}
            messages.append({"role": "assistant", "content": json.dumps(said | {"summary": evaluation["summary"]})})

    await judge(*conversations.pop())  # the first call imports and connects
    started, before = time.perf_counter(), time.process_time()
    await asyncio.gather(*(judge(*conversation) for conversation in conversations))
    measured = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - before}
    await client.close()
    return measured | {"verdicts": load.verdicts - load.clips}


async def engine(url: str, load: Load) -> dict[str, float]:
    """One level of a run, as its asset does it: prompts, ledger, limits, replies, rows in a spool."""
    from evaluation_assets.core.judging.panel import judges_of, panel_of
    from evaluation_assets.core.judging.tally import Tally
    from evaluation_assets.core.lake.tables import CLIP_VERDICTS
    from evaluation_assets.core.models.budget import Budget
    from evaluation_assets.core.pipeline.verdicts import PanelRun

    async def judge(which: slice, folder: str) -> list[Tally]:
        judges = judges_of(panel_of(panel(url, load), "benchmark"), f"sqlite:///{folder}/ledger.sqlite")
        run = PanelRun(CLIP_VERDICTS, "drop", "run", Budget(), lambda _: None)
        tallies = []
        async for done in run.judge(judges, lambda _: iter(given[which])):
            with done.verdicts as spool:
                assert sum(batch.num_rows for batch in spool.batches()) == done.tally.outcomes.total()
            tallies.append(done.tally)
        return tallies

    given = list(chains(load.trajectories, load.clips, load.characters))
    with tempfile.TemporaryDirectory() as own:
        folder = load.folder or own
        await judge(slice(-1, None), folder)  # the first call imports and connects
        started, before = time.perf_counter(), time.process_time()
        tallies = await judge(slice(0, -1), folder)
        seconds, cpu = time.perf_counter() - started, time.process_time() - before
    return {
        "seconds": seconds,
        "cpu": cpu,
        "verdicts": sum(tally.outcomes.total() for tally in tallies),
        "lost": sum(tally.outcomes["failed"] + tally.outcomes["not_run"] for tally in tallies),
        "input": sum(tally.input_tokens or 0 for tally in tallies),
        "cached": sum(tally.cached_tokens or 0 for tally in tallies),
        "output": sum(tally.output_tokens or 0 for tally in tallies),
    }


async def whole_run(url: str, load: Load) -> dict[str, float]:
    """The asset `clip_verdicts/one` and all before it in a Dagster run of its own, on a file."""
    import dagster as dg

    from evaluation_assets.core.judging.panel import panel_of
    from evaluation_assets.core.system.installation import Installation
    from evaluation_assets.definitions import build_definitions
    from evaluation_assets.resources.asset_keys import owned_key

    def execute() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder, dg.DagsterInstance.ephemeral() as instance:
            home = Installation.at(folder)
            home.drops.mkdir(parents=True)
            write_drop(Path(folder) / "drops" / "drop.jsonl", load.trajectories, load.clips, load.characters)
            instance.add_dynamic_partitions("drops", ["drop"])
            job = build_definitions(
                home, panel_of(panel(url, load), "benchmark")
            ).resolve_implicit_global_asset_job_def()
            ingest = (
                "raw_trajectories",
                "unreadable_records",
                "preprocessed_trajectories",
                "rejected_records",
                "clips",
            )
            assets = [*(dg.AssetKey(name) for name in ingest), owned_key("clip_verdicts", "one")]
            result = job.execute_in_process(partition_key="drop", instance=instance, asset_selection=assets)
            assert result.success
            verdicts = sum(1 for _ in home.table("drop", "clip_verdicts", "one").rows(["outcome"]))
            return {"verdicts": verdicts, "events": len(instance.all_logs(result.run_id))}

    return await asyncio.to_thread(execute)


async def command(url: str, load: Load) -> dict[str, float]:
    """`evaluate` from its start to its end, on a new file in a new home."""

    def execute() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            drop, judges, home = (Path(folder, name) for name in ("drop.jsonl", "panel.yaml", "home"))
            write_drop(drop, load.trajectories, load.clips, load.characters)
            judges.write_text(json.dumps(panel(url, load)), "utf-8")
            called = [sys.executable, "-W", "ignore", "-m", "evaluation_assets.cli", "evaluate", str(drop), "--quiet"]
            called += ["--panel", str(judges), "--home", str(home), "--yes"]
            started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            subprocess.run(called, check=True, stdout=subprocess.DEVNULL, env=environment)
            seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            return {"seconds": seconds, "cpu": cpu, "verdicts": load.verdicts}

    return await asyncio.to_thread(execute)


async def bare_aiohttp(url: str, load: Load) -> dict[str, float]:
    return await bare(url, load, aiohttp=True)


MEASUREMENTS = {"bare": bare, "bare_aiohttp": bare_aiohttp, "engine": engine, "run": whole_run, "command": command}


def measured(what: str, server: ModelServer, load: Load) -> dict[str, float]:
    """Run one measurement in a process of its own; with its peak memory in MiB."""
    called = [sys.executable, "-W", "ignore", "-m", "benchmarks.judged", what, server.url, json.dumps(asdict(load))]
    found = subprocess.run(called, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | {KEY: "any"})
    return json.loads(found.stdout.splitlines()[-1])


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measure one thing in this process.")
    arguments.add_argument("what", choices=MEASUREMENTS)
    arguments.add_argument("server")
    arguments.add_argument("load", type=json.loads)
    given = arguments.parse_args()
    found = asyncio.run(MEASUREMENTS[given.what](given.server, Load(**given.load)))
    print(json.dumps(found | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
