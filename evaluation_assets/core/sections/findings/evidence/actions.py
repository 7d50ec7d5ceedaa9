"""Actions that agents say they have done: the tools that do them, and how a text says so, in every language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from evaluation_assets.core.sections.findings.evidence.cues import document
from evaluation_assets.core.sections.findings.evidence.echoed import plain_letters
from evaluation_assets.core.text.pattern_sets import PatternSet
from evaluation_assets.core.text.shipped_yaml import shipped_yaml


@dataclass(frozen=True, slots=True)
class Action:
    """An action. `tools` are words in the names of tools that do it; without any, all that change state do.

    `with_tool` says that only who has such a tool claims it: `published` is said of books, too.
    `claims` fit sentences by which an agent claims it, `states` those that only claim it if the agent has
    tried to or was asked to, `words` any text that says that it was done. `stems` are these words in plain letters, in
    which a verb of a tool's name may be found.
    """

    name: str
    tools: frozenset[str]
    with_tool: bool
    claims: PatternSet
    states: PatternSet
    words: PatternSet
    stems: str


@cache
def actions() -> tuple[Action, ...]:
    """All actions of `actions.yaml`."""
    entries = shipped_yaml("evaluation_assets.core.sections.findings.evidence", "actions.yaml")
    return tuple(_action(name, entry) for name, entry in entries.items())


def _action(name: str, entry: Mapping[str, Any]) -> Action:
    done: Mapping[str, str] = entry["done"]
    claims, states = (
        [frame.replace("{done}", words) for language, words in done.items() for frame in frames.get(language, ())]
        for frames in (document()["claim"], document()["state"])
    )
    alone = [rf"(?<![A-Za-z_])(?:{words})(?![A-Za-z_])" for words in done.values()]
    claimed, stated, said = (PatternSet(each, re.IGNORECASE) for each in (claims, states, alone))
    stems = plain_letters(" ".join(done.values())).replace("ge", "")
    return Action(name, frozenset(entry["tools"]), bool(entry.get("with_tool")), claimed, stated, said, stems)
