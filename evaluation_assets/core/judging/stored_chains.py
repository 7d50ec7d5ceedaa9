"""What judges are asked about a drop, from its tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from evaluation_assets.core.intake.clips.clip_rows import with_clips
from evaluation_assets.core.intake.image_rows import ImagesInOrder
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import SESSION_LEVELS, Level, Rubrics
from evaluation_assets.core.judging.session_subjects import session_chain
from evaluation_assets.core.judging.subjects import (
    Chain,
    OwnScore,
    OwnScores,
    category_chain,
    clip_chain,
    trajectory_chain,
    with_images,
)
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored
from evaluation_assets.core.lake.tables import (
    CATEGORY_VERDICTS,
    CLIP_VERDICTS,
    IMAGES,
    SESSION_VERDICTS,
    TRAJECTORY_VERDICTS,
    Table,
)
from evaluation_assets.core.lake.tables.verdicts import VerdictLevel
from evaluation_assets.core.sections.sessions.interactions import is_session
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

_SAID = ("sample", "outcome", "scores")


def clip_chains(trajectories: Stored, clips: Stored, rubrics: Rubrics) -> Iterator[Chain]:
    """What is judged at clip level."""
    for trajectory, own in with_clips(trajectories, clips):
        yield clip_chain(trajectory, own, rubrics)


def category_chains(trajectories: Stored, clips: Stored, clip_verdicts: Stored, rubrics: Rubrics) -> Iterator[Chain]:
    """What a judge is asked at category level, given its own verdicts on the clips."""
    said = Aligned(clip_verdicts.rows(["trajectory_id", "clip_index", "tool_type", *_SAID]))
    for trajectory, own in with_clips(trajectories, clips):
        yield category_chain(trajectory, own, rubrics, _own_scores(said.at(trajectory.id), [], rubrics))


def trajectory_chains(
    trajectories: Stored, clips: Stored, clip_verdicts: Stored, category_verdicts: Stored, rubrics: Rubrics
) -> Iterator[Chain]:
    """What a judge is asked at trajectory level, given its own verdicts on the clips and their categories."""
    of_clips = Aligned(clip_verdicts.rows(["trajectory_id", "clip_index", "tool_type", *_SAID]))
    of_categories = Aligned(category_verdicts.rows(["trajectory_id", "subject", *_SAID]))
    for trajectory, own in with_clips(trajectories, clips):
        said = _own_scores(of_clips.at(trajectory.id), of_categories.at(trajectory.id), rubrics)
        yield trajectory_chain(trajectory, own, rubrics, said)


def session_chains(trajectories: Stored, rubrics: Rubrics) -> Iterator[Chain]:
    """What is judged of sessions; other trajectories have nothing here."""
    for row in trajectories.rows(TREE_AND_TEXT):
        trajectory = trajectory_of(row)
        if is_session(trajectory):
            yield session_chain(trajectory, rubrics)


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """What the verdicts of a table are about.

    Attributes:
        table: the verdicts.
        levels: those of its subjects.
        ingested: tables of the drop that the subjects are made of.
        own: tables of the judge's own verdicts that it is reminded of.
        made: makes chains of all these, and of the rubrics.
    """

    table: Table
    levels: tuple[Level, ...]
    ingested: tuple[str, ...]
    own: tuple[Table, ...]
    made: Callable[..., Iterator[Chain]]

    def chains(self, home: Installation, drop: str, judge: str, rubrics: Rubrics) -> Iterator[Chain]:
        """What a judge is asked about a drop, without images."""
        below = [home.table(drop, name) for name in self.ingested]
        below += [home.table(drop, table.name, judge) for table in self.own]
        return self.made(*below, rubrics)

    def shown_chains(self, home: Installation, drop: str, judge: Judge, rubrics: Rubrics) -> Iterator[Chain]:
        """What a judge is asked about a drop, with the images of the trajectories if it is sent them."""
        chains = self.chains(home, drop, judge.name, rubrics)
        return _illustrated(chains, home.table(drop, IMAGES.name)) if judge.selection.sees_images else chains


_INGESTED = ("preprocessed_trajectories", "clips")

JUDGED_TABLES: Mapping[VerdictLevel, JudgedTable] = {
    "clip": JudgedTable(CLIP_VERDICTS, ("clip",), _INGESTED, (), clip_chains),
    "category": JudgedTable(CATEGORY_VERDICTS, ("category",), _INGESTED, (CLIP_VERDICTS,), category_chains),
    "trajectory": JudgedTable(
        TRAJECTORY_VERDICTS,
        ("trajectory", "answer"),
        _INGESTED,
        (CLIP_VERDICTS, CATEGORY_VERDICTS),
        trajectory_chains,
    ),
    "session": JudgedTable(SESSION_VERDICTS, SESSION_LEVELS, _INGESTED[:1], (), session_chains),
}
"""Those of a drop, from the lowest level up. What a judge says hangs on its own verdicts of the levels below."""


def _illustrated(chains: Iterable[Chain], images: Stored) -> Iterator[Chain]:
    """The chains with the images of their trajectories, for a judge that is sent them."""
    in_order = ImagesInOrder(images)
    return (with_images(chain, in_order.at(chain.trajectory.id)) for chain in chains)


def _own_scores(clip_verdicts: list[Row], category_verdicts: list[Row], rubrics: Rubrics) -> dict[int, OwnScores]:
    """One judge's scored verdicts on one trajectory, by sample."""
    return OwnScores.by_sample(
        (
            (
                row["sample"],
                row["clip_index"],
                OwnScore.of(row["scores"], rubrics.choose("clip", row["tool_type"]).scale),
            )
            for row in clip_verdicts
            if row["outcome"] == "scored"
        ),
        (
            (
                row["sample"],
                row["subject"],
                OwnScore.of(row["scores"], rubrics.choose("category", row["subject"]).scale),
            )
            for row in category_verdicts
            if row["outcome"] == "scored"
        ),
    )
