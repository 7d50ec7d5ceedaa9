"""What each stage of a cascade accepts in a drop, which calls that saves, and what is left to people."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluation_assets.core.judging.cascade.evidence import Key, SaidAboutDrops, accepting_stages, read_evidence
from evaluation_assets.core.judging.cascade.fitted import FittedCascade
from evaluation_assets.core.system.installation import Installation


@dataclass(frozen=True, slots=True)
class JudgeSavings:
    """Subjects that a judge is asked about and is spared. `usd` is the mean cost of its verdicts for each spared one;
    `None` if no cost is known.
    """

    judge: str
    asked: int
    spared: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class Savings:
    """Subjects of the fitted levels: how many stage by stage were asked about and accepted, and which none accepted."""

    subjects: int
    asked: tuple[int, ...]
    accepted: tuple[int, ...]
    judges: tuple[JudgeSavings, ...]
    undecided: tuple[Key, ...]

    @property
    def undecided_trajectories(self) -> set[str]:
        """Trajectories that people have to look at."""
        return {key.trajectory_id for key in self.undecided}


def savings_of(cascade: FittedCascade, said: SaidAboutDrops, later: Sequence[str] = ()) -> Savings:
    """Decide every subject of the levels at which a threshold was found.

    `later` are judges that are asked about what no stage accepts.
    """
    accepted = [0] * len(cascade.stages)
    undecided: list[Key] = []
    total = 0
    for level in sorted({each.level for each in cascade.criteria if each.threshold is not None}):
        subjects = said.at(level)
        total += len(subjects)
        for key, stage in zip(subjects, accepting_stages(cascade, level, list(subjects.values())), strict=True):
            if stage is None:
                undecided.append(key)
            else:
                accepted[stage] += 1
    asked = [total - sum(accepted[:position]) for position in range(len(accepted))]
    places = [(judge, asked[position]) for position, stage in enumerate(cascade.stages) for judge in stage]
    places += [(judge, len(undecided)) for judge in later]
    return Savings(
        total,
        tuple(asked),
        tuple(accepted),
        tuple(_of_judge(judge, count, total - count, said) for judge, count in places),
        tuple(undecided),
    )


def left_to_people(
    home: Installation, drop: str, cascade: FittedCascade | None, stages: Sequence[Sequence[str]]
) -> set[str]:
    """Trajectories of a drop with a verdict that no stage accepted; none where a judge of the panel decides these."""
    judges = [judge for stage in stages for judge in stage]
    if cascade is None or cascade.reference in judges or not cascade.fits(stages):
        return set()
    return savings_of(
        cascade, read_evidence(home, [drop], judges, pass_score=cascade.pass_score)
    ).undecided_trajectories


def _of_judge(judge: str, asked: int, spared: int, said: SaidAboutDrops) -> JudgeSavings:
    costs = said.costs.get(judge)
    return JudgeSavings(judge, asked, spared, fmean(costs) * spared if costs else None)
