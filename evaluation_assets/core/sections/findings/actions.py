"""Actions that agents say they have done: the tools that do them, and how a text says so, in every language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from evaluation_assets.core.sections.findings.cues import document
from evaluation_assets.core.text.pattern_sets import PatternSet
from evaluation_assets.core.text.shipped_yaml import shipped_yaml


@dataclass(frozen=True, slots=True)
class Action:
    """An action. `tools` are words in the names of tools that do it; without any, all that change state do.

    `claims` fit sentences by which an agent claims it, `states` those that only claim it if the agent has tried to,
    `words` any text that says that it was done.
    """

    name: str
    tools: frozenset[str]
    claims: PatternSet
    states: PatternSet
    words: PatternSet


@cache
def actions() -> tuple[Action, ...]:
    """All actions of `actions.yaml`."""
    entries = shipped_yaml("evaluation_assets.core.sections.findings", "actions.yaml")
    return tuple(_action(name, entry["tools"], entry["done"]) for name, entry in entries.items())


def _action(name: str, tools: list[str], done: Mapping[str, str]) -> Action:
    claims, states = (
        [frame.replace("{done}", words) for language, words in done.items() for frame in frames.get(language, ())]
        for frames in (document()["claim"], document()["state"])
    )
    alone = [rf"(?<![A-Za-z_])(?:{words})(?![A-Za-z_])" for words in done.values()]
    patterns = (PatternSet(each, re.IGNORECASE) for each in (claims, states, alone))
    return Action(name, frozenset(tools), *patterns)
