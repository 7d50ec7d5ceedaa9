"""[judging] Canary clips: what every model judge says about clips that never change, asked anew with every run."""

from collections.abc import Sequence

import dagster as dg

from evaluation_assets.core import rows
from evaluation_assets.core.drops import Sidecar
from evaluation_assets.core.judging.budget import Budget
from evaluation_assets.core.judging.canaries import ask_canaries
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.lake import Spool, Stored, Stream
from evaluation_assets.core.regression.settings import CanarySettings
from evaluation_assets.core.rubrics.model import Rubrics
from evaluation_assets.core.tables import CANARY_VERDICTS
from evaluation_assets.defs.judging import JudgingConfig, Tally
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.stopping import as_completed


def canary_judges(judges: Sequence[Judge]) -> list[Judge]:
    """The judges that may change without anybody's doing. Rules and recorded verdicts do not."""
    return [judge for judge in judges if isinstance(judge, ModelJudge)]


def canary_assets(judges: Sequence[Judge], rubrics: Rubrics, settings: CanarySettings) -> list[dg.AssetsDefinition]:
    """One subsettable multi-asset with an output for every model judge; nothing where there is none."""
    asked = canary_judges(judges)
    if not asked:
        return []
    versions = ",".join(rubrics.versions("clip").values())
    keys = {judge.name: dg.AssetKey([CANARY_VERDICTS.name, judge.name]) for judge in asked}

    @dg.multi_asset(
        name="judge_canaries",
        partitions_def=DROPS,
        can_subset=True,
        ins={"raw_trajectories": dg.AssetIn("raw_trajectories")},
        outs={
            judge.name: dg.AssetOut(
                key=keys[judge.name],
                is_required=False,
                group_name="judging",
                code_version=f"{judge.version}|{versions}|{settings.model_dump_json()}",
                description=f"Each row is {CANARY_VERDICTS.row}: {judge.name}. Empty where the drop has no suite.",
                kinds={"parquet", "llm"},
            )
            for judge in asked
        },
        internal_asset_deps={judge.name: {dg.AssetKey("raw_trajectories")} for judge in asked},
    )
    async def judge_canaries(
        context: dg.AssetExecutionContext, config: JudgingConfig, raw_trajectories: Stored
    ):  # Dagster refuses an async annotation
        suite = Sidecar.model_validate_json(raw_trajectories.facts.get("sidecar", "{}")).suite
        repeats = settings.repeats if settings.enabled and suite is not None else 0
        run, budget = context.run.run_id, Budget(config.budget_usd)

        async def judged(judge: Judge) -> tuple[Judge, Spool, Tally]:
            spool, tally = Spool(CANARY_VERDICTS), Tally()
            async with judge.opened(run, budget) as ready:
                for judgement in await ask_canaries(ready, rubrics, run, repeats):
                    row = rows.verdict_row(context.partition_key, judge, judgement)
                    tally.add(row)
                    spool.add(row)
            return judge, spool, tally

        chosen = [judge for judge in asked if keys[judge.name] in context.selected_asset_keys]
        async for judge, spool, tally in as_completed(judged(judge) for judge in chosen):
            with spool:
                yield dg.Output(Stream(CANARY_VERDICTS, spool.batches(), tally.metadata), judge.name)

    return [judge_canaries]
