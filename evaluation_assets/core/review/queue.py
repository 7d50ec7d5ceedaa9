"""The review queue: select trajectories for human review and write them to a file."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Literal

import orjson
from upath import UPath

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.spool import SortedSpool
from evaluation_assets.core.lake.stored import Aligned, Stored, published
from evaluation_assets.core.lake.tables import REVIEW_QUEUE
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.core.scoring.panel_scores import OVERALL
from evaluation_assets.core.sections.outcomes.prediction import is_likely_failure, predictions
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.plain_text import csv_cell
from evaluation_assets.core.text.report_addresses import ReportAddress
from evaluation_assets.core.traces.trajectories.identity import fraction_of

Reason = Literal[
    "violation",
    "failed_case",
    "finding",
    "likely_failure",
    "unscored",
    "undecided",
    "low",
    "disagreement",
    "threshold",
    "random",
]

_EXCERPT = 500
_ISSUES = 3
"""Issues of a failed case that are named."""


def reasons_in_tables(
    constraint_results: Stored,
    tool_use_results: Stored,
    findings: Stored,
    predicted_outcomes: Stored,
    process_scores: Stored,
    pass_score: float,
) -> dict[Reason, dict[str, str]]:
    """What is wrong with trajectories whatever judges say, by reason and trajectory; the gravest reason first."""
    return {
        "violation": violating(constraint_results),
        "failed_case": failing(tool_use_results),
        "finding": with_grave_findings(findings),
        "likely_failure": likely_failing(predicted_outcomes),
        "low": with_low_scores(tool_use_results, process_scores, pass_score),
    }


def reason_by_judges(
    trajectory_id: str, score: float | None, spread: float | None, settings: ReviewSettings, *, is_undecided: bool
) -> Reason | None:
    """Why a trajectory in which nothing else is wrong is reviewed; `None` when it is not.

    It `is_undecided` if the cascade left any of it to people. The random share is drawn by a hash of the id: the same
    trajectories in every run, on every machine.
    """
    if score is None:
        return "unscored"
    if score < settings.pass_score:
        return "low"
    if is_undecided:
        return "undecided"
    if spread is not None and spread >= settings.disagreement:
        return "disagreement"
    if score <= settings.pass_score + settings.near:
        return "threshold"
    return "random" if fraction_of(trajectory_id) < settings.random_share else None


def queue_rows(
    drop: str,
    trajectories: Stored,
    scores: Iterable[Row],
    settings: ReviewSettings,
    reasons: Mapping[Reason, Mapping[str, str]],
    undecided: Set[str],
) -> Iterator[Row]:
    """Rows of `review_queue`, in no order: see `in_order`.

    `stratum` is `likely_failure` for those, `chosen` for what another rule picked, and `random` for the sample of the
    rest; the first so many of a stratum are a random sample of it: labels of a queue that is labelled in part correct
    pass rates only if they are one. `probability` is how likely such a trajectory was to be in the queue. `reasons` are
    those of `reasons_in_tables`, `undecided` the trajectories with a verdict that no stage of the cascade accepted.
    """
    by_trajectory = Aligned(iter(scores))
    columns = ["trajectory_id", "task_id", "task", "final_answer"]
    for row in trajectories.rows(columns):
        own = by_trajectory.at(row["trajectory_id"])
        score = next((each["adjusted_mean"] for each in own if each["criterion"] == OVERALL), None)
        spread = max((each["std"] for each in own if each["std"] is not None and each["n_scored"] > 1), default=None)
        trajectory_id = row["trajectory_id"]
        told = {reason: said[trajectory_id] for reason, said in reasons.items() if trajectory_id in said}
        reason = next(iter(told), None) or reason_by_judges(
            trajectory_id, score, spread, settings, is_undecided=trajectory_id in undecided
        )
        if reason is not None:
            is_random = reason == "random"
            stratum = "likely_failure" if "likely_failure" in told else "random" if is_random else "chosen"
            if told.keys() & {"violation", "failed_case", "likely_failure"}:
                told.pop("finding", None)  # findings of constraints and test cases would be told twice
            yield {
                "drop": drop,
                "trajectory_id": trajectory_id,
                "task_id": row["task_id"],
                "reason": reason,
                "detail": "; ".join(told.values()),
                "stratum": stratum,
                "probability": settings.random_share if is_random else 1.0,
                "score": score,
                "spread": spread,
                "task": row["task"][:_EXCERPT],
                "final_answer": (row["final_answer"] or "")[:_EXCERPT],
            }


def in_order(count: int) -> SortedSpool:
    """A queue of at most so many rows: likely failures first, then all others, each in an order drawn by hash."""
    return SortedSpool(REVIEW_QUEUE, _position, count)


def _position(row: Row) -> float:
    half = 0 if row["stratum"] == "likely_failure" else 0.5
    return half + fraction_of(f"order {row['trajectory_id']}") / 2


def violating(constraint_results: Stored) -> dict[str, str]:
    """The constraints with severity `error` that a trajectory violates, by trajectory."""
    rows = constraint_results.rows(["trajectory_id", "constraint", "severity", "status"])
    violated = (row for row in rows if row["severity"] == "error" and row["status"] == "failed")
    names = by_key((row["trajectory_id"], row["constraint"]) for row in violated)
    return {trajectory_id: f"constraint {', '.join(dict.fromkeys(own))}" for trajectory_id, own in names.items()}


def failing(tool_use_results: Stored) -> dict[str, str]:
    """The test case that a trajectory failed, and by which issues, by trajectory.

    Issues are named without the values of the calls, which a redaction may have to cover.
    """
    reasons: dict[str, str] = {}
    for row in tool_use_results.rows(["trajectory_id", "case_id", "passed", "issues"]):
        if row["trajectory_id"] is not None and row["passed"] is False:
            issues = sorted(row["issues"], key=lambda issue: not issue["hard"])
            named = dict.fromkeys(" ".join((issue["kind"], *_place(issue))) for issue in issues)
            told = ", ".join(list(named)[:_ISSUES]) or "score too low"
            reasons[row["trajectory_id"]] = f"case {row['case_id']}: {told}"
    return reasons


def with_grave_findings(findings: Stored) -> dict[str, str]:
    """The kinds of findings with severity HIGH that a trajectory has, by trajectory; without evidence, as above."""
    rows = findings.rows(["trajectory_id", "kind", "severity"])
    kinds = by_key((row["trajectory_id"], row["kind"]) for row in rows if row["severity"] == "HIGH")
    return {trajectory_id: f"finding {', '.join(dict.fromkeys(own))}" for trajectory_id, own in kinds.items()}


def with_low_scores(tool_use_results: Stored, process_scores: Stored, pass_score: float) -> dict[str, str]:
    """The scores by test cases and findings that are below `pass_score`, by trajectory.

    A test case that was failed is told by its issues instead.
    """
    scores: dict[str, list[str]] = {}
    cases = (row for row in tool_use_results.rows(["trajectory_id", "passed", "score"]) if row["passed"] is not False)
    named = (("case", cases), ("process", process_scores.rows(["trajectory_id", "score"])))
    for name, rows in named:
        for row in rows:
            if row["trajectory_id"] is not None and row["score"] is not None and row["score"] < pass_score:
                scores.setdefault(row["trajectory_id"], []).append(f"{name} score {row['score']:.2f}")
    return {trajectory_id: ", ".join(own) for trajectory_id, own in scores.items()}


def likely_failing(predicted_outcomes: Stored) -> dict[str, str]:
    """How likely trajectories have failed that claim success, by trajectory: those that more likely failed than not."""
    columns = ["trajectory_id", "success_probability", "claims_success", "auroc_low"]
    rows = predicted_outcomes.rows(columns)
    return predictions(row for row in rows if row["claims_success"] and is_likely_failure(row["success_probability"]))


def _place(issue: Row) -> tuple[str, ...]:
    place = ".".join(part for part in (issue["tool"], issue["parameter"]) if part)
    return (place,) if place else ()


def as_csv(rows: Iterable[Row], report: ReportAddress) -> Iterator[bytes]:
    """The queue as lines of a sheet, with links into the report, and columns to complete: label, annotator and comment.

    A cell that a spreadsheet would run as a formula gets an apostrophe in front; reading labels takes it off.
    """
    line = io.StringIO(newline="")
    writer: csv.DictWriter[str] | None = None
    for row in _to_fill_in(rows, report):
        if writer is None:
            writer = csv.DictWriter(line, list(row))
            writer.writeheader()
        writer.writerow({name: csv_cell(value) if isinstance(value, str) else value for name, value in row.items()})
        yield line.getvalue().encode("utf-8", "replace")
        line.seek(0)
        line.truncate()


def as_json_lines(rows: Iterable[Row], report: ReportAddress) -> Iterator[bytes]:
    """The same as JSON Lines."""
    return (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in _to_fill_in(rows, report))


def write_queue(folder: UPath, queue: SortedSpool, report: ReportAddress) -> UPath:
    """Write `review.csv` and `review.jsonl`; gives the former."""
    for name, lines in (("review.csv", as_csv), ("review.jsonl", as_json_lines)):
        with published(folder / name) as sink:
            sink.writelines(lines(queue.rows(), report))
    return folder / "review.csv"


def _to_fill_in(rows: Iterable[Row], report: ReportAddress) -> Iterator[Row]:
    for row in rows:
        link = report.trajectory(row["trajectory_id"])
        yield {**row, "link": link, "criterion": "passed", "label": None, "annotator": None, "comment": None}
