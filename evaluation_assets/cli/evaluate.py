"""`evaluate`: evaluate files and write reports."""

from pathlib import Path
from typing import Any

import click

from evaluation_assets.cli.coding_agents import with_coding_agents
from evaluation_assets.cli.options import (
    AMOUNT,
    GivenPath,
    InputPath,
    Sectioned,
    WholeRange,
    preprocessing,
    with_format,
    with_judges,
)

# ruff: noqa: PLC0415

_SECTIONS = {
    "Options": ("home_url", "suite", "budget_usd", "output", "quiet"),
    "Judges": (
        "panel_file",
        "provider",
        "model",
        "judges",
        "agreed",
        "budget_calls",
    ),
    "Sessions of coding agents": ("agents", "since", "project"),
    "Input": ("all_drops", "format_name", "name", "replace", "one_drop", "beta_threshold", "on_violation"),
}


@click.command(cls=Sectioned, sections=_SECTIONS)
@with_coding_agents
@click.argument("inputs", nargs=-1, metavar="[INPUTS]...", type=InputPath(path_type=Path))
@click.option("--all", "all_drops", is_flag=True, help="Evaluate every drop of the home that has changed.")
@preprocessing
@with_judges
@click.option(
    "--judge",
    "judges",
    metavar="NAME",
    multiple=True,
    help="Ask only this judge; the stored verdicts of the others stay. May be repeated.",
)
@click.option(
    "--suite",
    type=click.Path(exists=True, path_type=Path),
    help="Test suite to evaluate the drops against.",
)
@click.option("--split-size", metavar="N", type=WholeRange(min=1), help="Also write the kept records, N per file.")
@click.option(
    "--budget",
    "budget_usd",
    metavar="USD",
    type=AMOUNT,
    help="Stop before spending more than this, in all.",
)
@click.option("--budget-calls", metavar="N", type=WholeRange(min=0), help="Stop before more model calls, in all.")
@click.option("--yes", "agreed", is_flag=True, help="Spend what the quote says without asking.")
@click.option("--preprocess-only", is_flag=True, help="Read and preprocess only; skip judging.")
@click.option("--one-drop", is_flag=True, help="Treat a directory as one drop of all its files.")
@with_format
@click.option("--select", help="Materialise only these assets (Dagster's selection syntax, e.g. '+clips').")
@click.option(
    "--as", "name", metavar="NAME", help="Name of the drop, or SUITE/ for all files (default: the file names)."
)
@click.option("--replace", is_flag=True, help="Replace existing drops of the same name.")
@click.option(
    "--output",
    type=GivenPath(file_okay=False, path_type=Path),
    help="Copy reports and result files to this directory.",
)
@click.option("--quiet", is_flag=True, help="Show no progress and no warnings.")
@click.option("--verbose", is_flag=True, help="Print all figures.")
def evaluate(inputs: tuple[Path, ...], **options: Any) -> None:
    """Evaluate files of trajectories.

    Each file is a drop, also in a directory; with --one-drop the directory is one. The name of a drop of the home
    evaluates it again. With --sessions, each coding agent is a drop.

    A drop for which nothing has changed since its last evaluation is not evaluated; its outcome is printed again.
    """
    _check_combination(**options)
    # What is needed only to evaluate takes long to import: `--help` and usage errors do not wait for it.
    from evaluation_assets.cli.evaluating import prepared
    from evaluation_assets.cli.requests import RequestedEvaluation
    from evaluation_assets.cli.stopping import resumable
    from evaluation_assets.core.intake.preprocessing.rules import Settings

    rules = Settings(beta_threshold=options.pop("beta_threshold"), on_violation=options.pop("on_violation"))
    asked = RequestedEvaluation(inputs=inputs, settings=rules, **options)
    with resumable(asked.home) as stop:
        evaluation = prepared(asked)
        if not evaluation.drops:
            evaluation.end()
        from evaluation_assets.core.lake.no_pandas import write_without_pandas

        write_without_pandas()
        from evaluation_assets.runs.jobs import RunOptions, evaluate_drops
        from evaluation_assets.runs.progress import RunProgress

        run_options = RunOptions(
            settings=asked.settings,
            split_size=asked.split_size,
            budget_usd=asked.budget_usd,
            budget_calls=asked.budget_calls,
            preprocess_only=asked.preprocess_only,
            select=asked.selection,
            judges=asked.judges,
        )
        progress = RunProgress(quiet=asked.quiet)
        for outcome in evaluate_drops(asked.home, asked.panel, evaluation.drops, run_options, progress, stop):
            evaluation.finish(outcome)
        evaluation.end()


def _check_combination(
    *, all_drops: bool, judges: tuple[str, ...], select: str | None, preprocess_only: bool, **options: Any
) -> None:
    """Refuse options that contradict each other."""
    chosen = {"--judge": judges, "--select": select, "--preprocess-only": preprocess_only}
    given = [name for name, value in chosen.items() if value]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} cannot be combined; use one of them")
    of_files = {"--as": "name", "--format": "format_name", "--suite": "suite", "--one-drop": "one_drop"}
    for option, name in of_files.items():
        if all_drops and options[name]:
            raise click.UsageError(f"--all and {option} cannot be combined; use one of them")
