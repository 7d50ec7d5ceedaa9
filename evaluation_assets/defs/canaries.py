"""[judging] Canary clips: what every model judge says about clips that never change, when its verdicts are paid for."""

from collections.abc import Sequence

import dagster as dg

from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.judging.canaries import MIN_ANSWERED, CanarySettings
from evaluation_assets.core.judging.canary_judges import canary_judges
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.lake.tables import CANARY_VERDICTS, CLIP_VERDICTS, TRAJECTORY_VERDICTS
from evaluation_assets.core.pipeline.canaries import CanaryRun, asked_version
from evaluation_assets.core.pipeline.checks.judging import canaries_answered
from evaluation_assets.defs.names import COVERAGE
from evaluation_assets.defs.per_judge import JudgingConfig, chosen_judges, judges_step, outputs
from evaluation_assets.resources.installation import HomeResource

CHECKS = {COVERAGE: f"The judge scored {MIN_ANSWERED:.0%} of the requested canary clips."}

OWN = (CLIP_VERDICTS, TRAJECTORY_VERDICTS)
"""Verdicts of a judge that are paid for by the same model at the same time."""


def canary_assets(judges: Sequence[Judge], rubrics: Rubrics, settings: CanarySettings) -> list[dg.AssetsDefinition]:
    """One subsettable multi-asset with an output for every model judge; nothing where there is none."""
    asked = canary_judges(judges)
    if not asked:
        return []

    @judges_step(
        name="judge_canaries",
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
    async def judge_canaries(
        context: dg.AssetExecutionContext, config: JudgingConfig, home: HomeResource
    ):  # Dagster refuses an async annotation
        drop = context.partition_key
        (raw,) = home.tables(drop, "raw_trajectories")
        repeats = settings.repeats_of(DropFacts.of(raw).sidecar.suite)
        chosen = chosen_judges(context, CANARY_VERDICTS, asked)
        own = {judge.name: [home.home.table(drop, table.name, judge.name) for table in OWN] for judge in chosen}
        earlier = {judge.name: home.home.table(drop, CANARY_VERDICTS.name, judge.name) for judge in chosen}
        run = CanaryRun(drop, context.run.run_id, rubrics, repeats, config.budget())
        done = run.judge(chosen, own, earlier)
        async for output in outputs(done, CANARY_VERDICTS, lambda each: {COVERAGE: canaries_answered(each)}):
            yield output

    return [judge_canaries]
