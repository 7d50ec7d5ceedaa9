"""One-line messages about judges that did not answer: how much, why, and what to do."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.models.errors import REFUSED_FOR_ALL
from evaluation_assets.core.text.counted import counted

LEAST_ANSWERED = 0.9
"""Below this share of answered subjects a judge's shortfall is worth a line of its own."""

_LONGEST_CAUSE = 400

_REMEDIES: Mapping[str, str] = {
    "rate_limit": "Lower max_concurrency or set requests_per_minute",
    "not_found": "Correct model or base_url in panel.yaml",
    "quota": "Top up the account",
    "timeout": "Raise timeout_s of the check if it is yours, else check that its endpoint is up",
    "server": "Check base_url and that the endpoint is up",
    "refusal": "Choose another model",
    "content_filter": "Choose another model",
    "invalid_json": "Choose a model that follows the reply format",
    "out_of_range": "Correct the check if it is yours, else choose a model that follows the reply format",
    "missing_criterion": "Choose a model that follows the reply format",
    "truncated": "Raise max_output_tokens",
    "context_length": "Raise max_input_tokens, or choose a model with a larger window",
    "budget": "Raise the budget",
    "redaction": "Simplify the pattern in redaction",
    "internal": "Correct the check or metric if it is yours, else report this as a bug",
}
"""What to do, by kind of error. A refused key says so in the error itself."""

_KEPT = "paid replies are kept"
"""How a message ends that has said what to do."""

COLUMNS = ["outcome", "error_kind", "error"]
"""What is read of a verdict."""


@dataclass(slots=True)
class Answers:
    """The outcomes of one judge over all levels of a drop."""

    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def of(cls, verdicts: Iterable[Mapping[str, Any]]) -> "Answers":
        """Count rows of verdict tables."""
        answers = cls()
        for row in verdicts:
            answers.add(row)
        return answers

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one verdict."""
        self.outcomes[row["outcome"]] += 1
        if row["error_kind"]:
            self.errors[row["error_kind"], row["error"] or row["error_kind"]] += 1

    @property
    def kinds(self) -> Counter[str]:
        """The errors by their kinds."""
        kinds = Counter[str]()
        for (kind, _), count in self.errors.items():
            kinds[kind] += count
        return kinds

    @property
    def answered(self) -> int:
        """Subjects that were scored, or abstained from with reasons."""
        return self.outcomes["scored"] + self.outcomes["abstained"]

    @property
    def is_lost(self) -> bool:
        """Whether the judge had something to judge and answered nothing."""
        return bool(self.outcomes) and not self.answered

    def shortfall(self, judge: str) -> str | None:
        """The judge, why it did not answer, and what to do; `None` where nothing to speak of is missing."""
        total = self.outcomes.total()
        if not total or self.answered >= LEAST_ANSWERED * total:
            if total and not self.outcomes["scored"]:
                return (
                    f"judge {judge} scored nothing: it abstained from {counted(self.outcomes['abstained'], 'subject')}."
                )
            return None
        share = "scored nothing" if not self.answered else f"answered {self.answered} of {total} questions"
        return f"judge {judge} {share}{self.why}"

    @property
    def why(self) -> str:
        """What goes on after a subject such as "the main error": its message, how often it occurred, and what to do.

        A budget that is spent is not why nothing could be used of what it paid for.
        """
        if not self.errors:
            return "."
        kinds = self.kinds
        refused = [kind for kind in REFUSED_FOR_ALL if kinds[kind]]
        others = [kind for kind, _ in kinds.most_common() if kind != "budget" or self.answered]
        kind = next(iter([*refused, *others, "budget"]))
        count = kinds[kind]
        message = next(said for (of_kind, said), _ in self.errors.most_common() if of_kind == kind)
        cause = _one_line(message)[:_LONGEST_CAUSE].strip().rstrip(".")
        times = "" if count == self.errors.total() else f" ({count} of {self.errors.total()} errors)"
        if cause.endswith(_KEPT):
            return f"{times}: {cause}."
        return f": {cause}{times}. {_REMEDIES.get(kind, 'Fix this')} and re-run; {_KEPT}."


def _one_line(message: str) -> str:
    """A message on one line; of a traceback without the lines of code, which stand indented below their place."""
    if message.startswith('File "'):
        message = ": ".join(line.strip() for line in message.splitlines() if not line.startswith("    "))
    return "".join(letter if letter.isprintable() else " " for letter in message)
