"""CPU time of the embedded judge: per trajectory and subject, over recorded trajectories, in one process.

    python benchmarks/rules.py [DATA] [--rounds 3] [--verdicts FILE] [--profile LEVEL]

DATA is a folder with one folder per data set; default: the third-party data beside the checkout, or else the shipped
examples. Files without trajectories are skipped. Every level is judged as in a run: one pass over all trajectories,
each decoded anew, so that nothing that one level computed is at hand in the next. Decoding trajectories and making
subjects is not part of a judge's time. The reference is parsing the same trajectories as JSON with orjson, in the same
round.

`--verdicts` writes every verdict as a line of JSON, to compare two versions with `cmp`; `--profile` prints the
functions in which a level spends its time. To measure another version, run this file with that checkout in PYTHONPATH.
"""

import argparse
import asyncio
import cProfile
import hashlib
import pstats
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from evaluation_assets.api.errors import UnusableInput
from evaluation_assets.api.reading import read
from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import Judgement, judge_chains
from evaluation_assets.core.judging.rubrics.model import Rubrics, load_rubrics
from evaluation_assets.core.judging.rules.judge import RulesJudge
from evaluation_assets.core.judging.session_subjects import session_chain
from evaluation_assets.core.judging.subjects import Chain, category_chain, clip_chain, trajectory_chain
from evaluation_assets.core.judging.verdict_rows import verdict_row
from evaluation_assets.core.sections.sessions.interactions import is_session
from evaluation_assets.core.system.garbage import rarely_collected
from evaluation_assets.core.traces.formats.readers.canonical import line_of
from evaluation_assets.core.traces.trajectories.model import Trajectory, from_json, to_json

CHECKOUT = Path(__file__).parents[1]
BESIDE = CHECKOUT.parent / "shared" / "data"
Suites = Mapping[str, Sequence[Trajectory]]


def _sessions(trajectory: Trajectory, rubrics: Rubrics) -> Chain:
    return session_chain(trajectory, rubrics) if is_session(trajectory) else Chain(trajectory, ())


LEVELS: Mapping[str, Callable[[Trajectory, Rubrics], Chain]] = {
    "clips": lambda trajectory, rubrics: clip_chain(trajectory, clips_of(trajectory), rubrics),
    "categories": lambda trajectory, rubrics: category_chain(trajectory, clips_of(trajectory), rubrics),
    "trajectories": lambda trajectory, rubrics: trajectory_chain(trajectory, clips_of(trajectory), rubrics),
    "sessions": _sessions,
}
"""The chain of a trajectory at each level; in the order in which a run judges them."""


@dataclass(frozen=True)
class Cost:
    """CPU seconds of some verdicts."""

    seconds: float
    verdicts: int


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path, nargs="?", default=BESIDE if BESIDE.is_dir() else CHECKOUT / "examples")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--verdicts", type=Path)
    arguments.add_argument("--profile", choices=LEVELS)
    options = arguments.parse_args()
    warnings.simplefilter("ignore")
    suites, rubrics = dict(_suites(options.data)), load_rubrics()
    for judged in (judgements(suites, rubrics, level) for level in LEVELS):  # also imports what is imported late
        lines = [_line(judgement) for judgement in judged]
        if options.verdicts:
            with options.verdicts.open("ab") as file:
                file.writelines(lines)
        print(f"{len(lines)} verdicts, SHA-256 {hashlib.sha256(b''.join(lines)).hexdigest()[:16]}")
    if options.profile:
        profile(suites, rubrics, options.profile)
        return
    report(suites, rubrics, options.rounds)


