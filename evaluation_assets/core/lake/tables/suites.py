"""Tables of runs compared with the test cases of their suite."""

import pyarrow as pa

from evaluation_assets.core.lake.tables.model import BOOL, FLOAT, INT, NAME, NAMES, Column, Table, records
from evaluation_assets.core.lake.tables.shared_columns import DROP, SUITE

TOOL_USE_RESULTS = Table(
    "tool_use_results",
    "a run compared with its test case; a case without a run has one row, without a trajectory",
    (
        DROP,
        SUITE,
        Column("case_id", NAME, "ID of the case in the suite."),
        Column("trajectory_id", NAME, "ID of the trajectory that is the run."),
        Column("trial", INT, "Number of the run among the runs of the case in the drop, from 0."),
        Column("category", NAME, "Category of the case."),
        Column("tags", NAMES, "Tags of the case."),
        Column(
            "passed",
            BOOL,
            "Whether the score reaches the suite's minimum and no issue is hard; null if the run ended with an "
            "error of the agent's program, its model or a tool server.",
        ),
        Column("score", FLOAT, "Weighted mean of the suite's parts that apply to the case, 0..1."),
        Column(
            "precision",
            FLOAT,
            "Share of the calls that were expected.",
        ),
        Column("recall", FLOAT, "Share of the expected calls that were made."),
        Column("f1", FLOAT, "Harmonic mean of precision and recall."),
        Column(
            "parameter_accuracy",
            FLOAT,
            "Share of the parameters that are right, as a mean over matched calls.",
        ),
        Column(
            "exact_calls",
            INT,
            "Expected calls that were made with every parameter right.",
        ),
        Column("n_expected", INT, "Expected calls of the case."),
        Column("n_calls", INT, "Calls made."),
        Column("match_ok", BOOL, "Whether the calls agree as the case's `match` requires."),
        Column(
            "order_score",
            FLOAT,
            "Longest common subsequence of expected and made calls, by tool, over expected calls.",
        ),
        Column(
            "edit_similarity",
            FLOAT,
            "1 - (insertions + deletions) / (expected + made calls), by tool.",
        ),
        Column("coverage", FLOAT, "Share of the expected tools that were called at all."),
        Column(
            "keyword_score",
            FLOAT,
            "Share of the case's keywords that the answer contains.",
        ),
        Column(
            "answer_outcome",
            NAME,
            "The answer compared with the reference: `exact`, `normalised`, `number_in_text`, "
            "`within_tolerance`, `different`, "
            "`not_found` or `missing`.",
        ),
        Column(
            "completed",
            BOOL,
            "Whether the run has an answer that is not a refusal, and was not cut off at a limit.",
        ),
        Column(
            "efficiency",
            FLOAT,
            "min(1, optimal steps / calls); 0 if calls are needed and no expected one was made.",
        ),
        Column(
            "redundancy",
            FLOAT,
            "Share of the calls that repeat an earlier one with the same result.",
        ),
        Column(
            "loops",
            INT,
            "Loops: one to three calls made at least three times in a row with the same results.",
        ),
        Column("errors", INT, "Calls that failed."),
        Column("recovered", INT, "Failed calls after which the same tool succeeded within three calls."),
        Column(
            "schema_accuracy",
            FLOAT,
            "Share of the calls that conform to the definitions of their tools.",
        ),
        Column("latency_ms", FLOAT, "Duration of the run in milliseconds, as recorded."),
        Column(
            "cost_usd",
            FLOAT,
            "Cost of the run in US dollars, as recorded, else at list prices.",
        ),
        Column(
            "calls",
            records(tool=NAME, arguments=NAME, error=NAME),
            "Calls in order. `arguments` is JSON, cut at 2,000 characters; `error` is null for calls that succeeded.",
        ),
        Column(
            "tools",
            records(
                tool=NAME, expected=INT, called=INT, matched=INT, parameter_accuracy=FLOAT, defective=INT, errors=INT
            ),
            "Numbers of calls by tool: expected, made, matched, not conforming to the tool's definition "
            "(`defective`), and failed.",
        ),
        Column(
            "issues",
            records(kind=NAME, tool=NAME, parameter=NAME, detail=NAME, hard=BOOL, call=INT),
            "What is wrong with the run. A run with a `hard` issue fails. `call`: position of the "
            "call in the run, from 0.",
        ),
    ),
)
FAILURE_PATTERNS = Table(
    "failure_patterns",
    "a class of issues in the runs of the drop, with evidence and a recommendation",
    (
        DROP,
        SUITE,
        Column("failure_class", NAME, "Class of the issues, for example `parameter_error` or `missing_call`."),
        Column("kinds", pa.map_(NAME, INT), "Issues by kind."),
        Column("n_issues", INT, "Issues in the class."),
        Column("n_hard_issues", INT, "Issues in the class that fail their run."),
        Column("n_runs", INT, "Runs with an issue of the class."),
        Column("n_failed_runs", INT, "Those of them that did not pass."),
        Column("case_ids", NAMES, "Cases with an issue of the class, most frequent first."),
        Column("tool_names", NAMES, "Tools with an issue of the class, most frequent first."),
        Column("parameter_names", NAMES, "Parameters with an issue, as `<tool>.<parameter>`, most frequent first."),
        Column("examples", NAMES, "Details of up to three issues, as `<case>: <detail>`."),
        Column("recommendation", NAME, "What usually fixes issues of the class."),
    ),
)

TABLES = (TOOL_USE_RESULTS, FAILURE_PATTERNS)
