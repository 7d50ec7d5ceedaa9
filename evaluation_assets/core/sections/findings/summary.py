"""The section of a report on findings: kinds by the runs affected, gravest first, and the runs to look at."""

import heapq
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import NamedTuple

from evaluation_assets.core.intake.facts import FindingsFacts
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored
from evaluation_assets.core.sections.findings.finding import Severity
from evaluation_assets.core.sections.findings.gathering import ABOUT_OUTCOME
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.counted import counted, runs_of_tasks
from evaluation_assets.core.text.excerpts import in_short

RateInterval = Callable[[Collection[Sequence[bool]]], tuple[float, float]]

SEVERITIES: tuple[Severity, ...] = ("HIGH", "MEDIUM", "LOW")
"""Gravest first."""

EXAMPLES = 3
"""Examples listed by kind; the table has all."""

_LONGEST_MESSAGE = 200
"""Characters of a message among examples; the page of the run has all."""

RUNS_TO_LOOK_AT = 3

_REASONS = 3
"""Kinds named for failed runs."""


class Alike(NamedTuple):
    """The failure group of a finding, how many other runs of the drop have it, and of which kind it is."""

    group_id: str
    others: int
    kind: str


class FindingExample(Frozen):
    """A finding with its place and evidence, a quotation or a message. `is_shown`: the report has the run.

    `tool` is the tool that it concerns, unless the evidence names it; of what was cut off, always: its last call.
    `others` counts the other runs that have its failure group; none if it follows from a finding of another kind.
    """

    trajectory_id: str
    clip_index: int | None
    severity: Severity
    evidence: str
    is_quotation: bool
    detector: str
    is_shown: bool
    tool: str | None = None
    group_id: str | None = None
    others: int = 0


class FindingKind(Frozen):
    """A kind of finding: the `runs` that have it, and how many of them have it at most with each severity.

    `share` is of all runs, with a 95% interval over tasks. `earlier_share` is that of the earlier drop, if comparable.
    """

    kind: str
    title: str
    meaning: str
    severities: dict[Severity, int]
    runs: int
    share: float
    ci_low: float
    ci_high: float
    earlier_share: float | None
    examples: list[FindingExample]

    @property
    def severity(self) -> Severity:
        """The gravest severity."""
        return next(severity for severity in SEVERITIES if self.severities.get(severity))

    @property
    def by_severity(self) -> str:
        """The severities as text: `HIGH` if all runs have it so, else `MEDIUM 8, LOW 4`."""
        known = {severity: runs for severity, runs in self.severities.items() if runs}
        return ", ".join(severity if runs == self.runs else f"{severity} {runs:,}" for severity, runs in known.items())

    @property
    def grave_runs(self) -> int:
        """The runs that have it with more than LOW."""
        return self.runs - self.severities.get("LOW", 0)


class RunToLookAt(Frozen):
    """A run with grave findings: the titles of their kinds, gravest first, and the clip of the gravest."""

    trajectory_id: str
    clip_index: int | None
    titles: list[str]


class EarlierFindings(Frozen):
    """The findings of the drop that a report is compared with: runs by kind; none if other `detectors` found them."""

    drop: str
    detectors: str
    n_runs: int
    runs: dict[str, int]


