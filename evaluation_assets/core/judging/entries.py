"""The entries of a reply: a score for each criterion, and a probability where it is asked for."""

from collections.abc import Sequence
from typing import Any

from evaluation_assets.core.judging.rubrics.model import Scale

_PERCENT: Sequence[int | None] = (*range(0, 101, 5), None)

_PROBABILITY = """
Each entry of a list of scores also has a "probability": how likely it is, in percent, that an expert who sees
everything would say that the agent did this well enough, or null with a score of null. Say 50 where you cannot tell,
and 95 or more only where you would be wrong in at most one of twenty such cases."""


def entries_schema(criteria: Sequence[str], scale: Scale, *, with_probability: bool) -> dict[str, Any]:
    """The JSON Schema of the list of scores. Whole numbers are enumerations: servers do not enforce ranges."""
    points: list[int | None] = [*range(scale.min, scale.max + 1), None]
    properties: dict[str, Any] = {
        "criterion": {"type": "string", "enum": list(criteria)},
        "score": {"type": ["number", "null"], "description": str(scale)}
        if scale.continuous
        else {"type": ["integer", "null"], "enum": points},
    }
    if with_probability:
        properties["probability"] = {"type": ["integer", "null"], "enum": list(_PERCENT)}
    entry = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "array", "items": entry}


def with_rule(rules: str, *, with_probability: bool) -> str:
    """The rules, with what is said about probabilities where they are asked for."""
    return f"{rules}{_PROBABILITY}" if with_probability else rules


def to_percent(probability: float | None) -> int | None:
    """A probability as it is asked for."""
    return None if probability is None else round(100 * probability)
