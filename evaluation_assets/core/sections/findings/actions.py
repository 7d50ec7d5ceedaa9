"""Actions that agents say they have done: the tools that do them, and how a text says so, in every language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from evaluation_assets.core.sections.findings.cues import document
from evaluation_assets.core.text.pattern_sets import PatternSet


@dataclass(frozen=True, slots=True)
class Action:
    """An action. `tools` are words in the names of tools that do it; without any, all that change state do.

    `claims` fit sentences by which an agent claims it, `words` any text that says that it was done.
    """

    name: str
    tools: frozenset[str]
    claims: PatternSet
    words: PatternSet


@cache
def actions() -> tuple[Action, ...]:
    """All actions of `actions.yaml`."""
    text = files("evaluation_assets.core.sections.findings").joinpath("actions.yaml").read_text("utf-8")
    return tuple(_action(name, entry["tools"], entry["done"]) for name, entry in yaml.safe_load(text).items())


def _action(name: str, tools: list[str], done: Mapping[str, str]) -> Action:
    frames = document()["claim"]
    claims = [frame.replace("{done}", words) for language, words in done.items() for frame in frames[language]]
    alone = [rf"(?<![A-Za-z_])(?:{words})(?![A-Za-z_])" for words in done.values()]
    return Action(name, frozenset(tools), PatternSet(claims, re.IGNORECASE), PatternSet(alone, re.IGNORECASE))