class FindingsSummary(Frozen):
    """What went wrong in `affected` of the `n_runs` runs of a drop, which are of `n_tasks` tasks.

    `of_failed` counts the `failed` runs by kind of HIGH and MEDIUM findings, `failed_without` those that have none.
    `gone` are kinds of the earlier drop that are not found any more. `more` has, by title, how much larger the share of
    a kind with more than LOW is than it was, if the intervals of both are apart. `is_expected`: to fail is a finding.
    """

    n_runs: int
    n_tasks: int
    affected: int
    kinds: list[FindingKind]
    to_look_at: list[RunToLookAt]
    failed: int
    of_failed: dict[str, int]
    failed_without: int
    earlier: EarlierFindings | None
    is_comparable: bool
    gone: dict[str, float]
    more: Mapping[str, float] = {}
    is_expected: bool = False

    @property
    def reasons(self) -> str:
        """What was found in failed runs: `Cut off in 2, Wrong answer in 1, nothing in 1`."""
        named = [f"{kinds_title(kind)} in {runs:,}" for kind, runs in list(self.of_failed.items())[:_REASONS]]
        if (others := len(self.of_failed) - _REASONS) > 0:
            named.append(counted(others, "other kind"))
        if self.failed_without:
            named.append(f"nothing HIGH or MEDIUM in {self.failed_without:,}")
        return ", ".join(named)

    @property
    def of_runs(self) -> str:
        """The runs as text: `16 runs`, or `5 runs of 4 tasks` where runs share a task."""
        return runs_of_tasks(self.n_runs, self.n_tasks)

    @property
    def text(self) -> str:
        """The most frequent kinds, as in `in 3 of 16 runs: Loop (2 runs), 1 other kind; LOW: Refusal (3 runs)`."""
        if not self.affected:
            return f"none in {self.of_runs}"
        grave = {kind.title: kind.grave_runs for kind in self.kinds if kind.grave_runs}
        low = {kind.title: runs for kind in self.kinds if (runs := kind.severities.get("LOW", 0))}
        told = _most_frequent(grave or low, 3)
        also = f"; LOW: {_most_frequent(low, 1)}" if grave and low else ""
        most = sorted(self.more.items(), key=lambda each: -each[1])[:_REASONS]
        more = ", ".join(f"{title} ({in_points(share)})" for title, share in most)
        since = f"; more than in {self.earlier.drop}: {more}" if more and self.earlier is not None else ""
        return f"in {self.affected:,} of {self.of_runs}{self.in_failed}: {told}{also}{since}"

    @property
    def in_failed(self) -> str:
        """In how many failed runs HIGH or MEDIUM findings are; empty if that says nothing beside how many failed."""
        if self.is_expected or not 0 < self.failed < self.n_runs:
            return ""
        return f", HIGH or MEDIUM ones in {self.failed - self.failed_without:,} of {counted(self.failed, 'failed run')}"


