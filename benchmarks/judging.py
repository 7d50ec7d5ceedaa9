"""What judging costs over a bare loop: CPU, waiting, refused and cached requests, memory, events.

    python -m benchmarks.judging [--rounds 3] [--verdicts 100000] [--only cpu,wait,refused,shared,cache,memory]

Everything is measured against a model server in a process of its own. The bare loop is what one would write by hand:
the OpenAI SDK as it comes, a semaphore, the same conversations, ready made; no ledger, no validation. Each
measurement is a process of its own, and both sides of a ratio run in the same round. Loop, engine and server need two
cores to themselves for figures of time: the load at the start is printed, and the bare loop's own time beside ours.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.chains import chains, write_drop
from evaluation_assets_tests.model_server import ModelServer, model_server

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


@dataclass(slots=True)
class Row:
    """A line of the table: a figure per round, and what it has to be."""

    what: str
    goal: str
    reached: Callable[[float], bool]
    figures: list[float]
    note: str = ""

    def __str__(self) -> str:
        middle, low, high = statistics.median(self.figures), min(self.figures), max(self.figures)
        spread = f"({low:.3g} to {high:.3g})" if len(self.figures) > 1 else ""
        verdict = "yes" if self.reached(middle) else "NO"
        return f"{self.what:<58}{self.goal:>9}{middle:>9.3g}  {spread:<18}{verdict:<5}{self.note}"


# What is measured: each in a process of its own.


def panel(url: str, load: Load) -> dict[str, Any]:
    """A panel of model judges behind the server, with one limit for all of them."""
    address = {"openai": "/v1", "anthropic": "/anthropic"}[load.protocol]
    judge = {"provider": f"{load.protocol}_compatible", "model": load.model or MODELS[load.protocol]}
    judge |= {"base_url": url + address, "api_key_env": KEY, "max_concurrency": load.in_flight}
    judge |= {"price": {"input": 1.0, "output": 4.0}, "requests_per_minute": load.a_minute}
    names = ("one", "two", "three")[: load.judges]
    # Different models, because the same question to the same model is asked once.
    return {"judges": [judge | {"name": name} | ({"model": name} if load.judges > 1 else {}) for name in names]}


async def bare(url: str, load: Load) -> dict[str, float]:
    """The loop one would write by hand."""
    from openai import AsyncOpenAI

    from evaluation_assets.core.judging.fences import fence_of
    from evaluation_assets.core.judging.judge import Judgement
    from evaluation_assets.core.judging.prompts import render, reply_schema
    from evaluation_assets.core.judging.verdicts import Verdict

    client = AsyncOpenAI(api_key="any", base_url=f"{url}/v1")
    slots = asyncio.Semaphore(load.in_flight)
    conversations = []
    for chain in chains(load.trajectories, load.clips, load.characters):
        fence = fence_of("secret", chain.trajectory.text)
        earlier = [Judgement(subject, Verdict(outcome="failed")) for subject in chain.subjects]
        asked = [render(subject, earlier[:at], fence, 100_000) for at, subject in enumerate(chain.subjects)]
        schema = {"name": "evaluation", "strict": True, "schema": reply_schema(chain.subjects[0].chain_rubrics)}
        conversations.append((asked[0].system, schema, [rendered.turns[-1].text for rendered in asked]))

    async def judge(system: str, schema: Any, pieces: Sequence[str]) -> None:
        messages: list[Any] = [{"role": "system", "content": system}]
        for piece in pieces:
            messages.append({"role": "user", "content": piece})
            async with slots:
                answer = await client.chat.completions.create(
                    model=MODELS["openai"],
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


MEASUREMENTS = {"bare": bare, "engine": engine, "run": whole_run}


def measured(what: str, server: ModelServer, load: Load) -> dict[str, float]:
    """Run one measurement in a process of its own; with its peak memory in MiB."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.judging", "--measure", what, "--server", server.url]
    command += ["--load", json.dumps(asdict(load))]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | {KEY: "any"})
    return json.loads(found.stdout.splitlines()[-1])


# The figures.


