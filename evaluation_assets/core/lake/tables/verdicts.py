"""Tables of what single judges said: one file per judge and drop."""

from collections.abc import Mapping
from typing import Literal

import pyarrow as pa

from evaluation_assets.core.lake.tables.model import BOOL, FLOAT, INT, NAME, TEXT, Column, Table, records
from evaluation_assets.core.lake.tables.shared_columns import DROP, TRAJECTORY_ID

_WHO = (
    Column("judge", NAME, "Name of the judge in the panel."),
    Column("sample", INT, "Number of the judge's verdict on this subject, from 0."),
    Column("provider", NAME, "Provider of the judge; `rules` for the embedded judge."),
    Column("model", NAME, "Model of the judge, as the panel names it; `embedded` for the embedded judge."),
    Column("rubric", NAME, "Name of the rubric whose criteria were asked."),
    Column("rubric_version", NAME, "Version and digest of the rubric."),
)
_WHAT = (
    Column(
        "outcome",
        NAME,
        "`scored`, `abstained` (nothing to score by), `failed` (no valid reply) or `not_run`. Only `scored` verdicts "
        "enter a mean.",
    ),
    Column("scores", pa.map_(NAME, FLOAT), "Score of each criterion, 0..1; null where the judge did not score it."),
    Column(
        "probabilities",
        pa.map_(NAME, FLOAT),
        "Probability that the subject passes each criterion, as the judge reports it or as it follows from "
        "`distributions`.",
    ),
    Column(
        "distributions",
        pa.map_(NAME, records(score=FLOAT, probability=FLOAT)),
        "Probability of each score of each criterion, from the lowest up, as a decision model reports it. The sum "
        "from `pass_score` up is the probability to pass.",
    ),
    Column(
        "entropies",
        pa.map_(NAME, FLOAT),
        "Entropy of each of the `distributions`, from 0 (certain) to 1 (all scores equally likely).",
    ),
    Column("summary", TEXT, "Summary of the subject in one sentence."),
    Column("reasoning", TEXT, "Justification of the scores."),
    Column(
        "error_kind",
        NAME,
        "Kind of failure, for example `rate_limit`, `timeout`, `invalid_json` or `budget`.",
    ),
    Column(
        "error",
        NAME,
        "Error message, without text of the trajectory; for functions of your own with their masked traceback.",
    ),
)
_COST = (
    Column("input_tokens", INT, "Input tokens, including cached ones."),
    Column("cached_tokens", INT, "Input tokens read from the provider's cache."),
    Column("output_tokens", INT, "Output tokens."),
    Column(
        "cost_usd",
        FLOAT,
        "US dollars of this verdict, as the budget counts them: the price of each reply by its tokens, or the most "
        "that it can cost if these are unknown. If every reply came from the ledger, what they cost in an earlier run.",
    ),
    Column(
        "latency_ms",
        FLOAT,
        "Milliseconds the replies took when they were requested.",
    ),
    Column("attempts", INT, "Requests made for this verdict; 0 if every reply came from the ledger."),
    Column("from_ledger", BOOL, "Whether every reply came from the ledger."),
    Column("share_seen", FLOAT, "Share of the subject's text that the judge was shown."),
    Column(
        "prompt_length",
        INT,
        "Characters of the system prompt and conversation sent to the model, without a correction.",
    ),
    Column("ledger_key", NAME, "Key of the last reply in the ledger."),
    Column(
        "served_model",
        NAME,
        "Model that answered, as the provider names it, with its system fingerprint.",
    ),
)
COLUMNS = (*_WHO, *_WHAT, *_COST)
"""What every table of verdicts has, besides the subject."""

CANARY_VERDICTS = Table(
    "canary_verdicts",
    "a judge's verdict on a canary clip, asked when its verdicts on the drop were paid for",
    (
        Column("drop", NAME, "Key of the drop whose verdicts were paid for at that time."),
        Column("trajectory_id", NAME, "ID of the canary clip, with the version of the set of canaries."),
        Column("clip_index", INT, "Always 0: a canary is one clip."),
        Column("tool_type", NAME, "Type of the tool that the canary clip calls."),
        *COLUMNS,
    ),
    per_judge=True,
)
CLIP_VERDICTS = Table(
    "clip_verdicts",
    "a judge's verdict on a clip",
    (
        DROP,
        TRAJECTORY_ID,
        Column("clip_index", INT, "Position of the clip in its trajectory, from 0."),
        Column("tool_type", NAME, "Tool type of the clip, which selects the rubric."),
        *COLUMNS,
    ),
    per_judge=True,
)
CATEGORY_VERDICTS = Table(
    "category_verdicts",
    "a judge's verdict on all clips of one tool type in a trajectory",
    (DROP, TRAJECTORY_ID, Column("subject", NAME, "Tool type whose clips were judged."), *COLUMNS),
    per_judge=True,
)
TRAJECTORY_VERDICTS = Table(
    "trajectory_verdicts",
    "a judge's verdict on a trajectory, or on its final answer",
    (
        DROP,
        TRAJECTORY_ID,
        Column("subject", NAME, "What was judged: `trajectory` or `answer`."),
        *COLUMNS,
        Column(
            "claims",
            records(claim=TEXT, verdict=NAME, quote=TEXT),
            "What the final answer states, for judges with `claims: true`: quotations of it, each `supported`, "
            "`contradicted` or `not_found`, and the quotation of a result or of the user that shows it. "
            "Null where there is no final answer, as in dialogues of several turns, and where a reply has no list.",
        ),
    ),
    per_judge=True,
)
SESSION_VERDICTS = Table(
    "session_verdicts",
    "a judge's verdict on an interaction, a turn, or a whole session",
    (
        DROP,
        Column("trajectory_id", NAME, "ID of the trajectory that is the session."),
        Column(
            "subject",
            NAME,
            "What was judged: an interaction (`turn/0/interaction/1`), a turn (`turn/0`), or the `session`. Numbers "
            "start at 0.",
        ),
        *COLUMNS,
    ),
    per_judge=True,
)

VerdictLevel = Literal["clip", "category", "trajectory", "session"]

BY_LEVEL: Mapping[VerdictLevel, Table] = {
    "clip": CLIP_VERDICTS,
    "category": CATEGORY_VERDICTS,
    "trajectory": TRAJECTORY_VERDICTS,
    "session": SESSION_VERDICTS,
}
"""The tables of verdicts on a drop."""

TABLES = (CANARY_VERDICTS, *BY_LEVEL.values())
