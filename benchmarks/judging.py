"""What judging costs over a bare loop: CPU, waiting, refused and cached requests, memory, events.

    python -m benchmarks.judging [--rounds 3] [--verdicts 100000] [--only cpu,panel,...] [--json FILE]

Everything is measured against a model server in a process of its own. The bare loop is what one would write by hand:
the OpenAI SDK as it comes, a semaphore, the same conversations, ready made; no ledger, no validation. Each
measurement is a process of its own, and both sides of a ratio run in the same round. Loop, engine and server need two
cores to themselves for figures of time: the load at the start is printed, and the bare loop's own time beside ours.
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path

from benchmarks.figures import Row, print_heading, write_json
from benchmarks.judged import MODELS, Load, measured
from evaluation_assets_tests.model_server import model_server


def cpu(rounds: int, load: Load, of: str, goals: dict[str, float]) -> list[Row]:
    """CPU per verdict when the answer is there at once, to the loop over the SDK as it comes, and over aiohttp."""
    milliseconds: dict[str, list[float]] = {side: [] for side in ("bare", "bare_aiohttp", *goals)}
    for _ in range(rounds):
        with model_server(keep_bodies=False) as server:
            for side, taken in milliseconds.items():
                # The first trajectory is not counted there, and a command has no such.
                found = measured(side, server, replace(load, trajectories=load.trajectories - (side == "command")))
                taken.append(1000 * found["cpu"] / found["verdicts"])
    rows = []
    for loop, (side, goal) in product(("bare", "bare_aiohttp"), goals.items()):
        ratios = [own / bare for own, bare in zip(milliseconds[side], milliseconds[loop], strict=True)]
        what = f"(a) CPU, {of}{', whole command' * (side == 'command')}, to {loop.replace('_', ' loop over ')}"
        note = "{:.2f} ms to {:.2f} ms".format(*(statistics.median(milliseconds[each]) for each in (side, loop)))
        parts = {f"{of}, {each}, ms CPU a verdict": milliseconds[each] for each in (side, loop)}
        rows.append(Row(what, f"<= {goal}", lambda ratio, goal=goal: ratio <= goal, ratios, note, parts))
    return rows


def one_judge(rounds: int) -> list[Row]:
    """One judge of short texts."""
    return cpu(rounds, Load(193, 5, 1500, 64), "one judge", {"engine": 0.8})


def panel_of_three(rounds: int) -> list[Row]:
    """Three judges at one endpoint: 960 verdicts on five clips of 2,400 characters a trajectory."""
    return cpu(rounds, Load(65, 5, 2400, 64, judges=3), "panel of three", {"engine": 0.7, "command": 1.5})


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
    arguments.add_argument(
        "--only", default="cpu,panel,wait,refused,shared,cache,memory", help="some of these, by comma"
    )
    arguments.add_argument("--json", type=Path, help="also write the figures of each round to this file")
    options = arguments.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start, {options.rounds} rounds")
    print_heading()
    figures: dict[str, Callable[[], list[Row]]] = {
        "cpu": lambda: one_judge(options.rounds),
        "panel": lambda: panel_of_three(options.rounds),
        "wait": lambda: waiting(options.rounds),
        "refused": lambda: refused(options.rounds),
        "shared": lambda: shared(options.rounds),
        "cache": lambda: cached(options.rounds),
        "memory": lambda: memory(options.verdicts),
    }
    rows: list[Row] = []
    for name in options.only.split(","):
        for row in figures[name]():
            print(row, flush=True)
            rows.append(row)
    if options.json is not None:
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
