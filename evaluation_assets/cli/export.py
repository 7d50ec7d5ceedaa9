"""`export`: write an evaluated drop in other formats."""

from collections.abc import Iterable, Iterator
from functools import wraps
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from upath import UPath

from evaluation_assets.cli.exported_prompts import exported_prompts
from evaluation_assets.cli.inspect_export import write_inspect_log
from evaluation_assets.cli.options import FiniteRange, OutputFile, with_home
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.core.gating.session_agents import with_ranks
from evaluation_assets.core.judging.selection import EVERY_LEVEL
from evaluation_assets.core.lake.staging import is_stream
from evaluation_assets.core.report.files import write_json_lines
from evaluation_assets.core.report.provenance.judge_prompts import Part, Wanted
from evaluation_assets.core.report.sinks import otel_events
from evaluation_assets.core.report.sinks.scores import drop_scores
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.traces.formats.writers import atif, openai_messages
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of


def _with_filters(command: Any) -> Any:
    """Pass the options for prompts to a command as `wanted`."""

    @click.option("--level", "levels", multiple=True, type=click.Choice(EVERY_LEVEL), help="Level; repeatable.")
    @click.option("--tool-type", "tool_types", multiple=True, help="Tool type of clips and categories; repeatable.")
    @click.option("--judge", "judges", multiple=True, help="Name of a judge; repeatable.")
    @click.option("--task", "tasks", multiple=True, help="ID of a task; repeatable.")
    @click.option(
        "--evaluation-share",
        type=FiniteRange(min=0, max=1),
        help="Share of the tasks for evaluation; the others are for training. Default: no split.",
    )
    @click.option("--seed", type=int, default=0, show_default=True, help="Seed of the split.")
    @click.option("--split", "part", type=click.Choice(["train", "evaluation"]), help="Export one part of the split.")
    @wraps(command)
    def run(
        levels: tuple[str, ...],
        tool_types: tuple[str, ...],
        judges: tuple[str, ...],
        tasks: tuple[str, ...],
        evaluation_share: float | None,
        seed: int,
        part: Part | None,
        **options: Any,
    ) -> None:
        if part is not None and evaluation_share is None:
            refuse("--split needs --evaluation-share")
        wanted = Wanted(
            levels=levels,
            tool_types=tool_types,
            judges=judges,
            tasks=tasks,
            evaluation_share=evaluation_share,
            seed=seed,
            part=part,
        )
        command(wanted=wanted, **options)

    return run


@click.command()
@click.argument("drop")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["atif", "openai_messages", "otel_evaluations", "session_agents", "inspect", "judge_prompts"]),
    required=True,
    help="ATIF documents, OpenAI chat messages, scores as OpenTelemetry gen_ai.evaluation.result events (OTLP), the "
    "agents in sessions with their ranks over the suite, an Inspect AI log with scores (extra `inspect`), or what each "
    "model judge was asked and answered.",
)
@click.option(
    "--output",
    type=OutputFile(),
    required=True,
    help="JSON Lines file to write (`-`: stdout), one line per run, agent or verdict; for `inspect`, an "
    ".eval or .json file.",
)
@_with_filters
@with_home
def export(home: Installation, drop: str, format_name: str, output: Path, wanted: Wanted) -> None:
    """Export an evaluated drop as JSON Lines, or as a log of Inspect AI.

    The options from --level on are for `judge_prompts`.
    """
    if format_name != "judge_prompts" and wanted != Wanted():
        refuse(
            f"--level, --tool-type, --judge, --task and the split are for --format judge_prompts, not for {format_name}"
        )
    stored = home.table(drop, "preprocessed_trajectories")
    if not stored.exists:
        refuse(f"{drop!r} has no runs in {home.lake}. Evaluate it first: {home.command('evaluate', 'FILE')}")
    trajectories = (trajectory_of(row) for row in stored.rows(TREE_AND_TEXT))
    if format_name == "inspect":
        echo(f"{output}: {write_inspect_log(home, drop, output)} trajectories")
        return
    lines = (
        exported_prompts(home, drop, wanted)
        if format_name == "judge_prompts"
        else _lines(home, drop, format_name, trajectories)
    )
    count = write_json_lines(UPath(output), lines)
    what = {"session_agents": "agents", "judge_prompts": "verdicts"}.get(format_name, "trajectories")
    echo(f"{output}: {count} {what}", err=is_stream(output))


def _lines(home: Installation, drop: str, format_name: str, trajectories: Iterable[Trajectory]) -> Iterator[JsonObject]:
    if format_name == "atif":
        yield from map(atif.document, trajectories)
    elif format_name == "openai_messages":
        yield from map(openai_messages.record, trajectories)
    elif format_name == "session_agents":
        yield from with_ranks(home, drop)
    else:
        if not home.table(drop, "trajectory_scores").exists:
            refuse(f"{drop!r} has no scores in {home.lake}. Evaluate it without --preprocess-only first.")
        scores = drop_scores(home, drop, home.judges_of(drop), Mask())
        for _, own in groupby(scores, key=lambda score: score.trajectory_id):
            yield otel_events.document(own)