def cpu(rounds: int) -> list[Row]:
    """CPU per verdict when the answer is there at once."""
    load, ratios, ours, theirs = Load(201, 5, 1500, 64), [], [], []
    for _ in range(rounds):
        with model_server(keep_bodies=False) as server:
            sides = [measured(what, server, load) for what in ("bare", "engine")]
        loop, judged = (1000 * side["cpu"] / side["verdicts"] for side in sides)
        ratios.append(judged / loop)
        ours.append(judged)
        theirs.append(loop)
    note = f"{statistics.median(ours):.2f} ms to {statistics.median(theirs):.2f} ms"
    return [Row("(a) CPU per verdict, to the bare loop", "<= 0.8", lambda ratio: ratio <= 0.8, ratios, note)]


def waiting(rounds: int) -> list[Row]:
    """Time over the ideal, which is what the answers take on as many slots as there are."""
    rows = []
    for load, spread, goal in (
        (Load(193, 5, 1500, 64), 0.0, 1.10),
        (Load(513, 5, 1500, 256), 0.0, 1.40),
        (Load(193, 5, 1500, 64), 0.6, 1.25),
    ):
        over: dict[str, list[float]] = {"engine": [], "bare": []}
        for _ in range(rounds):
            for what, ratios in over.items():
                with model_server(keep_bodies=False, latency=0.5, spread=spread) as server:
                    seconds = measured(what, server, load)["seconds"]
                    waits = [asked.waited for asked in server.requests(bodies=False)][load.clips :]
                ratios.append(seconds / max(load.clips * 0.5, sum(waits) / load.in_flight))
        kind = "lognormal latency" if spread else "latency 0.5 s"
        note = f"bare loop {statistics.median(over['bare']):.3g}"
        what = f"(b) time over the ideal, {kind}, {load.in_flight} in flight"
        rows.append(Row(what, f"<= {goal:.2f}", lambda ratio, goal=goal: ratio <= goal, over["engine"], note))
    return rows


def refused(rounds: int) -> list[Row]:
    """A server that takes a third of what could be sent."""
    load, per_second, burst = Load(181, 5, 1500, 64), 100, 20
    over, shares, lost = [], [], []
    for _ in range(rounds):
        with model_server(keep_bodies=False, latency=0.2) as server:
            server.script({"rate_limit": {"requests_per_minute": 60 * per_second, "burst": burst}})
            judged = measured("engine", server, load)
            statuses = [asked.status for asked in server.requests(bodies=False)]
        over.append(judged["seconds"] / (judged["verdicts"] / per_second))
        shares.append(statuses.count(429) / len(statuses))
        lost.append(judged["lost"])
    where = "a third allowed"
    return [
        Row(f"(c) verdicts lost, {where}", "0", lambda count: count == 0, lost),
        Row(f"(c) time over the ideal, {where}", "<= 1.25", lambda ratio: ratio <= 1.25, over),
        Row(f"(c) share of requests answered 429, {where}", "<= 0.05", lambda share: share <= 0.05, shares),
    ]


