"""Cues of `cues.yaml`, by their name, in every language."""

import re
from collections.abc import Iterator
from functools import cache

from evaluation_assets.core.text.pattern_sets import PatternSet
from evaluation_assets.core.text.shipped_yaml import shipped_yaml


@cache
def cues(name: str) -> PatternSet:
    """The cues with a name."""
    return PatternSet([*_cues(name)], re.IGNORECASE)


def without(name: str, text: str) -> str:
    """A text without what the cues with a name match."""
    return _pattern(name).sub(" ", text) if cues(name).may_match(text) else text


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{cue})" for cue in _cues(name)), re.IGNORECASE)


def _cues(name: str) -> Iterator[str]:
    people = "|".join(document()["people"]["en"])
    for patterns in document()[name].values():
        for cue in patterns:
            yield cue.replace("{people}", people)


def document() -> dict[str, dict[str, list[str]]]:
    """All cues by name and language."""
    return shipped_yaml("evaluation_assets.core.sections.findings.evidence", "cues.yaml")
