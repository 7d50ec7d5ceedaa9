"""Recognise answers that refuse the task or say that it was not done.

Precise rather than complete: an answer may report errors, quote failures, or say what somebody else could not do. So
only sentences count that say it of the one who answers, or of the task, at the start or at the end.
"""

import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml

_HEAD, _TAIL = 400, 250
_CAVEAT = 450
"""Longer answers that begin with what they lack access to go on with what is known all the same."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+")
_MARKS = re.compile(r"(?<!\w)[*_`#>\"'“”‘]+|(?<=[\w.!?])[*_`\"”]+(?!\w)")
_BOXED = re.compile(r"^\\boxed\{(?:\\text\{)?")


def is_refusal(answer: str) -> bool:
    """Whether an answer refuses the task, or says of it that it was not done."""
    if len(answer) <= _HEAD + _TAIL:
        sentences = _sentences(answer)
        last = sentences[-1:]
    else:
        sentences, last = _sentences(answer[:_HEAD]), _sentences(answer[-_TAIL:])[-1:]
    if not sentences:
        return False
    says_no = _pattern("says_no")
    return (
        says_no.search(sentences[0]) is not None
        or any(says_no.search(sentence) and _pattern("about_the_task").search(sentence) for sentence in last)
        or _pattern("failed").fullmatch(sentences[0].rstrip(".!。！ ")) is not None
        or (len(answer) <= _CAVEAT and _pattern("lacks").search(sentences[0]) is not None)
    )


def _sentences(text: str) -> list[str]:
    """Sentences in lower case, without marks and without what politeness puts in front."""
    plain = unicodedata.normalize("NFC", text).replace("\u2019", "'").lower()
    plain = _MARKS.sub("", _BOXED.sub("", plain.strip()))
    polite = _pattern("polite")
    found: list[str] = []
    for part in _SENTENCE_END.split(plain):
        sentence = " ".join(part.split())
        bare = sentence
        while (courtesy := polite.match(bare)) is not None and courtesy.end() < len(bare):
            bare = bare[courtesy.end() :]
        if bare and polite.fullmatch(f"{bare} ") is None:
            found.append(sentence if _pattern("says_no").search(sentence) else bare)
    return found


@cache
def _pattern(kind: Literal["polite", "says_no", "about_the_task", "failed", "lacks"]) -> re.Pattern[str]:
    """All patterns of a kind, in every language, as one."""
    patterns = yaml.safe_load(files("evaluation_assets.core.suites").joinpath("refusals.yaml").read_text("utf-8"))
    whole = "|".join(pattern for language in patterns[kind].values() for pattern in language)
    for name in ("processing", "task"):
        whole = whole.replace(f"<{name}>", patterns[name])
    return re.compile(whole)