def shared(rounds: int) -> list[Row]:
    """Judges at one endpoint that takes 2,400 requests a minute: told so, or finding out."""
    per_second, rows = 40, []
    for judges, told in ((1, True), (3, True), (3, False)):
        load = Load(121 // judges, 5, 1500, 64, judges=judges, a_minute=60 * per_second if told else None)
        over, lost = [], []
        for _ in range(rounds):
            with model_server(keep_bodies=False, latency=0.2) as server:
                server.script({"rate_limit": {"requests_per_minute": 60 * per_second, "burst": 20}})
                judged = measured("engine", server, load)
            over.append(judged["seconds"] / (judged["verdicts"] / per_second))
            lost.append(judged["lost"])
        where = f"{judges} judge{'s'[: judges - 1]} at one endpoint, {'limit set' if told else 'limit unknown'}"
        rows += [
            Row(f"(g) time over the ideal, {where}", "<= 1.15", lambda ratio: ratio <= 1.15, over),
            Row(f"(g) verdicts lost, {where}", "0", lambda count: count == 0, lost),
        ]
    return rows + processes(rounds)


def processes(rounds: int) -> list[Row]:
    """Two processes with one ledger at an endpoint whose limit they find out together."""
    rows = []
    for per_second, burst, latency in ((40, 20, 0.2), (10, 5, 1.5)):
        load = Load(per_second * 30 // 2 // 5 + 1, 5, 1500, 64)
        over, refused, lost = [], [], []
        for _ in range(rounds):
            with model_server(keep_bodies=False, latency=latency) as server, tempfile.TemporaryDirectory() as folder:
                server.script({"rate_limit": {"requests_per_minute": 60 * per_second, "burst": burst}})
                loads = [replace(load, model=name, folder=folder) for name in ("one", "two")]
                with ThreadPoolExecutor() as pool:
                    both = list(pool.map(lambda load, server=server: measured("engine", server, load), loads))
                statuses = [asked.status for asked in server.requests(bodies=False)]
            over.append(max(judged["seconds"] for judged in both) * per_second / sum(it["verdicts"] for it in both))
            refused.append(statuses.count(429) / len(statuses))
            lost.append(sum(judged["lost"] for judged in both))
        where = f"2 processes, {per_second} a second, limit unknown"
        rows += [
            Row(f"(g) time over the ideal, {where}", "<= 1.25", lambda ratio: ratio <= 1.25, over),
            Row(f"(g) share of requests answered 429, {where}", "<= 0.10", lambda share: share <= 0.10, refused),
            Row(f"(g) verdicts lost, {where}", "0", lambda count: count == 0, lost),
        ]
    return rows


def cached(rounds: int) -> list[Row]:
    """What a prefix cache serves. Counts of tokens have no noise: one round."""
    from evaluation_assets.core.traces.prices import PublicPrice
    from evaluation_assets.core.traces.token_usage import TokenUsage

    rows = []
    for protocol, model in MODELS.items():
        with model_server(keep_bodies=False) as server:
            used = measured("engine", server, Load(51, 10, 1500, 16, protocol))
        own = PublicPrice(protocol, model)
        totals = {"input_tokens": int(used["input"]), "output_tokens": int(used["output"])}
        served = own.cost(TokenUsage(**totals, cached_tokens=int(used["cached"]))), own.cost(TokenUsage(**totals))
        note = "${:.4f} instead of ${:.4f} ({})".format(*served, model)
        share = used["cached"] / used["input"]
        rows.append(Row(f"(d) input tokens from the cache, {protocol}", ">= 0.75", lambda s: s >= 0.75, [share], note))
    return rows


def memory(verdicts: int) -> list[Row]:
    """Peak memory and events of whole runs, one ten times the other."""
    runs = []
    for count in (verdicts // 10, verdicts):
        with model_server(keep_bodies=False) as server:
            runs.append(measured("run", server, Load(count // 10, 10, 400, 64)))
    small, large = runs
    grown = (
        f"{small['peak']:.0f} MiB at {small['verdicts']:,}, {large['peak']:.0f} MiB at {large['verdicts']:,} verdicts"
    )
    events = f"{small['events']:.0f} at {small['verdicts']:,}, {large['events']:.0f} at {large['verdicts']:,} verdicts"
    ratio = large["peak"] / small["peak"]
    return [
        Row("(e) peak memory of a run, ten times the verdicts", "<= 1.25", lambda r: r <= 1.25, [ratio], grown),
        Row("(f) Dagster events of a run", "<= 200", lambda count: count <= 200, [large["events"]], events),
    ]


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--verdicts", type=int, default=100_000, help="for memory and events")
    arguments.add_argument("--only", default="cpu,wait,refused,shared,cache,memory", help="some of these, by comma")
    arguments.add_argument("--measure", choices=MEASUREMENTS)
    arguments.add_argument("--server")
    arguments.add_argument("--load")
    options = arguments.parse_args()
    if options.measure:
        found = asyncio.run(MEASUREMENTS[options.measure](options.server, Load(**json.loads(options.load))))
        print(json.dumps(found | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
        return
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start, {options.rounds} rounds")
    print(f"{'':<58}{'goal':>9}{'median':>9}  {'range':<18}{'held':<5}")
    figures: dict[str, Callable[[], list[Row]]] = {
        "cpu": lambda: cpu(options.rounds),
        "wait": lambda: waiting(options.rounds),
        "refused": lambda: refused(options.rounds),
        "shared": lambda: shared(options.rounds),
        "cache": lambda: cached(options.rounds),
        "memory": lambda: memory(options.verdicts),
    }
    for name in options.only.split(","):
        for row in figures[name]():
            print(row, flush=True)


if __name__ == "__main__":
    main()
