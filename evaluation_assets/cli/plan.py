"""`plan`: dry run of an evaluation, with a cost estimate."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import click
from upath import UPath

from evaluation_assets.cli.chosen_panel import not_fitted
from evaluation_assets.cli.coding_agents import with_coding_agents
from evaluation_assets.cli.drops_as_given import warn_of_single_runs
from evaluation_assets.cli.options import InputPath, preprocessing, with_format, with_judges
from evaluation_assets.cli.output import counting, echo, refuse, warn
from evaluation_assets.cli.quotes import print_calls, print_total
from evaluation_assets.cli.requested_sessions import RequestedSessions, inspected
from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.drops import Drop, InvalidDrop, find, scan
from evaluation_assets.core.intake.preprocessing.rules import OnViolation, Settings
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import WITHOUT_MODEL, Panel, judges_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics, own_rubrics
from evaluation_assets.core.judging.selection import Preset
from evaluation_assets.core.models.strictest_limits import overruled_limits
from evaluation_assets.core.pipeline.named_metrics import settings_of
from evaluation_assets.core.pipeline.planning import PRESETS, Plan, total_of
from evaluation_assets.core.pipeline.planning import plan as plan_drop
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import first_of
from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.runs.paid import check_evaluators, missing_keys, unknown_prices, without_keys

_NAMED = 20
"""Drops that are named."""

_TOOLS = 6
"""Types of clips that are named, those with the most clips first."""


@click.command()
@click.argument("inputs", nargs=-1, metavar="[INPUTS]...", type=InputPath())
@partial(with_coding_agents, needs_no_inputs=True)
@preprocessing
@with_judges
@click.option(
    "--preset", type=click.Choice(PRESETS), help="Price this preset for all model judges, not what panel.yaml chooses."
)
@click.option(
    "--rubrics",
    type=click.Path(exists=True, file_okay=False),
    help="Price with the rubrics in this folder, not with those of the home folder.",
)
@click.option("--one-drop", is_flag=True, help="Treat a directory as one drop of all its files.")
@with_format
def plan(
    inputs: tuple[str, ...],
    sessions: RequestedSessions | None,
    since: timedelta | None,
    beta_threshold: int,
    on_violation: OnViolation,
    home: Installation,
    panel: Panel,
    preset: Preset | None,
    rubrics: str | None,
    one_drop: bool,
    format_name: str | None,
) -> None:
    """Dry run of `evaluate` with a cost estimate.

    INPUTS are files, directories, or names of drops of the installation. Without any, all its drops are priced
    together, or those of the last days (--since 90d). With --rubrics, questions that other rubrics ask are new.

    Counts records, clips and model calls. Nothing is written, no model is called.
    """
    settings = Settings(beta_threshold=beta_threshold, on_violation=on_violation)
    panel = (panel if preset is None else panel.with_preset(preset)).asking()
    canaries = settings_of(home, panel).canaries
    if rubrics is not None and not own_rubrics(UPath(rubrics)):
        refuse(f"{rubrics} has no rubrics; they are files <level>/<name>.yaml below it")
    asked = load_rubrics(home.rubrics if rubrics is None else UPath(rubrics))
    types = load_tool_types(home.tool_types)
    check_evaluators(panel)
    judges = judges_of(panel, home.ledger_url if home.has_ledger else "sqlite://")
    for line in overruled_limits(panel.judges):
        echo(line)
    whole = not inputs and sessions is None
    drops = _drops_since(home, since) if whole else _drops(home, inputs, sessions, one_drop=one_drop)
    if not (whole or one_drop):
        warn_of_single_runs(map(Path, inputs), drops)
    plans: list[Plan] = []
    for drop in drops:
        forced = replace(drop, forced_format=format_name)
        try:
            with counting(f"{drop.key}: runs looked up:") as step:
                planned = plan_drop(forced, settings, asked, types, judges, canaries, PRESETS, step=step)
        except (InvalidDrop, UnreadableDrop) as problem:
            if len(drops) == 1:
                raise
            warn(f"{drop.key}: {problem}")
            continue
        plans.append(planned)
        _print_plan(planned, panel, is_part=len(drops) > 1)
    together = total_of(plans)
    if len(plans) > 1 and (together or len(plans) < len(drops)):
        unread = [drop.key for drop in drops if drop.key not in {plan.drop for plan in plans}]
        missing = f"{len(plans)} of {len(drops)} drops; not read: {first_of(unread, _NAMED)}"
        echo("", missing if unread else f"all {len(drops)} drops")
        for calls in together:
            print_calls(calls)
        print_total(together, panel.cascade)
    _print_missing(panel, judges)
    for line in not_fitted(home, panel):
        echo("", line)
    sys.exit(2 if len(plans) < len(drops) else 0)


def _drops(
    home: Installation, inputs: Sequence[str], sessions: RequestedSessions | None, *, one_drop: bool
) -> list[Drop]:
    """What is named: files and directories, and drops of the installation where there is no such file."""
    paths = [Path(name) for name in inputs if Path(name).exists()]
    drops = inspected(paths, sessions, one_drop=one_drop) if paths or sessions else []
    return [*drops, *(find(home.drops, name) for name in inputs if not Path(name).exists())]


def _drops_since(home: Installation, since: timedelta | None) -> list[Drop]:
    """The drops of the installation, or those whose files changed since."""
    scanned = scan(home.drops)
    for problem in scanned.problems:
        warn(problem)
    if since is None:
        drops = list(scanned.drops.values())
    else:
        oldest = (datetime.now(UTC) - since).timestamp()
        drops = [drop for drop in scanned.drops.values() if any(file.stat().st_mtime >= oldest for file in drop.files)]
    if not drops:
        raise InvalidDrop(f"there are no drops to price in {home.drops}; name a file or directory")
    return drops


def _print_missing(panel: Panel, judges: Sequence[Judge]) -> None:
    """Print what an evaluation needs and does not have: prices and keys."""
    prices = unknown_prices(panel, judges)
    keys = missing_keys(panel)
    if prices or keys:
        echo("", "missing")
    for who in prices:
        echo(f"  price              of {who}: set its `price` in panel.yaml, or limit calls with --budget-calls")
    for line in without_keys(keys):
        echo(f"  key                {line}")


def _print_plan(planned: Plan, panel: Panel, *, is_part: bool) -> None:
    counts = planned.statistics
    echo("", planned.drop)
    if planned.drawn is not None:
        echo(f"  drawn              {planned.drawn}")
    echo(f"  records            {counts.total}")
    echo(f"  to be judged       {counts.kept}")
    for label, records in {"removed": counts.removed, "unreadable": counts.unreadable}.items():
        if records:
            echo(f"  {label:<18} {records.total()}")
    tools = [f"{tool} {count}" for tool, count in sorted(planned.tool_types.items(), key=lambda item: (-item[1], item))]
    echo(f"  clips              {planned.clips} ({first_of(tools, _TOOLS)})")
    levels = ", ".join(f"{level} {count}" for level, count in planned.subjects.items())
    echo(f"  subjects           {planned.subjects.total()} ({levels})")
    for judge in panel.judges:
        said = [f"is asked: {judge.selection.in_words}"] if judge.selection.in_words else []
        free = ["no model calls, no cost"] if judge.provider in WITHOUT_MODEL else []
        if said or free:
            echo(f"  judge {judge.name:<12} {'; '.join([*free, *said])}")
    for calls in planned.calls:
        print_calls(calls, is_part=is_part)
    print_total(planned.calls, panel.cascade)
