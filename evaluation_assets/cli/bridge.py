"""`panel bridge`: link the scores of a suite over a change of a judge, a rubric or a model."""

import sys
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import click

from evaluation_assets.cli.asking import agreed, answered, exit_if_stopped
from evaluation_assets.cli.options import Spending, WholeRange, text_or_json, with_panel, with_spending
from evaluation_assets.cli.output import echo, echo_json, refuse
from evaluation_assets.core.gating.baselines import judges_in
from evaluation_assets.core.gating.bridges import (
    bridges_file,
    offset_of,
    read_bridges,
    tasks_of_overlap,
)
from evaluation_assets.core.gating.evaluated_drops import suites
from evaluation_assets.core.gating.outcome import Bridge, Offset
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import DropMetrics
from evaluation_assets.core.gating.wording import offset as offset_words
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.lake.stored import publish_document
from evaluation_assets.core.pipeline.bridging import (
    LEVELS,
    STEPS,
    Change,
    NoBridge,
    Overlap,
    Run,
    all_differences,
    change_of,
    copied,
    judge_copies,
    overlap,
    sampled,
)
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted


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
        overlap = _overlap(home, runs, _asking(panel, change), change, spending)
        offsets, needed = _offsets(overlap, runs, settings)
        if not offsets:
            raise NoBridge(_too_few(needed))
        made = Bridge(
            old=old,
            new=new,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            drops=tuple(sorted({drop for drop, _ in runs})),
            asked=change.asked,
            comparability=dict(change.comparability),
            differs=all_differences(change, overlap.silent),
            offsets=offsets,
        )
        file = bridges_file(home.bridges, name)
        with home.edits(file):
            publish_document(file, read_bridges(file, name).with_bridge(made))
    except NoBridge as problem:
        echo(f"no bridge: {problem}", err=True)
        sys.exit(1)
    if format_name == "json":
        echo_json({"suite": name, "file": str(file), **made.model_dump(), "tasks_needed": needed})
    else:
        echo(*_lines(made, name, len(runs), needed), f"written to {file}")


def _suite(home: Installation, old: str, suite: str | None) -> tuple[str, list[DropMetrics]]:
    """The suite to link, with its evaluated drops, oldest first."""
    every = dict(suites(home))
    if suite not in (None, *every):
        refuse(f"no drop of suite {suite!r} was evaluated; evaluated suites: {', '.join(every) or 'none'}")
    matching = {name: drops for name, drops in every.items() if suite in (None, name)}
    scored = [name for name, drops in matching.items() if any(old in judges_in(drop.comparability) for drop in drops)]
    if len(scored) > 1:
        refuse(f"{old} scored drops of several suites; choose one with --suite: {', '.join(scored)}")
    if not scored:
        judges = sorted(
            {judge for drops in matching.values() for drop in drops for judge in judges_in(drop.comparability)}
        )
        where = "no drop of a suite" if suite is None else f"no drop of suite {suite}"
        refuse(f"{where} has scores of {old!r}; judges with scores: {', '.join(judges) or 'none'}")
    return scored[0], matching[scored[0]]


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


def _overlap(home: Installation, runs: Collection[Run], asking: Panel, change: Change, spending: Spending) -> Overlap:
    """Ask the judges that have no verdicts on the runs yet, and compare the scores; exits if some was not asked."""
    scorers = Scorers.of(home, asking)
    asked = asking.of_judges(judge for judge in asking.judges if judge.name in change.asked)
    with TemporaryDirectory() as folder:
        there = Installation.at(folder)
        drops = copied(home, runs, there, [judge.name for judge in scorers.judges if judge.name not in change.asked])
        ask = partial(judge_copies, there=there, drops=drops, rubrics=scorers.rubrics)
        judges, budget = agreed(home, asked, spending, ask, ())
        for judge in judges:
            answered(judge, ask, budget, len(runs) * len(STEPS))
        exit_if_stopped(budget, "; no bridge was made. Replies are kept: run the command again")
        return overlap(home, there, drops, scorers)


def _offsets(
    overlap: Overlap, runs: Mapping[Run, str], settings: GateSettings
) -> tuple[dict[str, Offset], dict[str, int]]:
    """The offset of each metric; of those with too few tasks instead, how many they need."""
    offsets: dict[str, Offset] = {}
    needed: dict[str, int] = {}
    for metric, by_run in overlap.differences.items():
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
