"""`noise`: the noise floor of evaluated drops with repeated trials."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from evaluation_assets.cli.evaluated import check_evaluated
from evaluation_assets.cli.options import FiniteRange, text_or_json, with_home
from evaluation_assets.cli.output import echo, echo_json, refuse, warn
from evaluation_assets.core.gating.noise_floor import (
    DECREASES,
    Figure,
    NoiseFloor,
    noise_floor,
    outcome_of,
    reworded_tasks,
    trials_of,
)
from evaluation_assets.core.gating.task_metrics import OUTCOMES, DropMetrics, read_metrics
from evaluation_assets.core.gating.version_of_drop import names_of_versions
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of

_NAMED = 5


@click.command("noise")
@click.argument("drops", nargs=-1, required=True, metavar="DROP...")
@click.option("--metric", type=click.Choice(sorted(OUTCOMES)), help="Outcome (default: the first that the drops have).")
@click.option(
    "--decrease",
    "decreases",
    multiple=True,
    type=FiniteRange(min=0, max=1, min_open=True),
    help=f"Decrease to count trials for; repeatable (default: {', '.join(map(str, DECREASES))}).",
)
@text_or_json
@with_home
def noise(
    home: Installation, drops: tuple[str, ...], metric: str | None, decreases: tuple[float, ...], format_name: str
) -> None:
    """Show how much repeated trials differ, and the smallest decrease that the tasks can show.

    DROPs are evaluated drops of one agent: several runs of a task, in one drop or in several, are its trials. Level and
    power are those of the gate (`gate.yaml`).
    """
    for drop in drops:
        check_evaluated(home, drop)
    measured = [read_metrics(drop, home.table(drop, "task_metrics")) for drop in dict.fromkeys(drops)]
    if differ := _differing(home, measured):
        warn(f"the runs are of different {' and '.join(differ)}, whose difference counts as noise here")
    if reworded := reworded_tasks(measured):
        warn(
            f"{counted(len(reworded), 'task')} with different prompts in the drops, as of simulated users; different "
            "tasks with the same ID would be no trials of one task"
        )
    chosen = metric or outcome_of(measured)
    if chosen is None:
        refuse("no outcomes: the drops have neither recorded success nor a suite")
    settings = load_settings(home.gate_file).gate
    trials, runs = trials_of(measured, chosen), sum(drop.n_runs for drop in measured)
    floor = noise_floor(chosen, trials, settings.alpha, settings.power, decreases or DECREASES, runs)
    if format_name == "json":
        echo_json(asdict(floor))
    else:
        echo(*_lines(floor))


def _differing(home: Installation, drops: Sequence[DropMetrics]) -> list[str]:
    """In what the runs differ beside chance, as far as it is known, with the values."""
    of_one = {each.rpartition("@")[2] for drop in drops for each in names_of_versions(home, drop.drop)}
    values = {
        "agents": {drop.agent for drop in drops},
        "versions": {drop.agent_version for drop in drops} | of_one,
        "models": {drop.model for drop in drops},
    }
    known = {what: sorted(each for each in own if each is not None) for what, own in values.items()}
    return [f"{what} ({first_of(own, _NAMED)})" for what, own in known.items() if len(own) > 1]


def _lines(floor: NoiseFloor) -> Iterator[str]:
    trials = (
        f"{floor.fewest_trials}"
        if floor.fewest_trials == floor.most_trials
        else f"{floor.fewest_trials} to {floor.most_trials}"
    )
    yield f"{floor.metric}: {floor.tasks} tasks with {trials} trials each, {floor.runs} runs"
    if floor.runs_left_out:
        every = floor.runs + floor.runs_left_out
        why = "their outcome is unknown, or their task has no second known one"
        yield f"  {'left out':<18} {floor.runs_left_out} of {every} runs: {why}"
    for k, figure in enumerate(floor.pass_hat, 1):
        yield f"  {f'pass^{k}':<18} {_figure(figure)}"
    yield f"  {'flips':<18} {floor.flips} of {floor.tasks} tasks passed and failed: {_figure(floor.flipped)}"
    yield f"  {'two trials differ':<18} {_figure(floor.disagreement)}"
    below = "; below 0, as trials of one task differ more than those of several" if (floor.icc.value or 0) < 0 else ""
    yield f"  {'ICC':<18} {_figure(floor.icc)}: share of the variance of single trials that is between tasks{below}"
    if floor.detectable is None:
        yield "  No task both passed and failed, so noise is not measured: add trials or tasks."
        return
    certainty = f"level {floor.alpha:g}, power {floor.power:g}"
    yield f"  {'can show':<18} a decrease of {floor.detectable:.3f} between two such runs ({certainty})"
    for each in floor.needed:
        yield f"  {f'to show {each.decrease:g}':<18} {counted(each.trials, 'trial')} of each task in each run"


def _figure(figure: Figure) -> str:
    if figure.value is None:
        return "not known"
    interval = "" if figure.low is None or figure.high is None else f" (95% CI {figure.low:z.3f} to {figure.high:z.3f})"
    return f"{figure.value:z.3f}{interval}"
