"""`import`: the import report of files."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import click

from evaluation_assets.cli.options import refuse, warn
from evaluation_assets.cli.output import echo
from evaluation_assets.core.drops import Drop, InvalidDrop
from evaluation_assets.core.formats.base import Rejection, UnreadableDrop
from evaluation_assets.core.formats.registry import FORMATS, format_of, read_trajectories
from evaluation_assets.core.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.intake.drops import inspect
from evaluation_assets.core.trajectories.model import Trajectory

_SHOWN = 10


@click.command("import")
@click.argument("inputs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="Force the input format; skip detection."
)
@click.option("--one-drop", is_flag=True, help="Treat a directory as one drop of all its files.")
@click.option(
    "--all", "show_all", is_flag=True, help=f"List all trajectories and rejections (default: {_SHOWN} of each)."
)
def import_files(inputs: tuple[Path, ...], format_name: str | None, one_drop: bool, show_all: bool) -> None:
    """Preview how files are parsed.

    The import report shows trajectories, rejected records with the reason, and unmapped fields. Nothing is written,
    no model is called.
    """
    read = 0
    problems: list[str] = []
    try:
        drops = inspect(list(inputs), one_drop=one_drop, say=warn)
    except InvalidDrop as problem:
        refuse(str(problem))
    for drop in drops:
        try:
            _show(replace(drop, forced_format=format_name), None if show_all else _SHOWN)
            read += 1
        except (InvalidDrop, UnreadableDrop) as problem:
            problems.append(str(problem))
            echo("", drop.key, f"  {problem}", err=True)
    if problems and not read:
        raise SystemExit(2)


def _show(drop: Drop, shown: int | None) -> None:
    unmapped = UnmappedFields()
    chosen = format_of(drop.sources, drop.sidecar().format)
    trajectories: list[Trajectory] = []
    rejected: list[Rejection] = []
    counts: Counter[str] = Counter()
    for item in read_trajectories(drop.sources, unmapped, chosen.name):
        if isinstance(item, Rejection):
            rejected.append(item)
            continue
        counts.update(trajectories=1, calls=len(item.calls), turns=len(item.turns), repaired=bool(item.repairs))
        if shown is None or len(trajectories) < shown:
            trajectories.append(item)
    echo("", drop.key)
    echo(f"  format             {chosen.name}")
    echo(f"  trajectories       {counts['trajectories']} ({counts['turns']} turns, {counts['calls']} calls)")
    echo(f"  rejected           {len(rejected)}")
    for item in rejected[:shown]:
        echo(f"    {item.source}, record {item.line}: {item.reason}: {item.detail}")
    for trajectory in trajectories:
        echo(f"    {_line(trajectory)}")
    if counts["trajectories"] > len(trajectories):
        echo(f"    and {counts['trajectories'] - len(trajectories)} more; --all shows them")
    echo(f"  unmapped fields    {unmapped.counts.total()} values in {len(unmapped.counts)} fields")
    for path, count in unmapped.table()[:shown]:
        echo(f"    {count:>7}  {path}")


def _line(trajectory: Trajectory) -> str:
    outcome = {None: "outcome unknown", True: "succeeded", False: "failed"}[trajectory.success]
    agents = len({agent.id for agent in trajectory.agents}) or 1
    usage = trajectory.usage
    tokens = "tokens unknown" if usage is None or usage.input_tokens is None else f"{usage.input_tokens} tokens in"
    parts = (f"{len(trajectory.turns)} turns", f"{len(trajectory.calls)} calls", f"{agents} agents", tokens, outcome)
    return f"{trajectory.id}: {', '.join(parts)}"
