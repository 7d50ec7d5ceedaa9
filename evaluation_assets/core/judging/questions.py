"""The questions that are asked for one verdict."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from evaluation_assets.core.judging.replies import InvalidReply
from evaluation_assets.core.judging.selection import IN_BATCHES
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.ledger import Entry
from evaluation_assets.core.models.messages import Request
from evaluation_assets.core.models.timeouts import Deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingVerdict:
    """The verdict that questions are asked for.

    `read` refuses an unusable reply, `corrected` asks to put one right, `left` counts the later subjects.
    """

    level: str
    sample: int
    read: Callable[[Entry], Verdict]
    corrected: Callable[[Request, Entry, InvalidReply], Request]
    left: int
    deadline: Deadline
    cost: Cost
    in_batch: bool = False

    def readable(self, entries: Sequence[Entry]) -> Entry | None:
        """The first reply that is usable."""
        for entry in entries:
            with suppress(InvalidReply):
                self.read(entry)
                return entry
        return None

    def asked(self, request: Request) -> dict[str, Any]:
        """What makes a question one of its own in the ledger."""
        asked = {
            "system": request.system,
            "turns": [[turn.role, turn.text, *(image.digest for image in turn.images)] for turn in request.turns],
            "schema": request.schema,
            "sample": self.sample,
        }
        return asked | ({"questions": [asdict(each) for each in request.questions]} if request.questions else {})


def goes_into_a_batch(subject: Subject) -> bool:
    """Whether a batch is worth its wait: a long conversation of clips would wait for a batch with each of them."""
    return subject.level in IN_BATCHES or (subject.is_alone and not subject.later)
