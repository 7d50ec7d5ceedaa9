"""`check`: the constraints of checks.yaml on files or drops, without a run."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from upath import UPath

from evaluation_assets.cli.options import InputPath, text_or_json, with_home
from evaluation_assets.cli.output import echo, refuse, warn
from evaluation_assets.core.intake.copying.drops import inspect
from evaluation_assets.core.intake.drops import Drop, InvalidDrop
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.sections.constraints.evaluation import Evaluator, Outcome
from evaluation_assets.core.sections.constraints.scope import DropScope
from evaluation_assets.core.sections.constraints.settings import Checks, load_checks
from evaluation_assets.core.system.commands import program
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

_SHOWN = 10
"""Violations of a constraint that are listed without `--all`."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """A drop to check; `trajectories` is read once."""

    drop: str
    sidecar: Sidecar
    trajectories: Iterable[Trajectory]


@click.command("check")
@click.argument("inputs", nargs=-1, required=True, metavar="FILE_OR_DROP...", type=InputPath())
@click.option(
    "--checks",
    "checks_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Path to checks.yaml (default: <home>/checks.yaml).",
)
@text_or_json
@click.option("--one-drop", is_flag=True, help="Treat a directory as one drop of all its files.")
@click.option("--all", "show_all", is_flag=True, help=f"List all violations (default: {_SHOWN} by constraint).")
@with_home
def check(
    home: Installation,
    inputs: tuple[str, ...],
    checks_file: Path | None,
    format_name: str,
    one_drop: bool,
    show_all: bool,
) -> None:
    """Check files or drops for violations of constraints.

    Inputs are files, directories, or keys of evaluated drops. Nothing is written, no model is called. The exit code is
    1 if a constraint with severity `error` is violated or could not be checked, and 2 if the inputs or the constraints
    cannot be used.
    """
    checks = _constraints(home, checks_file)
    fails = False
    report: list[dict[str, Any]] = []
    for checked in _checked(home, inputs, one_drop=one_drop):
        evaluator = Evaluator(checks.constraints, DropScope.of(checked.sidecar))
        failures = _Found(checks)
        for trajectory in checked.trajectories:
            failures.add(trajectory.id, evaluator.outcomes(trajectory))
        fails |= failures.fails
        if format_name == "json":
            report.append(failures.as_json(checked.drop))
        else:
            failures.print(checked.drop, None if show_all else _SHOWN)
    if format_name == "json":
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
    if fails:
        raise SystemExit(1)


class _Found:
    """What the constraints found in a drop."""

    def __init__(self, checks: Checks) -> None:
        self._severity = {name: rule.severity for name, rule in checks.constraints.items()}
        self._rules: dict[str, str] = {}
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in checks.constraints}
        self._failures: dict[str, list[tuple[str, Outcome]]] = {name: [] for name in checks.constraints}
        self._trajectories = 0

    def add(self, trajectory_id: str, outcomes: Iterable[Outcome]) -> None:
        """Take the outcomes of one trajectory."""
        self._trajectories += 1
        for outcome in outcomes:
            self._rules[outcome.name] = outcome.rule
            self._counts[outcome.name][outcome.status] += 1
            if outcome.status in ("failed", "not_checked"):
                self._failures[outcome.name].append((trajectory_id, outcome))

    @property
    def fails(self) -> bool:
        """Whether a constraint with severity `error` does not hold."""
        return any(failure and self._severity[name] == "error" for name, failure in self._failures.items())

    def print(self, drop: str, shown: int | None) -> None:
        """Print every constraint with its violations."""
        echo("", f"{drop}: {counted(self._trajectories, 'run')}")
        for name, rule in self._rules.items():
            count = self._counts[name]
            about = count["passed"] + count["failed"] + count["not_checked"]
            failures = self._failures[name]
            word = self._severity[name] if failures else "ok"
            echo(f"  {word:<6} {name}: {rule}")
            said = f"violated in {count['failed']} of {counted(about, 'run')}"
            echo(f"         {said if about else 'not applicable to any trajectory'}")
            for trajectory_id, outcome in failures[:shown]:
                for line in _lines(trajectory_id, outcome):
                    echo(f"         {line}")
            if shown is not None and len(failures) > shown:
                echo(f"         and {counted(len(failures) - shown, 'run')} more; --all lists them")

    def as_json(self, drop: str) -> dict[str, Any]:
        """The same as JSON, with all violations."""
        return {
            "drop": drop,
            "trajectories": self._trajectories,
            "constraints": [
                {
                    "constraint": name,
                    "rule": self._rules.get(name),
                    "severity": self._severity[name],
                    **{status: counts[status] for status in ("passed", "failed", "not_applicable", "not_checked")},
                    "violations": [
                        {
                            "trajectory_id": trajectory_id,
                            "status": outcome.status,
                            "clip_index": violation.clip_index if violation else None,
                            "message": violation.message if violation else outcome.reason,
                        }
                        for trajectory_id, outcome in self._failures[name]
                        for violation in outcome.violations or (None,)
                    ],
                }
                for name, counts in self._counts.items()
            ],
        }


def _lines(trajectory_id: str, outcome: Outcome) -> Iterator[str]:
    if outcome.status == "not_checked":
        yield f"{trajectory_id}: not checked: {outcome.reason}"
        return
    first = outcome.violations[0]
    place = "" if first.clip_index is None else f", clip {first.clip_index}"
    others = len(outcome.violations) - 1
    yield f"{trajectory_id}{place}: {first.message}{f', and {others} more' if others else ''}"


def _constraints(home: Installation, checks_file: Path | None) -> Checks:
    file = home.checks_file if checks_file is None else UPath(checks_file.resolve())
    checks = load_checks(file)
    if not checks.constraints:
        refuse(f"{file}: no constraints; write some (docs/constraints.md), or name a file with --checks")
    return checks


def _checked(home: Installation, inputs: tuple[str, ...], *, one_drop: bool) -> Iterator[_Checked]:
    paths = [Path(each) for each in inputs if Path(each).exists()]
    for name in inputs:
        if Path(name).exists():
            continue
        raw = home.table(name, "raw_trajectories")
        if not raw.exists:
            raise InvalidDrop(f"{name}: neither a file nor an evaluated drop of {home.root}")
        yield _Checked(name, DropFacts.of(raw).sidecar, map(trajectory_of, raw.rows(TREE_AND_TEXT)))
    if not paths:
        return
    for drop in inspect(paths, one_drop=one_drop, say=warn):
        sidecar = drop.sidecar()
        yield _Checked(drop.key, sidecar, _read(drop.key, _items(drop, sidecar)))


def _items(drop: Drop, sidecar: Sidecar) -> Iterator[Trajectory | Rejection]:
    return ImportReport().read(format_of(drop.sources, sidecar.format), drop.sources)


def _read(drop: str, items: Iterable[Trajectory | Rejection]) -> Iterator[Trajectory]:
    rejected = 0
    for item in items:
        if isinstance(item, Rejection):
            rejected += 1
        else:
            yield item
    if rejected:
        warn(f"{drop}: {counted(rejected, 'record')} could not be read; to list them: {program()} import FILE")
