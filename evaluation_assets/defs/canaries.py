"""[judging] Canary clips: what every model judge says about clips that never change, when its verdicts are paid for."""

from collections.abc import AsyncIterator, Sequence

from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.judging.canaries import MIN_ANSWERED, CanarySettings
from evaluation_assets.core.judging.canary_judges import canary_judges
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.lake.tables import CANARY_VERDICTS, CLIP_VERDICTS, TRAJECTORY_VERDICTS
from evaluation_assets.core.pipeline.canaries import CanaryRun, asked_version
from evaluation_assets.core.pipeline.checks.judging import canaries_answered
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import COVERAGE
from evaluation_assets.defs.per_judge import all_by_judge, by_judge, chosen_judges, judges_stage, results_of
from evaluation_assets.defs.stage import Result, Stage

CHECKS = {COVERAGE: f"The judge scored {MIN_ANSWERED:.0%} of the requested canary clips."}

OWN = (CLIP_VERDICTS, TRAJECTORY_VERDICTS)
"""Verdicts of a judge that are paid for by the same model at the same time."""


def canary_assets(judges: Sequence[Judge], rubrics: Rubrics, settings: CanarySettings) -> list[Stage]:
    """One stage with an asset for every model judge; nothing where there is none."""
    asked = canary_judges(judges)
    if not asked:
        return []

    @judges_stage(
        table=CANARY_VERDICTS,
        judges=asked,
        shared=("raw_trajectories",),
        own=OWN,
        code_version=lambda judge: f"{asked_version(judge, rubrics)}|{settings.model_dump_json()}",
        description=lambda judge: (
            f"Each row is {CANARY_VERDICTS.row}: {judge.name}. Empty where the drop has no suite."
        ),
        checks=CHECKS,
    )
    async def judge_canaries(drop: DropRun) -> AsyncIterator[Result]:
        raw = drop.table("raw_trajectories")
        repeats = settings.repeats_of(DropFacts.of(raw).sidecar.suite)
        chosen = chosen_judges(drop, CANARY_VERDICTS, asked)
        own = all_by_judge(drop, OWN, chosen)
        earlier = by_judge(drop, CANARY_VERDICTS, chosen)
        run = CanaryRun(drop.key, drop.run_id, rubrics, repeats, drop.config.budget())
        done = run.judge(chosen, own, earlier)
        async for result in results_of(
            done, CANARY_VERDICTS, drop.run_id, lambda each: {COVERAGE: canaries_answered(each)}
        ):
            yield result

    return [judge_canaries]
