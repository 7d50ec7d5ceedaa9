"""`groups`: the failures that runs of many drops have in common, and their states."""

import getpass
import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import click

from evaluation_assets.cli.border import Group
from evaluation_assets.cli.evaluated import refuse_without_drops, warn_without_findings
from evaluation_assets.cli.job_runs import updated_overview
from evaluation_assets.cli.options import Spending, text_or_json, with_panel, with_spending
from evaluation_assets.cli.output import echo, refuse, warn
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.checks.failure_groups import no_reopened_failures, states_of_groups
from evaluation_assets.core.pipeline.failure_groups import are_current
from evaluation_assets.core.report.findings.named_runs import first_words
from evaluation_assets.core.report.render import plain
from evaluation_assets.core.sections.failure_groups.states import KeptState, read_states, write_states
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, percent, runs_of_tasks

_EXAMPLES = 3
_TREND = 10


@click.group("groups", cls=Group)
def group_commands() -> None:
    """List failure groups, and keep their states and names.

    A group is one failure that runs of any drops have in common: the same kind of finding, and the same tool or words
    where these gather. States and names are in groups.yaml in the home folder.
    """


@group_commands.command("list")
@with_panel
@text_or_json
def list_groups(home: Installation, panel: Panel, format_name: str) -> None:
    """List the groups, the gravest first. The exit status is 1 if one was reopened."""
    rows = updated_groups(home, panel)
    _warn_of_states(home, rows)
    if format_name == "json":
        click.echo(json.dumps(rows, indent=1))
    elif not rows:
        echo("no failure group: no run of an evaluated drop has a finding")
    else:
        echo(*map(group_line, rows))
    sys.exit(1 if any(row["state"] == "reopened" for row in rows) else 0)


@group_commands.command("show")
@click.argument("group")
@with_panel
def show_group(group: str, home: Installation, panel: Panel) -> None:
    """Show a group: how many runs of each drop have it, versions, and examples."""
    row = known_group(updated_groups(home, panel), group)
    echo(group_line(row))
    echo(f"  share         {percent(row['share'])}, 95% CI {percent(row['ci_low'])} to {percent(row['ci_high'])}")
    echo(f"  first seen    {plain(row['first_drop'])}", f"  last seen     {plain(row['last_drop'])}")
    echo(f"  versions      {plain(', '.join(row['versions'])) or 'unknown'}")
    if row["success_with"] is not None and row["success_without"] is not None:
        echo(f"  success       {percent(row['success_with'])} with it, {percent(row['success_without'])} without")
    if earlier := len(row["by_drop"][:-_TREND]):
        echo(f"  after {counted(earlier, 'earlier drop')}:")
    for drop in row["by_drop"][-_TREND:]:
        echo(f"  {drop['n_affected']:>5} of {drop['n_runs']:<6} {plain(drop['drop'])}")
    members = [each for each in home.whole_table("grouped_findings").rows() if each["group_id"] == row["group_id"]]
    by_run = by_key(((each["drop"], each["trajectory_id"]), each) for each in members)
    for (drop, run), (each, *_) in [*by_run.items()][:_EXAMPLES]:
        words = first_words([run], home.table(drop, "preprocessed_trajectories")).get(run)
        asked = f" ({plain(words)})" if words else ""
        echo(f"  {plain(drop)}, {plain(run)}{asked}: {plain(each['evidence'])}")


def _marking(name: str, state: Any, about: str) -> None:
    """Add the command that gives a group a state."""

    @group_commands.command(name, help=about)
    @click.argument("group")
    @click.option("--note", default="", help="Why; stored in groups.yaml.")
    @with_panel
    def mark(group: str, note: str, home: Installation, panel: Panel) -> None:
        _keep(home, known_group(updated_groups(home, panel), group), state, note)


_marking("resolve", "resolved", "Mark a group as resolved. Seen in another drop, it is reopened, and a check fails.")
_marking("acknowledge", "acknowledged", "Mark a group as known.")


@group_commands.command("name")
@click.argument("groups", metavar="[GROUP]...", nargs=-1)
@click.option("--judge", "judge_name", help="Judge of the panel (default: the first language model).")
@with_spending("Show the price; no model is called, nothing is written.")
@with_panel
def name_groups(
    groups: tuple[str, ...],
    judge_name: str | None,
    spending: Spending,
    home: Installation,
    panel: Panel,
) -> None:
    """Have a judge say in one line what fails, beside the name by rule. Default: all groups without such a name.

    The line has to quote a finding; else it is not taken, and the exit status is 1. It is written to groups.yaml, where
    you can change it. A group that this judge has named is not asked about again.
    """
    from evaluation_assets.cli.group_names import ask_for_names  # noqa: PLC0415  (models: 0.3 s)

    rows = updated_groups(home, panel)
    known = read_states(home.groups_file)
    chosen = [known_group(rows, group) for group in dict.fromkeys(groups)]
    unnamed = [row for row in rows if row["group_id"] not in known or not known[row["group_id"]].name]
    ask_for_names(home, panel, judge_name, chosen or unnamed, known, spending)


def _keep(home: Installation, row: dict[str, Any], state: Any, note: str) -> None:
    seen = tuple(drop["drop"] for drop in row["by_drop"] if drop["n_affected"])
    said = {
        "state": state,
        "drops": seen if state == "resolved" else None,
        "by": getpass.getuser(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "note": note,
    }
    with home.edits(home.groups_file):
        known = read_states(home.groups_file).get(row["group_id"], KeptState())
        write_states(home.groups_file, {row["group_id"]: known.model_copy(update=said)})
    echo(f"{row['group_id']}: {state} ({home.groups_file})")


def updated_groups(home: Installation, panel: Panel) -> list[dict[str, Any]]:
    """Rows of `failure_groups`, made again from all drops if one of them or groups.yaml has changed."""
    if not home.drops_with("findings"):
        if home.drops_with("task_metrics"):
            refuse(f"no drop of {home.root} has findings yet. Evaluate them again: {home.command('evaluate', '--all')}")
        refuse_without_drops(home)
    warn_without_findings(home)
    if not are_current(home):
        updated_overview(home, panel, ["grouped_findings", "failure_groups"])
    return list(home.whole_table("failure_groups").rows())


def _warn_of_states(home: Installation, rows: list[dict[str, Any]]) -> None:
    states = read_states(home.groups_file)
    for finding in (no_reopened_failures(states, rows), states_of_groups(states, rows)):
        if not finding.passed:
            warn(plain(str(finding.description)))


def known_group(rows: list[dict[str, Any]], group: str) -> dict[str, Any]:
    """The row of the group whose ID begins so; exits with status 2 if there is none, or more than one."""
    matching = [row for row in rows if row["group_id"].startswith(group)] if group else []
    if len(matching) != 1:
        known = ", ".join(row["group_id"] for row in matching or rows) or "none"
        refuse(f"there is {'more than one' if matching else 'no'} failure group {group!r}; groups: {known}")
    return matching[0]


def group_line(row: Mapping[str, Any]) -> str:
    """A group in one line, as lists have it."""
    share = f"{runs_of_tasks(row['n_runs'], row['n_tasks'])}, {percent(row['share'])}"
    return f"{row['group_id']}  {row['state']:<12}  {row['severity']:<6}  {share}  {plain(row['name'])}"
