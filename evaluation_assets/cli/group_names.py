"""`groups name`: what a judge calls failure groups."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial

from evaluation_assets.cli.asking import agreed, answered, exit_if_stopped
from evaluation_assets.cli.one_judge import one_judge
from evaluation_assets.cli.options import Spending
from evaluation_assets.cli.output import echo
from evaluation_assets.core.judging.naming import NotNamed
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.pipeline.group_names import evidence_of, names_by
from evaluation_assets.core.report.render import plain
from evaluation_assets.core.sections.failure_groups.states import KeptState, read_states, write_states
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted


def ask_for_names(
    home: Installation,
    panel: Panel,
    name: str | None,
    groups: Sequence[Row],
    known: Mapping[str, KeptState],
    spending: Spending,
) -> None:
    """Ask a judge about these groups, except those that it has named, and keep its names."""
    alone = one_judge(panel, name, "name groups", writes=True)
    own = alone.judges[0].name
    asked = [row for row in groups if known.get(row["group_id"], KeptState()).named_by != own]
    if not asked:
        echo("no group to name")
        return
    evidence = evidence_of(home, asked)
    ask = partial(names_by, groups=asked, evidence=evidence)
    (judge,), budget = agreed(home, alone, spending, ask, [counted(len(asked), "group")])
    names = answered(judge, ask, budget, len(asked))
    given = {group: said for group, said in names.items() if isinstance(said, str)}
    _keep(home, given, own)
    for group, said in names.items():
        echo(plain(f"{group}  {f'not named: {said}' if isinstance(said, NotNamed) else said}"))
    exit_if_stopped(budget, ". Names and replies are kept: run the command again")
    if len(given) < len(names):
        echo("A reply that is kept is not asked for again: name another judge with --judge", err=True)
    sys.exit(0 if len(given) == len(asked) else 1)


def _keep(home: Installation, names: Mapping[str, str], judge: str) -> None:
    """Write names beside what people said of the groups meanwhile."""
    if not names:
        return
    with home.edits(home.groups_file):
        known = read_states(home.groups_file)
        given = {
            group: known.get(group, KeptState()).model_copy(update={"name": name, "named_by": judge})
            for group, name in names.items()
        }
        write_states(home.groups_file, given)
