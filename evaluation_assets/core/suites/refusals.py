"""Recognise answers that refuse the task or say that it was not done.

Precise rather than complete: an answer may report errors, quote failures, or say what somebody else could not do. So
only sentences count that say it of the one who answers, or of the task, at the start or at the end.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Literal

from evaluation_assets.core.suites.courtesies import without_courtesies
from evaluation_assets.core.text.pattern_sets import PatternSet
from evaluation_assets.core.text.shipped_yaml import shipped_yaml

_HEAD, _TAIL = 400, 250
_CAVEAT = 450
"""Longer answers that begin with what they lack access to go on with what is known all the same."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+")
_MARKS = re.compile(r"(?<!\w)[*_`#>\"'“”‘]+|(?<=[\w.!?])[*_`\"”]+(?!\w)")
_BOXED = re.compile(r"^\\boxed\{(?:\\text\{)?")


def is_refusal(answer: str) -> bool:
    """Whether an answer refuses the task, or says of it that it was not done, with or without courtesies around it."""
    answer = without_courtesies(answer)
    if len(answer) <= _HEAD + _TAIL:
        head = tail = _plain(answer)
    else:
        head, tail = _plain(answer[:_HEAD]), _plain(answer[-_TAIL:])
    if not _patterns("says_no", "failed", "lacks").may_match(" ".join(f"{head} {tail}".split())):
        return False
    first = next(_sentences(_SENTENCE_END.split(head)), None)
    if first is None:
        return False
    says_no = _patterns("says_no")
    return (
        says_no.matches(first)
        or _pattern("failed").fullmatch(first.rstrip(".!。！ ")) is not None
        or (len(answer) <= _CAVEAT and _patterns("lacks").matches(first))
        or any(
            says_no.matches(last) and _patterns("about_the_task").matches(last)
            for last in islice(_sentences(reversed(_SENTENCE_END.split(tail))), 1)
        )
    )


def _plain(text: str) -> str:
    """A text in lower case and without marks."""
    plain = unicodedata.normalize("NFC", text).replace("\u2019", "'").lower()
    return _MARKS.sub("", _BOXED.sub("", plain.strip()))


def _sentences(parts: Iterable[str]) -> Iterator[str]:
    """The parts that say something, without what politeness puts in front."""
    polite = _pattern("polite")
    for part in parts:
        sentence = " ".join(part.split())
        bare = sentence
        while (courtesy := polite.match(bare)) is not None and courtesy.end() < len(bare):
            bare = bare[courtesy.end() :]
        if bare and polite.fullmatch(f"{bare} ") is None:
            yield sentence if _patterns("says_no").matches(sentence) else bare


@cache
def _listed(kind: str) -> tuple[str, ...]:
    """The patterns of a kind in every language."""
    patterns = shipped_yaml("evaluation_assets.core.suites", "refusals.yaml")
    return tuple(
        pattern.replace("<processing>", patterns["processing"]).replace("<task>", patterns["task"])
        for language in patterns[kind].values()
        for pattern in language
    )


@cache
def _pattern(kind: Literal["polite", "failed"]) -> re.Pattern[str]:
    return re.compile("|".join(_listed(kind)))


@cache
def _patterns(*kinds: Literal["says_no", "about_the_task", "failed", "lacks"]) -> PatternSet:
    return PatternSet([pattern for kind in kinds for pattern in _listed(kind)])
