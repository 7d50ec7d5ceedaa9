"""Every table in the lake: its columns, their types, and what a row is.

The columns here are a public contract; files are read by DuckDB, pandas and polars without us. All shares and scores
are 0..1, money is US dollars, a missing value is null.
"""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the lake. Tables `per_judge` have one file a judge and partition."""

    name: str
    row: str
    schema: pa.Schema
    per_judge: bool = False


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


_TEXT, _INT, _FLOAT, _BOOL = pa.large_string(), pa.int64(), pa.float64(), pa.bool_()
_NAME = pa.string()

_TRAJECTORIES = _schema(
    drop=_NAME,
    trajectory_id=_NAME,
    task_id=_NAME,
    trial=_INT,
    format=_NAME,
    task=_TEXT,
    final_answer=_TEXT,
    success=_BOOL,
    started_at=_NAME,
    duration_s=_FLOAT,
    n_turns=_INT,
    n_tool_calls=_INT,
    text=_TEXT,
    trajectory=_TEXT,
    repairs=pa.list_(pa.struct([("tag", _NAME), ("offset", _INT), ("action", _NAME)])),
    flags=pa.list_(_NAME),
)

_REJECTED = _schema(drop=_NAME, source=_NAME, line=_INT, stage=_NAME, reason=_NAME, detail=_NAME, raw=_TEXT)

_VERDICT = (
    ("judge", _NAME),
    ("provider", _NAME),
    ("model", _NAME),
    ("rubric", _NAME),
    ("rubric_version", _NAME),
    ("outcome", _NAME),
    ("scores", pa.map_(_NAME, _FLOAT)),
    ("summary", _TEXT),
    ("reasoning", _TEXT),
    ("error_kind", _NAME),
    ("error", _NAME),
    ("input_tokens", _INT),
    ("cached_tokens", _INT),
    ("output_tokens", _INT),
    ("cost_usd", _FLOAT),
    ("latency_ms", _FLOAT),
    ("attempts", _INT),
    ("from_ledger", _BOOL),
    ("share_seen", _FLOAT),
    ("ledger_key", _NAME),
)

RAW_TRAJECTORIES = Table("raw_trajectories", "a trajectory as it came", _TRAJECTORIES)
UNREADABLE_RECORDS = Table("unreadable_records", "a record no trajectory could be made of", _REJECTED)
PREPROCESSED_TRAJECTORIES = Table("preprocessed_trajectories", "a kept trajectory, repaired", _TRAJECTORIES)
REJECTED_RECORDS = Table("rejected_records", "a record that was not kept, and why", _REJECTED)
CLIPS = Table(
    "clips",
    "a piece of a trajectory that ends with a tool's result, or the final piece",
    _schema(
        drop=_NAME,
        trajectory_id=_NAME,
        clip_index=_INT,
        tool_type=_NAME,
        tool_name=_NAME,
        is_final=_BOOL,
        content=_TEXT,
        start=_INT,
        end=_INT,
        call_status=_NAME,
    ),
)
CLIP_VERDICTS = Table(
    "clip_verdicts",
    "one judge's verdict on one clip",
    pa.schema([("drop", _NAME), ("trajectory_id", _NAME), ("clip_index", _INT), ("tool_type", _NAME), *_VERDICT]),
    per_judge=True,
)
CATEGORY_VERDICTS = Table(
    "category_verdicts",
    "one judge's verdict on all clips of one tool type in a trajectory",
    pa.schema([("drop", _NAME), ("trajectory_id", _NAME), ("subject", _NAME), *_VERDICT]),
    per_judge=True,
)
TRAJECTORY_VERDICTS = Table(
    "trajectory_verdicts",
    "one judge's verdict on a trajectory, or on its final answer",
    pa.schema([("drop", _NAME), ("trajectory_id", _NAME), ("subject", _NAME), *_VERDICT]),
    per_judge=True,
)
CLIP_SCORES = Table(
    "clip_scores",
    "the panel's score of a clip by one criterion",
    _schema(
        drop=_NAME,
        trajectory_id=_NAME,
        clip_index=_INT,
        tool_type=_NAME,
        criterion=_NAME,
        mean=_FLOAT,
        adjusted_mean=_FLOAT,
        median=_FLOAT,
        min=_FLOAT,
        max=_FLOAT,
        std=_FLOAT,
        n_scored=_INT,
        n_judges=_INT,
    ),
)
CATEGORY_ASSESSMENTS = Table(
    "category_assessments",
    "the panel's score of a tool type in a trajectory by one criterion",
    _schema(
        drop=_NAME,
        trajectory_id=_NAME,
        category=_NAME,
        criterion=_NAME,
        mean=_FLOAT,
        adjusted_mean=_FLOAT,
        std=_FLOAT,
        n_scored=_INT,
        n_judges=_INT,
        clip_count=_INT,
    ),
)
TRAJECTORY_SCORES = Table(
    "trajectory_scores",
    "the panel's score of a trajectory by one criterion; `overall` is the clip-weighted mean over its clips",
    _schema(
        drop=_NAME,
        trajectory_id=_NAME,
        task_id=_NAME,
        criterion=_NAME,
        mean=_FLOAT,
        adjusted_mean=_FLOAT,
        std=_FLOAT,
        n_scored=_INT,
        n_judges=_INT,
    ),
)
TOOL_USE_RESULTS = Table(
    "tool_use_results",
    "a run measured by its case of the suite; a case without a run has a row without trajectory",
    _schema(
        drop=_NAME,
        suite=_NAME,
        case_id=_NAME,
        trajectory_id=_NAME,
        trial=_INT,
        category=_NAME,
        tags=pa.list_(_NAME),
        passed=_BOOL,
        score=_FLOAT,
        precision=_FLOAT,
        recall=_FLOAT,
        f1=_FLOAT,
        parameter_accuracy=_FLOAT,
        exact_calls=_INT,
        n_expected=_INT,
        n_calls=_INT,
        match_ok=_BOOL,
        order_score=_FLOAT,
        edit_similarity=_FLOAT,
        coverage=_FLOAT,
        keyword_score=_FLOAT,
        answer_outcome=_NAME,
        completed=_BOOL,
        efficiency=_FLOAT,
        redundancy=_FLOAT,
        loops=_INT,
        errors=_INT,
        recovered=_INT,
        schema_accuracy=_FLOAT,
        latency_ms=_FLOAT,
        cost_usd=_FLOAT,
        calls=pa.list_(pa.struct([("tool", _NAME), ("arguments", _NAME), ("error", _NAME)])),
        tools=pa.list_(
            pa.struct(
                [
                    ("tool", _NAME),
                    ("expected", _INT),
                    ("called", _INT),
                    ("matched", _INT),
                    ("parameter_accuracy", _FLOAT),
                    ("defective", _INT),
                    ("errors", _INT),
                ]
            )
        ),
        issues=pa.list_(
            pa.struct([("kind", _NAME), ("tool", _NAME), ("parameter", _NAME), ("detail", _NAME), ("hard", _BOOL)])
        ),
    ),
)
FAILURE_PATTERNS = Table(
    "failure_patterns",
    "a class of issues that runs of the drop have, with its evidence and a recommendation",
    _schema(
        drop=_NAME,
        suite=_NAME,
        failure_class=_NAME,
        kinds=pa.map_(_NAME, _INT),
        n_issues=_INT,
        n_hard_issues=_INT,
        n_runs=_INT,
        n_failed_runs=_INT,
        case_ids=pa.list_(_NAME),
        tool_names=pa.list_(_NAME),
        parameter_names=pa.list_(_NAME),
        examples=pa.list_(_NAME),
        recommendation=_NAME,
    ),
)

TASK_METRICS = Table(
    "task_metrics",
    "one metric of one task, averaged over its trials; what gates, history and leaderboard are made from",
    _schema(
        drop=_NAME,
        task_id=_NAME,
        task_digest=_NAME,
        metric=_NAME,
        value=_FLOAT,
        best=_FLOAT,
        n_known=_INT,
        n_trials=_INT,
    ),
)

COLUMNS: dict[str, str] = {
    "drop": "key of the drop: its path below drops/ without ending",
    "trajectory_id": "name of the trajectory, unique in its drop",
    "task_id": "what pairs runs of the same task across drops",
    "trial": "number of the run among runs of the same task, from 0",
    "format": "wire format it was read from",
    "task": "what the agents were asked",
    "final_answer": "what they answered",
    "success": "outcome the source recorded, whatever that meant there",
    "started_at": "time the source recorded",
    "duration_s": "seconds",
    "n_turns": "user turns",
    "n_tool_calls": "tool calls",
    "text": "the trajectory as one text",
    "trajectory": "the canonical tree as JSON; its spans point into text, in characters",
    "repairs": "unbalanced tags and how they were read; offsets into the text as it came",
    "flags": "step_limit, no_answer, too_many_calls, duplicate_calls",
    "source": "file below drops/, or the id of the trajectory a rule removed",
    "line": "record of the file, from 1",
    "stage": "read or preprocess",
    "reason": "bad_json, wrong_type, no_trajectory_text, frequency, duplicates",
    "detail": "what was found",
    "raw": "all of the record",
    "clip_index": "position of the clip in its trajectory, from 0",
    "tool_type": "server or category of the tool; final for the last piece",
    "tool_name": "the tool that was called",
    "is_final": "whether this is the piece after the last call",
    "content": "text[start:end] of the trajectory",
    "start": "first character",
    "end": "behind the last character",
    "call_status": "ok, error or none (no result came, or no call)",
    "subject": "the category; or trajectory, or answer",
    "category": "tool type; in tool_use_results the category of the case",
    "judge": "name in the panel",
    "provider": "who runs the judge",
    "model": "what the judge is",
    "rubric": "the criteria it was asked",
    "rubric_version": "version and digest of the wording",
    "outcome": "scored, abstained, failed or not_run; only scored enters a mean",
    "scores": "criterion to score, 0..1; null where the judge left it open",
    "summary": "one sentence",
    "reasoning": "the judge's justification",
    "error_kind": "class of the failure",
    "error": "the failure, without text of the trajectory",
    "input_tokens": "all input tokens, cached ones included",
    "cached_tokens": "input tokens served from the provider's cache",
    "output_tokens": "output tokens",
    "cost_usd": "US dollars the replies cost when they were paid for; null when unknown, never 0 for unknown",
    "latency_ms": "milliseconds",
    "attempts": "requests made",
    "from_ledger": "whether the reply was paid for before",
    "share_seen": "part of the subject's text the judge was shown",
    "ledger_key": "content address of the reply",
    "criterion": "key of the criterion; answer.<key> for the final answer",
    "mean": "plain mean of the judges that scored; null below the quorum",
    "adjusted_mean": "mean after each judge's leniency is taken out",
    "median": "of the judges that scored",
    "min": "of the judges that scored",
    "max": "of the judges that scored",
    "std": "population standard deviation of the judges that scored",
    "n_scored": "judges that scored",
    "n_judges": "judges of the panel",
    "clip_count": "clips of the category in the trajectory",
    "suite": "name of the suite: its file in suites/ without ending",
    "case_id": "id of the case in the suite",
    "tags": "tags of the case",
    "passed": "whether the score is high enough and no issue is hard; null for a case without a run",
    "score": "weighted mean of the parts that apply, 0..1; null where none does",
    "precision": "share of the calls that were expected; null where the case says nothing about calls",
    "recall": "share of the expected calls that were made",
    "f1": "harmonic mean of precision and recall",
    "parameter_accuracy": "mean over matched calls of the share of parameters that are right",
    "exact_calls": "matched calls with every parameter right",
    "n_expected": "expected calls",
    "n_calls": "calls made",
    "match_ok": "whether whole calls agree as the case's match asks; null where it asks nothing",
    "order_score": "longest common subsequence of tools over expected calls",
    "edit_similarity": "1 - insertions and deletions over all calls, made and expected",
    "coverage": "share of the expected tools that were called at all",
    "keyword_score": "share of the keywords the answer contains",
    "answer_outcome": "exact, normalised, within_tolerance, different, not_found or missing; null without a reference",
    "completed": "whether there is an answer, it is no refusal, and the run was not cut off",
    "efficiency": "min(1, optimal steps / calls)",
    "redundancy": "share of calls that repeat an earlier one with the same result",
    "loops": "stretches of the same calls at least three times in a row with the same results",
    "errors": "calls that failed",
    "recovered": "errors followed by a success of the same tool within three calls",
    "schema_accuracy": "share of calls that agree with the tools' definitions; null where these are unknown",
    "calls": "the calls made; arguments as JSON, cut at 2,000 characters",
    "tools": "figures by tool",
    "issues": "what is wrong: kind, tool, parameter, detail; no run passes with a hard one",
    "failure_class": "class of issues",
    "kinds": "number of issues by kind",
    "n_issues": "issues of the class",
    "n_hard_issues": "of these hard",
    "n_runs": "runs with such an issue",
    "n_failed_runs": "of these failed",
    "case_ids": "cases with such an issue, most frequent first",
    "tool_names": "tools concerned, most frequent first",
    "parameter_names": "parameters concerned as tool.parameter, most frequent first",
    "examples": "up to three issues in their words",
    "recommendation": "what usually helps",
    "task_digest": "digest of what the task asks; another one means another task under the same id",
    "metric": "criterion of the trajectory level, overall, success, pass_rate, cost_usd or latency_s",
    "value": "mean over the trials that have the metric; null where none has",
    "best": "value of the best trial: the highest, for cost and latency the lowest",
    "n_known": "trials that have the metric",
    "n_trials": "trials of the task",
}
"""What the columns mean, in every table that has them."""

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        RAW_TRAJECTORIES,
        UNREADABLE_RECORDS,
        PREPROCESSED_TRAJECTORIES,
        REJECTED_RECORDS,
        CLIPS,
        CLIP_VERDICTS,
        CLIP_SCORES,
        CATEGORY_VERDICTS,
        CATEGORY_ASSESSMENTS,
        TRAJECTORY_VERDICTS,
        TRAJECTORY_SCORES,
        TOOL_USE_RESULTS,
        FAILURE_PATTERNS,
        TASK_METRICS,
    )
}
