"""`overview`, `leaderboard`, `judges`, `drift`: results over all drops."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

import click

from evaluation_assets.cli.evaluated import refuse_without_drops, warn_without_findings
from evaluation_assets.cli.groups import group_line
from evaluation_assets.cli.job_runs import updated_overview
from evaluation_assets.cli.opening import write_list
from evaluation_assets.cli.options import text_or_json, with_panel
from evaluation_assets.cli.output import echo
from evaluation_assets.core.gating.drift import CUSUM_LIMIT
from evaluation_assets.core.gating.evaluated_drops import suites
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.report.gate.gate_formats import aligned
from evaluation_assets.core.report.index import listed_reports
from evaluation_assets.core.report.overview_rows import finding_counts, panel_rows
from evaluation_assets.core.report.render import plain
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of
from evaluation_assets.core.text.excerpts import beginning

PANELS = "panels"
"""Not a table of its own: `panel_reliability` of every drop that several judges scored."""

FINDINGS = "finding_counts"
"""Not a table of its own: the kinds in `findings` of every drop."""

GIVEN_UP = "drops_given_up"
"""No table: what the sensor `new_drops` remembers."""

ALL = (GIVEN_UP, FINDINGS, "leaderboard", "judge_cards", "pass_rates", PANELS, "failure_groups", "drift")
"""The tables of `overview` as JSON."""

_CARDS = (
    "judge", "criterion", "n_labels", "kappa", "kappa_low", "kappa_high", "bias", "adopted", "gives_in_to", "may_gate",
)  # fmt: skip
_RATES = ("drop", "judge", "raw", "corrected", "ci_low", "ci_high", "n_subjects", "n_labels")
"""Columns on the terminal; JSON has all."""

_LISTED = 10
"""Maximum number of drops, and of failure groups, in the overview on the terminal."""

_RARE = frozenset({"adopted", "gives_in_to"})
"""Columns that are left out where no row has a value."""

_WIDEST = 60
"""Characters of a cell but the last: a long name would push those after it off the screen. JSON has it whole."""

_LEAST = 1e-9
"""Above it a value is no rounding error, and not shown as 0: a verdict often costs less than a tenth of a cent."""

_NO_COMMON_TASK = "not ranked, as no task was done by all versions"
_NOT_TESTED = "nothing to test: no drop of a suite was evaluated after its baseline"

NEEDED = {
    "leaderboard": ["leaderboard"],
    "judge_cards": ["labels", "judge_cards", "pass_rates"],
    "drift": ["drift"],
}
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
            echo(*_lost(lost))
            refuse_without_drops(home)
        updated = updated_overview(home, panel, NEEDED[tables[0]] if len(tables) == 1 else None)
        failed = [check for check in updated.checks if not check.passed]
        blocked = [check for check in failed if check.blocking]
        made = {GIVEN_UP: lambda: lost, PANELS: lambda: panel_rows(home), FINDINGS: lambda: finding_counts(home)}
        rows = {table: list(made[table]() if table in made else home.whole_table(table).rows()) for table in tables}
        if format_name == "json":
            click.echo(json.dumps(rows if len(tables) > 1 else rows[tables[0]], indent=1))
        elif len(tables) > 1:
            echo(*_lost(lost))
            echo(*_overview(home, rows))
            warn_without_findings(home)
            echo(f"As a page, with a search of runs: {write_list(home)}", err=True)
        else:
            echo(*_TEXTS[tables[0]](home, rows[tables[0]]))
        for check in failed:
            said = f"{check.asset_key.to_user_string()}: {check.check_name}: {check.description}"
            echo(f"{'check failed (blocks)' if check.blocking else 'warning'}: {said}", err=True)
        sys.exit(1 if blocked else 0)

    return show


overview = _command("overview", ALL, "Show the last drops, and what fails again and again.")
leaderboard = _command("leaderboard", ["leaderboard"], "Rank agents and versions on the tasks that all of them did.")
judges = _command("judges", ["judge_cards"], "Compare each judge with human labels.")
drift = _command("drift", ["drift"], "Test for a lasting decrease since each suite's baseline.")


def _given_up(home: Installation) -> list[dict[str, Any]]:
    """The drops that are not evaluated although they were asked for, each with the command that runs it again."""
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
                "run_again": home.command("evaluate", str(drops[drop].files[0])),
            }
            for drop in given_up(instance, seen)
        ]


def _overview(home: Installation, rows: Mapping[str, Sequence[dict[str, Any]]]) -> Iterator[str]:
    """The last drops with their results, the gravest failure groups, and the commands that show more."""
    reports, present = listed_reports(home), scan(home.drops).drops
    yield f"{counted(len(reports), 'drop')}, the newest first"
    width = max((len(plain(report.drop)) for report in reports[:_LISTED]), default=0)
    for report in reports[:_LISTED]:
        gate = "" if report.gate is None else f"  gate: {report.gate.verdict}"
        gone = "" if report.drop in present else "  its file is gone"
        yield f"  {plain(report.drop):<{min(width, _WIDEST)}}  {plain(report.headline.short)}{gate}{gone}"
    yield from _left_out(len(reports), "the page lists all")
    groups = rows["failure_groups"]
    yield ""
    yield f"{counted(len(groups), 'failure group')}, the gravest first" if groups else "no failure group"
    yield from (f"  {group_line(group)}" for group in groups[:_LISTED])
    yield from _left_out(len(groups), f"all of them: {home.command('groups', 'list')}")
    yield ""
    is_gone = any(report.drop not in present for report in reports)
    more = ["open DROP", *(name for name, table in _MORE.items() if rows[table]), *["delete DROP"] * is_gone]
    yield "More:"
    yield from (f"  {home.command(*name.split())}" for name in more)


def _left_out(count: int, where: str) -> Iterator[str]:
    if count > _LISTED:
        yield f"  and {count - _LISTED:,} more; {where}"


def _lost(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The drops that were given up, each with the command that runs it again."""
    if rows:
        yield "drops given up, because each run was killed"
    for row in rows:
        yield f"  {row['drop']}, after {counted(row['lost_runs'], 'run')}; to run it again:"
        yield f"    {row['run_again']}"
    yield from [""] if rows else []


