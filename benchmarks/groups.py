"""How well failure groups separate planted faults, and how long grouping takes.

    python -m benchmarks.groups [DATA] [--seeds 3] [--trials 10] [--runs 100000]

For each data set, every run gets one fault, drawn by seed. Its findings that the run itself does not have are grouped;
each counts with the group it is in and the fault it is due to. Printed are V-measure and adjusted Rand index, and the
share of faults with a finding: a fault without one is in no group.

Where people labelled what went wrong, the groups of the recorded runs are compared with their categories; each run
counts once for each pair of both.

`--trials`: for each fault, so many suites of twenty nights, each of 500 runs drawn from the recorded ones. 2% of the
runs of the last night have the fault: is a group new, or has one grown? And how many suites without one have a new
group in any night?

`--runs` groups so many made-up runs with two findings each, and prints seconds and peak memory.
`--drops` makes an installation with so many drops of 1,000 recorded runs, adds another one, and prints what the command
`groups list`
takes: seconds and peak memory, the first time and when nothing has changed.
`--suites` simulates so many suites of twenty nights, and prints how many have a group that is new or has grown:
unchanged ones, and those in whose last night a share has doubled.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

from sklearn.metrics import adjusted_rand_score, v_measure_score

from benchmarks.data_sets import DATA
from benchmarks.injected import DATA_SETS, _runs
from evaluation_assets.core.pipeline.failure_groups import SOURCES, AllRuns, EvaluatedRuns, group_rows
from evaluation_assets.core.sections.failure_groups.grouping import grouped
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.sections.findings.faults.operator import NotApplicable, injected
from evaluation_assets.core.sections.findings.faults.registry import OPERATORS
from evaluation_assets.core.sections.findings.finding_rows import finding_rows
from evaluation_assets.core.sections.findings.gathering import findings_of
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.model import Trajectory

SETS = {**DATA_SETS, "research agent": "dataeva/demo02*.jsonl"}
NIGHTS = 20
RUNS_A_NIGHT = 500

FAULTS = [operator for operator in OPERATORS.values() if not operator.is_control]


def main() -> None:
    """Print the figures of each data set, and those of size."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path, nargs="?", default=DATA)
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--trials", type=int, default=10)
    arguments.add_argument("--runs", type=int, default=100_000)
    arguments.add_argument("--drops", type=int, default=100)
    arguments.add_argument("--suites", type=int, default=200)
    options = arguments.parse_args()
    everything = {name: list(_runs(options.data, pattern)) for name, pattern in SETS.items()}
    for name, runs in everything.items():
        for seed in range(options.seeds if runs else 0):
            print(f"{name:<20} seed {seed}: {separated(runs, Random(seed))}", flush=True)
    for name, (pattern, categories) in labelled(options.data).items():
        if runs := list(_runs(options.data, pattern)):
            print(f"{name:<20} people: {agreement(runs, categories)}", flush=True)
    for name, runs in everything.items():
        if runs and options.trials:
            for line in news(Recorded(runs), range(options.trials)):
                print(f"{name:<20} {line}", flush=True)
    if options.runs:
        print(size(options.runs))
    if options.drops and (record := options.data / "tau-bench" / "gpt-4o-airline.even-tasks.json").exists():
        print(*listed(options.drops, record), sep="\n")
    print(nights(options.suites))


def separated(runs: list[Trajectory], random: Random) -> str:
    """The agreement of groups and planted faults."""
    found: list[tuple[Occurrence, str]] = []
    planted = noticed = 0
    calls: Counter[str] = Counter()
    for run in runs:
        calls.update(step.call.name for step in run.calls if step.call)
        before = {(each.kind, each.evidence) for each in detected(run)}
        for operator in random.sample(FAULTS, len(FAULTS)):
            try:
                changed = injected(run, operator, random.randrange(1 << 30)).changed
            except NotApplicable:
                continue
            new = [each for each in detected(changed) if (each.kind, each.evidence) not in before]
            rows = finding_rows("d", changed, new)
            planted += 1
            noticed += bool(rows)
            found += [(_occurrence(row, run.id), operator.kind or operator.name) for row in rows]
            break
    groups = grouped([each for each, _ in found], {"d": calls})
    of = {id(each): key.id for key, members in groups.items() for each in members}
    truth, said = [kind for _, kind in found], [of[id(each)] for each, _ in found]
    return (
        f"{planted} faults, {noticed / planted:.2f} noticed, {len(groups)} groups, "
        f"V-measure {v_measure_score(truth, said):.2f}, adjusted Rand {adjusted_rand_score(truth, said):.2f}"
    )


