"""What each model judge of a drop was asked and answered, as data for training and comparing judges."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from evaluation_assets.core.judging.evaluators.judge import EvaluatorJudge
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.recalled import recalled_requests
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.stored_chains import JUDGED_TABLES
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import grouped
from evaluation_assets.core.lake.tables.verdicts import VerdictLevel
from evaluation_assets.core.models.messages import Request
from evaluation_assets.core.report.provenance.replies import RepliesTo, replies_of
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.identity import fraction_of

Part = Literal["train", "evaluation"]

_AT_A_TIME = 50
"""Trajectories whose prompts are in memory at the same time."""

_SHOWN = (
    *("judge", "sample", "provider", "model", "served_model", "rubric", "rubric_version", "outcome"),
    *("summary", "reasoning", "error_kind", "error", "ledger_key"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which verdicts are exported; an empty filter takes all. Only clips and categories have a tool type.

    With an `evaluation_share`, each line says whether its task is for training or for evaluation, drawn by a hash of
    `seed` and the ID of the task: the same in every drop, and stable when tasks are added. `part` takes one of both.
    """

    levels: Sequence[str] = ()
    tool_types: Sequence[str] = ()
    judges: Sequence[str] = ()
    tasks: Sequence[str] = ()
    evaluation_share: float | None = None
    seed: int = 0
    part: Part | None = None

    def part_of(self, task_id: str) -> Part | None:
        """The part that a task is in; `None` without a split."""
        if self.evaluation_share is None:
            return None
        return "evaluation" if fraction_of(f"split {self.seed} {task_id}") < self.evaluation_share else "train"

    def takes_task(self, task_id: str) -> bool:
        """Whether the verdicts on a task are wanted."""
        return (not self.tasks or task_id in self.tasks) and (self.part is None or self.part_of(task_id) == self.part)


def judge_prompts(
    home: Installation, drop: str, judges: Sequence[ModelJudge | EvaluatorJudge], rubrics: Rubrics, wanted: Wanted
) -> Iterator[Row]:
    """A line for each verdict of a model: its subject, the messages that were sent, the reply, and what was read of it.

    Prompts are made again, redacted as they were sent. Those that were sent with other settings, rubrics or prompts
    than today's are `null`, as are replies that are not in the ledger.

    Raises:
        LedgerError: the ledger cannot be read.
        InvalidEvaluator: a metric of another package cannot be used.
    """
    with replies_of(home) as replies_to:
        for judge in judges:
            for level, judged in JUDGED_TABLES.items():
                if home.table(drop, judged.table.name, judge.name).exists:
                    yield from _of_table(home, drop, level, judge, rubrics, wanted, replies_to)


def _of_table(
    home: Installation,
    drop: str,
    level: VerdictLevel,
    judge: ModelJudge | EvaluatorJudge,
    rubrics: Rubrics,
    wanted: Wanted,
    replies_to: RepliesTo,
) -> Iterator[Row]:
    judged = JUDGED_TABLES[level]
    every = judged.shown_chains(home, drop, judge, rubrics)
    chains = (chain for chain in every if wanted.takes_task(chain.trajectory.task_id))
    by_trajectory = grouped(home.table(drop, judged.table.name, judge.name).rows(), "trajectory_id")
    for some in chunks(chains, _AT_A_TIME):
        rows = [
            (chain, [row for row in _rows_at(by_trajectory, chain.trajectory.id) if _is_wanted(row, level, wanted)])
            for chain in some
        ]
        asked = [chain for chain, own in rows if own]
        requests = recalled_requests(judge, asked) if asked else {}
        replies = replies_to({row["ledger_key"] for _, own in rows for row in own})
        for chain, own in rows:
            for row in own:
                key = row["ledger_key"]
                yield _line(drop, chain, level, row, requests.get(key), replies.get(key), wanted)


def _rows_at(by_trajectory: Iterator[tuple[Any, list[Row]]], trajectory_id: str) -> list[Row]:
    """The rows of a trajectory; those before it in the table are passed over."""
    return next((rows for key, rows in by_trajectory if key == trajectory_id), [])


def _is_wanted(row: Row, level: VerdictLevel, wanted: Wanted) -> bool:
    return (
        row["ledger_key"] is not None
        and (not wanted.levels or _level_of(row, level) in wanted.levels)
        and (not wanted.tool_types or row.get("tool_type") in wanted.tool_types)
    )


def _level_of(row: Row, level: VerdictLevel) -> str:
    """The level of a row's subject: tables hold up to three of them."""
    if level == "trajectory":
        return row["subject"]
    if level == "session" and row["subject"] != "session":
        return "interaction" if "/interaction/" in row["subject"] else "turn"
    return level


def _line(
    drop: str,
    chain: Chain,
    level: VerdictLevel,
    row: Row,
    request: Request | None,
    reply: str | None,
    wanted: Wanted,
) -> Row:
    task_id = chain.trajectory.task_id
    messages = None if request is None else _messages(request)
    return {
        "drop": drop,
        "trajectory_id": chain.trajectory.id,
        "task_id": task_id,
        "split": wanted.part_of(task_id),
        "level": _level_of(row, level),
        "subject": row.get("subject", row.get("clip_index")),
        "tool_type": row.get("tool_type"),
        "messages": messages,
        "schema": None if request is None else request.schema,
        "questions": None if request is None else [asdict(question) for question in request.questions],
        "prompt_length": None if messages is None else sum(len(message["content"]) for message in messages),
        "reply": reply,
        "scores": dict(row["scores"] or {}),
        **{name: row[name] for name in _SHOWN},
    }


def _messages(request: Request) -> list[dict[str, str]]:
    turns: list[dict[str, str]] = [{"role": turn.role, "content": turn.text} for turn in request.turns]
    return [{"role": "system", "content": request.system}, *turns] if request.system else turns
