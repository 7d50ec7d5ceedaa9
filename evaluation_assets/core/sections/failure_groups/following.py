"""Which finding of a run follows from which other one: they are one failure.

An agent that ignores an error makes up what it did not get, and one sentence may be wrong in two ways. These are rules
about kinds and places; whether a finding really follows from another one is not known.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence

_ERRORS = frozenset(("ignored_error", "unresolved_error"))
_MADE_UP = frozenset(
    ("unsupported_argument", "contradicted_argument", "contradicted_answer", "unsupported_answer", "unperformed_claim")
)
"""What an agent says in place of the result that it did not get."""

_AT_ONE_TEXT = ("cut_off", "ignored_error", "unsupported_answer", "contradicted_answer", "unperformed_claim")
"""Kinds that one text may have together, the root first. A run that ended at an error could not take it up; what is not
supported differs from the results, too; and a claim with a wrong figure is of no call."""


def with_roots(own: Sequence[Occurrence]) -> Iterator[tuple[Occurrence, Occurrence]]:
    """Each finding of a run with its root: the finding that it follows from, or itself."""
    if len(own) == 1:
        yield own[0], own[0]
        return
    run = _Run(own)
    for each in own:
        root = each
        while (cause := run.cause(root)) is not root:
            root = cause
        yield each, root


class _Run:
    """The findings of a run, by what others follow from."""

    def __init__(self, own: Sequence[Occurrence]) -> None:
        placed = [(each.clip_index, each.kind, each) for each in own if each.clip_index is not None]
        placed.sort(key=lambda found: found[:2])
        errors = [(clip, each) for clip, kind, each in placed if kind in _ERRORS]
        self._errors = [each for _, each in errors]
        self._error_clips = [clip for clip, _ in errors]
        self._of_kind = {kind: each for _, kind, each in reversed(placed)}
        self._at_text = {
            (each.start, each.end): each for kind in reversed(_AT_ONE_TEXT) for each in own if each.kind == kind
        }

    def cause(self, each: Occurrence) -> Occurrence:
        """The finding that one follows from, at most one step back; itself, if none."""
        if each.clip_index is None:
            # Test cases say of the run what a detector says of a step. The tests of a task are other ones.
            return each if each.kind == "failing_tests" else self._of_kind.get(each.kind, each)
        before = bisect_left(self._error_clips, each.clip_index) if each.kind in _MADE_UP else 0
        if before:
            return self._errors[before - 1]
        is_one_of = each.kind in _AT_ONE_TEXT and each.start is not None
        return self._at_text[each.start, each.end] if is_one_of else each