def labelled(folder: Path) -> dict[str, tuple[str, Callable[[Trajectory], list[str]]]]:
    """Data with labels of people: its files, and the categories of a run."""

    def trail(run: Trajectory) -> list[str]:
        (file,) = folder.glob(f"trail/processed_annotations_*/{run.id}.json")
        return sorted({error["category"] for error in json.loads(file.read_text())["errors"]})

    return {
        "Who&When (agent)": (DATA_SETS["Who&When"], lambda run: [str(run.labels["mistake_agent"])]),
        "TRAIL (category)": ("trail/data/**/*.json", trail),
        "MAST (mode)": (
            "mast/final*.json*",
            lambda run: [mode for mode, has in dict(run.labels["human_labels"]).items() if has],  # type: ignore[call-overload]
        ),
    }


def agreement(runs: list[Trajectory], categories: Callable[[Trajectory], list[str]]) -> str:
    """The agreement of groups and categories of people; runs without a finding are a group."""
    own = {run.id: _findings(run) for run in runs}
    calls = Counter(step.call.name for run in runs for step in run.calls if step.call)
    groups = grouped([each for found in own.values() for each in found], {"d": calls})
    of = {id(each): key.id for key, members in groups.items() for each in members}
    pairs = [
        (category, group)
        for run in runs
        for category in categories(run)
        for group in {of[id(each)] for each in own[run.id]} or {"none"}
    ]
    said, found = zip(*pairs, strict=True)
    return (
        f"{len(runs)} runs, {sum(map(bool, own.values()))} with a finding, {len(set(said))} categories, "
        f"{len(groups)} groups, V-measure {v_measure_score(said, found):.2f}, "
        f"adjusted Rand {adjusted_rand_score(said, found):.2f}"
    )


class Recorded:
    """The findings of recorded runs, and of their copies with each fault that they can have."""

    def __init__(self, runs: list[Trajectory]) -> None:
        self.runs = {run.id: run for run in runs}
        self.own = {run.id: _findings(run) for run in runs}
        self.copies: dict[str, dict[str, list[Occurrence]]] = {operator.name: {} for operator in FAULTS}
        for operator in FAULTS:
            for run in runs:
                with suppress(NotApplicable):
                    self.copies[operator.name][run.id] = _findings(injected(run, operator, 0).changed, run.id)

    def added(self, run: str, found: Sequence[Occurrence]) -> list[Occurrence]:
        """The findings of a copy that its run does not have."""
        before = {(each.kind, each.evidence) for each in self.own[run]}
        return [each for each in found if (each.kind, each.evidence) not in before]


ANNOUNCED = ("new", "grown")


def news(recorded: Recorded, seeds: Sequence[int]) -> Iterator[str]:
    """How many suites without a fault have a new group, and what is said of a fault in 2% of the runs of a night."""
    false = sum(any(Suite(recorded, seed).has_new_group(night) for night in range(1, NIGHTS)) for seed in seeds)
    yield f"unchanged: {false} of {len(seeds)} suites have a new group in any night"
    total: Counter[str] = Counter()
    for name, copies in recorded.copies.items():
        if copies:
            noticed = sum(bool(recorded.added(run, found)) for run, found in copies.items())
            said = Counter(Suite(recorded, len(seeds) + seed, copies).said() for seed in seeds)
            total.update(said)
            yield f"{name}: noticed in {noticed} of {len(copies)} copies; {_told(said)}"
    yield f"all faults: {_told(total)}"


