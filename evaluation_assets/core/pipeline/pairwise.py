"""Compare the runs of two drops pairwise: a judge says of each pair which run is better, in both orders."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation_assets.core.gating.task_metrics import read_metrics
from evaluation_assets.core.judging.asking import Step, judge_all
from evaluation_assets.core.judging.judge import Judge, Judgement
from evaluation_assets.core.judging.pairwise import BETTER_RUN, pair_chain
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.pipeline.chosen_runs import trajectories_of
from evaluation_assets.core.scoring.intervals import interval_of_mean
from evaluation_assets.core.system.installation import Installation

_TIE = 0.5


@dataclass(frozen=True, slots=True)
class RunPair:
    """A run of the baseline and one of the current drop on the same task, by their IDs."""

    task_id: str
    baseline: str
    current: str


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pairs of two drops. `changed` are IDs of tasks that are others in each drop, which are not compared.

    `reworded` are tasks that are compared although their users worded them differently. `alone` counts the runs of
    other tasks, of either drop, that have no partner.
    """

    pairs: tuple[RunPair, ...]
    changed: tuple[str, ...]
    reworded: tuple[str, ...]
    alone: int

    @property
    def tasks(self) -> int:
        """Number of tasks with a pair."""
        return len({pair.task_id for pair in self.pairs})


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the compared pairs, 0..1, with its 95% interval clustered by task, `None` below five tasks."""

    count: float
    rate: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """What a judge prefers, over pairs that it decided in both orders.

    `wins` are pairs in which it prefers the run of the current drop in both orders, `losses` those of the baseline.
    All others are `ties`, also those whose two orders disagree: their share is `position_bias`, and in `prefers_first`
    and `prefers_second` of them the run shown there won both times. `preferred` is the share of wins with half of the
    ties: 0.5 is no preference. Shares are `None` without pairs. `missing` counts pairs without two verdicts by the
    reason, `cut` the pairs that were not shown whole.
    """

    tasks: int = 0
    pairs: int = 0
    wins: Share | None = None
    ties: Share | None = None
    losses: Share | None = None
    preferred: Share | None = None
    position_bias: Share | None = None
    prefers_first: int = 0
    prefers_second: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)
    cut: int = 0


def paired_runs(home: Installation, baseline: str, current: str) -> Pairing:
    """The runs of tasks that both drops have: the first trial with the first, the second with the second.

    In drops of one suite, an ID is one task, however its users word it. In others, which may number tasks of their own,
    it is one task if it asks the same, as where a gate looks for its baseline.
    """
    before, after = _by_task(home, baseline), _by_task(home, current)
    drops = [read_metrics(drop, home.table(drop, "task_metrics")) for drop in (baseline, current)]
    is_one_suite = drops[0].suite is not None and drops[0].suite == drops[1].suite
    asked, asked_now = (drop.tasks for drop in drops)
    common = [task for task in before if task in after]
    changed = {task for task in common if not is_one_suite and asked.get(task) != asked_now.get(task)}
    pairs: list[RunPair] = []
    reworded: dict[str, None] = {}
    for task in (task for task in common if task not in changed):
        for first, second in zip(before[task].items(), after[task].items(), strict=False):
            pairs.append(RunPair(task, first[0], second[0]))
            if first[1] != second[1]:
                reworded[task] = None
    runs = sum(len(own) for tasks in (before, after) for task, own in tasks.items() if task not in changed)
    return Pairing(tuple(pairs), tuple(sorted(changed)), tuple(reworded), runs - 2 * len(pairs))


def _by_task(home: Installation, drop: str) -> dict[str, dict[str, str]]:
    """The runs of each task by trial: by ID, the words of its user."""
    rows = home.table(drop, "preprocessed_trajectories").rows(["trajectory_id", "task_id", "trial", "task"])
    by_task: dict[str, dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: (row["task_id"], row["trial"], row["trajectory_id"])):
        by_task.setdefault(row["task_id"], {})[row["trajectory_id"]] = row["task"]
    return by_task


def both_orders(home: Installation, baseline: str, current: str, pairs: Sequence[RunPair]) -> Iterator[Chain]:
    """Two questions a pair: with the run of the baseline first, then with that of the current drop first."""
    partners = {pair.baseline: pair.current for pair in pairs}
    after = {run.id: run for run in trajectories_of(home, current, set(partners.values()))}
    for run in trajectories_of(home, baseline, partners):
        other = after[partners[run.id]]
        yield pair_chain(run, other)
        yield pair_chain(other, run)


async def preference_by(
    ready: Judge, step: Step, home: Installation, baseline: str, current: str, pairs: Sequence[RunPair]
) -> Preference:
    """The preference of an open judge, which is asked about each pair in both orders."""
    questions = both_orders(home, baseline, current, pairs)
    judged = [judgement async for (judgement,) in judge_all(ready, questions, step)]
    return preference_of(list(zip(judged[::2], judged[1::2], strict=True)))


def preference_of(pairs: Sequence[tuple[Judgement, Judgement]]) -> Preference:
    """The preference in the verdicts on pairs, each with the baseline first and with the current drop first."""
    tasks: list[Hashable] = []
    liked: list[tuple[float, float]] = []
    missing: Counter[str] = Counter()
    cut = 0
    for pair in pairs:
        scores = [each.verdict.scores.get(BETTER_RUN) for each in pair if each.verdict.outcome == "scored"]
        first, second = scores if len(scores) == 2 else (None, None)
        if first is None or second is None:
            missing[_why(pair)] += 1
            continue
        cut += any((each.verdict.share_seen or 1) < 1 for each in pair)
        tasks.append(pair[0].subject.trajectory.task_id)
        liked.append((first, 1 - second))
    if not liked:
        return Preference(missing=dict(missing))
    agreed = [one if one == other else _TIE for one, other in liked]

    def share(values: Iterable[float]) -> Share:
        listed = list(map(float, values))
        interval = interval_of_mean([(listed, tasks)])
        return Share(sum(listed), sum(listed) / len(listed), interval.low, interval.high)

    return Preference(
        tasks=len(set(tasks)),
        pairs=len(liked),
        wins=share(each == 1 for each in agreed),
        ties=share(each == _TIE for each in agreed),
        losses=share(each == 0 for each in agreed),
        preferred=share(agreed),
        position_bias=share(one != other for one, other in liked),
        prefers_first=liked.count((0, 1)),
        prefers_second=liked.count((1, 0)),
        missing=dict(missing),
        cut=cut,
    )


def _why(pair: tuple[Judgement, Judgement]) -> str:
    """Why a pair has no two verdicts: the kind of the first failure, else that the judge abstained."""
    kinds = (each.verdict.error_kind for each in pair)
    return next((kind for kind in kinds if kind is not None), "abstained")
