"""The questions that are asked for one verdict, and what they took."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from evaluation_assets.core.judging.replies import Evaluation
from evaluation_assets.core.judging.selection import IN_BATCHES
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.models.ledger import Entry
from evaluation_assets.core.models.messages import Request
from evaluation_assets.core.models.timeouts import Deadline
from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.trajectories.model import Usage


@dataclass(slots=True)
class Cost:
    """What one verdict took, over its questions.

    Tokens and cost are what this run paid; if all replies are from the ledger, what was paid for them before.
    """

    usage: Usage = field(default_factory=Usage)
    latency_ms: float = 0.0
    attempts: int = 0
    keys: list[str] = field(default_factory=list)
    all_from_ledger: bool = True
    served_model: str | None = None
    usage_problem: str | None = None

    def add(self, key: str, entry: Entry, *, from_ledger: bool) -> None:
        """Count the answer to one of its questions."""
        if self.all_from_ledger and not from_ledger:
            self.usage = Usage()
        if self.all_from_ledger or not from_ledger:
            tokens = entry.reply.usage
            self.usage = Usage(
                input_tokens=sum_of((self.usage.input_tokens, tokens.input_tokens)),
                cached_tokens=sum_of((self.usage.cached_tokens, tokens.cached_tokens)),
                output_tokens=sum_of((self.usage.output_tokens, tokens.output_tokens)),
                cost_usd=sum_of((self.usage.cost_usd, entry.cost_usd)),
            )
        self.latency_ms += entry.latency_ms
        self.attempts += 0 if from_ledger else entry.attempts
        self.keys.append(key)
        self.all_from_ledger &= from_ledger
        self.served_model = entry.reply.served_model
        self.usage_problem = self.usage_problem or entry.reply.usage_problem

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about it in the verdict."""
        return () if self.usage_problem is None else (f"Tokens and cost are unknown: {self.usage_problem}.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingVerdict:
    """The verdict that questions are asked for. `read` refuses an unusable reply, `left` counts the later subjects."""

    level: str
    sample: int
    read: Callable[[Entry], Evaluation]
    left: int
    deadline: Deadline
    cost: Cost
    in_batch: bool = False

    def asked(self, request: Request) -> dict[str, Any]:
        """What makes a question one of its own in the ledger."""
        asked = {
            "system": request.system,
            "turns": [[turn.role, turn.text] for turn in request.turns],
            "schema": request.schema,
            "sample": self.sample,
        }
        return asked | ({"questions": [asdict(each) for each in request.questions]} if request.questions else {})


def goes_into_a_batch(subject: Subject) -> bool:
    """Whether a batch is worth its wait: a long conversation of clips would wait for a batch with each of them."""
    return subject.level in IN_BATCHES or (subject.is_alone and not subject.later)
