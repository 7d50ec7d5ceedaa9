"""[ingest] From a dropped file to clips."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

import dagster as dg

from evaluation_assets.core import rows, tables
from evaluation_assets.core.clips.segmentation import clips_of
from evaluation_assets.core.clips.tool_types import InvalidToolTypes, load_tool_types
from evaluation_assets.core.drops import InvalidDrop, find
from evaluation_assets.core.formats.base import Rejection, UnreadableDrop
from evaluation_assets.core.formats.losses import Losses
from evaluation_assets.core.formats.registry import read_trajectories
from evaluation_assets.core.lake import Spool, Stored, Stream, batched, revised
from evaluation_assets.core.plain_text import markdown_cell
from evaluation_assets.core.preprocessing.preprocess import Preprocessor, Removal, Statistics
from evaluation_assets.core.preprocessing.rules import Settings
from evaluation_assets.core.trajectories.model import Trajectory
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

READER_VERSION = "2"
"""Raise it when the same bytes are read into other trajectories."""

PREPROCESSING_VERSION = "1"
"""Raise it when the same trajectories come out differently."""


class PreprocessConfig(dg.Config):
    """Which trajectories are judged. `on_violation` is `flag` or `remove`."""

    beta_threshold: int = 15
    on_violation: Literal["flag", "remove"] = "flag"


@dg.multi_asset(
    name="read_drop",
    partitions_def=DROPS,
    group_name="ingest",
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
)
def read_drop(context: dg.AssetExecutionContext, home: HomeResource) -> Iterator[dg.Output]:
    """Read the drop's files with the reader of their format."""
    name = context.partition_key
    losses = Losses()
    try:
        drop = find(home.home.drops, name)
        sidecar = drop.sidecar()
        items = read_trajectories(drop.sources, losses, sidecar.format)
    except (InvalidDrop, UnreadableDrop) as problem:
        raise _explained(problem) from problem
    stamp, content = drop.stamp(), drop.content_hash()
    version = dg.DataVersion(content)
    formats: Counter[str] = Counter()
    with Spool(tables.UNREADABLE_RECORDS) as unreadable:

        def readable() -> Iterator[rows.Row]:
            for item in _explaining(items):
                if isinstance(item, Rejection):
                    unreadable.add(rows.unreadable_row(name, item))
                else:
                    formats[item.format] += 1
                    yield rows.trajectory_row(name, item)

        yield dg.Output(
            Stream(
                tables.RAW_TRAJECTORIES,
                batched(readable(), tables.RAW_TRAJECTORIES),
                lambda: {
                    "unreadable": unreadable.count,
                    "content": content,
                    "stamp": stamp,
                    "format": ", ".join(sorted(formats)) or "none",
                    "lost_fields": losses.counts.total(),
                    "losses": loss_table(losses),
                    "source": ", ".join(file.source for file in drop.sources[:20]),
                    **{key: value for key, value in sidecar.model_dump().items() if isinstance(value, str)},
                },
                {"content": content, "sidecar": sidecar.model_dump_json()},
            ),
            "raw_trajectories",
            data_version=version,
        )
        yield dg.Output(
            Stream(tables.UNREADABLE_RECORDS, unreadable.batches()), "unreadable_records", data_version=version
        )


@dg.multi_asset(
    name="preprocess",
    partitions_def=DROPS,
    group_name="ingest",
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
)
def preprocess(
    context: dg.AssetExecutionContext,
    config: PreprocessConfig,
    raw_trajectories: Stored,
    unreadable_records: Stored,
) -> Iterator[dg.Output]:
    """Apply the rules and repairs; every record is kept or rejected with a reason."""
    name = context.partition_key
    preprocessor = Preprocessor(Settings(beta_threshold=config.beta_threshold, on_violation=config.on_violation))
    statistics = preprocessor.statistics
    with Spool(tables.REJECTED_RECORDS) as rejected:
        for row in unreadable_records.rows():
            statistics.unreadable[row["reason"]] += 1
            rejected.add(row)

        def processed(row: rows.Row) -> rows.Row | None:
            trajectory = rows.trajectory_of(row)
            item = preprocessor.process(trajectory)
            if isinstance(item, Removal):
                rejected.add(rows.removal_row(name, item))
                return None
            return row if item is trajectory else rows.trajectory_row(name, item)

        yield dg.Output(
            Stream(
                tables.PREPROCESSED_TRAJECTORIES,
                revised(raw_trajectories, ["trajectory", "text"], processed, tables.PREPROCESSED_TRAJECTORIES),
                lambda: {"settings": config.model_dump(), **statistics_metadata(statistics)},
                {"settings": config.model_dump_json()},
            ),
            "preprocessed_trajectories",
        )
        yield dg.Output(Stream(tables.REJECTED_RECORDS, rejected.batches()), "rejected_records")


@dg.asset(
    partitions_def=DROPS,
    group_name="ingest",
    code_version=PREPROCESSING_VERSION,
    kinds={"parquet"},
    description="One clip per tool call, and the final clip. Concatenated, the clips of a trajectory are its text.",
)
def clips(
    context: dg.AssetExecutionContext, home: HomeResource, preprocessed_trajectories: Stored
) -> dg.MaterializeResult[Stream]:
    """Cut every trajectory into clips."""
    name = context.partition_key
    try:
        types = load_tool_types(home.home.tool_types)
    except InvalidToolTypes as problem:
        raise _explained(problem) from problem
    tool_types: Counter[str] = Counter()

    def cut() -> Iterator[rows.Row]:
        for row in preprocessed_trajectories.rows(["trajectory", "text"]):
            trajectory: Trajectory = rows.trajectory_of(row)
            for clip in clips_of(trajectory, types):
                tool_types[clip.tool_type] += 1
                yield rows.clip_row(name, trajectory.id, clip)

    return dg.MaterializeResult(
        value=Stream(
            tables.CLIPS,
            batched(cut(), tables.CLIPS),
            lambda: {"tool_types": dict(sorted(tool_types.items()))},
        )
    )


def loss_table(losses: Losses) -> dg.MetadataValue:
    """The first fifty unmapped fields of the source, with their counts."""
    lines = [f"| {markdown_cell(path)} | {count} |" for path, count in losses.table()[:50]]
    return dg.MetadataValue.md("\n".join(["| field | times |", "| --- | ---: |", *lines]))


def statistics_metadata(statistics: Statistics) -> dict[str, int | float]:
    """Preprocessing counts as numeric metadata, which the UI plots over drops."""
    figures: dict[str, int | float] = {
        "records_total": statistics.total,
        "records_kept": statistics.kept,
        "removed_frequency": statistics.removed["frequency"],
        "removed_duplicates": statistics.removed["duplicates"],
        "unreadable": statistics.unreadable.total(),
        "flagged": statistics.flagged.total(),
        "repaired": statistics.repaired,
        "duplicate_calls": statistics.duplicates,
        "retries": statistics.retries,
    }
    if statistics.kept_rate is not None:
        figures["kept_rate"] = statistics.kept_rate
    return figures


def _explaining(items: Iterable[Trajectory | Rejection]) -> Iterator[Trajectory | Rejection]:
    """A damaged file fails the run with the reason instead of a traceback."""
    try:
        yield from items
    except UnreadableDrop as problem:
        raise _explained(problem) from problem


def _explained(problem: Exception) -> dg.Failure:
    return dg.Failure(description=str(problem), allow_retries=False)
