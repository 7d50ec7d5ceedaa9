"""Tables of what went wrong in runs."""

from evaluation_assets.core.lake.tables.model import FLOAT, INT, NAME, TEXT, Column, Table
from evaluation_assets.core.lake.tables.shared_columns import DROP, TASK_ID, TRAJECTORY_ID

_PLACE = (
    Column("turn", INT, "Number of the turn, from 0; null if it is about the whole run."),
    Column("interaction", INT, "Number of the interaction in its turn, from 0."),
    Column("step", INT, "Number of the step in its interaction, from 0."),
    Column("agent_id", NAME, "Agent whose step it is."),
)
_CLIP = Column("clip_index", INT, "Number of the clip with the step.")
_SPAN = (
    Column("start", INT, "Offset in the trajectory's text at which the quotation starts."),
    Column("end", INT, "Offset in the trajectory's text at which the quotation ends (exclusive)."),
)

FINDINGS = Table(
    "findings",
    "one thing that went wrong in a trajectory",
    (
        DROP,
        TRAJECTORY_ID,
        TASK_ID,
        Column("kind", NAME, "What went wrong, for example `unsupported_argument` or `ignored_error`."),
        Column("severity", NAME, "`HIGH`, `MEDIUM` or `LOW`."),
        *_PLACE,
        Column("tool", NAME, "Tool of the call at the step."),
        _CLIP,
        *_SPAN,
        Column("evidence", TEXT, "Quotation of the run of at most 300 characters, or a message about what is missing."),
        Column("detector", NAME, "Who says so: a detector, a judge, or the table that the finding is taken from."),
        Column("detector_version", NAME, "Version of the detector."),
        Column(
            "false_alarm_rate",
            FLOAT,
            "Measured share of faultless runs in which the detector finds something, 0..1.",
        ),
    ),
)

CLAIMS = Table(
    "claims",
    "a sentence or line of an agent that was compared with the calls and results before it",
    (
        DROP,
        TRAJECTORY_ID,
        TASK_ID,
        *_PLACE,
        _CLIP,
        *_SPAN,
        Column("claim", TEXT, "Quotation of the agent, at most 300 characters."),
        Column(
            "verdict",
            NAME,
            "The gravest of what was checked in the sentence: `supported`, `contradicted` (the run has another value "
            "there), or `not_found` (nothing in the run says or does it).",
        ),
    ),
)

PROCESS_SCORES = Table(
    "process_scores",
    "a trajectory with its process score: what its findings leave of 1",
    (
        DROP,
        TRAJECTORY_ID,
        TASK_ID,
        Column(
            "score",
            FLOAT,
            "Product of the criteria below, 0..1; 1 if nothing that was checked went wrong.",
        ),
        Column("calls", FLOAT, "Arguments, choice and repetition of calls, 0..1."),
        Column("errors", FLOAT, "Whether failures are taken up, 0..1."),
        Column("answers", FLOAT, "What the agent says, against its calls and their results, 0..1."),
        Column("course", FLOAT, "Whether the run was brought to its end, 0..1; null if it has one turn and no calls."),
        Column("rules", FLOAT, "Constraints of `checks.yaml`, 0..1."),
        Column("findings", INT, "Findings that count. Those of sessions and test cases do not."),
        Column("heaviest_kind", NAME, "Kind of the finding that weighs most."),
        Column("heaviest_clip", INT, "Number of the clip it is in."),
        Column("heaviest_evidence", TEXT, "Its quotation, or a message about what is missing."),
    ),
)

TABLES = (FINDINGS, CLAIMS, PROCESS_SCORES)
