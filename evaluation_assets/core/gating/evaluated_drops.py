"""Read from an installation what gates need: evaluated drops by time, baselines and settings."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from pydantic import ValidationError
from upath import UPath

from evaluation_assets.core.gating.baselines import (
    Baseline,
    InvalidBaseline,
    baseline_file,
    comparability_key,
    floors_of,
    gating_metrics,
    promoted_suites,
    read_baseline,
    read_figures,
    scored_with,
)
from evaluation_assets.core.gating.bridges import Bridges, bridges_file, read_bridges
from evaluation_assets.core.gating.calibration import Calibration, Values, calibrate
from evaluation_assets.core.gating.drops_in_time import Place, place_in_time
from evaluation_assets.core.gating.gate import decide
from evaluation_assets.core.gating.history import drift_since, leaderboard
from evaluation_assets.core.gating.linked_history import Links
from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import (
    FINDING,
    FIRST,
    DropMetrics,
    lower_is_better,
    needs_judges,
    read_metrics,
)
from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.intake.facts import MetricsFacts
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import DamagedTable
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of
from evaluation_assets.core.text.faults import faults_of

Read = TypeVar("Read")
Tell = Callable[[str], object]

_log = logging.getLogger(__name__)

_Value = TypeVar("_Value")


def metrics_of(home: Installation, drop: str) -> DropMetrics:
    """The metrics of an evaluated drop."""
    return read_metrics(drop, home.table(drop, "task_metrics"))


def baseline_of(home: Installation, suite: str) -> Baseline | None:
    """The accepted baseline of a suite; `None` if there is none.

    Raises:
        InvalidBaseline: its file cannot be read.
    """
    return read_baseline(baseline_file(home.baselines, suite))


def baseline_for(home: Installation, drop: str, suite: str | None) -> Baseline | None:
    """The baseline that a drop is compared with: its suite's; without a suite, its own, else that of an earlier file.

    A baseline of its own was made of this very drop. That of an earlier file was made of another drop without a suite,
    with the same tasks; of several, it is the one that was promoted last.

    Raises:
        InvalidBaseline: the file of the suite, or with the drop's name, cannot be read.
    """
    baseline = baseline_of(home, suite or drop)
    if suite or (baseline is not None and _is_made_of(baseline, drop)):
        return baseline
    others = filter(None, (_if_valid(home, each) for each in promoted_suites(home.baselines)))
    if not (without_suite := [each for each in others if _is_made_of(each, each.suite)]):
        return None
    metrics = metrics_of(home, drop)
    earlier = (each for each in without_suite if _why_of_no_earlier_file(each, metrics) is None)
    return max(earlier, key=lambda each: each.promoted_at, default=None)


def _is_made_of(baseline: Baseline, drop: str) -> bool:
    return drop in [run.drop for run in baseline.runs]


def _why_of_no_earlier_file(baseline: Baseline, metrics: DropMetrics) -> str | None:
    """Say what tells a baseline without a suite from one of an earlier file; `None` if it is one.

    At least half of the tasks of either side have to be the same, and no two known agents may differ.
    """
    agents = {run.agent for run in baseline.runs} | {metrics.agent}
    if len(named := sorted(agent for agent in agents if agent is not None)) > 1:
        return f"its runs and those of {baseline.name} are of different agents: {first_of(named, 3)}"
    shared = baseline.tasks.keys() & metrics.tasks.keys()
    same = [task for task in shared if baseline.tasks[task] == metrics.tasks[task]]
    needed = max(len(baseline.tasks), len(metrics.tasks), 1)
    if 2 * len(same) >= needed:
        return None
    if 2 * len(shared) < needed:
        return f"only {len(shared)} of {counted(len(metrics.tasks), 'task')} are in {baseline.name}"
    return f"{len(shared) - len(same)} of {counted(len(shared), 'task')} have another prompt than in {baseline.name}"


def baselines_with_its_tasks(home: Installation, metrics: DropMetrics) -> dict[str, Baseline]:
    """The baselines, by name, that a drop without a suite could be compared with, as they have tasks of it."""
    known = {each: _if_valid(home, each) for each in promoted_suites(home.baselines) if metrics.suite is None}
    return {name: each for name, each in known.items() if each and each.tasks.keys() & metrics.tasks.keys()}


def why_not_compared(home: Installation, drop: str) -> str | None:
    """Say why an evaluated drop without a baseline has none although there are some with its tasks.

    It is compared with that of a suite if it is evaluated as a drop of the suite.
    """
    metrics = metrics_of(home, drop)
    known = baselines_with_its_tasks(home, metrics)
    suites = [name for name, each in known.items() if not _is_made_of(each, each.suite)]
    if suites:
        place, name = ("SUITE" if suites[1:] else suites[0]), drop.rsplit("/", 1)[-1]
        return f"{drop} belongs to no suite; --as {place}/{name} compares it with the baseline of {first_of(suites, 3)}"
    newest = max(known.values(), key=lambda each: each.promoted_at, default=None)
    return None if newest is None else _why_of_no_earlier_file(newest, metrics)


def _if_valid(home: Installation, suite: str) -> Baseline | None:
    try:
        return baseline_of(home, suite)
    except InvalidBaseline:
        return None


def bridges_of(home: Installation, suite: str | None) -> Bridges | None:
    """The bridges of a suite; `None` without a suite.

    Raises:
        InvalidBaseline: their file cannot be read.
    """
    return None if suite is None else read_bridges(bridges_file(home.bridges, suite), suite)


def gate_drop(
    home: Installation, drop: str, settings: GateSettings, disqualified: Mapping[str, str], file: UPath | None = None
) -> GateOutcome | None:
    """Compare an evaluated drop with its suite's baseline, or with the one in `file`.

    Figures without tasks are limits. Returns `None` if there is neither a baseline nor a floor. `disqualified` is as in
    `gate_metrics`.

    Raises:
        InvalidBaseline: the file of the baseline or of the bridges cannot be read.
    """
    metrics = metrics_of(home, drop)
    if file is not None and file.exists() and (figures := read_figures(file)) is not None:
        try:
            GateSettings.model_validate({"floors": figures})
        except ValidationError as problem:
            raise InvalidBaseline(f"{file}: {faults_of(problem)[0].reason}") from None
        limits = settings.model_copy(update={"floors": settings.floors | floors_of(figures, settings)})
        return gate_metrics(None, metrics, limits, disqualified)
    baseline = baseline_for(home, drop, metrics.suite) if file is None else read_baseline(file)
    return gate_metrics(baseline, metrics, settings, disqualified, bridges_of(home, metrics.suite))


def gate_metrics(
    baseline: Baseline | None,
    metrics: DropMetrics,
    settings: GateSettings,
    disqualified: Mapping[str, str],
    bridges: Bridges | None = None,
) -> GateOutcome | None:
    """Compare the metrics of a drop with a baseline. `None` if there is neither a baseline nor a floor.

    `disqualified` names the judges that labels currently exclude from gates, with the reason. If the drop was
    evaluated while one of them still counted, only metrics without judges gate.
    """
    counted = {
        judge: why
        for judge, why in disqualified.items()
        if f"judge {judge}" in metrics.comparability and judge not in metrics.kept_out
    }
    if not counted:
        return decide(baseline, metrics, settings, bridges)
    trusted = replace(metrics, metrics=_without_judges(metrics.metrics))
    if baseline is not None:
        baseline = baseline.model_copy(update={"metrics": _without_judges(baseline.metrics)})
    outcome = decide(baseline, trusted, settings, bridges)
    notes = [f"judge {judge} is disqualified: {why}; evaluate again" for judge, why in counted.items()]
    return outcome and outcome.model_copy(
        update={"reasons": outcome.reasons + notes, "judges_kept_out": {**outcome.judges_kept_out, **counted}}
    )


def _without_judges(metrics: Mapping[str, _Value]) -> dict[str, _Value]:
    return {name: value for name, value in metrics.items() if not needs_judges(name)}


def of_each_drop(home: Installation, table: str, read: Callable[[str], Read], damaged: Tell) -> Iterator[Read]:
    """Yield `read(drop)` for every drop that has the table. A damaged file is reported and its drop skipped."""
    return without_damaged(home.drops_with(table), read, damaged)


def without_damaged(drops: Iterable[str], read: Callable[[str], Read], damaged: Tell) -> Iterator[Read]:
    """Yield `read(drop)` for these drops. A damaged file is reported and its drop skipped."""
    for drop in drops:
        try:
            yield read(drop)
        except DamagedTable as problem:
            damaged(str(problem))


def suites(home: Installation, damaged: Tell = _log.warning) -> Iterator[tuple[str, list[DropMetrics]]]:
    """Every suite with its evaluated drops, oldest first."""
    placed = [metrics for metrics in _oldest_first(home, damaged) if metrics.suite is not None]
    placed.sort(key=lambda metrics: metrics.suite or "")
    for suite, group in groupby(placed, key=lambda metrics: metrics.suite or ""):
        yield suite, list(group)


def newest_drops(home: Installation) -> list[str]:
    """The last evaluated drop of every suite, and without suite of every agent, if it is still in the drops folder."""
    there = scan(home.drops).drops
    newest = {
        (metrics.suite, metrics.agent if metrics.suite is None else None): metrics.drop
        for metrics in _oldest_first(home, _log.warning)
    }
    return sorted(drop for drop in newest.values() if drop in there)


def _oldest_first(home: Installation, damaged: Tell) -> list[DropMetrics]:
    evaluated = of_each_drop(
        home, "task_metrics", lambda drop: (metrics_of(home, drop), place_in_time(home, drop)), damaged
    )
    return [metrics for metrics, _ in sorted(evaluated, key=itemgetter(1))]


def suite_history(home: Installation, suite: str | None, damaged: Tell = _log.warning) -> list[Row]:
    """Rows of `score_history` of a suite, oldest first: the comparability key that was used first, then the next."""
    if suite is None:
        return []

    def read(drop: str) -> list[tuple[Place, Row]]:
        place = place_in_time(home, drop)
        return [(place, row) for row in home.table(drop, "score_history").rows() if row["suite"] == suite]

    placed = [each for own in of_each_drop(home, "score_history", read, damaged) for each in own]
    since: dict[str, str] = {}
    for _, row in placed:
        key, at = row["comparability_key"], row["evaluated_at"]
        since[key] = min(at, since.get(key, at))
    return [row for _, row in sorted(placed, key=lambda each: (since[each[1]["comparability_key"]], each[0]))]


def history_links(home: Installation, suite: str | None, rows: Iterable[Row], damaged: Tell = _log.warning) -> Links:
    """The bridges between the comparability keys in rows of `score_history` of a suite.

    Raises:
        InvalidBaseline: the file of bridges cannot be read.
    """
    bridges = bridges_of(home, suite) or Bridges(suite="")
    if not bridges.bridges:
        return Links(bridges, {})
    drops = dict.fromkeys(row["drop"] for row in rows)
    facts = without_damaged(drops, lambda drop: MetricsFacts.of(home.table(drop, "task_metrics")), damaged)
    parts = [*(each.comparability for each in bridges.bridges), *map(scored_with, facts)]
    return Links(bridges, {comparability_key(each): each for each in parts})


def leaderboard_rows(home: Installation, damaged: Tell = _log.warning) -> Iterator[Row]:
    """Rows of `leaderboard`: every suite and metric."""
    for _, drops in suites(home, damaged):
        for metric in _metrics(drops):
            yield from leaderboard(drops, metric)


def calibration_rows(home: Installation, settings: GateSettings, damaged: Tell = _log.warning) -> Iterator[Row]:
    """Rows of `gate_calibration`: every suite and gating metric with at least two comparable drops."""
    for suite, drops in suites(home, damaged):
        for calibration in calibrations(drops, settings):
            for rates in calibration.rates:
                yield {
                    "suite": suite,
                    "metric": calibration.metric,
                    "n_tasks": calibration.n_tasks,
                    "n_runs": calibration.n_runs,
                    "source": calibration.source,
                    "drop_size": rates.effect,
                    "fails": rates.fails,
                    "warns": rates.warns,
                    "passes": rates.passes,
                    "inconclusive": rates.inconclusive,
                    "smallest_drop": calibration.smallest_decrease,
                    "tolerance_false_alarms": calibration.tolerance_false_alarms,
                    "pairs": calibration.pairs,
                    "pairs_failed": calibration.pairs_failed,
                }


def calibrations(drops: Sequence[DropMetrics], settings: GateSettings) -> Iterator[Calibration]:
    """Calibrate the gate on each gating score of a suite, from the drops with the comparability key of the last one."""
    if not drops:
        return
    key = scored_with(drops[-1])
    alike = [drop for drop in drops if scored_with(drop) == key and drop.tasks.keys() == drops[-1].tasks.keys()]
    for metric in gating_metrics(settings, key):
        versions: dict[tuple[str | None, ...], list[Values]] = {}
        for drop in alike:
            if not lower_is_better(metric) and drop.metrics.get(metric):
                values = {task: value.value for task, value in drop.metrics[metric].items()}
                versions.setdefault(drop.version, []).append(values)
        trials = min((value.trials for value in drops[-1].metrics.get(metric, {}).values()), default=1)
        calibration = calibrate(metric, list(versions.values()), settings, trials=trials)
        if calibration is not None:
            yield calibration


def drift_rows(home: Installation, settings: GateSettings, damaged: Tell = _log.warning) -> Iterator[Row]:
    """Rows of `drift`: one per suite with a baseline, gating metric, and night since the baseline."""
    for suite, drops in suites(home, damaged):
        baseline = baseline_of(home, suite)
        if baseline is None:
            continue
        for metric in gating_metrics(settings, baseline.comparability):
            drift = drift_since(baseline, drops, metric, settings.alpha)
            charts = zip(drift.z, drift.cusum, drift.e_values, strict=True)
            for number, (z, cusum, e_value) in enumerate(charts, 1):
                yield {
                    "suite": suite,
                    "metric": metric,
                    "night": number,
                    "z": z,
                    "cusum": cusum,
                    "e_value": e_value,
                    "alarm": drift.alarm if number == len(drift.z) else None,
                }


def _metrics(drops: Sequence[DropMetrics]) -> list[str]:
    names = dict.fromkeys(metric for drop in drops for metric in drop.metrics if not metric.startswith(FINDING))
    return sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
