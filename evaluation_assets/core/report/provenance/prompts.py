"""The prompts behind verdicts of model judges, made again from the tables of the drop."""

from collections.abc import Iterable, Iterator, Sequence

from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.recalled import recalled_requests
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.stored_chains import (
    category_chains,
    clip_chains,
    illustrated,
    session_chains,
    trajectory_chains,
)
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.models.messages import Request
from evaluation_assets.core.models.sizes import text_of_question
from evaluation_assets.core.report.provenance.verdicts import TableLevel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.images import Image


def prompts_behind(
    home: Installation,
    drop: str,
    trajectory: str,
    levels: Iterable[TableLevel],
    judges: Sequence[ModelJudge | EvaluatorJudge],
    rubrics: Rubrics,
) -> dict[str, str]:
    """The prompts of judges about a trajectory, by key in the ledger: the system prompt and all turns.

    A verdict whose key is not among them was asked for with other settings, rubrics or prompts than today's.

    Raises:
        LedgerError: the ledger cannot be read.
        InvalidEvaluator: a metric of another package cannot be used.
    """
    prompts: dict[str, str] = {}
    for judge in judges:
        for level in levels:
            chains = (
                chain for chain in chains_of(home, drop, level, judge, rubrics) if chain.trajectory.id == trajectory
            )
            requests = recalled_requests(judge, chains)
            prompts.update({key: _text(request) for key, request in requests.items()})
    return prompts


def chains_of(
    home: Installation, drop: str, level: TableLevel, judge: ModelJudge | EvaluatorJudge, rubrics: Rubrics
) -> Iterator[Chain]:
    """What a judge was asked about at a level of a drop, made again from its tables."""
    chains = _chains_of(home, drop, level, judge.name, rubrics)
    return illustrated(chains, home.table(drop, "images")) if judge.selection.sees_images else chains


def _chains_of(home: Installation, drop: str, level: TableLevel, judge: str, rubrics: Rubrics) -> Iterator[Chain]:
    trajectories, clips = home.table(drop, "preprocessed_trajectories"), home.table(drop, "clips")
    of_clips, of_categories = home.table(drop, "clip_verdicts", judge), home.table(drop, "category_verdicts", judge)
    if level == "clip":
        return clip_chains(trajectories, clips, rubrics)
    if level == "category":
        return category_chains(trajectories, clips, of_clips, rubrics)
    if level == "trajectory":
        return trajectory_chains(trajectories, clips, of_clips, of_categories, rubrics)
    return session_chains(trajectories, rubrics)


def _text(request: Request) -> str:
    turns = ("\n".join([f"[{turn.role}]", turn.text, *map(_image, turn.images)]) for turn in request.turns)
    questions = (f"[question]\n{text_of_question(question)}" for question in request.questions)
    return "\n\n".join([f"[system]\n{request.system}", *turns, *questions])


def _image(image: Image) -> str:
    return f"[image {image.digest}, {image.width} x {image.height} pixels]"
