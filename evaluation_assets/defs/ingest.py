"""[ingest] From a dropped file to clips."""

from collections.abc import Iterator
from typing import Literal

import dagster as dg
from pydantic import Field

from evaluation_assets.core.intake.clips.tool_types import InvalidToolTypes, load_tool_types
from evaluation_assets.core.intake.drops import InvalidDrop, find
from evaluation_assets.core.intake.facts import PreprocessingFacts
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Spool, Stream, batched
from evaluation_assets.core.pipeline.checks import records
from evaluation_assets.core.pipeline.preprocessing import PreprocessedDrop
from evaluation_assets.core.pipeline.reading import ReadDrop
from evaluation_assets.core.pipeline.segmentation import Segmentation
from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.trajectories.trajectory_rows import Row
from evaluation_assets.defs import groups
from evaluation_assets.defs.names import RECORDS_ADD_UP, REJECT_RATE, WELL_READ
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.results import check_result, explained
from evaluation_assets.resources.installation import HomeResource

READER_VERSION = "8"
"""Raise it when the same bytes are read into other trajectories."""

PREPROCESSING_VERSION = "2"
"""Raise it when the same trajectories come out differently."""


class PreprocessConfig(dg.Config):
    """Which trajectories are judged."""

    beta_threshold: int = Field(
        default=15, ge=0, description="Maximum number of tool calls; more violate the frequency rule."
    )
    on_violation: Literal["flag", "remove"] = Field(
        default="flag", description="Flag trajectories that violate a rule, or remove them before judging."
    )


@dg.multi_asset(
    name="read_drop",
    partitions_def=DROPS,
    group_name=groups.INGEST,
    outs={
        "raw_trajectories": dg.AssetOut(
            description="Every trajectory of the drop, before preprocessing.",
            code_version=READER_VERSION,
            kinds={"parquet"},
        ),
        "unreadable_records": dg.AssetOut(
            description="Records that could not be parsed: file, line, reason, and the raw record.",
            code_version=READER_VERSION,
            kinds={"parquet"},
        ),
    },
    check_specs=[
        dg.AssetCheckSpec(
            WELL_READ,
            asset="raw_trajectories",
            partitions_def=DROPS,
            description="No call of the source is missing or repeated, and every part of a message was understood.",
        )
    ],
)
def read_drop(context: dg.AssetExecutionContext, home: HomeResource) -> Iterator[dg.Output | dg.AssetCheckResult]:
    """Read the drop's files with the reader of their format."""
    with Spool(tables.UNREADABLE_RECORDS) as unreadable:
        with explained(InvalidDrop, UnreadableDrop):
            drop = ReadDrop(find(home.home.drops, context.partition_key), unreadable)
        version = dg.DataVersion(drop.content)

        def readable() -> Iterator[Row]:
            with explained(UnreadableDrop):
                yield from drop.trajectories()

        yield dg.Output(
            Stream(
                tables.RAW_TRAJECTORIES,
                batched(readable(), tables.RAW_TRAJECTORIES),
                lambda: {**drop.metadata(), "unmapped": dg.MetadataValue.md(drop.unmapped_table())},
                lambda: drop.facts.footer(),  # `facts` before the rows have passed would be those of an unread drop
            ),
            "raw_trajectories",
            data_version=version,
        )
        yield dg.Output(
            Stream(tables.UNREADABLE_RECORDS, unreadable.batches()), "unreadable_records", data_version=version
        )
        yield check_result(records.well_read(drop.reading), WELL_READ, dg.AssetKey("raw_trajectories"))


@dg.multi_asset(
    name="preprocess",
    partitions_def=DROPS,
    group_name=groups.INGEST,
    deps=["raw_trajectories", "unreadable_records"],
    outs={
        "preprocessed_trajectories": dg.AssetOut(
            description="The trajectories that are judged, after applying the rules and repairing unbalanced tags.",
            code_version=PREPROCESSING_VERSION,
            kinds={"parquet"},
        ),
        "rejected_records": dg.AssetOut(
            description="Every record that is not judged, with stage and reason: unreadable, or removed by a rule.",
            code_version=PREPROCESSING_VERSION,
            kinds={"parquet"},
        ),
    },
    check_specs=[
        dg.AssetCheckSpec(
            RECORDS_ADD_UP,
            asset="rejected_records",
            partitions_def=DROPS,
            description="Every record of the drop is exactly one of kept, removed and rejected.",
        ),
        dg.AssetCheckSpec(
            REJECT_RATE,
            asset="rejected_records",
            partitions_def=DROPS,
            description=f"At most {records.MAX_REJECTED:.0%} of the records were removed or could not be read.",
        ),
    ],
)
def preprocess(
    context: dg.AssetExecutionContext, config: PreprocessConfig, home: HomeResource
) -> Iterator[dg.Output | dg.AssetCheckResult]:
    """Apply the rules and repairs; every record is kept or rejected with a reason."""
    key = dg.AssetKey("rejected_records")
    raw, unreadable, preprocessed, removed = home.tables(
        context.partition_key,
        "raw_trajectories",
        "unreadable_records",
        "preprocessed_trajectories",
        "rejected_records",
    )
    chosen = config.model_dump(include=set(PreprocessConfig.model_fields))
    settings = Settings(**chosen)
    with Spool(tables.REJECTED_RECORDS) as rejected:
        drop = PreprocessedDrop(context.partition_key, settings, rejected)
        drop.add_unreadable(unreadable)
        yield dg.Output(
            Stream(
                tables.PREPROCESSED_TRAJECTORIES,
                drop.batches(raw),
                lambda: {"settings": chosen, **drop.metadata()},
                PreprocessingFacts(settings=chosen).footer,
            ),
            "preprocessed_trajectories",
        )
        yield dg.Output(Stream(tables.REJECTED_RECORDS, rejected.batches()), "rejected_records")
    yield check_result(records.records_add_up(raw, unreadable, preprocessed, removed), RECORDS_ADD_UP, key)
    yield check_result(records.reject_rate(preprocessed, removed), REJECT_RATE, key)


@dg.asset(
    partitions_def=DROPS,
    group_name=groups.INGEST,
    deps=["preprocessed_trajectories"],
    code_version=PREPROCESSING_VERSION,
    kinds={"parquet"},
    description="One clip per tool call, and the final clip. Concatenated, the clips of a trajectory are its text.",
)
def clips(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult[Stream]:
    """Cut every trajectory into clips."""
    with explained(InvalidToolTypes):
        segmentation = Segmentation(context.partition_key, load_tool_types(home.home.tool_types))
    (preprocessed,) = home.tables(context.partition_key, "preprocessed_trajectories")
    rows_of_clips = segmentation.clips(preprocessed)
    return dg.MaterializeResult(value=Stream(tables.CLIPS, batched(rows_of_clips, tables.CLIPS), segmentation.metadata))
