"""Cues of `cues.yaml`, by their name, in every language."""

import re
from functools import cache
from importlib.resources import files

import yaml

from evaluation_assets.core.text.pattern_sets import PatternSet


@cache
def cues(name: str) -> PatternSet:
    """The cues with a name."""
    return PatternSet([cue for found in document()[name].values() for cue in found], re.IGNORECASE)


def without(name: str, text: str) -> str:
    """A text without what the cues with a name match."""
    return _pattern(name).sub(" ", text) if cues(name).may_match(text) else text


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{cue})" for found in document()[name].values() for cue in found), re.IGNORECASE)


@cache
def document() -> dict[str, dict[str, list[str]]]:
    """All cues by name and language."""
    text = files("evaluation_assets.core.sections.findings").joinpath("cues.yaml").read_text("utf-8")
    return yaml.safe_load(text)
