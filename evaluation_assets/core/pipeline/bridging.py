"""Make a bridge: score a sample of evaluated runs with a new judge, rubric or model, and pair them with the old scores.

The new judge is asked what an evaluation of these runs would ask, so that both share replies in the ledger.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation_assets.core.gating.baselines import OF_DROPS, SCORED_NO_CLIPS, judges_in, scored_with
from evaluation_assets.core.gating.bridges import differences
from evaluation_assets.core.gating.measured_drop import MeasuredTables
from evaluation_assets.core.gating.outcome import Difference
from evaluation_assets.core.gating.task_metrics import DropMetrics
from evaluation_assets.core.judging.asking import Step, judge_all
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.judging.selection import STANDARD_LEVELS
from evaluation_assets.core.judging.stored_chains import JUDGED_TABLES, JudgedTable
from evaluation_assets.core.judging.verdict_rows import verdict_rows
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored, Stream, write
from evaluation_assets.core.scoring import panel_scores
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.meant import no_judge
from evaluation_assets.core.traces.trajectories.identity import digest

LEVELS = STANDARD_LEVELS
"""The levels whose scores a bridge links. Sessions are not linked."""

STEPS: tuple[JudgedTable, ...] = tuple(each for level, each in JUDGED_TABLES.items() if level != "session")
"""The tables that a judge fills one after the other; each is asked about with its verdicts of those before it."""

_OF_PANEL = ("judge ", "selection of ", "rubric ", "quorum", "model served to ", "scoring")
"""How the parts of a comparability key begin that the panel decides."""

Run = tuple[str, str]
"""A drop and the ID of a trajectory in it."""


class NoBridge(ValueError):
    """No bridge can be made. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a bridge is to link: the drops with the old scores, and the judges that replace theirs.

    `judges` are all that score after the change, of which those in `asked` have no verdicts on the drops yet.
    """

    old: str
    new: str
    drops: tuple[DropMetrics, ...]
    comparability: Mapping[str, str]
    judges: tuple[Judge, ...]
    asked: tuple[str, ...]
    differs: Mapping[str, Difference]


def change_of(drops: Sequence[DropMetrics], old: str, new: str, panel: Scorers) -> Change:
    """The change from the newest drops of a suite that `old` scored to the same panel with `new` in its place.

    Args:
        drops: of one suite, oldest first.
        old: a judge with verdicts on the drops.
        new: a judge of the panel, which may have the same name.
        panel: what is configured now.

    Raises:
        NoBridge: no drop was scored by `old`, nothing changed, or more than judges and rubrics did.
    """
    known = {judge.name: judge for judge in panel.judges}
    if new not in known:
        raise NoBridge(no_judge(new, known))
    scored = [drop for drop in drops if old in judges_in(drop.comparability)]
    if not scored:
        others = sorted({judge for drop in drops for judge in judges_in(drop.comparability)})
        raise NoBridge(f"no drop of the suite has scores of {old!r}; judges with scores: {', '.join(others) or 'none'}")
    for drop in reversed(scored):
        parts = scored_with(drop)
        names = [name for name in judges_in(parts) if name not in (old, new)] + [new]
        if missing := [name for name in names if name not in known]:
            raise NoBridge(f"judge {missing[0]} also scored {drop.drop}, and is not in the panel: add it")
        judges = tuple(known[name] for name in names)
        differs = differences(parts, _key_with(parts, replace(panel, judges=judges), {old, new}))
        if differs:
            break
    else:
        raise NoBridge(f"nothing changed: the drops that {old} scored have the judges and rubrics of the panel")
    if drop.kept_out:
        raise NoBridge(f"judge {next(iter(drop.kept_out))} is excluded from gates in {drop.drop}; a bridge has no use")
    allowed = {f"{part} {name}" for part in ("judge", "selection of") for name in (old, new)}
    if beyond := [part for part in differs if part not in allowed and not part.startswith("rubric ")]:
        raise NoBridge(f"{beyond[0]} also differs in {drop.drop}; a bridge links judges, rubrics and models only")
    if "cascade" in parts:
        raise NoBridge(f"a cascade decided who scored what in {drop.drop}; bridges do not link cascades")
    if any(part.startswith("rubric ") for part in differs):
        asked = names
    else:
        asked = [name for name in names if f"judge {name}" in differs or f"selection of {name}" in differs]
    alike = tuple(each for each in scored if scored_with(each) == parts)
    return Change(old, new, alike, parts, judges, tuple(asked), differs)


def _key_with(parts: Mapping[str, str], scorers: Scorers, changed: Collection[str]) -> dict[str, str]:
    """The comparability key of the same drops under other scorers. Judges not `changed` score as before."""
    kept = {part: value for part, value in parts.items() if not part.startswith(_OF_PANEL)}
    unchanged = [judge.name for judge in scorers.judges if judge.name not in changed]
    told = (f"judge {name}{end}" for name in unchanged for end in OF_DROPS)
    kept |= {part: parts[part] for part in told if part in parts}
    return kept | scorers.comparability({}) | {"scoring": panel_scores.SCORING_VERSION}


def sampled(home: Installation, drops: Iterable[str], size: int) -> dict[Run, str]:
    """Runs with scores, and the task of each: one of every task, then a second one, until there are `size`.

    The choice among the runs of a task depends on their IDs alone.
    """
    by_task: dict[str, list[Run]] = {}
    for drop in drops:
        scored = home.table(drop, "trajectory_scores").rows(["trajectory_id", "task_id", "adjusted_mean"])
        runs = {(row["task_id"], row["trajectory_id"]) for row in scored if row["adjusted_mean"] is not None}
        for task, trajectory in runs:
            by_task.setdefault(task, []).append((drop, trajectory))
    placed = [
        (place, digest(task, *run), run, task)
        for task, runs in by_task.items()
        for place, run in enumerate(sorted(runs, key=lambda run: digest(*run)))
    ]
    return {run: task for _, _, run, task in sorted(placed)[:size]}


@dataclass(frozen=True, slots=True)
class Overlap:
    """The new scores beside the old ones: by metric, the difference of each run. `silent` judges scored no clip."""

    differences: Mapping[str, Mapping[Run, float]]
    silent: frozenset[str]


def copied(home: Installation, runs: Collection[Run], there: Installation, judges: Iterable[str]) -> list[str]:
    """Copy runs, with the verdicts of these judges, into another installation; returns its drops."""
    by_drop: dict[str, set[str]] = {}
    for drop, trajectory in runs:
        by_drop.setdefault(drop, set()).add(trajectory)
    tables = [("preprocessed_trajectories",), ("clips",)]
    tables += [(judged.table.name, judge) for judge in judges for judged in STEPS]
    for drop, chosen in by_drop.items():
        for names in tables:
            stored = home.table(drop, *names)
            rows = (row for row in stored.rows() if row["trajectory_id"] in chosen)
            _write(there.table(drop, *names), rows)
    return list(by_drop)


async def judge_copies(ready: Judge, step: Step, there: Installation, drops: Iterable[str], rubrics: Rubrics) -> None:
    """Write the tables of verdicts of an open judge on copied runs, from the lowest level up."""
    for drop in drops:
        for judged in STEPS:
            rows: list[Row] = []
            chains = judged.chains(there, drop, ready.name, rubrics)
            async for judgements in judge_all(ready, ready.selection.chains(chains), step):
                rows += [row for judgement in judgements for row in verdict_rows(drop, ready, judgement)]
            _write(there.table(drop, judged.table.name, ready.name), rows)


def overlap(home: Installation, there: Installation, drops: Iterable[str], scorers: Scorers) -> Overlap:
    """The scores of copied runs by the verdicts beside them, less those where the runs were evaluated."""
    by_metric: dict[str, dict[Run, float]] = {}
    clip_scorers: set[str] = set()
    for drop in drops:
        old = {
            (row["trajectory_id"], row["criterion"]): row["adjusted_mean"]
            for row in home.table(drop, "trajectory_scores").rows(["trajectory_id", "criterion", "adjusted_mean"])
        }
        tables = MeasuredTables.of(there, drop, scorers.judges)
        clip_scorers |= {name for name, stored in tables.clip_verdicts.items() if "scored" in stored.values("outcome")}
        for row in tables.scores(drop, scorers):
            was, now = old.get((row["trajectory_id"], row["criterion"])), row["adjusted_mean"]
            if was is not None and now is not None:
                by_metric.setdefault(row["criterion"], {})[drop, row["trajectory_id"]] = now - was
    silent = {judge.name for judge in scorers.judges} - clip_scorers if clip_scorers else set[str]()
    return Overlap(by_metric, frozenset(silent))


def _write(stored: Stored, rows: Iterable[Row]) -> None:
    write(stored.path, Stream.of(stored.table, rows))


def all_differences(change: Change, silent: frozenset[str]) -> dict[str, Difference]:
    """The parts that differ, with those that say which judges scored no clips, which is known once they were asked."""
    differs = {part: each for part, each in change.differs.items() if not part.endswith(SCORED_NO_CLIPS)}
    now = {judge.name for judge in change.judges}
    for name in {*judges_in(change.comparability), *now}:
        part = f"judge {name}{SCORED_NO_CLIPS}"
        each = Difference(baseline=change.comparability.get(part), current="yes" if name in silent & now else None)
        if each.baseline != each.current:
            differs[part] = each
    return differs
