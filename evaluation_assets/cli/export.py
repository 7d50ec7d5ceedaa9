"""`export`: write an evaluated drop in other formats."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import IO

import click
import orjson
from upath import UPath

from evaluation_assets.cli.inspect_export import write_inspect_log
from evaluation_assets.cli.options import with_home
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.core.gating.session_agents import with_ranks
from evaluation_assets.core.lake.stored import publish
from evaluation_assets.core.report.sinks import otel_events
from evaluation_assets.core.report.sinks.scores import drop_scores
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.traces.formats.writers import atif, openai_messages
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of


@click.command()
@click.argument("drop")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["atif", "openai_messages", "otel_evaluations", "session_agents", "inspect"]),
    required=True,
    help="ATIF documents, OpenAI chat messages, scores as OpenTelemetry gen_ai.evaluation.result events (OTLP), the "
    "agents in sessions with their ranks over the suite, or an Inspect AI log with scores (extra `inspect`).",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="JSON Lines file to write, one line per trajectory or agent; for `inspect`, an .eval or .json file.",
)
@with_home
def export(home: Installation, drop: str, format_name: str, output: Path) -> None:
    """Export an evaluated drop as JSON Lines, or as a log of Inspect AI."""
    stored = home.table(drop, "preprocessed_trajectories")
    if not stored.exists:
        refuse(f"{drop!r} has no trajectories in {home.lake}. Evaluate it first: evaluation-assets evaluate FILE")
    trajectories = (trajectory_of(row) for row in stored.rows(TREE_AND_TEXT))
    if format_name == "inspect":
        echo(f"{output}: {write_inspect_log(home, drop, output)} trajectories")
        return
    count = 0

    def pour(sink: IO[bytes]) -> None:
        nonlocal count
        for line in _lines(home, drop, format_name, trajectories):
            sink.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            count += 1

    publish(UPath(output), pour)
    echo(f"{output}: {count} {'agents' if format_name == 'session_agents' else 'trajectories'}")


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
