"""The usage of the agents of an Inspect AI sample, which counts tokens by model and role, those of graders, too."""

from collections.abc import Mapping
from typing import Any

from evaluation_assets.core.traces.formats.messages.inspect_messages import usage_in
from evaluation_assets.core.traces.formats.transcript import total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, objects_in
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

_GRADER = "grader"
"""The role in which the scorers of Inspect ask a model."""


def agents_usage(sample: Fields, about: JsonObject, *, is_graded: bool) -> Usage | None:
    """What the sample counts, without its graders; unknown if a model graded it, and which one is not said."""
    recorded, roles = sample.object("model_usage"), sample.object("role_usage")
    models = {name: usage_in(recorded.object(name)) for name in recorded.rest()}
    grader = usage_in(roles.object(_GRADER)) if _GRADER in roles else None
    graders = _graders(about)
    agents = {name: used for name, used in models.items() if name not in graders}
    if len(agents) < len(models):
        return total(agents.values())
    if grader is not None:
        return _less(total(agents.values()), grader)
    return None if is_graded else total(agents.values())


def _graders(about: JsonObject) -> set[str]:
    """The models that only grade, by their role and by the options of the scorers."""
    options = [at(scorer, "options") for scorer in objects_in(about.get("scorers"))]
    names = [first_text(at(about.get("model_roles"), _GRADER), "model"), *(_name(at(one, "model")) for one in options)]
    return {name for name in names if name is not None} - {first_text(about, "model")}


def _name(model: Any) -> str | None:
    return model if isinstance(model, str) else first_text(model, "model")


def _less(whole: Usage | None, part: Usage) -> Usage | None:
    if whole is None:
        return None
    names = ("input_tokens", "output_tokens", "cost_usd", "cached_tokens", "cache_write_tokens")
    left: Mapping[str, Any] = {
        name: None if (all_of := getattr(whole, name)) is None else all_of - (getattr(part, name) or 0)
        for name in names
    }
    return usage(**left)
