"""What `evaluate` does. Most of it is imported only where a drop has changed, because that takes most of a second."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NoReturn

import click
from upath import UPath

from evaluation_assets.cli.chosen_panel import not_fitted
from evaluation_assets.cli.drops_as_given import warn_of_no_suite, warn_of_single_runs
from evaluation_assets.cli.evaluated import has_changed, warn_of_misspelled
from evaluation_assets.cli.one_judge import judge_named
from evaluation_assets.cli.output import echo, print_lines, refuse, warn
from evaluation_assets.cli.requests import RequestedEvaluation
from evaluation_assets.core.intake.copying.copies import Conflict
from evaluation_assets.core.intake.copying.drops import annotate, keys_in, take_in, taken_in
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import Drop, InvalidDrop, find, scan
from evaluation_assets.core.intake.preprocessing.split import remove_earlier
from evaluation_assets.core.lake.stored import named_disk, publish_copy
from evaluation_assets.core.report.paths import JUDGE_FILES, report_files
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of
from evaluation_assets.core.text.plain_text import for_terminal
from evaluation_assets.runs.errors import InvalidSelection
from evaluation_assets.runs.outcomes import EXIT_STATUS, Line, RunOutcome
from evaluation_assets.runs.unchanged import LastOutcome, LastOutcomes

# ruff: noqa: PLC0415

_NAMED = 20
"""Drops that have failed, which are named at the end."""

_BRIEF = 10
"""Drops, from more of which on only what went wrong in each is printed."""


@dataclass(slots=True)
class Evaluation:
    """The drops to evaluate, those that have changed, and the exit status so far. With many, little is said of each."""

    asked: RequestedEvaluation
    last: LastOutcomes | None
    status: int = 0
    is_brief: bool = False
    contents: dict[Drop, str] = field(default_factory=dict)
    _before: dict[str, bytes | None] = field(default_factory=dict)
    _told: list[str] = field(default_factory=list)
    _failed: list[str] = field(default_factory=list)
    _reported: list[str] = field(default_factory=list)

    @property
    def drops(self) -> list[Drop]:
        """The drops to evaluate."""
        return list(self.contents)

    def tell(self, last: LastOutcome) -> None:
        """Print the outcome of a drop that is as its last evaluation left it."""
        self._print(last.outcome, self._lines_again(last.outcome, verbose=True) if self.asked.verbose else last.lines)

    def add(self, drops: Sequence[Drop]) -> None:
        """Evaluate these drops, and tell of those that have not changed."""
        for drop in drops:
            if self.last is not None and (known := self.last.of(drop)) is not None:
                self.tell(known)
            else:
                self.contents[drop] = "" if self.last is None else drop.content_hash()
                self._before[drop.key] = report_files(self.asked.home.reports(drop.key), drop.key).data
                if (
                    self.last is not None
                    and not self.asked.quiet
                    and self.last.was_rewritten(drop, self.contents[drop])
                ):
                    warn(f"{drop.key} runs again: its tables or report changed, as by --judge")

    def finish(self, outcome: RunOutcome) -> None:
        """Print the outcome of a drop that was evaluated, and keep it."""
        before = self._before[outcome.drop.key]
        self._print(outcome, _lines(self.asked.home, outcome, before, verbose=self.asked.verbose))
        if self.last is not None:
            self.last.keep(outcome, self.contents[outcome.drop], self._lines_again)

    def end(self) -> NoReturn:
        """Name drops among others that have failed, tell a person how to open reports, and exit with the status."""
        home, keys = self.asked.home, self._reported
        if self._failed and len(self._told) > 1:
            of_all = f"{len(self._failed)} of {len(self._told)} drops"
            echo("", f"{of_all} could not be evaluated: {first_of(self._failed, _NAMED)}", err=True)
        if keys and not self.asked.quiet:
            echo(*not_fitted(home, self.asked.panel), err=True)
        if keys and not self.asked.quiet and sys.stderr.isatty():
            one = keys if len(keys) == 1 else []
            echo("", f"To open the {'report' if one else 'reports'}: {home.command('open', *one)}", err=True)
        sys.exit(self.status)

    def _lines_again(self, outcome: RunOutcome, *, verbose: bool = False) -> Iterator[Line]:
        """What is printed of an outcome that is as it was."""
        return _lines(self.asked.home, outcome, verbose=verbose, again=True)

    def _print(self, outcome: RunOutcome, lines: Iterable[Line]) -> None:
        self.status = max(self.status, EXIT_STATUS[outcome.status])
        print_lines(line for line in lines if not (self.is_brief and _is_left_out(line)))
        self._told.append(outcome.drop.key)
        if outcome.status in ("unreadable", "unusable", "broken"):
            self._failed.append(outcome.drop.key)
        if report_files(self.asked.home.reports(outcome.drop.key), outcome.drop.key).html.exists():
            self._reported.append(outcome.drop.key)
        if self.asked.output is not None:
            _copy_files(self.asked.home, outcome.drop, self.asked.output)


def _are_many(asked: RequestedEvaluation, drops: Sized) -> bool:
    return len(drops) > _BRIEF and not asked.verbose


def _is_left_out(line: Line) -> bool:
    """Whether a line is not printed of one drop among many."""
    return line.label in ("cost", "report") or (line.label == "gate" and line.text.startswith("no baseline; "))


def _lines(
    home: Installation, outcome: RunOutcome, before: bytes | None = None, *, verbose: bool, again: bool = False
) -> Iterator[Line]:
    from evaluation_assets.cli.outcomes import outcome_lines

    return outcome_lines(home, outcome, before, verbose=verbose, again=again)


def prepared(asked: RequestedEvaluation) -> Evaluation:
    """Bring the drops into the installation and find those that have changed; exits if they cannot be evaluated."""
    last = LastOutcomes(asked.home, asked.panel, asked.settings) if asked.is_whole else None
    evaluation = Evaluation(asked, last)
    if asked.all_drops and not asked.home.root.exists():
        refuse(f"there is no installation at {asked.home.root}; --home names another")
    _check_output(asked.output)
    asked = replace(asked, inputs=tuple(_place_of(asked.home, given) for given in asked.inputs))
    for name in asked.judges:
        judge_named(asked.panel, name)
    prepare(asked.home)
    if last is not None and (outcomes := _unchanged(asked, last)):
        evaluation.is_brief = _are_many(asked, outcomes)
        for outcome in outcomes:
            evaluation.tell(outcome)
    elif asked.all_drops:
        stale = _stale(asked, last)
        evaluation.is_brief = _are_many(asked, stale)
        evaluation.add(stale)
    else:
        _check(asked, _evaluated_before(asked) if asked.judges else None)
        drops, left_out = _taken_in(asked)
        _check_unchanged(asked, drops)
        evaluation.status = 2 * left_out
        evaluation.is_brief = _are_many(asked, drops)
        evaluation.add(drops)
        if not (asked.quiet or asked.one_drop):
            warn_of_single_runs(asked.inputs, evaluation.drops)
        if asked.name is None and asked.sessions is None and not asked.quiet:
            warn_of_no_suite(asked.home, asked.inputs, drops)
    _tell_shared_budget(asked, evaluation.drops)
    warn_of_misspelled(evaluation.drops)
    return evaluation


def _check_output(output: Path | None) -> None:
    """Make the folder that the reports are copied to; refuse one that cannot be used before anything is paid for."""
    if output is None:
        return
    place = output.absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        refuse(f"--output: {place} is not a folder. Choose another path.")
    if not os.access(place, os.W_OK | os.X_OK):
        refuse(f"--output: {place} cannot be written. Change its permissions, or choose another path.")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as problem:  # a folder below /proc, a name that is too long
        refuse(f"--output: {output} cannot be made ({problem.strerror}). Choose another path.")


def _place_of(home: Installation, given: Path) -> Path:
    """The file or folder that is named, or that of the drop with this name."""
    if given.exists():
        return given
    try:
        drop = find(home.drops, str(given))
    except InvalidDrop as problem:
        raise click.UsageError(f"Path {str(given)!r} does not exist; {problem}") from None
    place = Path(drop.files[0].path)
    return place if place.name.startswith(drop.name) and len(drop.files) == 1 else Path(home.drops.path) / drop.key


def _unchanged(asked: RequestedEvaluation, last: LastOutcomes) -> list[LastOutcome]:
    """The outcomes of all drops; none where a drop has changed, or has to be copied or asked about first."""
    if asked.all_drops or asked.sessions is not None or asked.suite is not None:
        return []
    drops = taken_in(asked.home, list(asked.inputs), one_drop=asked.one_drop, name=asked.name) or []
    outcomes = [last.of(drop) for drop in drops if asked.format_name in (None, drop.sidecar().format)]
    known = [outcome for outcome in outcomes if outcome is not None]
    return known if len(known) == len(drops) else []


def _stale(asked: RequestedEvaluation, last: LastOutcomes | None) -> list[Drop]:
    """The drops of the installation that would be evaluated differently now."""
    from evaluation_assets.runs.jobs import stale_drops

    drops = list(scan(asked.home.drops).drops.values())
    known = [] if last is None else [known for drop in drops if (known := last.of(drop)) is not None]
    unchanged = {each.outcome.drop.key for each in known}
    changed = [drop for drop in drops if drop.key not in unchanged]
    if unreadable := [each.outcome.drop.key for each in known if each.outcome.status == "unreadable"]:
        told = f"{counted(len(unreadable), 'drop')} could not be read, and did not change since"
        why = asked.home.command("evaluate", "DROP")
        warn(f"{told}: {first_of(unreadable, 3)}; remove them from {asked.home.drops}, or see why: {why}")
    stale = stale_drops(asked.home, asked.panel, changed)
    new = sum(has_changed(asked.home, drop) for drop in stale)
    why = {
        "new or changed": new,
        "with a changed suite, panel, settings or version, or without results": len(stale) - new,
    }
    counts = ", ".join(f"{count} {what}" for what, count in why.items() if count)
    echo(f"{counted(len(stale), 'drop')} of {len(drops)} to evaluate{f': {counts}' if counts else ''}", err=True)
    _check_unchanged(asked, stale)
    _check(asked, stale)
    return stale


def _check(asked: RequestedEvaluation, drops: list[Drop] | None) -> None:
    """Check that judges can be asked, and ask for consent to what they cost; exits without it."""
    if asked.preprocess_only:
        return
    from evaluation_assets.cli.consent import ask_for_consent, counted_quotes, drops_of
    from evaluation_assets.runs.paid import PaidEvaluation, check_usable, missing_keys, without_keys

    check_usable(asked.home, asked.panel)
    suite = None if asked.suite is None else asked.suite.resolve().stem
    paid = PaidEvaluation(asked.home, asked.asked_panel, asked.settings, suite, asked.selection)

    @cache
    def looked_at() -> list[Drop]:
        return drops_of(asked) if drops is None else drops

    paid.check_budget(asked.budget_usd, asked.budget_calls, looked_at)
    if paid.lacks_keys or not paid.is_free:
        paid.check_keys(looked_at())
        for line in () if asked.quiet else without_keys(missing_keys(asked.asked_panel)):
            warn(line)
        limited = asked.budget_usd is not None or asked.budget_calls is not None
        above = asked.panel.ask_above_usd
        ask_for_consent(
            lambda: counted_quotes(paid, looked_at()), above, limited=limited, agreed=asked.agreed, quiet=asked.quiet
        )


def _evaluated_before(asked: RequestedEvaluation) -> list[Drop]:
    """The drops that will be taken in, all of which have the tables that a judge who is asked alone needs."""
    from evaluation_assets.cli.consent import drops_of

    drops = drops_of(asked)
    keys = keys_in(asked.home, drops, asked.name)
    _refuse_judging([key for key in keys if not asked.home.table(key, "clips").exists])
    return drops


def _check_unchanged(asked: RequestedEvaluation, drops: Sequence[Drop]) -> None:
    """Check that a judge who is asked alone is asked about the drops as they are."""
    if asked.judges:
        _refuse_judging([drop.key for drop in drops if has_changed(asked.home, drop)])


def _refuse_judging(drops: Sequence[str]) -> None:
    if drops:
        raise InvalidSelection(
            f"{first_of(drops, 3)}: never evaluated, or changed since. "
            "Evaluate it with all judges first, without --judge"
        )


def _taken_in(asked: RequestedEvaluation) -> tuple[list[Drop], bool]:
    """The drops in the installation, and whether something was left out, of which the user is warned."""
    from evaluation_assets.core.intake.copying.suites import take_in_suite

    if asked.format_name is not None:
        _check_format(asked, asked.format_name)
    left_out: list[str] = []
    # Of a folder, a file that cannot be read may be one with results of the runs beside it.
    named = () if asked.format_name is not None else filter(Path.is_file, asked.inputs)
    files = {path.parent.resolve() / path.name for path in named}
    suite = None if asked.suite is None else take_in_suite(asked.home, asked.suite)
    if asked.sessions is not None:
        drops = asked.sessions.taken_into(asked.home.drops, warn, asked.name)
    else:
        drops = take_in(
            asked.home,
            list(asked.inputs),
            one_drop=asked.one_drop,
            name=asked.name,
            may_replace=lambda conflict: asked.replace or _confirmed(conflict),
            why_unreadable=lambda drop: _why_unreadable(drop) if Path(drop.files[0].path) in files else None,
            say=left_out.append,
        )
    for problem in left_out:
        warn(problem)
    suite_name = None if asked.suite is None else asked.suite.resolve().stem
    if suite is not None:
        for task in () if asked.quiet else suite.incomplete:
            warn(f"{task.place}: {task.task} is skipped: {task.reason}")
    drops = [annotate(asked.home, drop, suite=suite_name, format_name=asked.format_name) for drop in drops]
    return drops, bool(left_out)


def _check_format(asked: RequestedEvaluation, format_name: str) -> None:
    """Refuse a format in which nothing of a file that is named can be read: the sidecar would keep it."""
    from evaluation_assets.cli.consent import drops_of
    from evaluation_assets.core.traces.formats.import_report import check_readable

    files = tuple(path for path in asked.inputs if path.is_file())
    for drop in drops_of(replace(asked, inputs=files, sessions=None, one_drop=False)) if files else ():
        check_readable(drop.sources, format_name)


def _tell_shared_budget(asked: RequestedEvaluation, drops: Sequence[Drop]) -> None:
    usd, calls = asked.budget_usd, asked.budget_calls
    limits = [] if usd is None else [f"${usd:g}"]
    limits += [] if calls is None else [counted(calls, "model call")]
    if limits and len(drops) > 1 and not asked.quiet:
        echo(f"budget: {' and '.join(limits)} for all {len(drops)} drops together", err=True)


def _why_unreadable(drop: Drop) -> str | None:
    """Why no format can be found for a drop; `None` if one is."""
    from evaluation_assets.core.traces.formats.base import UnreadableDrop
    from evaluation_assets.core.traces.formats.registry import format_of

    try:
        format_of(drop.sources, drop.sidecar().format)
    except UnreadableDrop as problem:
        return str(problem)
    return None


def _confirmed(conflict: Conflict) -> bool:
    """Ask for confirmation on a terminal; without one, the answer is no."""
    return sys.stdin.isatty() and click.confirm(f"{for_terminal(str(conflict))}. Replace it?", err=True)


def _copy_files(home: Installation, drop: Drop, output: Path) -> None:
    """Copy the drop's report folder into the output folder."""
    source = home.reports(drop.key)
    if not source.exists():
        return
    target = output / drop.key
    with named_disk(str(target)):
        target.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target / JUDGE_FILES, ignore_errors=True)
    for path in source.rglob("*"):
        if path.is_file():
            place = target / path.path.removeprefix(source.path).strip("/")
            publish_copy(path, UPath(place))
    split = f"pre{drop.name}"
    there = {path.name for path in (source / split).iterdir()} if (source / split).exists() else set()
    remove_earlier(UPath(target / split), drop.name, there)
