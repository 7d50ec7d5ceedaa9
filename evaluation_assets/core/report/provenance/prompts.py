"""The prompts behind verdicts of model judges, made again from the tables of the drop."""

from collections.abc import Iterable, Sequence

from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.recalled import recalled_requests
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.stored_chains import JUDGED_TABLES
from evaluation_assets.core.lake.tables.verdicts import VerdictLevel
from evaluation_assets.core.models.messages import Request
from evaluation_assets.core.models.sizes import text_of_question
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.images import Image


def prompts_behind(
    home: Installation,
    drop: str,
    trajectory: str,
    levels: Iterable[VerdictLevel],
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
            chains = JUDGED_TABLES[level].shown_chains(home, drop, judge, rubrics)
            requests = recalled_requests(judge, (chain for chain in chains if chain.trajectory.id == trajectory))
            prompts.update({key: _text(request) for key, request in requests.items()})
    return prompts


def _text(request: Request) -> str:
    turns = ("\n".join([f"[{turn.role}]", turn.text, *map(_image, turn.images)]) for turn in request.turns)
    questions = (f"[question]\n{text_of_question(question)}" for question in request.questions)
    return "\n\n".join([f"[system]\n{request.system}", *turns, *questions])


def _image(image: Image) -> str:
    return f"[image {image.digest}, {image.width} x {image.height} pixels]"
