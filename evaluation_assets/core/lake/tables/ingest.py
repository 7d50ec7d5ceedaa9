"""Tables of what was ingested: trajectories, the records that are none, and clips."""

from evaluation_assets.core.lake.tables.model import BOOL, FLOAT, INT, NAME, NAMES, TEXT, Column, Table, records
from evaluation_assets.core.lake.tables.shared_columns import DROP, TASK_ID, TRAJECTORY_ID

_BEFORE_TEXT = (
    DROP,
    TRAJECTORY_ID,
    TASK_ID,
    Column("trial", INT, "Number of the run of its task in the drop, from 0."),
    Column("format", NAME, "Trace format the trajectory was read from."),
    Column("task", TEXT, "What the agents were asked to do."),
    Column(
        "final_answer",
        TEXT,
        "Final answer of the agents; null in dialogues of several turns.",
    ),
    Column("success", BOOL, "Outcome recorded by the source, in the source's own sense."),
    Column("started_at", NAME, "Start time, as the source recorded it."),
    Column("duration_s", FLOAT, "Duration in seconds, as the source recorded it."),
    Column(
        "trace_id",
        NAME,
        "ID of the (first) trace in its source.",
    ),
    Column("n_turns", INT, "User messages with what the agents did about them."),
    Column("n_tool_calls", INT, "Tool calls."),
    Column("tools_used", NAMES, "Tools that were called, in the order of their first calls."),
)
_TREE = Column(
    "trajectory",
    TEXT,
    "Turns, interactions and steps as JSON. Their spans `[start, end)` point into `text`, in characters.",
)
_REPAIRS = records(tag=NAME, offset=INT, action=NAME)

RAW_TRAJECTORIES = Table(
    "raw_trajectories",
    "a trajectory as it was read from the drop",
    (
        *_BEFORE_TEXT,
        Column("text", TEXT, "Full text of the trajectory, as it was read."),
        _TREE,
        Column(
            "repairs",
            _REPAIRS,
            "Unbalanced tags, with their `offset` in `text`, and how each was read: `closed` (its closing tag was "
            "missing), `extended` (it ends at a later closing tag), `matched` (its closing tag was misspelt), or "
            "`kept_as_text`.",
        ),
        Column(
            "flags",
            NAMES,
            "How the run ended, where that is known: `step_limit`, `call_limit`, `cost_limit`, `time_limit`, "
            "`user_limit`, `context_limit`, `truncated`, `refused`, `failed`, `no_answer`; and `two_outcomes`: "
            "the source states success and failure.",
        ),
    ),
)
IMAGES = Table(
    "images",
    "an image of a trajectory, for which its text has a mark such as `[image: image/png, 34 kB, 0f3c5e7a9b1d2468]`",
    (
        DROP,
        TRAJECTORY_ID,
        Column("digest", NAME, "What the mark names it by: 16 hexadecimal digits of SHA-256 of `data`."),
        Column("media_type", NAME, "By its first bytes: `image/png`, `image/jpeg`, `image/gif` or `image/webp`."),
        Column("width", INT, "Width in pixels, as its header states it."),
        Column("height", INT, "Height in pixels, as its header states it."),
        Column("data", TEXT, "The image in base64, at most 5 MB."),
    ),
)
PREPROCESSED_TRAJECTORIES = Table(
    "preprocessed_trajectories",
    "a trajectory that is evaluated, after the rules and repairs",
    (
        *_BEFORE_TEXT,
        Column("text", TEXT, "Full text of the trajectory, with missing closing tags inserted."),
        _TREE,
        Column(
            "repairs",
            _REPAIRS,
            "Unbalanced tags, as in `raw_trajectories`; `offset` is in its `text`, before the repair.",
        ),
        Column(
            "flags",
            NAMES,
            "As in `raw_trajectories`, and `too_many_calls` and `duplicate_calls` by rules that only flag.",
        ),
    ),
)
UNREADABLE_RECORDS = Table(
    "unreadable_records",
    "a record of the drop that could not be read as a trajectory",
    (
        DROP,
        Column("source", NAME, "File of the record: its path below `drops/`."),
        Column("line", INT, "Number of the record in its file, from 1."),
        Column("stage", NAME, "Always `read`."),
        Column(
            "reason",
            NAME,
            "Code of the problem: `bad_json`, `wrong_type`, `no_trajectory_text`, `bad_value`, `not_canonical`, "
            "`not_this_format`, `reader_failed`, `streamed_response`, `too_large`.",
        ),
        Column("detail", NAME, "What was found instead of a trajectory."),
        Column("raw", TEXT, "The record as it stands in the file."),
    ),
)
REJECTED_RECORDS = Table(
    "rejected_records",
    "a record that is not evaluated: it could not be read, or a preprocessing rule removed it",
    (
        DROP,
        Column(
            "source",
            NAME,
            "File of an unreadable record: its path below `drops/`. ID of the trajectory that a rule removed.",
        ),
        Column("line", INT, "Number of an unreadable record in its file, from 1."),
        Column("stage", NAME, "`read` for unreadable records, `preprocess` for records that a rule removed."),
        Column(
            "reason",
            NAME,
            "Rule that removed it, `frequency` or `duplicates`; for unreadable records the code in "
            "`unreadable_records`.",
        ),
        Column("detail", NAME, "What was found, for example the number of calls and the limit."),
        Column("raw", TEXT, "The unreadable record, or the text of the removed trajectory."),
    ),
)
CLIPS = Table(
    "clips",
    "a clip: a cut of a trajectory that ends with the result of a tool call, or the final one after the last call",
    (
        DROP,
        TRAJECTORY_ID,
        Column("clip_index", INT, "Position of the clip in its trajectory, from 0."),
        Column("tool_type", NAME, "Type of the called tool, or its server; `final` for the final clip."),
        Column("tool_name", NAME, "Name of the called tool."),
        Column("is_final", BOOL, "Whether this is the final clip."),
        Column("content", TEXT, "Text of the clip. Joined in order, the clips of a trajectory are its text."),
        Column("start", INT, "Start offset in the trajectory's text, in characters."),
        Column("end", INT, "End offset (exclusive) in the trajectory's text, in characters."),
        Column("call_status", NAME, "How the call ended: `ok`, `error`, or `none` (no result, or the final clip)."),
        Column("trace_id", NAME, "ID of the trace of `span_id` in its source; null if `span_id` is."),
        Column(
            "span_id",
            NAME,
            "ID of the span of the call in its source; null if the source has none, and for the final clip.",
        ),
    ),
)

TABLES = (RAW_TRAJECTORIES, IMAGES, UNREADABLE_RECORDS, PREPROCESSED_TRAJECTORIES, REJECTED_RECORDS, CLIPS)
