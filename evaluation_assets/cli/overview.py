"""`overview`, `leaderboard`, `judges`, `drift`: results over all drops."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from evaluation_assets.cli.evaluated import refuse_without_drops
from evaluation_assets.cli.opening import write_list
from evaluation_assets.cli.options import text_or_json, with_panel
from evaluation_assets.cli.output import echo, refuse_run, warn
from evaluation_assets.cli.previews import silence_previews
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.report.findings.finding_counts import finding_counts
from evaluation_assets.core.report.gate.gate_formats import aligned
from evaluation_assets.core.report.judges.panels import panel_rows
from evaluation_assets.core.report.render import plain
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of
from evaluation_assets.core.text.excerpts import beginning
from evaluation_assets.defs.names import OVERVIEW

if TYPE_CHECKING:
    from dagster import AssetCheckEvaluation

PANELS = "panels"
"""Not a table of its own: `panel_reliability` of every drop that several judges scored."""

FINDINGS = "finding_counts"
"""Not a table of its own: the kinds in `findings` of every drop."""

GIVEN_UP = "drops_given_up"
"""No table: what the sensor `new_drops` remembers."""

SHOWN = {
    GIVEN_UP: ("drop", "lost_runs", "run_again"),
    FINDINGS: ("drop", "severity", "kind", "runs", "n_runs"),
    "leaderboard": (),  # `_ranks`
    "judge_cards": (
        "judge",
        "criterion",
        "n_labels",
        "kappa",
        "kappa_low",
        "kappa_high",
        "bias",
        "adopted",
        "gives_in_to",
        "may_gate",
    ),
    "pass_rates": ("drop", "judge", "raw", "corrected", "ci_low", "ci_high", "n_subjects", "n_labels"),
    PANELS: ("drop", "level", "criterion", "n_judges", "effective_judges", "alpha", "n_subjects"),
    "failure_groups": ("group_id", "name", "state", "severity", "n_runs", "n_tasks", "share", "last_drop"),
    "drift": ("suite", "metric", "night", "z", "cusum", "e_value", "alarm"),
}
"""Columns on the terminal; JSON has all."""

_RARE = frozenset({"adopted", "gives_in_to", "effective_judges"})
"""Columns that are left out where no row has a value."""

_WIDEST = 60
"""Characters of a cell but the last: a long name would push those after it off the screen. JSON has it whole."""

_LEAST = 1e-9
"""Above it a value is no rounding error, and not shown as 0: a verdict often costs less than a tenth of a cent."""

_EMPTY = {
    "judge_cards": "no run is labelled; `review DROP` labels runs",
    "pass_rates": "no run is labelled; `review DROP` labels runs",
    PANELS: "no drop was scored by several judges",
}
"""What is said of a table without rows on the terminal."""

NEEDED = {"leaderboard": ["leaderboard"], "judge_cards": ["labels", "judge_cards"], "drift": ["drift"]}
"""Assets to materialise for a table."""


def _command(name: str, tables: Sequence[str], about: str) -> click.Command:
    @click.command(name, help=f"{about}\n\nThe exit status is 1 if a blocking check failed, e.g. if a suite drifts.")
    @with_panel
    @text_or_json
    def show(home: Installation, panel: Panel, format_name: str) -> None:
        if is_there := home.root.exists():
            prepare(home)
        lost = _given_up(home) if is_there and GIVEN_UP in tables else []
        if not home.drops_with("task_metrics"):
            if lost:
                click.echo(_as_text(GIVEN_UP, lost))
            refuse_without_drops(home)
        failed = _materialise(home, panel, tables)
        blocked = [check for check in failed if check.blocking]
        made = {GIVEN_UP: lambda: lost, PANELS: lambda: panel_rows(home), FINDINGS: lambda: finding_counts(home)}
        rows = {table: list(made[table]() if table in made else home.whole_table(table).rows()) for table in tables}
        if format_name == "json":
            click.echo(json.dumps(rows if len(tables) > 1 else rows[tables[0]], indent=1))
        else:
            shown = [table for table in tables if table != GIVEN_UP or lost]
            if len(tables) > 1:
                echo(f"as a page, with a search of runs: {write_list(home)}", err=True)
            click.echo("\n\n".join(_as_text(table, rows[table]) for table in shown))
        for check in failed:
            said = f"{check.asset_key.to_user_string()}: {check.check_name}: {check.description}"
            click.echo(plain(f"{'check failed (blocks)' if check.blocking else 'warning'}: {said}"), err=True)
        sys.exit(1 if blocked else 0)

    return show


overview = _command("overview", list(SHOWN), "Show findings, leaderboard, judges, pass rates, panels and drift.")
leaderboard = _command("leaderboard", ["leaderboard"], "Rank agents and versions on the tasks that all of them did.")
judges = _command("judges", ["judge_cards"], "Compare each judge with human labels.")
drift = _command("drift", ["drift"], "Test for a lasting decrease since each suite's baseline.")


def _given_up(home: Installation) -> list[dict[str, Any]]:
    """The drops that are not evaluated although they were asked for, each with the command that runs it again."""
    silence_previews()
    from evaluation_assets.defs.lost_drops import given_up  # noqa: PLC0415
    from evaluation_assets.resources.seen_drops import SeenDrops  # noqa: PLC0415
    from evaluation_assets.runs.jobs import instance_of  # noqa: PLC0415

    drops = scan(home.drops).drops
    with instance_of(home) as instance:
        seen = SeenDrops(instance).read(drops)
        return [
            {
                "drop": drop,
                "lost_runs": seen[drop].lost,
                "run_again": shlex.join(
                    ["evaluation-assets", "evaluate", str(drops[drop].files[0]), "--home", str(home.root)]
                ),
            }
            for drop in given_up(instance, seen)
        ]


def _materialise(home: Installation, panel: Panel, tables: Sequence[str]) -> "list[AssetCheckEvaluation]":
    """Update the tables; return the checks that failed."""
    silence_previews()
    from evaluation_assets.runs.jobs import run_job  # noqa: PLC0415

    result = run_job(home, panel, OVERVIEW, assets=NEEDED[tables[0]] if len(tables) == 1 else None)
    failed = [check for check in result.checks if not check.passed]
    if not result.success and not any(check.blocking for check in failed):
        refuse_run(result.failures)
    for damaged in result.damaged:
        warn(plain(damaged))
    return failed


def _as_text(table: str, rows: Sequence[dict[str, Any]]) -> str:
    title = table.replace("_", " ")
    if table == "pass_rates":  # without labels there is nothing to correct; JSON has all
        rows = [row for row in rows if row["n_labels"]]
    if table == PANELS:  # nothing was scored by several judges; JSON has all
        rows = [row for row in rows if row["n_subjects"]]
    if not rows:
        return f"{title}: {_EMPTY.get(table, 'nothing yet')}"
    if table == "leaderboard":
        return "\n".join([title, *_ranks(rows)])
    *narrow, last = [name for name in SHOWN[table] if name not in _RARE or any(row[name] for row in rows)]
    cells = [
        [*narrow, last],
        *([*(beginning(_cell(row[name]), _WIDEST) for name in narrow), _cell(row[last])] for row in rows),
    ]
    return "\n".join([title, *aligned(cells)])


def _ranks(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The lines of the leaderboard: a heading for each metric of a suite, and below it the agents."""
    width = max(len(_agent(row)) for row in rows)
    for (suite, metric), own in groupby(rows, key=lambda row: (row["suite"], row["metric"])):
        ranked = list(own)
        yield f"  {plain(suite)}: {plain(metric)}, {counted(ranked[0]['n_tasks'], 'task')}"
        for row in ranked:
            interval = "" if row["ci_low"] is None else f" ({_cell(row['ci_low'])} to {_cell(row['ci_high'])})"
            behind = f"  {row['difference']:+.3f}" if row["difference"] else ""
            drops = f"  {row['n_drops']} drops" if row["n_drops"] > 1 else ""
            yield f"    {row['rank']}  {_agent(row):<{width}}  {_cell(row['mean'])}{interval}{behind}{drops}"
    yield "  In brackets: 95% interval. Behind it: difference from the best version."


def _agent(row: Mapping[str, Any]) -> str:
    """The agent of a row with its version. Without either, its drops are named too, so that rows can be told apart."""
    agent, version = row["agent"], row["agent_version"]
    name = " ".join(filter(None, (agent or row["model"] or "unnamed", version)))
    drops = "" if agent and version else f", {first_of(row['drops'], 2)}"
    return beginning(plain(name), _WIDEST) + plain(drops)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return plain(str(value))
    is_small = _LEAST < abs(value) < 0.0005
    return f"{Decimal(f'{value:.2g}'):f}" if is_small else f"{value:z.3f}"
