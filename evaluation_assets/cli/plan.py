"""`plan`: dry run of an evaluation, with a cost estimate."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from evaluation_assets.cli.coding_agents import RequestedSessions, inspected, with_coding_agents
from evaluation_assets.cli.options import reading, with_format, with_panel
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.core.clips.tool_types import load_tool_types
from evaluation_assets.core.drops import InvalidDrop
from evaluation_assets.core.formats.base import UnreadableDrop
from evaluation_assets.core.installation import Installation
from evaluation_assets.core.judging.panel import EMBEDDED, RECORDED, Panel, judges_of
from evaluation_assets.core.judging.quotes import BYTES_PER_TOKEN
from evaluation_assets.core.llm.errors import LedgerError
from evaluation_assets.core.llm.strictest_limits import overruled_limits
from evaluation_assets.core.planning import Calls
from evaluation_assets.core.planning import plan as plan_drop
from evaluation_assets.core.preprocessing.rules import OnViolation, Settings
from evaluation_assets.core.rubrics.model import load_rubrics
from evaluation_assets.core.settings import InvalidSettings, load_settings


@click.command()
@with_coding_agents
@reading
@with_panel
@click.option("--one-drop", is_flag=True, help="Treat a directory as one drop of all its files.")
@with_format
def plan(
    inputs: tuple[Path, ...],
    sessions: RequestedSessions | None,
    beta_threshold: int,
    on_violation: OnViolation,
    home: Installation,
    panel: Panel,
    one_drop: bool,
    format_name: str | None,
) -> None:
    """Dry run of `evaluate` with a cost estimate.

    Counts records, clips and model calls. Nothing is written, no model is called.
    """
    settings = Settings(beta_threshold=beta_threshold, on_violation=on_violation)
    try:
        canaries = load_settings(home.gate_file).canaries
        judges = judges_of(panel, home.ledger_url if home.has_ledger else "sqlite://")
        for line in overruled_limits(panel.judges):
            echo(line)
        for drop in inspected(inputs, sessions, one_drop=one_drop):
            drop = replace(drop, forced_format=format_name)
            rubrics, types = load_rubrics(home.rubrics), load_tool_types(home.tool_types)
            planned = plan_drop(drop, settings, rubrics, types, judges, canaries)
            counts = planned.statistics
            echo("", planned.drop)
            echo(f"  records            {counts.total}")
            echo(f"  to be judged       {counts.kept}")
            echo(f"  removed            {counts.removed.total()}")
            echo(f"  unreadable         {counts.unreadable.total()}")
            types = ", ".join(f"{tool} {count}" for tool, count in sorted(planned.tool_types.items()))
            echo(f"  clips              {planned.clips} ({types})")
            levels = ", ".join(f"{level} {count}" for level, count in planned.subjects.items())
            echo(f"  verdicts per judge {planned.subjects.total()} ({levels})")
            for name in (judge.name for judge in panel.judges if judge.provider in (EMBEDDED, RECORDED)):
                echo(f"  judge {name:<12} no model calls, no cost")
            for calls in planned.calls:
                _print_calls(calls)
            _print_total(planned.calls)
    except (InvalidDrop, InvalidSettings, UnreadableDrop, LedgerError) as problem:
        refuse(str(problem))


def _print_calls(calls: Calls) -> None:
    expected, most = calls.quote.expected, calls.quote.most
    known = sum(calls.known.values())
    levels = ", ".join(f"{level} {count}" for level, count in calls.new.items())
    echo(
        f"  judge {calls.judge:<12} {expected.calls} new calls{f' ({levels})' if levels else ''}, {known} in the ledger"
    )
    if not expected.calls:
        return
    echo(
        f"    expected {_dollars(expected.usd)}: {expected.input_tokens:,} tokens in "
        f"({expected.cached_tokens:,} of them cached), {expected.output_tokens:,} out"
    )
    echo(f"    at most  {_dollars(most.usd)}: {most.input_tokens:,} tokens in, {most.output_tokens:,} out")
    replies = "assumed" if calls.typical_reply is None else f"{calls.typical_reply:.0f} tokens, as in the ledger"
    density = "assumed" if calls.bytes_per_token is None else "as in the ledger"
    bytes_per_token = calls.bytes_per_token or BYTES_PER_TOKEN
    echo(f"    reply length: {replies}; bytes per token: {bytes_per_token:.1f}, {density}")


def _print_total(judges: Sequence[Calls]) -> None:
    """Print the total of several judges."""
    if len(judges) > 1:
        expected = _sum([calls.quote.expected.usd for calls in judges])
        most = _sum([calls.quote.most.usd for calls in judges])
        echo(f"  all judges         expected {_dollars(expected)}, at most {_dollars(most)}")


def _sum(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _dollars(amount: float | None) -> str:
    return "price unknown" if amount is None else f"${amount:.2f}" if amount >= 0.1 else f"${amount:.4f}"
