"""`import`: the import report of files."""

from dataclasses import replace
from pathlib import Path

import click

from evaluation_assets.cli.coding_agents import with_coding_agents
from evaluation_assets.cli.options import with_format, with_inputs
from evaluation_assets.cli.output import echo
from evaluation_assets.cli.requested_sessions import RequestedSessions, inspected
from evaluation_assets.core.intake.drops import Drop, InvalidDrop
from evaluation_assets.core.text.counted import counted, to_a_hundredth_cent
from evaluation_assets.core.traces.formats.base import Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

_SHOWN = 10


@click.command("import")
@with_coding_agents
@with_inputs
@with_format
@click.option("--one-drop", is_flag=True, help="Treat a directory as one drop of all its files.")
@click.option("--all", "show_all", is_flag=True, help=f"List all runs and rejections (default: {_SHOWN} of each).")
def import_files(
    inputs: tuple[Path, ...],
    sessions: RequestedSessions | None,
    format_name: str | None,
    one_drop: bool,
    show_all: bool,
) -> None:
    """Preview how files are parsed.

    The import report shows trajectories, rejected records with the reason, and unmapped fields. Nothing is written,
    no model is called. The exit code is 1 if some files cannot be read, and 2 if none can.
    """
    read = 0
    failed = 0
    drops = inspected(inputs, sessions, one_drop=one_drop)
    for drop in drops:
        try:
            if _show(replace(drop, forced_format=format_name), None if show_all else _SHOWN):
                read += 1
            else:
                failed += 1
        except (InvalidDrop, UnreadableDrop) as problem:
            failed += 1
            echo("", drop.key, f"  {problem}", err=True)
    if failed:
        raise SystemExit(1 if read else 2)


def _show(drop: Drop, shown: int | None) -> bool:
    """Print the import report of a drop; whether a record of it could be read."""
    chosen = format_of(drop.sources, drop.sidecar().format)
    report = ImportReport()
    trajectories: list[Trajectory] = []
    rejected: list[Rejection] = []
    for item in report.read(chosen, drop.sources):
        if isinstance(item, Rejection):
            rejected.append(item)
        elif shown is None or len(trajectories) < shown:
            trajectories.append(item)
    summary, unmapped = report.summary, report.unmapped
    echo("", drop.key)
    echo(f"  format             {chosen.name}")
    echo(f"  reading            {summary.sentence}")
    echo(f"  runs               {summary.trajectories} ({counted(summary.turns, 'turn')})")
    echo(f"  calls              {_calls(summary)}")
    echo(f"  tokens             {_tokens(summary)}")
    echo(f"  rejected           {summary.rejected}")
    for item in rejected[:shown]:
        echo(f"    {item.source}, record {item.line}: {item.reason}: {item.detail}")
    for trajectory in trajectories:
        echo(f"    {_line(trajectory)}")
    if summary.trajectories > len(trajectories):
        echo(f"    and {summary.trajectories - len(trajectories)} more; --all shows them")
    fields = counted(len(unmapped.counts), "field")
    echo(f"  unmapped fields    {counted(unmapped.counts.total(), 'value')} in {fields}")
    for path, count in unmapped.table()[:shown]:
        echo(f"    {count:>7}  {path}")
    return summary.trajectories > 0 or summary.rejected == 0


def _calls(summary: ImportSummary) -> str:
    """The calls that were read, with what is odd about them."""
    odd = (
        (summary.calls_not_read, "could not be read"),
        (summary.unanswered_calls, "without a result"),
        (summary.repeated_calls, "repeated"),
    )
    parts = [f"{count:,} {what}" for count, what in odd if count]
    strays = [f"{counted(summary.stray_results, 'result')} without a call"] if summary.stray_results else []
    return ", ".join([f"{summary.calls:,}", *parts, *strays])


def _tokens(summary: ImportSummary) -> str:
    read = "unknown" if summary.input_tokens is None else f"{summary.input_tokens:,}"
    written = "unknown" if summary.output_tokens is None else f"{summary.output_tokens:,}"
    cost = "unknown" if summary.cost_usd is None else to_a_hundredth_cent(summary.cost_usd)
    if summary.input_tokens is summary.output_tokens is summary.cost_usd is None:
        return "unknown"
    listed = " at list prices" if summary.is_list_price else ""
    return f"{read} in, {written} out{_of(summary.counted, summary)}, cost {cost}{listed}{_of(summary.priced, summary)}"


def _of(known: int, summary: ImportSummary) -> str:
    """How many runs a sum is of, where these are some of them."""
    partly = 0 < known < summary.trajectories
    return f" ({known:,} of {counted(summary.trajectories, 'run')})" if partly else ""


def _line(trajectory: Trajectory) -> str:
    outcome = {None: "outcome unknown", True: "succeeded", False: "failed"}[trajectory.success]
    agents = len({agent.id for agent in trajectory.agents}) or 1
    usage = trajectory.usage
    tokens = "tokens unknown" if usage is None or usage.input_tokens is None else f"{usage.input_tokens:,} tokens in"
    parts = (
        counted(len(trajectory.turns), "turn"),
        counted(len(trajectory.calls), "call"),
        counted(agents, "agent"),
        tokens,
        outcome,
    )
    return f"{trajectory.id}: {', '.join(parts)}"
