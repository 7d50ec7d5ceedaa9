"""`compare`: two evaluated drops, task by task; with `--pairwise`, a judge says which runs are better."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial

import click

from evaluation_assets.cli.asking import agreed, answered, exit_if_stopped
from evaluation_assets.cli.evaluated import check_evaluated
from evaluation_assets.cli.one_judge import one_judge
from evaluation_assets.cli.options import Spending, text_or_json, with_panel, with_spending
from evaluation_assets.cli.output import echo, echo_json, refuse, warn
from evaluation_assets.core.gating.version_of_drop import drop_and_version, names_of_versions
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.pairwise import Preference, Share, paired_runs, preference_by
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of


@click.command("compare")
@click.argument("baseline")
@click.argument("current")
@click.option("--pairwise", is_flag=True, help="Ask a judge which run of each task is better.")
@click.option("--judge", "name", help="Judge of the panel for --pairwise (default: the first language model).")
@with_spending("With --pairwise: show the price; no model is called.")
@text_or_json
@with_panel
def compare(
    home: Installation,
    panel: Panel,
    baseline: str,
    current: str,
    pairwise: bool,
    name: str | None,
    spending: Spending,
    format_name: str,
) -> None:
    """Compare two evaluated drops, task by task.

    The metrics of CURRENT are compared with those of BASELINE as the gate does. If a drop has runs of several agent
    versions, DROP@VERSION are those of one of them: compare runs@1.0 runs@2.0. With --pairwise, a judge is shown both
    runs of each task instead, in both orders, and says which is better. A pair whose orders disagree is a tie; the
    share of these is the position bias.

    The exit status is 1 if the judge decided no pair.
    """
    versions = [drop_and_version(home, name) for name in (baseline, current)]
    for drop, _ in versions:
        check_evaluated(home, drop)
    if baseline == current:
        of_versions = first_of(names_of_versions(home, versions[0][0]), 4)
        also = f", or two of its versions: {of_versions}" if of_versions else ""
        refuse(f"{baseline} would be compared with itself; name two drops{also}")
    if pairwise and any(version for _, version in versions):
        refuse("--pairwise compares whole drops, not versions")
    if not pairwise:
        if name is not None or spending != Spending():
            raise click.UsageError("--judge, --dry-run, --budget and --yes need --pairwise")
        _compare_metrics(home, baseline, current, format_name)
        return
    chosen = one_judge(panel, name, "compare runs")
    pairing = paired_runs(home, baseline, current)
    if pairing.changed:
        tasks = first_of(pairing.changed, 10)
        warn(f"not compared, because the text of the task differs: {tasks}; drops of one suite are compared by task ID")
    if pairing.reworded:
        tasks = counted(len(pairing.reworded), "task")
        warn(f"{tasks} in different words, as of simulated users; the judge sees each run with its own user's words")
    if pairing.alone:
        warn(f"not compared: {counted(pairing.alone, 'run')} of tasks that the other drop lacks, or has fewer runs of")
    if not pairing.pairs:
        refuse(f"{baseline} and {current} have no task in common")
    ask = partial(preference_by, home=home, baseline=baseline, current=current, pairs=pairing.pairs)
    about = f"{counted(len(pairing.pairs), 'pair')} of {counted(pairing.tasks, 'task')}, each in both orders"
    (judge,), budget = agreed(home, chosen, spending, ask, [about])
    preferences = answered(judge, ask, budget, 2 * len(pairing.pairs))
    if format_name == "json":
        echo_json({"baseline": baseline, "current": current, "judge": judge.name, **asdict(preferences)})
    else:
        echo(*_lines(preferences, baseline, current, judge.name))
    exit_if_stopped(budget, "; pairs that were not asked about are missing. Replies are kept: run the command again")
    sys.exit(0 if preferences.pairs else 1)


def _compare_metrics(home: Installation, baseline: str, current: str, format_name: str) -> None:
    from evaluation_assets.api.comparison import compared  # noqa: PLC0415
    from evaluation_assets.api.errors import EvaluationError  # noqa: PLC0415

    try:
        comparison = compared(home, current, (home, baseline))
    except EvaluationError as problem:
        refuse(str(problem))
    if format_name == "json":
        click.echo(comparison.outcome.model_dump_json(indent=2))
    else:
        echo(*comparison.summary().splitlines())


def _lines(preference: Preference, baseline: str, current: str, judge: str) -> Iterator[str]:
    asked = f"{counted(preference.pairs, 'pair')} of {counted(preference.tasks, 'task')}"
    yield f"{baseline} -> {current}, judge {judge}: {asked}, each in both orders"
    if preference.wins and preference.ties and preference.losses and preference.preferred and preference.position_bias:
        yield f"  {'wins':<14} {_share(preference.wins)}: {current} is better in both orders"
        yield f"  {'losses':<14} {_share(preference.losses)}: {baseline} is better in both orders"
        yield f"  {'ties':<14} {_share(preference.ties)}: neither, or the orders disagree"
        preferred = _interval(preference.preferred)
        yield f"  {'preferred':<14} {preferred}: wins and half of the ties; {_meaning(preference.preferred)}"
        yield (
            f"  {'position bias':<14} {_share(preference.position_bias)}: the winner changes with the order "
            f"(shown first wins {preference.prefers_first}, shown second wins {preference.prefers_second})"
        )
    for why, pairs in preference.missing.items():
        yield f"  {'missing':<14} {counted(pairs, 'pair')} without two verdicts: {why}"
    if preference.cut:
        yield f"  {'cut':<14} {counted(preference.cut, 'pair')} did not fit the judge's window; the middle was left out"


def _share(share: Share) -> str:
    return f"{share.count:>4g}  {_interval(share)}"


def _interval(share: Share) -> str:
    interval = "" if share.low is None or share.high is None else f" (95% CI {share.low:.2f} to {share.high:.2f})"
    return f"{share.rate:.2f}{interval}"


def _meaning(preferred: Share) -> str:
    if preferred.low is None or preferred.high is None:
        return "no interval"
    if preferred.low > 0.5:
        return "above 0.5: the current drop is preferred"
    if preferred.high < 0.5:
        return "below 0.5: the baseline is preferred"
    return "0.5 is in the interval: no preference is shown"
