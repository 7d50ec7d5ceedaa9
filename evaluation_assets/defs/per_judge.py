"""Stages with one asset per judge: each judge has its own asset, code version, metadata and checks."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TypeVar

import dagster as dg

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import WITHOUT_MODEL
from evaluation_assets.core.lake.stored import Stored, Stream
from evaluation_assets.core.lake.tables import (
    CATEGORY_VERDICTS,
    CLIP_VERDICTS,
    SESSION_VERDICTS,
    TRAJECTORY_VERDICTS,
    Table,
)
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.pipeline.verdicts import JudgedTable
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.partitions import check_of_drops
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.stage import Result, Stage, Work, stage
from evaluation_assets.resources.asset_keys import owned_key

LEVELS = (CLIP_VERDICTS, CATEGORY_VERDICTS, TRAJECTORY_VERDICTS, SESSION_VERDICTS)
"""The verdict tables that every judge has."""

JUDGE_TAG = "judge"
"""Tag of the assets of a judge, with its name: all levels of one judge are found and selected by it."""

_LONGEST_TAG = 63
"""Characters of a tag that Dagster takes."""

AnyTable = TypeVar("AnyTable", bound=JudgedTable)


def judge_key(table: Table, judge: str) -> dg.AssetKey:
    """The asset of one judge's rows of a table."""
    return owned_key(table.name, judge)


def judge_keys(tables: Sequence[Table], judges: Sequence[Judge]) -> list[dg.AssetKey]:
    """The assets of all judges' rows of these tables."""
    return [judge_key(table, judge.name) for table in tables for judge in judges]


def by_judge(drop: DropRun, table: Table, judges: Sequence[Judge]) -> dict[str, Stored]:
    """A table of every judge, by name, to be read as streams."""
    return {judge.name: drop.table(table.name, judge.name) for judge in judges}


def all_by_judge(drop: DropRun, tables: Sequence[Table], judges: Sequence[Judge]) -> dict[str, list[Stored]]:
    """Several tables of every judge, by name."""
    return {judge.name: [drop.table(table.name, judge.name) for table in tables] for judge in judges}


def judges_stage(
    *,
    table: Table,
    judges: Sequence[Judge],
    shared: Sequence[str],
    own: Sequence[Table],
    code_version: Callable[[Judge], str],
    description: Callable[[Judge], str],
    checks: Mapping[str, str],
) -> Callable[[Work], Stage]:
    """The decorator of a stage with an asset for every judge.

    Args:
        table: what an asset holds.
        judges: one asset each.
        shared: tables that all judges read.
        own: tables of which each judge reads its own.
        code_version: changes whenever a judge's rows may.
        description: of a judge's asset.
        checks: by name, what each judge's asset is checked for.
    """
    return stage(
        *(
            dg.AssetSpec(
                judge_key(table, judge.name),
                deps=[*map(dg.AssetKey, shared), *(judge_key(each, judge.name) for each in own)],
                group_name=groups.group_of_verdicts(table),
                code_version=code_version(judge),
                description=description(judge),
                kinds={"parquet", "python" if judge.provider in WITHOUT_MODEL else "llm"},
                tags={JUDGE_TAG: judge.name[:_LONGEST_TAG]},
            )
            for judge in judges
        ),
        checks=[
            check_of_drops(check, asset=judge_key(table, judge.name), description=description_of_check)
            for judge in judges
            for check, description_of_check in checks.items()
        ],
    )


def chosen_judges(drop: DropRun, table: Table, judges: Sequence[Judge]) -> list[Judge]:
    """The judges whose table this run materialises."""
    return [judge for judge in judges if judge_key(table, judge.name) in drop.assets]


async def results_of(
    done: AsyncIterator[AnyTable], table: Table, run_id: str, findings: Callable[[AnyTable], Mapping[str, Finding]]
) -> AsyncIterator[Result]:
    """Each judge's table and the results of its checks, whichever judge is done first comes first.

    A table without all answers is of one run: with those of the next, what was made from it is stale.
    """
    async for each in done:
        key = judge_key(table, each.judge.name)
        with each.verdicts as spool:
            stream = Stream(table, spool.batches(), each.tally.metadata, each.facts.footer)
            is_complete = each.tally.answered == each.tally.outcomes.total()
            version = None if is_complete else dg.DataVersion(f"incomplete in {run_id}")
            yield dg.MaterializeResult(asset_key=key, value=stream, data_version=version)
            for name, finding in findings(each).items():
                yield check_result(finding, name, key)
