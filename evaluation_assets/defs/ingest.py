"""[ingest] From a dropped file to clips."""

from collections.abc import Iterator
from dataclasses import asdict

import dagster as dg
from upath import UPath

from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.drops import find
from evaluation_assets.core.intake.facts import PreprocessingFacts
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.spool import Spool
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.pipeline.checks import records
from evaluation_assets.core.pipeline.preprocessing import PreprocessedDrop
from evaluation_assets.core.pipeline.reading import ReadDrop
from evaluation_assets.core.pipeline.segmentation import Segmentation
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import RECORDS_ADD_UP, REJECT_RATE, WELL_READ
from evaluation_assets.defs.partitions import check_of_drops
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.stage import Result, Stage, stage
from evaluation_assets.defs.table_assets import table_spec

READER_VERSION = "47"
"""Raise it when the same bytes are read into other trajectories."""

PREPROCESSING_VERSION = "2"
"""Raise it when the same trajectories come out differently."""


@stage(
    table_spec(
        tables.RAW_TRAJECTORIES,
        groups.INGEST,
        READER_VERSION,
        description="Every trajectory of the drop, before preprocessing.",
    ),
    table_spec(tables.IMAGES, groups.INGEST, READER_VERSION),
    table_spec(
        tables.UNREADABLE_RECORDS,
        groups.INGEST,
        READER_VERSION,
        description="Records that could not be parsed: file, line, reason, and the raw record.",
    ),
    checks=[
        check_of_drops(
            WELL_READ,
            asset="raw_trajectories",
            description="No call of the source is missing or repeated, and every part of a message was understood.",
        )
    ],
)
def read_drop(drop: DropRun) -> Iterator[Result]:
    """Read the drop's files with the reader of their format."""
    with Spool(tables.UNREADABLE_RECORDS) as unreadable, Spool(tables.IMAGES) as images:
        read = ReadDrop(find(drop.home.drops, drop.key), unreadable, images)
        version = dg.DataVersion(read.content)

        yield dg.MaterializeResult(
            asset_key="raw_trajectories",
            value=Stream.of(
                tables.RAW_TRAJECTORIES,
                read.trajectories(),
                lambda: {**read.metadata(), "unmapped": dg.MetadataValue.md(read.unmapped_table())},
                lambda: read.facts.footer(),  # `facts` before the rows have passed would be those of an unread drop
            ),
            data_version=version,
        )
        for set_aside in (images, unreadable):
            name = set_aside.table.name
            yield dg.MaterializeResult(asset_key=name, value=set_aside.stream(), data_version=version)
        yield check_result(records.well_read(read.reading), WELL_READ, dg.AssetKey("raw_trajectories"))


@stage(
    table_spec(
        tables.PREPROCESSED_TRAJECTORIES,
        groups.INGEST,
        PREPROCESSING_VERSION,
        ["raw_trajectories", "unreadable_records"],
        "The trajectories that are judged, after applying the rules and repairing unbalanced tags.",
    ),
    table_spec(
        tables.REJECTED_RECORDS,
        groups.INGEST,
        PREPROCESSING_VERSION,
        ["raw_trajectories", "unreadable_records"],
        "Every record not judged, with stage and reason: unreadable, or removed in preprocessing.",
    ),
    checks=[
        check_of_drops(
            RECORDS_ADD_UP,
            asset="rejected_records",
            description="Every record of the drop is exactly one of kept, removed and rejected.",
        ),
        check_of_drops(
            REJECT_RATE,
            asset="rejected_records",
            description=f"At most {records.MAX_REJECTED:.0%} of the records were removed or could not be read.",
        ),
    ],
)
def preprocess(drop: DropRun) -> Iterator[Result]:
    """Apply the rules and repairs; every record is kept or rejected with a reason."""
    key = dg.AssetKey("rejected_records")
    raw, unreadable = drop.tables("raw_trajectories", "unreadable_records")
    preprocessed, removed = drop.tables("preprocessed_trajectories", "rejected_records")
    settings = Settings(beta_threshold=drop.config.beta_threshold, on_violation=drop.config.on_violation)
    chosen = asdict(settings)
    with Spool(tables.REJECTED_RECORDS) as rejected:
        made = PreprocessedDrop(drop.key, settings, rejected)
        made.add_unreadable(unreadable)
        yield Stream(
            tables.PREPROCESSED_TRAJECTORIES,
            made.batches(raw),
            lambda: {"settings": chosen, **made.metadata()},
            PreprocessingFacts(settings=chosen).footer,
        )
        yield rejected.stream()
    yield check_result(records.records_add_up(raw, unreadable, preprocessed, removed), RECORDS_ADD_UP, key)
    yield check_result(records.reject_rate(preprocessed, removed), REJECT_RATE, key)


def clips(tool_types: UPath) -> Stage:
    """The clips of a drop, with the tool types of the installation."""
    own = f"|{digest(tool_types.read_text('utf-8'))}" if tool_types.exists() else ""

    @stage(
        table_spec(
            tables.CLIPS,
            groups.INGEST,
            f"{PREPROCESSING_VERSION}{own}",
            ["preprocessed_trajectories"],
            "One clip per tool call, and the final clip. Concatenated, the clips of a trajectory are its text.",
        )
    )
    def clips(drop: DropRun) -> Stream:
        segmentation = Segmentation(drop.key, load_tool_types(drop.home.tool_types))
        preprocessed = drop.table("preprocessed_trajectories")
        return Stream.of(tables.CLIPS, segmentation.clips(preprocessed), segmentation.metadata)

    return clips