def _told(said: Mapping[str, int]) -> str:
    return ", ".join(f"{state} {count}" for state, count in sorted(said.items()))


class Suite:
    """Twenty nights of runs drawn from the recorded ones; 2% of those of the last night are from `copies`."""

    def __init__(self, recorded: Recorded, seed: int, copies: Mapping[str, list[Occurrence]] | None = None) -> None:
        random = Random(seed)
        self._nights: list[AllRuns] = []
        self._planted: set[Occurrence] = set()
        for night in range(NIGHTS):
            drop, tasks, calls, found = f"s/{night:02}", {}, Counter[str](), AllRuns()
            is_last = night == NIGHTS - 1
            changed = set(random.sample(range(RUNS_A_NIGHT), RUNS_A_NIGHT // 50)) if copies and is_last else set()
            for number in range(RUNS_A_NIGHT):
                source = copies if copies and number in changed else recorded.own
                drawn, run = random.choice(list(source)), f"run {number}"
                tasks[run] = recorded.runs[drawn].task_id
                calls.update(step.call.name for step in recorded.runs[drawn].calls if step.call)
                found.occurrences += [replace(each, drop=drop, trajectory_id=run) for each in source[drawn]]
                if number in changed:
                    added = recorded.added(drawn, source[drawn])
                    self._planted |= {replace(each, drop=drop, trajectory_id=run) for each in added}
            found.drops.append(EvaluatedRuns(drop=drop, suite="s", agent="a", version="a 1", tasks=tasks))
            found.calls[drop] = calls
            self._nights.append(found)

    def _until(self, night: int) -> AllRuns:
        found = AllRuns()
        for each in self._nights[: night + 1]:
            found.drops += each.drops
            found.occurrences += each.occurrences
            found.calls.update(each.calls)
        return found

    def has_new_group(self, night: int) -> bool:
        """Whether a group is new in this night."""
        return any(row["state"] == "new" for row in group_rows(self._until(night), {}))

    def said(self) -> str:
        """What is said of the fault: the best of what is said of the groups that its findings are in.

        A group that nights before have, too, may not have grown beyond chance. One that they do not have is missed.
        """
        found = self._until(NIGHTS - 1)
        own = {key.id for key, members in found.groups.items() if not self._planted.isdisjoint(members)}
        rows = [row for row in group_rows(found, {}) if row["group_id"] in own]
        if not rows:
            return "not noticed"
        states = {row["state"] for row in rows}
        if announced := [state for state in ANNOUNCED if state in states]:
            return announced[0]
        if any(row["first_drop"] != found.drops[-1].drop for row in rows):
            return "within chance"
        return f"missed in {len({each.run for each in self._planted})} runs"


def _findings(run: Trajectory, name: str | None = None) -> list[Occurrence]:
    return [_occurrence(row, name or run.id) for row in finding_rows("d", run, findings_of(run))]


def _occurrence(row: dict[str, object], run: str) -> Occurrence:
    names = ("drop", "task_id", "kind", "severity", "tool", "evidence", "clip_index", "start", "end")
    return Occurrence(trajectory_id=run, **{name: row[name] for name in names})  # type: ignore[arg-type]


def size(count: int) -> str:
    """Seconds and memory for so many runs in drops of a thousand."""
    random = Random(0)
    everything = AllRuns()
    names = sorted(kinds())
    for start in range(0, count, 1000):
        drop = f"s/{start}"
        tasks = {f"run {start + each}": f"task {each % 100}" for each in range(min(1000, count - start))}
        everything.drops.append(EvaluatedRuns(drop=drop, suite="s", agent="a", version="a 1", tasks=tasks))
        calls = everything.calls.setdefault(drop, Counter())
        for run, task in tasks.items():
            for _ in range(2):
                tool = random.choice(("search", "pay", "open"))
                calls[tool] += 5
                everything.occurrences.append(
                    Occurrence(
                        drop=drop,
                        trajectory_id=run,
                        task_id=task,
                        kind=random.choice(names),
                        severity="LOW",
                        tool=tool,
                        evidence=f"Error {random.random()}: not found",
                    )
                )
    began = time.process_time()
    rows = group_rows(everything, {})
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{count} runs, {len(everything.occurrences)} findings, {len(rows)} groups: {seconds:.1f} s, {memory:.0f} MB"


def listed(drops: int, recorded: Path) -> Iterator[str]:
    """What `groups list` takes after a new drop of 1,000 runs, and again."""
    with tempfile.TemporaryDirectory() as folder:
        file, home = Path(folder, "nights.jsonl"), Installation.at(f"{folder}/home")
        runs = json.loads(recorded.read_bytes())
        file.write_text("".join(f"{json.dumps(runs[at % len(runs)] | {'trial': at})}\n" for at in range(1000)))
        command(folder, "evaluate", str(file), "--as", "nights/000", "--quiet")
        for number in range(1, drops):
            copy_tables(home, f"nights/{number:03}")
        command(folder, "groups", "list")
        copy_tables(home, f"nights/{drops:03}")
        for when in ("after a new drop", "again"):
            yield f"{drops} drops of 1,000 runs, groups list {when}: {command(folder, 'groups', 'list')}"


def copy_tables(home: Installation, drop: str) -> None:
    """A drop like the first one: the tables that groups are made of."""
    for name in SOURCES:
        source, target = (Path(home.table(each, name).path.path) for each in ("nights/000", drop))
        if source.exists():
            target.hardlink_to(source)


def command(folder: str, *arguments: str) -> str:
    """Run a command; its seconds and memory."""
    began = time.monotonic()
    line = [sys.executable, "-m", "evaluation_assets.cli", *arguments, "--home", f"{folder}/home"]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as started:
        _, _, used = os.wait4(started.pid, 0)
        started.returncode = 0
    cpu = used.ru_utime + used.ru_stime
    return f"{time.monotonic() - began:.1f} s wall, {cpu:.1f} s CPU, {used.ru_maxrss / 1024:.0f} MB"


_NIGHTS, _RUNS = 20, 200
_SHARES = (0.1, 0.05, 0.03, 0.02, 0.02, 0.01, 0.01, 0.01, 0.005, 0.005)


def nights(suites: int) -> str:
    """How many suites have a change in any night; and for each share, in how many its doubling is noticed."""
    alarms, noticed = 0, Counter[float]()
    for seed in range(suites):
        random, suite, had_change = Random(seed), AllRuns(), False
        for number in range(_NIGHTS):
            _add_night(suite, number, random, _SHARES)
            had_change |= bool(_changes(suite))
        alarms += had_change
        for index, share in enumerate(_SHARES[:3]):
            doubled = AllRuns(list(suite.drops), list(suite.occurrences))
            _add_night(doubled, _NIGHTS, random, [*_SHARES[:index], 2 * share, *_SHARES[index + 1 :]])
            noticed[share] += sorted(kinds())[index] in _changes(doubled)
    told = ", ".join(f"of {share:.0%} in {count}" for share, count in noticed.items())
    return (
        f"{suites} suites of {_NIGHTS} nights of {_RUNS} runs: {alarms} unchanged with a change; doubled share {told}"
    )


def _add_night(suite: AllRuns, number: int, random: Random, shares: Sequence[float]) -> None:
    tasks = {f"run {run}": f"task {run % 100}" for run in range(_RUNS)}
    drop = EvaluatedRuns(drop=f"s/{number}", suite="s", agent="a", version="", tasks=tasks)
    suite.drops.append(drop)
    suite.occurrences += [
        Occurrence(drop=drop.drop, trajectory_id=run, task_id=task, kind=kind, severity="LOW", tool=None, evidence=kind)
        for run, task in tasks.items()
        for kind, share in zip(sorted(kinds()), shares, strict=False)
        if random.random() < share
    ]


def _changes(suite: AllRuns) -> set[str]:
    found = AllRuns(suite.drops, suite.occurrences)
    return {row["kind"] for row in group_rows(found, {}) if row["changed_in"]}


if __name__ == "__main__":
    main()
