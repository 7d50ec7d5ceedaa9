"""Gates of a cascade: a judge is asked about what the stages before it did not accept, trajectory by trajectory."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from types import TracebackType
from typing import Self

from evaluation_assets.core.judging.cascade.evidence import (
    Evidence,
    Given,
    Statement,
    accepting_stages,
    places,
    probabilities_of_passing,
    statement_of,
    stored_probabilities,
)
from evaluation_assets.core.judging.cascade.fitted import FittedCascade, later_judges
from evaluation_assets.core.judging.judge import Judgement
from evaluation_assets.core.judging.subjects import Chain, Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.tables import CLIP_VERDICTS, Table
from evaluation_assets.core.system.installation import Installation

Stages = Sequence[Sequence[str]]
Said = Mapping[str, Statement]
"""By subject, what one judge said."""


class Statements:
    """What one judge said about the subjects of each trajectory, for judges that wait for it."""

    def __init__(self) -> None:
        self._by_trajectory: dict[str, Said] = {}
        self._waiting: dict[str, asyncio.Event] = {}
        self._has_ended = False

    def add(self, trajectory_id: str, said: Said) -> None:
        """Take what it said, and wake up who waits for it."""
        self._by_trajectory[trajectory_id] = said
        if waiting := self._waiting.pop(trajectory_id, None):
            waiting.set()

    def end(self) -> None:
        """It says nothing more: nobody has to wait."""
        self._has_ended = True
        for waiting in self._waiting.values():
            waiting.set()
        self._waiting.clear()

    async def about(self, trajectory_id: str) -> Said:
        """What it said about a trajectory, once it is there; nothing if it never will be."""
        if trajectory_id not in self._by_trajectory and not self._has_ended:
            await self._waiting.setdefault(trajectory_id, asyncio.Event()).wait()
        return self._by_trajectory.get(trajectory_id, {})

    def add_rows(self, rows: Iterable[Row], place: str, signals: Callable[[Row], Given]) -> None:
        """Take what stored verdicts say, with the `signals` of each; `place` is the column that names the subject."""
        samples: dict[str, dict[str, list[tuple[Given, Given]]]] = {}
        for row in rows:
            if row["outcome"] == "scored":
                samples.setdefault(row["trajectory_id"], {}).setdefault(str(row[place]), []).append(
                    (signals(row), row["scores"])
                )
        for trajectory_id, subjects in samples.items():
            self.add(trajectory_id, {name: statement_of(own) for name, own in subjects.items()})
        self.end()


class StageGate:
    """The gate of one judge: waits for the judges `before` it, and tells those behind it what it said."""

    def __init__(
        self, cascade: FittedCascade, own: Statements, before: Mapping[str, Statements], *, with_probability: bool
    ) -> None:
        self.count_spared = 0
        self._cascade = cascade
        self._own = own
        self._before = before
        self._with_probability = with_probability

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """However it ends, nobody waits for it any longer."""
        self._own.end()

    @property
    def waits(self) -> bool:
        """Whether earlier stages can spare this judge anything."""
        return bool(self._before)

    @property
    def fingerprint(self) -> str:
        """A digest of the fitted cascade."""
        return self._cascade.fingerprint

    async def spared(self, chain: Chain) -> frozenset[str]:
        """The subjects that a stage before this judge accepts."""
        if not self.waits:
            return frozenset()
        said = {judge: await statements.about(chain.trajectory.id) for judge, statements in self._before.items()}
        spared: set[str] = set()
        for level in {subject.level for subject in chain.subjects}:
            subjects = [subject for subject in chain.subjects if subject.level == level]
            place = places(subject.name for subject in subjects)
            evidence = [
                Evidence(
                    subject.rubric.name,
                    (*(criterion.key for criterion in subject.criteria), *self._own_criteria(subject)),
                    {judge: own[subject.name] for judge, own in said.items() if subject.name in own},
                    place=place[subject.name],
                )
                for subject in subjects
            ]
            stages = accepting_stages(self._cascade, level, evidence)
            spared.update(subject.name for subject, stage in zip(subjects, stages, strict=True) if stage is not None)
        self.count_spared += len(spared)
        return frozenset(spared)

    def _own_criteria(self, subject: Subject) -> tuple[str, ...]:
        rubric = subject.rubric
        return self._cascade.beyond(subject.level, rubric.name, {criterion.key for criterion in rubric.criteria})

    def finished(self, chain: Chain, judgements: Sequence[Judgement]) -> None:
        """Tell the judges of later stages."""
        samples: dict[str, list[tuple[Given, Given]]] = {}
        for judgement in judgements:
            if judgement.verdict.outcome == "scored":
                samples.setdefault(judgement.subject.name, []).append(
                    (self._signals(judgement.verdict), judgement.verdict.scores)
                )
        self._own.add(chain.trajectory.id, {name: statement_of(own) for name, own in samples.items()})

    def _signals(self, verdict: Verdict) -> Given:
        if not self._with_probability:
            return verdict.scores
        return probabilities_of_passing(verdict.probabilities, verdict.distributions, self._cascade.pass_score)


def stage_gates(
    cascade: FittedCascade, stages: Stages, running: Sequence[str], stored: Mapping[str, Statements]
) -> dict[str, StageGate]:
    """The gates of the judges that run. A reference in a later stage comes last: the others were fitted without it.

    Args:
        cascade: Fitted for these stages.
        stages: The judges of each, cheapest first.
        running: The judges that run now; they wait for each other.
        stored: What judges said that do not run now.
    """
    said = {judge: Statements() if judge in running else stored[judge] for stage in stages for judge in stage}
    if cascade.reference in later_judges(stages):
        stages = [*cascade.stages, (cascade.reference,)]
    gates: dict[str, StageGate] = {}
    before: dict[str, Statements] = {}
    for stage in stages:
        for judge in stage:
            if judge in running:
                uses_probability = judge in cascade.with_probability
                gates[judge] = StageGate(cascade, said[judge], dict(before), with_probability=uses_probability)
        before |= {judge: said[judge] for judge in stage}
    return gates


def stored_statements(
    home: Installation, drop: str, table: Table, judges: Iterable[str], cascade: FittedCascade
) -> dict[str, Statements]:
    """What these judges said about a drop in earlier runs, from their verdict tables."""
    place = "clip_index" if table is CLIP_VERDICTS else "subject"
    by_judge: dict[str, Statements] = {}
    for judge in judges:
        by_judge[judge] = Statements()
        rows = home.table(drop, table.name, judge).rows(
            ["trajectory_id", place, "outcome", "scores", "probabilities", "distributions"]
        )
        uses_probability = judge in cascade.with_probability
        signals = (
            partial(stored_probabilities, pass_score=cascade.pass_score) if uses_probability else itemgetter("scores")
        )
        by_judge[judge].add_rows(rows, place, signals)
    return by_judge
