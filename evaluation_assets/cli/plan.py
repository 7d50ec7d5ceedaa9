"""`plan`: what an evaluation would do and cost."""

from dataclasses import replace
from pathlib import Path

import click

from evaluation_assets.cli.options import reading, refuse, warn, with_panel
from evaluation_assets.core.clips.tool_types import load_tool_types
from evaluation_assets.core.drops import InvalidDrop
from evaluation_assets.core.formats.base import UnreadableDrop
from evaluation_assets.core.formats.registry import FORMATS
from evaluation_assets.core.home import Home
from evaluation_assets.core.judging.ledger import LedgerError
from evaluation_assets.core.judging.panel import EMBEDDED, RECORDED, Panel, judges_of
from evaluation_assets.core.planning import plan as plan_drop
from evaluation_assets.core.preprocessing.rules import OnViolation, Settings
from evaluation_assets.core.rubrics.model import load_rubrics
from evaluation_assets.intake import inspect


@click.command()
@reading
@with_panel
@click.option("--one-drop", is_flag=True, help="A directory is one drop of all its files.")
@click.option("--format", "format_name", type=click.Choice(list(FORMATS)), help="Read it so, whatever it looks like.")
def plan(
    inputs: tuple[Path, ...],
    beta_threshold: int,
    on_violation: OnViolation,
    home: Home,
    panel: Panel,
    one_drop: bool,
    format_name: str | None,
) -> None:
    """Say what `evaluate` would do: records, clips, verdicts, calls, price. Writes nothing, calls nobody."""
    settings = Settings(beta_threshold=beta_threshold, on_violation=on_violation)
    try:
        judges = judges_of(panel, home.ledger_url if home.has_ledger else "sqlite://")
        for drop in inspect(list(inputs), one_drop=one_drop, say=warn):
            drop = replace(drop, forced_format=format_name)
            planned = plan_drop(drop, settings, load_rubrics(home.rubrics), load_tool_types(home.tool_types), judges)
            counts = planned.statistics
            click.echo(f"\n{planned.drop}")
            click.echo(f"  records            {counts.total}")
            click.echo(f"  to be judged       {counts.kept}")
            click.echo(f"  removed            {counts.removed.total()}")
            click.echo(f"  unreadable         {counts.unreadable.total()}")
            types = ", ".join(f"{tool} {count}" for tool, count in sorted(planned.tool_types.items()))
            click.echo(f"  clips              {planned.clips} ({types})")
            levels = ", ".join(f"{level} {count}" for level, count in planned.subjects.items())
            click.echo(f"  verdicts per judge {planned.subjects.total()} ({levels})")
            for name in (judge.name for judge in panel.judges if judge.provider in (EMBEDDED, RECORDED)):
                click.echo(f"  judge {name:<12} no model calls, no cost")
            for calls in planned.calls:
                price = "price unknown" if calls.at_most_usd is None else f"at most ${calls.at_most_usd:.2f}"
                click.echo(
                    f"  judge {calls.judge:<12} clips: {calls.clips_new} new calls, {calls.clips_known} in the ledger; "
                    f"up to {calls.later} calls later; about {calls.input_tokens} tokens in before caching, {price}"
                )
    except (InvalidDrop, UnreadableDrop, LedgerError) as problem:
        refuse(str(problem))
