"""Table of what was sent to sinks."""

from evaluation_assets.core.lake.tables.model import INT, NAME, Column, Table
from evaluation_assets.core.lake.tables.shared_columns import DROP

DELIVERIES = Table(
    "deliveries",
    "a score, or the outcome of a drop, that was sent to a sink, with the result of the last attempt",
    (
        DROP,
        Column("trajectory_id", NAME, "ID of the trajectory; null for the outcome of a drop."),
        Column("trace_id", NAME, "ID of the trace in the sink."),
        Column("span_id", NAME, "ID of the span in the sink, for scores of a clip."),
        Column("clip_index", INT, "Position of the clip in its trajectory, from 0, for scores of a clip."),
        Column("name", NAME, "Name of the score, or `outcome`."),
        Column("score_id", NAME, "ID of the score: the same in every drop that has the trace."),
        Column("content", NAME, "Digest of what was sent. A score is sent again when it changes."),
        Column("status", NAME, "`delivered` or `failed`. What failed is sent again by the next run."),
        Column("reason", NAME, "Why it failed, without secrets."),
        Column("remote_id", NAME, "ID that the sink gave to the score."),
        Column("sent_at", NAME, "Time of the attempt: ISO 8601, UTC."),
    ),
    per_sink=True,
)

TABLES = (DELIVERIES,)