@dataclass(slots=True)
class _Kind:
    """The runs that have a kind, by their number, the gravest severity in each, and the best examples."""

    runs: "array[int]" = field(default_factory=lambda: array("L"))
    severities: Counter[Severity] = field(default_factory=Counter)
    examples: list[tuple[tuple[int, ...], Row]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Run:
    """The kinds found in a run by their severity, and the first clip of each severity."""

    trajectory_id: str
    by_severity: dict[Severity, dict[str, None]]
    clips: dict[Severity, int]
    is_failed: bool

    @property
    def grave_kinds(self) -> list[str]:
        return list(dict.fromkeys(kind for severity in SEVERITIES[:2] for kind in self.by_severity.get(severity, {})))

    @property
    def rank(self) -> tuple[int, ...]:
        """Runs with the most kinds of HIGH findings first, then of MEDIUM ones; failed runs first among equals."""
        return (*(len(self.by_severity.get(severity, ())) for severity in SEVERITIES[:2]), self.is_failed)


def _most_frequent(runs: Mapping[str, int], most: int) -> str:
    """The kinds in the most runs, as text, and how many others there are."""
    frequent = sorted(runs.items(), key=lambda each: -each[1])[:most]
    others = len(runs) - len(frequent)
    named = [f"{title} ({counted(count, 'run')})" for title, count in frequent]
    return ", ".join([*named, counted(others, "other kind")] if others else named)


def kinds_title(kind: str) -> str:
    """The title of a kind; its name if an earlier version wrote it."""
    return kind if (known := kinds().get(kind)) is None else known.title


def findings_summary(
    findings: Stored,
    tasks: Mapping[str, str],
    removed: Collection[str],
    failed: Collection[str],
    interval: RateInterval,
    earlier: EarlierFindings | None = None,
    alike: Iterable[Alike] = (),
) -> FindingsSummary | None:
    """Summarise `findings`; `None` for drops that were evaluated before the table existed.

    Args:
        findings: the table.
        tasks: the task of every run, in the order of the table.
        removed: the runs that rules remove, which the report does not show.
        failed: the runs that failed.
        interval: gives the 95% interval of a rate from the outcomes of each task.
        earlier: the findings of the drop that this one is compared with.
        alike: the failure group of each finding, in the order of the table.
    """
    if not findings.exists:
        return None
    by_kind: dict[str, _Kind] = {}
    to_look_at: list[_Run] = []
    reasons: Counter[str] = Counter()
    affected, failed_with, is_expected = 0, 0, False
    rows = Aligned(
        {**found, "alike": group, "number": number}
        for number, (found, group) in enumerate(zip(findings.rows(), chain(alike, repeat(None)), strict=False))
    )
    for number, run in enumerate(tasks):
        if not (own := rows.at(run)):
            continue
        affected += 1
        is_shown, found = run not in removed, _run(run, own, run in failed)
        for kind, severity in _gravest(own).items():
            entry = by_kind.setdefault(kind, _Kind())
            entry.runs.append(number)
            entry.severities[severity] += 1
        for row in own:
            _keep_example(by_kind[row["kind"]], row, is_shown, found.is_failed)
        if found.is_failed:
            reasons.update(found.grave_kinds)
            failed_with += bool(found.grave_kinds)
            is_expected |= any(row["detector"] in ABOUT_OUTCOME for row in own)
        if is_shown and found.grave_kinds:
            to_look_at = heapq.nlargest(RUNS_TO_LOOK_AT, [*to_look_at, found], key=lambda each: each.rank)
    detectors = FindingsFacts.of(findings).detectors
    comparable = earlier is not None and earlier.n_runs > 0 and earlier.detectors == detectors
    before = earlier.runs if earlier is not None and comparable else {}
    n_before = 0 if earlier is None else earlier.n_runs
    summaries = [
        _summary(name, kind, tasks, removed, interval, before.get(name, 0) / n_before if comparable else None)
        for name, kind in sorted(by_kind.items())  # whatever the order of the runs
    ]
    return FindingsSummary(
        n_runs=len(tasks),
        n_tasks=len(set(tasks.values())),
        affected=affected,
        kinds=sorted(summaries, key=lambda kind: [-kind.severities[severity] for severity in SEVERITIES]),
        to_look_at=[_to_look_at(run) for run in to_look_at],
        failed=len(failed),
        of_failed=dict(sorted(reasons.items(), key=lambda each: (-each[1], each[0]))),
        failed_without=len(failed) - failed_with,
        earlier=earlier,
        is_comparable=comparable,
        gone={name: runs / n_before for name, runs in before.items() if name not in by_kind},
        more={
            each.title: each.share - each.earlier_share
            for each in summaries
            if each.grave_runs
            and each.earlier_share is not None
            and each.ci_low > _highest(before.get(each.kind, 0), n_before, interval)
        },
        is_expected=is_expected,
    )


def _highest(runs: int, of_runs: int, interval: RateInterval) -> float:
    """The upper end of the interval of a share whose tasks are not known."""
    return interval([[True]] * runs + [[False]] * (of_runs - runs))[1]


def earlier_findings(drop: str, findings: Stored, raw: Stored) -> EarlierFindings | None:
    """The findings of a drop that another one is compared with; `None` if it has no such table."""
    if not findings.exists:
        return None
    return EarlierFindings(
        drop=drop,
        detectors=FindingsFacts.of(findings).detectors,
        n_runs=raw.count,
        runs={kind: len(runs) for kind, runs in sorted(findings_by_kind(findings).items())},
    )


def findings_by_kind(findings: Stored) -> dict[str, set[str]]:
    """The trajectories with a finding of each kind, from `findings`."""
    by_kind: dict[str, set[str]] = {}
    for row in findings.rows(["trajectory_id", "kind"]):
        by_kind.setdefault(row["kind"], set()).add(row["trajectory_id"])
    return by_kind


def in_points(share: float) -> str:
    """A difference of shares: `+4.0 points`."""
    return f"{100 * share:+.1f} points" if round(share, 3) else "unchanged"


def _run(trajectory_id: str, rows: Iterable[Row], is_failed: bool) -> _Run:
    run = _Run(trajectory_id, {}, {}, is_failed)
    for row in rows:
        run.by_severity.setdefault(row["severity"], {})[row["kind"]] = None
        if row["clip_index"] is not None:
            run.clips.setdefault(row["severity"], row["clip_index"])
    return run


def _gravest(rows: Sequence[Row]) -> dict[str, Severity]:
    """The gravest severity of each kind in a run."""
    gravest: dict[str, Severity] = {}
    for row in rows:
        known = gravest.setdefault(row["kind"], row["severity"])
        gravest[row["kind"]] = min(known, row["severity"], key=SEVERITIES.index)
    return gravest


def _keep_example(kind: _Kind, row: Row, is_shown: bool, is_failed: bool) -> None:
    """Keep the gravest findings as examples, those of failed runs first, one of each run."""
    at_clip = row["clip_index"] is not None
    rank = (-SEVERITIES.index(row["severity"]), is_shown, is_failed, at_clip, -row["number"])
    of_run = next((entry for entry in kind.examples if entry[1]["trajectory_id"] == row["trajectory_id"]), None)
    if of_run is not None and of_run[0] > rank:
        return
    others = [entry for entry in kind.examples if entry is not of_run]
    kind.examples = sorted([*others, (rank, row)], key=lambda entry: entry[0], reverse=True)[:EXAMPLES]


def _example(row: Row, removed: Collection[str]) -> FindingExample:
    own = {name: row[name] for name in ("trajectory_id", "clip_index", "severity", "evidence", "detector")}
    if row["start"] is None:
        own["evidence"] = in_short(row["evidence"], _LONGEST_MESSAGE)
    if row["alike"] is not None and row["alike"].kind == row["kind"]:
        own |= {"group_id": row["alike"].group_id, "others": row["alike"].others}
    return FindingExample(
        **own,
        tool=None if (row["tool"] or "") in row["evidence"] and row["kind"] != "cut_off" else row["tool"],
        is_quotation=row["start"] is not None,
        is_shown=row["trajectory_id"] not in removed,
    )


def _summary(
    name: str,
    kind: _Kind,
    tasks: Mapping[str, str],
    removed: Collection[str],
    interval: RateInterval,
    earlier: float | None,
) -> FindingKind:
    outcomes: dict[str, list[bool]] = {}
    having = set(kind.runs)
    for number, task in enumerate(tasks.values()):
        outcomes.setdefault(task, []).append(number in having)
    low, high = interval(outcomes.values())
    known = kinds().get(name)
    return FindingKind(
        kind=name,
        title=kinds_title(name),
        meaning="" if known is None else known.meaning,
        severities={severity: kind.severities[severity] for severity in SEVERITIES},
        runs=len(having),
        share=len(having) / len(tasks),
        ci_low=low,
        ci_high=high,
        earlier_share=earlier,
        examples=[_example(row, removed) for _, row in kind.examples],
    )


def _to_look_at(run: _Run) -> RunToLookAt:
    return RunToLookAt(
        trajectory_id=run.trajectory_id,
        clip_index=next((run.clips[each] for each in SEVERITIES if each in run.clips), None),
        titles=[kinds_title(kind) for kind in run.grave_kinds],
    )
