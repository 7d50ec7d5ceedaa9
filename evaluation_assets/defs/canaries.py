"""[judging] Canary clips: what every model judge says about clips that never change, when its verdicts are paid for."""

from collections.abc import Iterator, Sequence
from itertools import chain

import dagster as dg

from evaluation_assets.core import rows
from evaluation_assets.core.drops import Sidecar
from evaluation_assets.core.gating.settings import CanarySettings
from evaluation_assets.core.judging.canaries import (
    MIN_ANSWERED,
    ask_canaries,
    canaries_asked,
    canary_scores,
    occasion_of,
)
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.lake import Spool, Stored, Stream
from evaluation_assets.core.llm.budget import Budget
from evaluation_assets.core.rubrics.model import Rubrics
from evaluation_assets.core.tables import CANARY_VERDICTS, CLIP_VERDICTS, TRAJECTORY_VERDICTS
from evaluation_assets.defs.judging import COVERAGE, JudgingConfig, Tally
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.stopping import as_completed
from evaluation_assets.resources.installation import HomeResource

OCCASION, ASKED_OF = "occasion", "asked_of"
"""Facts of a stored table: the occasion its canaries were asked on, and the version of the judge and its rubrics."""


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
    raw = {"raw_trajectories": dg.AssetKey("raw_trajectories")}
    verdicts = {
        judge.name: {
            f"{table.name}_{judge.name}": dg.AssetKey([table.name, judge.name])
            for table in (CLIP_VERDICTS, TRAJECTORY_VERDICTS)
        }
        for judge in asked
    }

    @dg.multi_asset(
        name="judge_canaries",
        partitions_def=DROPS,
        can_subset=True,
        ins={name: dg.AssetIn(key) for of in (raw, *verdicts.values()) for name, key in of.items()},
        outs={
            judge.name: dg.AssetOut(
                key=keys[judge.name],
                is_required=False,
                group_name="judging",
                code_version=f"{judge.version}|{versions}|{settings.model_dump_json()}",
                description=f"Each row is {CANARY_VERDICTS.row}: {judge.name}. Empty if the drop has no suite.",
                kinds={"parquet", "llm"},
            )
            for judge in asked
        },
        check_specs=[
            dg.AssetCheckSpec(
                COVERAGE,
                asset=keys[judge.name],
                partitions_def=DROPS,
                description=f"The judge scored {MIN_ANSWERED:.0%} of the requested canary clips.",
            )
            for judge in asked
        ],
        internal_asset_deps={judge.name: {*raw.values(), *verdicts[judge.name].values()} for judge in asked},
    )
    async def judge_canaries(
        context: dg.AssetExecutionContext, config: JudgingConfig, home: HomeResource, **stored: Stored
    ):  # Dagster refuses an async annotation
        drop, run, budget = context.partition_key, context.run.run_id, Budget(config.budget_usd)
        suite = Sidecar.model_validate_json(stored["raw_trajectories"].facts.get("sidecar", "{}")).suite
        repeats = settings.repeats if settings.enabled and suite is not None else 0

        def own_verdicts(judge: Judge) -> Iterator[rows.Row]:
            columns = ["ledger_key", "from_ledger"]
            return chain.from_iterable(stored[name].rows(columns) for name in verdicts[judge.name])

        async def judged(judge: Judge) -> tuple[Judge, Spool, Tally, dict[str, str], dg.AssetCheckResult]:
            earlier = home.home.table(drop, CANARY_VERDICTS.name, judge.name)
            facts, version = earlier.facts, f"{judge.version}|{versions}"
            # Another judge may have had the name meanwhile.
            before = list(earlier.rows()) if facts.get(ASKED_OF, version) == version else []
            at = facts.get(OCCASION, "")
            occasion = occasion_of(own_verdicts(judge))
            found = before
            unheard = len(canary_scores(before)) < canaries_asked(before) / 2
            if unheard or (occasion is not None and occasion != at):
                async with judge.opened(run, budget) as ready:
                    answers = await ask_canaries(ready, rubrics, run, repeats)
                found = [rows.verdict_row(drop, judge, judgement) for judgement in answers]
                # Silence is no news: what was said when the other verdicts were paid for goes on counting.
                silent = bool(found) and all(row["outcome"] == "not_run" for row in found)
                if silent and any(row["from_ledger"] for row in own_verdicts(judge)):
                    found = before or found
            spool, tally = Spool(CANARY_VERDICTS), Tally()
            for row in found:
                spool.add(row)
                tally.add(row | {"from_ledger": True} if found is before else row)  # kept rows are not paid again
            noted = {OCCASION: at if found is before else occasion or at, ASKED_OF: version}
            return judge, spool, tally, noted, _coverage(keys[judge.name], found, tally)

        chosen = [judge for judge in asked if keys[judge.name] in context.selected_asset_keys]
        async for judge, spool, tally, noted, check in as_completed(judged(judge) for judge in chosen):
            with spool:
                stream = Stream(CANARY_VERDICTS, spool.batches(), tally.metadata, noted)
                yield dg.Output(stream, judge.name)
                yield check

    return [judge_canaries]


def _coverage(asset: dg.AssetKey, found: Sequence[rows.Row], tally: Tally) -> dg.AssetCheckResult:
    """Whether enough canaries scored to notice a change. Where none were asked, none are missing."""
    number, scored = canaries_asked(found), len(canary_scores(found))
    errors = ", ".join(f"{count} {kind}" for kind, count in tally.errors.most_common(3))
    return dg.AssetCheckResult(
        check_name=COVERAGE,
        asset_key=asset,
        passed=scored >= number * MIN_ANSWERED,
        severity=dg.AssetCheckSeverity.WARN,
        metadata=tally.metadata(),
        description=f"{scored} of {number} canary clips were scored{f' ({errors})' if errors else ''}. Below "
        f"{MIN_ANSWERED:.0%}, it is not known whether the judge changed."
        if number
        else "No canary clips were requested with these verdicts.",
    )
