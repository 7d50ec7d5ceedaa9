"""The verdicts behind a criterion of a trajectory, with the replies that were paid for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.lake.tables.verdicts import BY_LEVEL, VerdictLevel
from evaluation_assets.core.report.provenance.replies import replies_of
from evaluation_assets.core.system.installation import Installation

OVERALL = "overall"
_SHOWN = (
    *("judge", "sample", "provider", "model", "served_model", "rubric", "rubric_version", "outcome", "summary"),
    *("reasoning", "error_kind", "error", "cost_usd", "input_tokens", "cached_tokens", "output_tokens"),
    *("from_ledger", "share_seen", "ledger_key"),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row of a table of verdicts, with the raw reply in the ledger, if any."""

    table: str
    level: VerdictLevel
    subject: str
    judge_version: str
    row: Mapping[str, Any]
    scores: Mapping[str, float | None]
    reply: str | None


def criteria_of(home: Installation, drop: str, trajectory: str, judges: Sequence[str]) -> list[str]:
    """The criteria that a trajectory's verdicts are about, and `overall`; those of the answer as `answer.<key>`."""
    named = {
        name
        for level, judge in _tables(judges)
        for row in _rows(home, drop, trajectory, level, judge)
        for name in _names(row)
    }
    return [OVERALL, *sorted(named)]


def verdicts_behind(
    home: Installation, drop: str, trajectory: str, criterion: str, comparability: Mapping[str, str]
) -> list[Verdict]:
    """The verdicts behind a criterion of a trajectory, of all levels; behind `overall`, all verdicts on its clips.

    A verdict without scores (it failed, or abstained) is listed where another one on the same subject scores the
    criterion, and behind `overall`.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    judges = [name.removeprefix("judge ") for name in comparability if name.startswith("judge ")]
    rows: list[tuple[VerdictLevel, str, dict[str, Any]]] = [
        (level, judge, row)
        for level, judge in _tables(judges)
        if criterion != OVERALL or level == "clip"
        for row in _rows(home, drop, trajectory, level, judge)
    ]
    about = {(level, _subject(row)) for level, _, row in rows if criterion in _names(row)}
    asked: list[tuple[VerdictLevel, str, dict[str, Any]]] = [
        (level, judge, row)
        for level, judge, row in rows
        if criterion == OVERALL or ((level, _subject(row)) in about and (criterion in _names(row) or not row["scores"]))
    ]
    with replies_of(home) as replies_to:
        replies = replies_to({row["ledger_key"] for _, _, row in asked if row["ledger_key"]})
    return [
        Verdict(
            table=f"{BY_LEVEL[level].name}/{judge}",
            level=level,
            subject=_subject(row),
            judge_version=comparability[f"judge {judge}"],
            row={name: row[name] for name in _SHOWN},
            scores=dict(row["scores"] or {}),
            reply=replies.get(row["ledger_key"]),
        )
        for level, judge, row in asked
    ]


def _tables(judges: Sequence[str]) -> list[tuple[VerdictLevel, str]]:
    return [(level, judge) for level in BY_LEVEL for judge in judges]


def _rows(home: Installation, drop: str, trajectory: str, level: VerdictLevel, judge: str) -> list[dict[str, Any]]:
    table = home.table(drop, BY_LEVEL[level].name, judge)
    return [row for row in table.rows() if row["trajectory_id"] == trajectory] if table.exists else []


def _subject(row: Mapping[str, Any]) -> str:
    return f"clip {row['clip_index']}" if "clip_index" in row else row["subject"]


def _names(row: Mapping[str, Any]) -> list[str]:
    prefix = "answer." if row.get("subject") == "answer" else ""
    return [prefix + name for name in dict(row["scores"] or {})]
