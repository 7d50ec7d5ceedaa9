"""`panel bridge`: link the scores of a suite over a change of a judge, a rubric or a model."""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from upath import UPath

from evaluation_assets.cli.agreement import is_agreed_on_drops
from evaluation_assets.cli.options import Spending, WholeRange, text_or_json, with_panel, with_spending
from evaluation_assets.cli.output import echo, echo_json, progress, refuse
from evaluation_assets.core.gating.baselines import judges_in
from evaluation_assets.core.gating.bridges import (
    bridges_file,
    offset_of,
    read_bridges,
    tasks_of_overlap,
    write_bridges,
)
from evaluation_assets.core.gating.evaluated_drops import suites
from evaluation_assets.core.gating.outcome import Bridge, Offset
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import DropMetrics
from evaluation_assets.core.gating.wording import offset as offset_words
from evaluation_assets.core.intake.drops import Drop, one_file
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.errors import Stopped
from evaluation_assets.core.pipeline.bridging import (
    LEVELS,
    STEPS,
    Change,
    NoBridge,
    Overlap,
    Run,
    all_differences,
    change_of,
    overlap,
    sampled,
)
from evaluation_assets.core.pipeline.chosen_runs import trajectories_of
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.traces.formats.readers.canonical import line_of
from evaluation_assets.runs.paid import check_evaluators, check_ledger


@click.command("bridge")
@click.argument("old")
@click.argument("new")
@click.option("--sample", type=WholeRange(min=2), default=100, show_default=True, help="Runs that NEW scores too.")
@click.option("--suite", help="Suite to link (default: the only one that OLD scored).")
@with_spending("Show the price; no model is called.")
@text_or_json
@with_panel
def bridge(
    home: Installation,
    panel: Panel,
    old: str,
    new: str,
    sample: int,
    suite: str | None,
    spending: Spending,
    format_name: str,
) -> None:
    """Link the scores of a suite over a change of a judge, a rubric or a model.

    OLD is a judge with verdicts on evaluated drops, NEW a judge of the panel. They have the same name if the judge's
    model or the rubrics changed. NEW scores a sample of the runs that OLD scored. The mean difference is stored in
    bridges/ of the home folder: the gate and the history subtract it where nothing else changed. No agent is run again.

    The exit status is 1 if there are too few runs or tasks for a bridge.
    """
    try:
        settings = load_settings(home.gate_file).gate
        name, drops = _suite(home, old, suite)
        change = change_of(drops, old, new, Scorers.of(home, panel))
        if panel.cascade:
            raise NoBridge("the panel has a cascade; bridges do not link cascades")
        runs = sampled(home, (drop.drop for drop in change.drops), sample)
        if (tasks := len({*runs.values()})) < settings.min_tasks:
            raise NoBridge(
                f"only {counted(tasks, 'task')} in {counted(len(runs), 'run')} that {old} scored; at least "
                f"{settings.min_tasks} needed (--sample, or evaluate more drops with {old})"
            )
        asking = _asking(panel, change)
        check_ledger(home, asking)
        check_evaluators(asking)
        with _as_drops(home, runs) as sampled_drops:
            if not _is_agreed(home, asking, change, sampled_drops, spending):
                return
        limit = spending.budget()
        found = _overlap(home, runs, Scorers.of(home, asking), change, limit)
        limit.check_all_was_asked()
        offsets, needed = _offsets(found, runs, settings)
        if not offsets:
            raise NoBridge(_too_few(needed))
        made = Bridge(
            old=old,
            new=new,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            drops=tuple(sorted({drop for drop, _ in runs})),
            asked=change.asked,
            comparability=dict(change.comparability),
            differs=all_differences(change, found.silent),
            offsets=offsets,
        )
        file = bridges_file(home.bridges, name)
        with home.edits(file):
            write_bridges(file, read_bridges(file, name).with_bridge(made))
    except NoBridge as problem:
        echo(f"no bridge: {problem}", err=True)
        sys.exit(1)
    except Stopped as problem:
        echo(f"{problem}; no bridge was made. Replies are kept: run the command again", err=True)
        sys.exit(3)
    if format_name == "json":
        echo_json({"suite": name, "file": str(file), **made.model_dump(), "tasks_needed": needed})
    else:
        echo(*_lines(made, name, len(runs), needed), f"written to {file}")