def report(suites: Suites, rubrics: Rubrics, rounds: int) -> None:
    """Print medians over rounds, by level and by suite."""
    parsed: list[float] = []
    costs: dict[tuple[str, str], list[Cost]] = {}
    for _ in range(rounds):
        parsed.append(sum(map(parsing, suites.values())))
        for level in LEVELS:
            for name, trajectories in suites.items():
                costs.setdefault((level, name), []).append(judging(trajectories, rubrics, level))
    count = sum(map(len, suites.values()))
    print(f"{count} trajectories, {rounds} rounds, CPU of one process; parsing alone {_per(parsed, count)}")
    print(f"{'level':<14}{'verdicts':>9}{'ms per verdict':>16}{'ms per trajectory':>19}{'to parsing':>12}")
    for level in LEVELS:
        _print_row(level, [costs[level, name] for name in suites], count, parsed)
    _print_row("all", list(costs.values()), count, parsed)
    print(f"\n{'suite':<22}{'trajectories':>13}{'verdicts':>9}{'ms per verdict':>16}{'trajectories a minute':>23}")
    for name, trajectories in suites.items():
        seconds, verdicts = _total([costs[level, name] for level in LEVELS])
        middle = statistics.median(seconds)
        speed = f"{60 * len(trajectories) / middle:>23,.0f}"
        print(f"{name:<22}{len(trajectories):>13}{verdicts:>9}{1000 * middle / verdicts:>16.3f}{speed}")


def _print_row(name: str, of_suites: Sequence[Sequence[Cost]], count: int, parsed: Sequence[float]) -> None:
    seconds, verdicts = _total(of_suites)
    middle = statistics.median(seconds)
    ratio = statistics.median(judged / alone for judged, alone in zip(seconds, parsed, strict=True))
    figures = f"{1000 * middle / verdicts:>16.3f}{1000 * middle / count:>19.3f}{ratio:>12.1f}"
    print(f"{name:<14}{verdicts:>9}{figures}   {60 * count / middle:,.0f} trajectories a minute")


def _total(of_suites: Sequence[Sequence[Cost]]) -> tuple[list[float], int]:
    """Seconds in each round, and verdicts of one round, over all suites."""
    rounds = list(zip(*of_suites, strict=True))
    return [sum(cost.seconds for cost in one) for one in rounds], sum(cost.verdicts for cost in rounds[0])


def _per(seconds: Sequence[float], count: int) -> str:
    return f"{1000 * statistics.median(seconds) / count:.3f} ms per trajectory"


def _suites(folder: Path) -> Iterator[tuple[str, list[Trajectory]]]:
    """The trajectories of each folder."""
    for suite in sorted(path for path in folder.iterdir() if path.is_dir()):
        found: list[Trajectory] = []
        for file in sorted(path for path in suite.rglob("*") if path.is_file()):
            try:
                found += read(file)
            except UnusableInput:
                continue
        if found:
            yield suite.name, found


def _chains(trajectories: Sequence[Trajectory], rubrics: Rubrics, level: str) -> Iterator[Chain]:
    for trajectory in trajectories:
        yield LEVELS[level](from_json(to_json(trajectory), trajectory.text), rubrics)


def parsing(trajectories: Sequence[Trajectory]) -> float:
    """CPU seconds of parsing trajectories as JSON."""
    lines = [line_of(trajectory) for trajectory in trajectories]
    started = time.process_time()
    for line in lines:
        orjson.loads(line)
    return time.process_time() - started


def _judge(chains: Sequence[Chain]) -> list[Judgement]:
    judged: list[Judgement] = []

    async def judge() -> None:  # not returned: `asyncio.run` takes the representation of what it returns
        async for judgements in judge_chains(RulesJudge(), chains):
            judged.extend(judgements)

    asyncio.run(judge())
    return judged


def judging(trajectories: Sequence[Trajectory], rubrics: Rubrics, level: str) -> Cost:
    """CPU seconds of judging one level of a suite."""
    chains = list(_chains(trajectories, rubrics, level))
    with rarely_collected():  # as in a run
        started = time.process_time()
        judged = _judge(chains)
        return Cost(time.process_time() - started, len(judged))


def judgements(suites: Suites, rubrics: Rubrics, level: str) -> Iterator[Judgement]:
    """All verdicts of a level."""
    for trajectories in suites.values():
        yield from _judge(list(_chains(trajectories, rubrics, level)))


def _line(judgement: Judgement) -> bytes:
    row = verdict_row("drop", RulesJudge(), judgement)
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def profile(suites: Suites, rubrics: Rubrics, level: str) -> None:
    """Print the functions in which judging a level spends most time."""
    chains = [chain for trajectories in suites.values() for chain in _chains(trajectories, rubrics, level)]
    with rarely_collected(), cProfile.Profile() as profiler:
        _judge(chains)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    main()