def _leaderboard(home: Installation, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    left_out = sorted({name for name, _ in suites(home)} - {row["suite"] for row in rows})
    into_suite = home.command("evaluate", "FILE", "--as", "SUITE/NAME")
    why = f"nothing to rank: no drop belongs to a suite. To put one into a suite: {into_suite}"
    yield from _ranks(rows) if rows else ["leaderboard" if left_out else f"leaderboard: {why}"]
    yield from (f"  {plain(suite)}: {_NO_COMMON_TASK}" for suite in left_out)


def _cards(home: Installation, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Judge cards, and the pass rates that labels correct."""
    if not rows:
        yield f"judge cards: no run is labelled. To label runs: {home.command('review', 'DROP')}"
        return
    yield from ("judge cards", *_table(_CARDS, rows))
    if corrected := [row for row in home.whole_table("pass_rates").rows() if row["n_labels"]]:
        yield from ("", "pass rates", *_table(_RATES, corrected))


def _drift(home: Installation, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The state of both charts of each metric after the last drop, and when they alarm."""
    if not rows:
        yield f"drift: {_NOT_TESTED}"
        return
    table = [("suite", "metric", "drops", "drift", "e-value", "CUSUM")]
    for (suite, metric), own in groupby(rows, key=lambda row: (row["suite"], row["metric"])):
        nights = list(own)
        last = nights[-1]
        charts = (f"{max(night['e_value'] for night in nights):.2f}", f"{last['cusum']:.2f}")
        table.append((plain(suite), plain(metric), str(last["night"]), "yes" if last["alarm"] else "no", *charts))
    yield from ("drift since the baseline", *aligned(table))
    alpha = load_settings(home.gate_file).gate.alpha
    yield f"  e-value: the evidence for a lasting change for the worse; drift from {1 / alpha:g} on."
    yield f"  CUSUM: the decreases summed up, in standard errors; drift from {CUSUM_LIMIT:g} on."


_TEXTS = {"leaderboard": _leaderboard, "judge_cards": _cards, "drift": _drift}
_MORE = {"groups show ID": "failure_groups", "leaderboard": "leaderboard", "judges": "judge_cards", "drift": "drift"}
"""Commands that show a table, for those that have rows."""


def _table(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> list[str]:
    *narrow, last = [name for name in columns if name not in _RARE or any(row[name] for row in rows)]
    cells = [
        [*narrow, last],
        *([*(beginning(_cell(row[name]), _WIDEST) for name in narrow), _cell(row[last])] for row in rows),
    ]
    return aligned(cells)


def _ranks(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The lines of the leaderboard: a heading for each metric of a suite, and below it the agents."""
    yield "leaderboard"
    width = max(len(_agent(row)) for row in rows)
    for (suite, metric), own in groupby(rows, key=lambda row: (row["suite"], row["metric"])):
        ranked = list(own)
        yield f"  {plain(suite)}: {plain(metric)}, {counted(ranked[0]['n_tasks'], 'task')}"
        for row in ranked:
            interval = "" if row["ci_low"] is None else f" ({_cell(row['ci_low'])} to {_cell(row['ci_high'])})"
            behind = _behind(row) if row["difference"] else ""
            drops = f"  {row['n_drops']} drops" if row["n_drops"] > 1 else ""
            yield f"    {row['rank']}  {_agent(row):<{width}}  {_cell(row['mean'])}{interval}{behind}{drops}"
    yield "  In brackets: 95% interval. Behind it: difference from the best version."


def _behind(row: Mapping[str, Any]) -> str:
    low, high = row["difference_low"], row["difference_high"]
    interval = "" if low is None else f" ({_signed(low)} to {_signed(high)})"
    return f"  {_signed(row['difference'])}{interval}"


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{_cell(abs(value))}"


def _agent(row: Mapping[str, Any]) -> str:
    """The agent of a row with its version. Without either, its drops are named too, so that rows can be told apart."""
    agent, version = row["agent"], row["agent_version"]
    unnamed = f"unnamed ({row['model']})" if row["model"] else "unnamed"
    name = " ".join(filter(None, (agent or unnamed, version)))
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
