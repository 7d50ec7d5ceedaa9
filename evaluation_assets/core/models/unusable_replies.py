"""Replies that cannot be used cost as much as good ones: a model that gives no others is not asked for all of them."""

from collections import Counter

from evaluation_assets.core.models.errors import Stopped, UnusableKind

MOST_UNUSABLE = 10
"""Paid replies, none of them usable, after which a client stops. One that can be used lets it go on for good: what
fails later is the question."""


class UnusableReplies:
    """What was wrong with the replies of a model, over all clients of a run."""

    def __init__(self) -> None:
        self._run = ""
        self._problems: list[tuple[UnusableKind, str]] = []
        self._was_used = False

    def begin(self, run: str) -> None:
        """Begin a client. A model that was given up in an earlier run of this process is tried once."""
        if run != self._run:
            kept = [] if self.stopped is None else self._problems[1 - MOST_UNUSABLE :]
            self._run, self._problems, self._was_used = run, kept, False

    def used(self) -> None:
        """A reply could be used."""
        self._was_used = True

    def add(self, kind: UnusableKind, problem: str) -> None:
        """A paid reply could not be used."""
        if not self._was_used:
            self._problems.append((kind, problem))

    @property
    def stopped(self) -> Stopped | None:
        """Why nothing more is asked: the most frequent problem, with an example."""
        if self._was_used or len(self._problems) < MOST_UNUSABLE:
            return None
        last = self._problems[-MOST_UNUSABLE:]
        kinds: Counter[UnusableKind] = Counter(kind for kind, _ in last)
        ((kind, _),) = kinds.most_common(1)
        example = next(problem for of_kind, problem in last if of_kind == kind)
        return Stopped(kind, f"none of {MOST_UNUSABLE} replies could be used; for example, {example}")