def _suite(home: Installation, old: str, suite: str | None) -> tuple[str, list[DropMetrics]]:
    """The suite to link, with its evaluated drops, oldest first."""
    every = dict(suites(home))
    if suite not in (None, *every):
        refuse(f"no drop of suite {suite!r} was evaluated; evaluated suites: {', '.join(every) or 'none'}")
    found = {name: drops for name, drops in every.items() if suite in (None, name)}
    scored = [name for name, drops in found.items() if any(old in judges_in(drop.comparability) for drop in drops)]
    if len(scored) > 1:
        refuse(f"{old} scored drops of several suites; choose one with --suite: {', '.join(scored)}")
    if not scored:
        judges = sorted(
            {judge for drops in found.values() for drop in drops for judge in judges_in(drop.comparability)}
        )
        where = "no drop of a suite" if suite is None else f"no drop of suite {suite}"
        refuse(f"{where} has scores of {old!r}; judges with scores: {', '.join(judges) or 'none'}")
    return scored[0], found[scored[0]]


def _asking(panel: Panel, change: Change) -> Panel:
    """The panel after the change, asked about every run of the sample and at no level that a bridge does not link."""
    known = {judge.name: judge for judge in panel.judges}
    judges = []
    for each in change.judges:
        own = known[each.name]
        levels = tuple(level for level in LEVELS if level in own.selection.levels)
        if not levels:
            refuse(f"judge {own.name} is asked about sessions only, which a bridge does not link")
        chosen: dict[str, Any] = {} if own.preset == "quick" else {"levels": levels, "preset": None}
        judges.append(own.model_copy(update={"sample": None, **chosen}))
    return panel.model_copy(update={"judges": tuple(judges), "embeddings": None})


@contextmanager
def _as_drops(home: Installation, runs: Mapping[Run, str]) -> Iterator[list[Drop]]:
    """The runs as drops of their own, for the price."""
    by_drop: dict[str, set[str]] = {}
    for drop, trajectory in runs:
        by_drop.setdefault(drop, set()).add(trajectory)
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.jsonl" for number in range(len(by_drop))]
        for file, (drop, chosen) in zip(files, by_drop.items(), strict=True):
            file.write_bytes(b"".join(line_of(each) for each in trajectories_of(home, drop, chosen)))
        yield [one_file(UPath(file)) for file in files]


def _is_agreed(home: Installation, panel: Panel, change: Change, drops: list[Drop], spending: Spending) -> bool:
    """Whether the judges are to be asked, after the price was shown where there is one."""
    asked = tuple(judge for judge in panel.judges if judge.name in change.asked)
    if not asked:
        return not spending.dry_run
    alone = panel.model_copy(update={"judges": asked, "quorum": 1})
    return is_agreed_on_drops(home, alone, drops, spending)


def _overlap(home: Installation, runs: Mapping[Run, str], scorers: Scorers, change: Change, limit: Budget) -> Overlap:
    with progress("judging", len(runs) * len(change.asked) * len(STEPS)) as step:
        return asyncio.run(overlap(home, runs, scorers, change.asked, limit, step))


def _offsets(
    found: Overlap, runs: Mapping[Run, str], settings: GateSettings
) -> tuple[dict[str, Offset], dict[str, int]]:
    """The offset of each metric; of those with too few tasks instead, how many they need."""
    offsets: dict[str, Offset] = {}
    needed: dict[str, int] = {}
    for metric, by_run in found.differences.items():
        offset = offset_of(list(by_run.values()), [runs[run] for run in by_run])
        least = settings.min_tasks if offset is None else tasks_of_overlap(offset, settings)
        if offset is None or offset.n_tasks < least:
            needed[metric] = least
        else:
            offsets[metric] = offset
    return offsets, needed


def _too_few(needed: Mapping[str, int]) -> str:
    if not needed:
        return "no run has scores of both"
    return "too few tasks with scores of both; needed: " + ", ".join(
        f"{metric} about {counted(tasks, 'task')}" for metric, tasks in needed.items()
    )


def _lines(made: Bridge, suite: str, runs: int, needed: Mapping[str, int]) -> Iterator[str]:
    yield f"{suite}: {made.old} to {made.new}, {counted(runs, 'run')} of {counted(len(made.drops), 'drop')}"
    for metric, offset in made.offsets.items():
        yield f"  {metric:<24} {offset_words(offset)} over {counted(offset.n_tasks, 'task')}"
    for metric, tasks in needed.items():
        yield f"  {metric:<24} not linked: about {counted(tasks, 'task')} needed"
