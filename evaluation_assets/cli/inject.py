"""`inject`: plant faults into copies of runs, and measure how well judges and detectors notice them."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from upath import UPath

from evaluation_assets.cli.asking import agreed, answered, exit_if_stopped
from evaluation_assets.cli.one_judge import judge_named
from evaluation_assets.cli.options import (
    InputPath,
    OutputFile,
    Spending,
    WholeRange,
    text_or_json,
    with_judges,
    with_spending,
)
from evaluation_assets.cli.output import echo, echo_json, refuse, warn
from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.copying.drops import inspect
from evaluation_assets.core.intake.drops import find
from evaluation_assets.core.intake.preprocessing.preprocess import Preprocessor, Removal
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.panel import EMBEDDED, RECORDED, JudgeSettings, Panel
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.lake.stored import published
from evaluation_assets.core.pipeline.injection import (
    Pairs,
    asked_about_runs,
    by_findings,
    chosen_runs,
    judge_pairs,
    pairs_of,
)
from evaluation_assets.core.report.findings.injection_table import figures, injection_lines
from evaluation_assets.core.scoring.discrimination import Noticed
from evaluation_assets.core.sections.findings.faults.operator import Operator
from evaluation_assets.core.sections.findings.faults.registry import OPERATORS
from evaluation_assets.core.system.commands import program
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.readers.canonical import line_of
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

_RULES = JudgeSettings(name=EMBEDDED, provider=EMBEDDED)


@click.command()
@click.argument("source", metavar="DROP_OR_FILE", type=InputPath())
@with_judges
@click.option(
    "--kind",
    "names",
    multiple=True,
    type=click.Choice(list(OPERATORS)),
    metavar="NAME",
    help=f"Plant only this; can be repeated. Choose from: {', '.join(OPERATORS)} (default: all).",
)
@click.option(
    "--runs",
    "most",
    type=WholeRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Use at most N runs, drawn by the seed.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of what is drawn.")
@click.option(
    "--judge",
    "judge_names",
    multiple=True,
    metavar="NAME",
    help="Measure this judge of the panel; can be repeated (default: the embedded judge, which is free).",
)
@click.option(
    "--output",
    type=OutputFile(),
    help="Also write the runs and their damaged copies, with labels, as canonical JSON Lines.",
)
@with_spending("Show what would be planted, and the price; no model is called.", limits_calls=True)
@text_or_json
def inject(
    home: Installation,
    panel: Panel,
    source: str,
    names: tuple[str, ...],
    most: int,
    seed: int,
    judge_names: tuple[str, ...],
    output: Path | None,
    spending: Spending,
    format_name: str,
) -> None:
    """Plant faults into copies of runs and measure how well judges and detectors notice them.

    DROP_OR_FILE is a file, a directory, or a drop of the installation, which stays as it is. Each copy has one fault
    at a known place, or is a control that means the same. `falls` and `rises` are the shares of copies that score below
    and above their run; `net` is the difference, 0 for a judge that scores all runs alike; `place` is the share of
    faults whose clip scores lower than before, or has a finding; `recall` is the share of copies with such a finding.
    """
    operators = [OPERATORS[name] for name in names] or list(OPERATORS.values())
    chosen = _chosen(panel, judge_names)
    pairs = pairs_of(chosen_runs(_runs(home, source), most, seed), operators, seed)
    if not pairs.pairs:
        refuse(f"{source}: nothing can be planted into {counted(pairs.runs, 'run')}{_first_reason(pairs)}")
    if output is not None:
        _write(output, pairs)
    rubrics, types = load_rubrics(home.rubrics), load_tool_types(home.tool_types)
    ask = partial(judge_pairs, pairs=pairs, rubrics=rubrics, types=types)
    judges, budget = agreed(home, chosen, spending, ask, _planted(pairs))
    report: list[dict[str, Any]] = []
    if format_name == "text":
        echo(f"{source}: {counted(pairs.runs, 'run')}, {counted(len(pairs.pairs), 'changed copy')}")

    def measured() -> Iterator[tuple[dict[str, str], list[tuple[Operator, Noticed]]]]:
        for judge in judges:
            asked = len(asked_about_runs(judge.selection)) * len(pairs.trajectories())
            yield {"by": "judge", "judge": judge.name}, answered(judge, ask, budget, asked)
        for by, noticed in by_findings(pairs).items():
            yield {"by": by}, noticed

    for by, noticed in measured():
        if format_name == "json":
            report.append({**by, "runs": pairs.runs, "operators": figures(pairs, noticed)})
            continue
        echo("", f"judge {by['judge']}" if "judge" in by else by["by"].replace("_", " "))
        echo(*injection_lines(pairs, noticed))
    if format_name == "json":
        echo_json(report)
    exit_if_stopped(budget, "; runs that were not asked about count in no share. Replies are kept: re-run to resume")


def _chosen(panel: Panel, names: Sequence[str]) -> Panel:
    """The panel of the judges to measure, each asked about all runs and their clips, as far as it is asked them."""
    has_embedded = any(judge.name == EMBEDDED for judge in panel.judges)
    judges = []
    for name in dict.fromkeys(names or (EMBEDDED,)):
        judge = _RULES if name == EMBEDDED and not has_embedded else judge_named(panel, name)
        if judge.provider == RECORDED:
            refuse(f"judge {name} is recorded; it has no verdicts on damaged runs")
        if not asked_about_runs(judge.selection):
            refuse(f"judge {name} is asked neither about clips nor about whole runs; it gives runs no score")
        levels = judge.levels if judge.selection.is_quick else asked_about_runs(judge.selection)
        preset = judge.preset if judge.selection.is_quick else None
        judges.append(judge.model_copy(update={"sample": None, "levels": levels, "preset": preset}))
    return panel.of_judges(judges)


def _runs(home: Installation, source: str) -> Iterator[Trajectory]:
    if not Path(source).exists():
        stored = home.table(source, "preprocessed_trajectories")
        if stored.exists:
            yield from map(trajectory_of, stored.rows(TREE_AND_TEXT))
            return
        drops = [find(home.drops, source)]
    else:
        drops = inspect([Path(source)], say=warn)
    preprocessor, rejected = Preprocessor(Settings()), 0
    for drop in drops:
        for item in read_trajectories(drop.sources, UnmappedFields(), drop.sidecar().format):
            if isinstance(item, Rejection):
                rejected += 1
            elif not isinstance(kept := preprocessor.process(item), Removal):
                yield kept
    if rejected:
        warn(f"{source}: {counted(rejected, 'record')} could not be read; to list them: {program()} import FILE")


def _first_reason(pairs: Pairs) -> str:
    reasons = [reason for each in pairs.not_applicable.values() for reason in each]
    return f": {reasons[0]}" if reasons else ""


def _write(output: Path, pairs: Pairs) -> None:
    with published(UPath(output)) as sink:
        sink.writelines(map(line_of, pairs.trajectories()))
    echo(
        f"{output}: {counted(len(pairs.trajectories()), 'run')}, damaged ones with the label `injected`",
        err=True,
    )


def _planted(pairs: Pairs) -> Iterator[str]:
    """What a dry run says: how many runs each fault can be planted into, and why not into others."""
    yield f"{counted(pairs.runs, 'run')}, {counted(len(pairs.pairs), 'changed copy')}"
    for name, reasons in pairs.not_applicable.items():
        fit = pairs.runs - sum(reasons.values())
        yield f"  {name:<22}{fit:>6}  {'; '.join(f'{count}: {why}' for why, count in reasons.most_common(1))}"
