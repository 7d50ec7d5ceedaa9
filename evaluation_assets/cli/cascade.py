"""`cascade`: fit the cascade of judges to labels, and show what it accepts and saves."""

from dataclasses import asdict

import click

from evaluation_assets.cli.border import Group
from evaluation_assets.cli.chosen_panel import not_fitted
from evaluation_assets.cli.evaluated import check_evaluated
from evaluation_assets.cli.options import FiniteRange, with_panel
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.core.judging.cascade.evidence import read_evidence
from evaluation_assets.core.judging.cascade.fitted import (
    FittedCascade,
    later_judges,
    read_cascade,
    write_cascade,
)
from evaluation_assets.core.judging.cascade.fitting_drops import fit_cascade
from evaluation_assets.core.judging.cascade.savings import savings_of
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.report.judges.cascade_text import promise_lines, savings_lines
from evaluation_assets.core.review.labels import Label, read_labels
from evaluation_assets.core.system.installation import Installation

_SHARE = FiniteRange(min=0, max=1, min_open=True, max_open=True)


@click.group("cascade", cls=Group)
def cascade_commands() -> None:
    """Fit and show the cascade of judges: cheap judges decide what they can, the rest goes on."""


@cascade_commands.command()
@click.argument("drops", nargs=-1, required=True)
@with_panel
@click.option("--alpha", type=_SHARE, default=0.1, show_default=True, help="Tolerated share of wrong verdicts.")
@click.option("--delta", type=_SHARE, default=0.1, show_default=True, help="Chance that the bound does not hold.")
@click.option(
    "--reference", metavar="JUDGE", help="Judge whose verdicts count as right (default: the labels of people)."
)
@click.option(
    "--unit",
    type=click.Choice(["trajectory", "task"]),
    default="trajectory",
    show_default=True,
    help="What is drawn independently; `task` if drops have several runs of a task.",
)
def fit(
    drops: tuple[str, ...],
    home: Installation,
    panel: Panel,
    alpha: float,
    delta: float,
    reference: str | None,
    unit: str,
) -> None:
    """Fit the panel's cascade on evaluated drops; write cascade.json to the home folder.

    All judges must have been asked about everything in these drops: run `evaluate` without cascade.json.
    """
    if not panel.cascade:
        refuse(f"{home.panel_file} has no cascade; add one, e.g. `cascade: [rules, small, [one, other]]`")
    _check(home, drops, [*(judge for stage in panel.cascade for judge in stage), *([reference] if reference else [])])
    cascade = fit_cascade(
        home,
        drops,
        panel.cascade,
        [asdict(label) for label in read_labels(home.labels) if isinstance(label, Label)],
        reference=reference,
        alpha=alpha,
        delta=delta,
        unit=unit,
        pass_score=load_settings(home.gate_file).review.pass_score,
    )
    write_cascade(home.cascade_file, cascade)
    _print(home, panel, cascade, drops)
    spares = any(each.thresholds for each in cascade.criteria)
    later = "; later runs ask each stage only about what no stage before it accepts" if spares else ""
    echo(f"Written to {home.cascade_file}{later}.")


@cascade_commands.command()
@click.argument("drops", nargs=-1)
@with_panel
def show(drops: tuple[str, ...], home: Installation, panel: Panel) -> None:
    """Show the fitted cascade and, for evaluated drops, what each stage accepts and saves."""
    cascade = read_cascade(home.cascade_file)
    if cascade is None:
        for line in not_fitted(home, panel):
            refuse(line)
        refuse(f"there is no {home.cascade_file}; fit one: {home.command('cascade', 'fit', 'DROP...')}")
    _check(home, drops, [judge for stage in cascade.stages for judge in stage][:1])
    _print(home, panel, cascade, drops)


def _print(home: Installation, panel: Panel, cascade: FittedCascade, drops: tuple[str, ...]) -> None:
    echo(*promise_lines(cascade))
    if drops:
        judges = [judge for stage in cascade.stages for judge in stage]
        later = [cascade.reference] if cascade.reference in later_judges(panel.cascade) else []
        judges += later
        said = read_evidence(home, drops, judges, pass_score=cascade.pass_score)
        echo(*savings_lines(cascade, savings_of(cascade, said, later), len(drops)))


def _check(home: Installation, drops: tuple[str, ...], judges: list[str]) -> None:
    """Refuse drops that a judge has no verdicts on."""
    for drop in drops:
        check_evaluated(home, drop)
        for judge in judges:
            if not home.table(drop, "trajectory_verdicts", judge).exists:
                refuse(f"{drop} has no verdicts of {judge}; run: {home.command('evaluate', drop)}")
