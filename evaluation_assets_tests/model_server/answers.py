"""The text of an answer, and why it ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evaluation_assets_tests.model_server.decisions import decided
from evaluation_assets_tests.model_server.faults import TEXT_FAULTS, VALUE_FAULTS
from evaluation_assets_tests.model_server.reading import Reading, dumped, tokens
from evaluation_assets_tests.model_server.schema_filler import Filler

CRITERIA = re.compile(r"Criteria: ([a-z_]+(?:, [a-z_]+)*)")
"""Where a prompt names the criteria it wants scored: the last such list is answered, one entry each."""


def answer(reading: Reading, fault: Mapping[str, Any]) -> tuple[str, str]:
    """The text of an answer and why it ends: stop, length, refusal, content_filter or calls."""
    kind = fault.get("kind")
    if reading.questions:
        return decided(reading, fault), "stop"
    if kind == "empty":
        return "", "stop"
    if kind == "refusal":
        return "I cannot help with that.", kind
    if kind == "content_filter":
        return "", kind
    if kind == "steps":
        step = step_of(reading, fault)
        return str(step.get("text", "")), "calls" if step.get("calls") else "stop"
    if kind == "text":
        text = str(fault["text"])
    else:
        schema = reading.schema
        if schema is None and reading.json_only:
            schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
        asked = CRITERIA.findall(reading.text)
        filler = Filler(schema or {"type": "string"}, reading.seed, asked[-1].split(", ") if asked else ())
        value = filler.fill(filler.root)
        if kind == "lenient":
            _shift(value, fault["by"])
        if kind in VALUE_FAULTS:
            filler.spoil(value, fault)
        text = value if schema is None else dumped(value)
        if kind in TEXT_FAULTS:
            text = TEXT_FAULTS[kind](text)
    if kind == "length":
        return text[: len(text) // 2], kind
    if reading.most_tokens is not None and tokens(len(text)) > reading.most_tokens:
        return text[: 4 * reading.most_tokens], "length"
    return text, "stop"


def _shift(value: Any, by: int) -> None:
    """Another model behind the same name: every score of a judge's reply moves, from 0 to 10."""
    for entry in value.get("scores", ()):
        if entry["score"] is not None:
            entry["score"] = min(10, max(0, entry["score"] + by))


def step_of(reading: Reading, fault: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a scripted agent does now: one step for every turn it has had."""
    steps = fault.get("steps") or [{}]
    return steps[min(reading.turns, len(steps) - 1)]
