"""Replies that must fit a JSON schema, as metrics of other packages ask for them."""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from evaluation_assets.core.judging.replies import THOUGHT_ENDS, InvalidReply
from evaluation_assets.core.traces.trajectories.model import JsonObject, json_object, json_objects

_STRUCTURE = ("properties", "$defs", "definitions")
_CHOICES = ("anyOf", "oneOf", "allOf")


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as endpoints enforce it: all properties of an object are required, and no others are allowed."""
    made: dict[str, Any] = {}
    for name, value in schema.items():
        if name in _STRUCTURE:
            made[name] = {key: _strict(child) for key, child in value.items()}
        elif name in _CHOICES:
            made[name] = [_strict(child) for child in value]
        elif name == "items":
            made[name] = _strict(value)
        elif name != "default":
            made[name] = value
    if "properties" in made:
        made |= {"type": "object", "required": list(made["properties"]), "additionalProperties": False}
    return made


def _strict(schema: Any) -> Any:
    """A part of a schema; `true` stands for anything."""
    return strict(schema) if isinstance(schema, Mapping) else schema


def object_in(text: str, schema: Mapping[str, Any]) -> JsonObject:
    """The only object in a reply that fits the schema, ignoring surrounding text and reasoning before it.

    Raises:
        InvalidReply: there is none, or several that differ.
    """
    whole = json_object(text)
    if whole is None:
        end = max((found.end() for found in THOUGHT_ENDS.finditer(text)), default=0)
        found = list(json_objects(text[end:]))
    else:
        found = [whole]
    problems = [next(iter(Draft202012Validator(schema).iter_errors(each)), None) for each in found]
    fitting = [each for each, problem in zip(found, problems, strict=True) if problem is None]
    if any(other != fitting[0] for other in fitting[1:]):
        raise InvalidReply("invalid_json", "it holds several objects that differ; give only the final one.")
    if fitting:
        return fitting[0]
    if not found:
        raise InvalidReply("invalid_json", "it is not a JSON object.")
    problem = problems[-1]
    place = "" if problem is None else "/".join(map(str, problem.absolute_path))
    rule = "" if problem is None else str(problem.validator)
    raise InvalidReply("invalid_json", f"it does not fit the JSON schema ({place or 'the object'}: {rule}).")
