"""Ask a judge about clips, as they are and with planted texts."""

import uuid
from collections.abc import Callable, Iterable
from statistics import fmean

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import Judge, judge_chains
from evaluation_assets.core.judging.probes import Attacked
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.subjects import clip_chain
from evaluation_assets.core.models.budget import Budget


async def scores_of(
    judge: Judge, given: Iterable[Attacked], rubrics: Rubrics, budget: Budget, judged: Callable[[], object]
) -> dict[str, float | None]:
    """The mean score of a judge on each clip, by the ID of its trajectory; `None` where it gave none."""
    chains = [clip_chain(each.trajectory, clips_of(each.trajectory), rubrics) for each in given]
    found: dict[str, float | None] = {}
    async with judge.opened(uuid.uuid4().hex, budget) as ready:
        async for judgements in judge_chains(ready, iter(chains)):
            first = judgements[0]
            scores = [score for score in first.verdict.scores.values() if score is not None]
            found[first.subject.trajectory.id] = fmean(scores) if scores else None
            judged()
    return found
