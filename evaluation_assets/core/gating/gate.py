"""Compare a drop with its baseline.

A verdict is `pass` (no regression found; the reason names the detectable decrease), `warn` (a decrease within the
margin; or single tasks fell or are missing), `fail` (a regression, or too many missing tasks), `inconclusive` (too few
tasks to detect even a large decrease; the reason names the number needed) or `incomparable` (different tasks, judges or
settings; the reason names the part). Where only judges differ, and outcomes alone gate, outcomes are compared.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from evaluation_assets.core.gating import wording
from evaluation_assets.core.gating.baselines import SERVED, Baseline, comparability_key, gating_metrics, scored_with
from evaluation_assets.core.gating.bridges import Bridges, differences, on_old_scale
from evaluation_assets.core.gating.changed_judges import JUDGE_AGAIN, changed_judges, unknown_change
from evaluation_assets.core.gating.changed_tasks import changed_tasks
from evaluation_assets.core.gating.comparisons import compare_metrics
from evaluation_assets.core.gating.more_findings import more_findings
from evaluation_assets.core.gating.outcome import (
    ChangedTask,
    Comparability,
    Difference,
    GateOutcome,
    MetricComparison,
    Offset,
)
from evaluation_assets.core.gating.settings import GateSettings, GateVerdict
from evaluation_assets.core.gating.task_metrics import (
    FINDING,
    OUTCOMES,
    SUCCESS,
    DropMetrics,
    lower_is_better,
    needs_judges,
)
from evaluation_assets.core.text.counted import counted, runs_of_tasks

_GRAVITY: tuple[GateVerdict, ...] = ("fail", "incomparable", "inconclusive", "warn", "pass")
"""Verdicts by severity; a drop gets the most severe one."""

_ROUNDING = 1e-9
"""Tolerance for rounding errors: a mean of 0.7999999999999999 satisfies a floor of 0.8."""


def decide(
    baseline: Baseline | None, current: DropMetrics, settings: GateSettings, bridges: Bridges | None = None
) -> GateOutcome | None:
    """Run the gate. `None` if there is neither a baseline nor a floor.

    Runs that differ in what one of the bridges links are compared on the scale of the old scores.
    """
    if baseline is None and not settings.floors:
        return None
    outcome = _linked(baseline, current, settings, bridges)
    if SUCCESS not in settings.floors and not any(each.gates and each.metric == SUCCESS for each in outcome.metrics):
        return outcome
    runs = [run for run, _, _ in current.disputed]
    notes: list[str] = []
    if runs:
        other = _linked(baseline, current.with_other_outcomes(), settings, bridges)
        notes.append(wording.disputed(runs, outcome.verdict, other.verdict))
    if baseline is not None and baseline.disputed:
        notes.append(wording.disputed_in_baseline(baseline.disputed))
    return outcome.model_copy(update={"reasons": [*outcome.reasons, *notes], "disputed_runs": runs})


def _linked(
    baseline: Baseline | None, current: DropMetrics, settings: GateSettings, bridges: Bridges | None
) -> GateOutcome:
    """The outcome, on the scale of the old scores where a bridge links what differs."""
    bridge = None if baseline is None or bridges is None else bridges.over(_differences(baseline, current))
    if baseline is None or bridge is None:
        return _decided(baseline, current, settings, {})
    before, moved, apart = on_old_scale(bridge, baseline, current)
    outcome = _decided(before, moved, settings, bridge.offsets)
    key = comparability_key(scored_with(current))
    comparability = outcome.comparability.model_copy(update={"current_key": key, "linked": bridge})
    reasons = [*outcome.reasons, *wording.linked(bridge, apart)]
    return outcome.model_copy(update={"comparability": comparability, "reasons": reasons})


def _decided(
    baseline: Baseline | None, current: DropMetrics, settings: GateSettings, offsets: Mapping[str, Offset]
) -> GateOutcome:
    names = [*(name for name in current.metrics if not name.startswith(FINDING)), *_findings_named(settings)]
    own = {name: {task: value.value for task, value in current.metric(name).items()} for name in names}
    moved = [] if baseline is None else _changed_judges(baseline, current)
    # A floor on the scores of a changed judge says nothing about the agent.
    held = {name: values for name, values in own.items() if not moved or not needs_judges(name)}
    limits = _beyond_limits(held, settings.floors)
    if baseline is None:
        return _Compared(None, current, settings, limits).outcome()
    tasks = _Tasks.of(baseline.tasks, current.tasks)
    differs = _differences(baseline, current)
    if not tasks.common:
        before, now = counted(len(baseline.tasks), "task"), counted(len(current.tasks), "other")
        differs[wording.TASKS] = Difference(baseline=before, current=now)
    unknown = [words for words, asked in _unknown_changes(baseline, current) if asked]
    if moved or unknown or not all(map(wording.is_of_judges, differs)):
        outcome = _Compared(baseline, current, settings, limits, tasks, differs, [*moved, *unknown]).outcome()
        return outcome.model_copy(update={"judges_changed": moved})
    if not current.detectors or baseline.detectors != current.detectors:
        own = {name: values for name, values in own.items() if not name.startswith(FINDING)}
    comparable = (baseline, own, settings) if not differs else _without_judges(baseline, own, settings)
    compared = compare_metrics(*comparable, tasks.common, offsets)
    compared = [_with_unknown(each, baseline, current, tasks.common, settings) for each in compared]
    comparisons = [_with_limit(each, limits.pop(each.metric, None)) for each in compared]
    gating = [each.metric for each in compared if each.gates and not lower_is_better(each.metric)]
    fallen, improved = (
        changed_tasks(direction, gating, baseline.metrics, current.metrics, tasks.common, settings)
        for direction in ("fell", "rose")
    )
    # An offset is a mean: on a single task, two judges may differ by more.
    fallen, improved = (
        [each.model_copy(update={"beyond_noise": each.beyond_noise and each.metric not in offsets}) for each in changed]
        for changed in (fallen, improved)
    )
    whole = _Compared(baseline, current, settings, limits, tasks, differs, [], comparisons, fallen, improved)
    outcome = whole.outcome()
    more = more_findings(baseline, current, settings, tasks.common, _findings_named(settings))
    verdict = _gravest([outcome.verdict, *("warn" for _ in more)])
    return outcome.model_copy(update={"verdict": verdict, "warnings": list(map(wording.more_of, more))})


def _findings_named(settings: GateSettings) -> list[str]:
    """The metrics of findings that the settings name; others are not compared, since the report lists all kinds."""
    return [name for name in dict.fromkeys([*(settings.metrics or ()), *settings.floors]) if name.startswith(FINDING)]


@dataclass(frozen=True, slots=True)
class _Tasks:
    common: Sequence[str] = ()
    reworded: Sequence[str] = ()
    only_baseline: Sequence[str] = ()
    only_current: Sequence[str] = ()

    @classmethod
    def of(cls, baseline: Mapping[str, str], current: Mapping[str, str]) -> "_Tasks":
        both = sorted(baseline.keys() & current.keys())
        return cls(
            common=both,
            reworded=[task for task in both if baseline[task] != current[task]],
            only_baseline=sorted(baseline.keys() - current.keys()),
            only_current=sorted(current.keys() - baseline.keys()),
        )


def _differences(baseline: Baseline, current: DropMetrics) -> dict[str, Difference]:
    before, now = baseline.comparability, scored_with(current)
    if baseline.suite and current.suite is not None:
        before, now = before | {"suite name": baseline.suite}, now | {"suite name": current.suite}
    return differences(before, now)


def _changed_judges(baseline: Baseline, current: DropMetrics) -> list[str]:
    """The judges that changed, with reasons: the provider reports another version, or canary scores moved."""
    before, now = baseline.comparability, current.comparability
    served = [
        f"judge changed: {part.removeprefix(SERVED)} is served as {now[part]}, was {before[part]}; {JUDGE_AGAIN}"
        for part in sorted(before.keys() & now.keys())
        if part.startswith(SERVED) and before[part] != now[part]
    ]
    moved = changed_judges(baseline.canaries, current.canaries)
    return served + [change.words for change in moved if change.judge not in current.kept_out]


def _unknown_changes(baseline: Baseline, current: DropMetrics) -> list[tuple[str, bool]]:
    """Judges of both runs of which it is unknown whether they changed, and whether they scored canary clips."""
    changes = (
        unknown_change(judge, before, current.canaries.get(judge, {}), current.canaries_asked.get(judge, 0))
        for judge, before in sorted(baseline.canaries.items())
        if f"judge {judge}" in current.comparability and judge not in current.kept_out
    )
    return [each for each in changes if each is not None]


def _beyond_limits(
    current: Mapping[str, Mapping[str, float]], floors: Mapping[str, float]
) -> dict[str, tuple[str, GateVerdict]]:
    """By metric, why its limit is violated or cannot be checked. Limits of what is better low are upper limits."""
    violations: dict[str, tuple[str, GateVerdict]] = {}
    for metric, limit in sorted(floors.items()):
        values = current.get(metric)
        at_most = lower_is_better(metric)
        if not values:
            violations[metric] = wording.unknown_limit(metric, limit, at_most=at_most), "inconclusive"
            continue
        mean = fmean(values.values())
        if mean > limit + _ROUNDING if at_most else mean < limit - _ROUNDING:
            violations[metric] = wording.beyond_limit(metric, mean, len(values), limit, at_most=at_most), "fail"
    return violations


def _with_unknown(
    compared: MetricComparison,
    baseline: Baseline,
    current: DropMetrics,
    tasks: Sequence[str],
    settings: GateSettings,
) -> MetricComparison:
    """An outcome that is unknown for too many runs is inconclusive: its mean is that of the others."""
    now = current.metrics.get(compared.metric, {})
    if compared.metric not in OUTCOMES or compared.verdict in ("fail", "inconclusive"):
        return compared
    before = baseline.metrics[compared.metric]
    either = [task for task in tasks if task in now or task in before.values]
    known = sum(now[task].trials for task in either if task in now)
    runs = sum(current.trials.get(task, 1) for task in either)
    known_before = sum(before.trials.get(task, 1) for task in either if task in before.values)
    runs_before = max(known_before, sum(baseline.trials.get(task, 1) for task in either))
    if known / runs >= known_before / runs_before - settings.max_unpaired - _ROUNDING:
        return compared
    return compared.model_copy(
        update={"verdict": "inconclusive", "reason": wording.unknown_outcomes(compared.metric, known, runs)}
    )


def _with_limit(compared: MetricComparison, violation: tuple[str, GateVerdict] | None) -> MetricComparison:
    """A metric with the verdict of its limit, which holds whether or not the comparison with the baseline gates."""
    if violation is None:
        return compared
    words, verdict = violation
    if not compared.gates:
        return compared.model_copy(update={"gates": True, "verdict": verdict, "reason": words})
    return compared.model_copy(
        update={"verdict": _gravest([verdict, compared.verdict]), "reason": f"{words}; {compared.reason}"}
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """A drop beside its baseline. `of_judges`: reasons why changed or unverified judges prevent a comparison."""

    baseline: Baseline | None
    current: DropMetrics
    settings: GateSettings
    limits: Mapping[str, tuple[str, GateVerdict]]
    tasks: _Tasks = field(default_factory=_Tasks)
    differs: dict[str, Difference] = field(default_factory=dict)
    of_judges: Sequence[str] = ()
    comparisons: Sequence[MetricComparison] = ()
    fallen: Sequence[ChangedTask] = ()
    improved: Sequence[ChangedTask] = ()

    @property
    def _gating(self) -> list[MetricComparison]:
        return [each for each in self.comparisons if each.gates]

    @property
    def _apart(self) -> list[str]:
        """Why the two cannot be compared, or not as a whole."""
        return [*self.of_judges, *(wording.differs(*each) for each in wording.without_follow_ups(self.differs).items())]

    @property
    def _still_gates(self) -> bool:
        """Whether what cannot be compared leaves enough for a verdict."""
        return self.baseline is not None and bool(self._gating) and not _gate_by_judges(self.baseline, self.settings)

    def _findings(self) -> Iterator[tuple[str, GateVerdict]]:
        """What decides the verdict."""
        baseline, tasks, settings, gating = self.baseline, self.tasks, self.settings, self._gating
        for words in () if self._still_gates else self._apart:
            yield words, "incomparable"
        yield from self.limits.values()
        if baseline is not None and not self.differs.keys() & {"suite", "suite name"}:
            if tasks.only_baseline:
                yield _missing(tasks.only_baseline, len(baseline.tasks), settings.max_missing)
            yield from _missing_trials(tasks.common, baseline, self.current, settings.max_missing)
        for each in gating:
            if each.verdict != "pass":
                yield each.reason, each.verdict
        if baseline is not None and not self.differs and not self.of_judges and not gating:
            yield wording.NOTHING_GATES, "inconclusive"
        if serious := {each.task_id for each in self.fallen if each.beyond_noise}:
            yield wording.fallen(len(serious), settings.fallen_drop), "warn"

    def _notes(self) -> Iterator[str]:
        """What is said beside, and decides nothing."""
        baseline, current, tasks = self.baseline, self.current, self.tasks
        yield from (each.note for each in self._gating if each.note is not None)
        if self._still_gates:
            yield from (f"scores of judges are not compared: {words}" for words in self._apart)
        if tasks.only_current and not self.differs:
            yield wording.new_tasks(len(tasks.only_current))
        if tasks.reworded:
            yield wording.reworded(len(tasks.reworded))
        yield from wording.kept_out(current.kept_out)
        if baseline is not None:
            agents = sorted({run.agent for run in baseline.runs if run.agent is not None})
            if agents and current.agent is not None and current.agent not in agents:
                yield wording.other_agent(current.agent, agents)
            yield from (words for words, asked in _unknown_changes(baseline, current) if not asked)

    def outcome(self) -> GateOutcome:
        """The outcome, with the gravest reason first."""
        baseline, current, settings, tasks = self.baseline, self.current, self.settings, self.tasks
        findings = sorted(self._findings(), key=lambda finding: _GRAVITY.index(finding[1]))
        reasons = [words for words, _ in findings] or [each.reason for each in self._gating] or ["all floors are met"]
        return GateOutcome(
            drop=current.drop,
            runs=runs_of_tasks(current.n_runs, len(current.tasks)),
            baseline=None if baseline is None else baseline.name,
            suite=current.suite,
            verdict=_gravest(verdict for _, verdict in findings),
            rule=settings.rule,
            confidence=1 - 2 * settings.alpha,
            reasons=[*reasons, *self._notes()],
            metrics=list(self.comparisons),
            fallen_tasks=list(self.fallen),
            improved_tasks=list(self.improved),
            only_in_baseline=list(tasks.only_baseline),
            only_in_current=list(tasks.only_current),
            reworded_tasks=list(tasks.reworded),
            judges_kept_out=dict(current.kept_out),
            comparability=Comparability(
                baseline_key=None if baseline is None else baseline.comparability_key,
                current_key=comparability_key(scored_with(current)),
                differs=self.differs,
            ),
        )


def _without_judges(
    baseline: Baseline, own: Mapping[str, Mapping[str, float]], settings: GateSettings
) -> tuple[Baseline, Mapping[str, Mapping[str, float]], GateSettings]:
    """What can be compared where judges differ: outcomes, costs and most findings do not depend on them."""
    before = {name: metric for name, metric in baseline.metrics.items() if not needs_judges(name)}
    now = {name: values for name, values in own.items() if not needs_judges(name)}
    named = settings.metrics
    gating = None if named is None else tuple(name for name in named if not needs_judges(name))
    return (
        baseline.model_copy(update={"metrics": before}),
        now,
        settings.model_copy(update={"metrics": gating}),
    )


def _gate_by_judges(baseline: Baseline, settings: GateSettings) -> bool:
    """Whether a metric gates that judges make: then what differs in judges leaves the gate without an answer."""
    return any(
        needs_judges(name) and (settings.metrics is not None or name in baseline.metrics)
        for name in gating_metrics(settings, baseline.comparability)
    )


def _missing(tasks: Sequence[str], total: int, tolerated: float) -> tuple[str, GateVerdict]:
    """Check for missing tasks (removed, unreadable or not run), since a run must not look better without them."""
    words = wording.missing(tasks, total)
    if len(tasks) > tolerated * total + _ROUNDING:
        return f"{words} (tolerated: {tolerated:.0%})", "fail"
    return words, "warn"


def _missing_trials(
    tasks: Sequence[str], baseline: Baseline, current: DropMetrics, tolerated: float
) -> Iterator[tuple[str, GateVerdict]]:
    """Check for missing trials of tasks of both sides, since a task must not look better without those it fails.

    Fewer trials of every task are a choice: no task should have more than the one that has the most.
    """
    now = {task: current.trials.get(task, 1) for task in tasks}
    most = max(now.values(), default=0)
    expected = {task: min(most, baseline.trials.get(task, 1) // len(baseline.runs)) for task in tasks}
    # Counted task by task: more trials of one task do not replace those of another.
    there = sum(min(now[task], expected[task]) for task in tasks)
    if there < sum(expected.values()) * (1 - tolerated) - _ROUNDING:
        yield wording.missing_trials(there, sum(expected.values())), "warn"


def _gravest(verdicts: Iterable[GateVerdict]) -> GateVerdict:
    gravest: GateVerdict = "pass"
    for verdict in verdicts:
        if _GRAVITY.index(verdict) < _GRAVITY.index(gravest):
            gravest = verdict
    return gravest
