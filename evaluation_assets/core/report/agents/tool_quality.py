"""Lint tool definitions without a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any, Literal

from evaluation_assets.core.traces.trajectories.model import Tool

Kind = Literal[
    "no_description", "short_description", "no_schema", "undocumented_parameter", "untyped_parameter", "near_duplicate"
]

SHORT = 20
"""A description with fewer characters hardly says more than the name."""

ALIKE = 0.85
"""A model cannot distinguish tools whose descriptions are at least this similar (Ratcliff-Obershelp, 0..1)."""

_COMPARED = 500
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class QualityNote:
    """One weakness of one tool. `parameter` is a path such as `filter.unit`."""

    tool: str
    kind: Kind
    parameter: str | None
    detail: str


def findings(tools: Sequence[Tool]) -> list[QualityNote]:
    """Find empty or short descriptions, undocumented or untyped parameters, and tools that look alike."""
    notes: list[QualityNote] = []
    for tool in tools:
        notes += _of_tool(tool)
    for one, other in combinations(tools, 2):
        if (alike := _similarity(one, other)) >= ALIKE:
            detail = f"looks like {other.name} ({alike:.0%}): say when to use which, or make them one"
            notes.append(QualityNote(one.name, "near_duplicate", None, detail))
    return notes


def _of_tool(tool: Tool) -> Iterator[QualityNote]:
    words = tool.description.strip()
    if not words:
        yield QualityNote(tool.name, "no_description", None, "says nothing about what it does and when to use it")
    elif len(words) < SHORT:
        yield QualityNote(tool.name, "short_description", None, f"its whole description is {words!r}")
    if tool.parameters is None:
        yield QualityNote(tool.name, "no_schema", None, "does not say which parameters it takes")
    else:
        yield from _of_parameters(tool.name, tool.parameters, "", 0)


def _of_parameters(tool: str, schema: dict[str, Any], path: str, depth: int) -> Iterator[QualityNote]:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or depth > _DEEPEST:
        return
    for name, about in properties.items():
        place = f"{path}{name}"
        if not isinstance(about, dict):
            continue
        if not str(about.get("description") or "").strip():
            yield QualityNote(tool, "undocumented_parameter", place, "has no description")
        if not any(key in about for key in ("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref")):
            yield QualityNote(tool, "untyped_parameter", place, "has no type")
        items = about.get("items")
        for inner in (about, items if isinstance(items, dict) else {}):
            yield from _of_parameters(tool, inner, f"{place}.", depth + 1)


def _similarity(one: Tool, other: Tool) -> float:
    """Similarity of two tools' descriptions; 0 if their parameters differ."""
    if _names(one) != _names(other):
        return 0.0
    if not one.description.strip() or not other.description.strip():
        return SequenceMatcher(None, one.name.lower(), other.name.lower(), autojunk=False).ratio()
    texts = [f"{tool.description.lower()[:_COMPARED]}" for tool in (one, other)]
    return SequenceMatcher(None, *texts, autojunk=False).ratio()


def _names(tool: Tool) -> frozenset[str]:
    properties = (tool.parameters or {}).get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()
