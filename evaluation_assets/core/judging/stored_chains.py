"""What judges are asked about a drop, from its tables."""

from collections.abc import Iterable, Iterator

from evaluation_assets.core.intake.clips.clip_rows import with_clips
from evaluation_assets.core.intake.image_rows import ImagesInOrder
from evaluation_assets.core.judging.rubrics.model import Rubrics
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
from evaluation_assets.core.sections.sessions.interactions import is_session
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


def illustrated(chains: Iterable[Chain], images: Stored) -> Iterator[Chain]:
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
