"""Check calls against the definitions of the tools, without any expectation.

Definitions come from agents' logs: their schemas may be wrong, huge or hostile. Nothing is fetched for a reference, the
work of a check is bounded, and patterns are not run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import jsonschema
import orjson
from jsonschema.exceptions import SchemaError, ValidationError

from evaluation_assets.core.suites.bounded import NotChecked, schema_errors
from evaluation_assets.core.suites.calls import Call, same_tool
from evaluation_assets.core.suites.comparison import shown
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool

DefectKind = Literal[
    "unknown_tool",
    "unreadable_arguments",
    "missing_required",
    "undeclared_parameter",
    "wrong_type",
    "not_in_enum",
    "invalid_value",
    "not_checked",
]
"""`not_checked` is no fault of the call: its tool's definition makes too much work, or its references lead nowhere."""

_TYPES = {
    "dict": "object",
    "map": "object",
    "hashmap": "object",
    "float": "number",
    "double": "number",
    "long": "integer",
    "int": "integer",
    "tuple": "array",
    "list": "array",
    "arraylist": "array",
    "str": "string",
    "char": "string",
    "bool": "boolean",
}
"""What type names of programming languages mean in JSON Schema."""

_JSON_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_ANY = frozenset({"any", "unknown"})
_PATTERNS = ("pattern", "patternProperties")
_ONE_SCHEMA = ("items", "additionalProperties", "contains", "not", "propertyNames", "if", "then", "else")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_MAPS = ("properties", "$defs", "definitions", "dependentSchemas")
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class Defect:
    """One way in which a call breaks the definition of its tool. `parameter` is a path such as `filter.unit`."""

    kind: DefectKind
    tool: str
    parameter: str | None
    detail: str


def defects(call: Call, tools: Iterable[Tool], *, are_all: bool = True) -> list[Defect]:
    """What is wrong with a call by the definitions of the tools the agent was given, which may not be all.

    A tool without parameters in its definition, or with ones that are no schema, is only checked for its name.
    """
    tool = next((tool for tool in tools if same_tool(tool.name, call.name)), None)
    if tool is None:
        return [] if not are_all else [Defect("unknown_tool", call.name, None, "the agent was not given this tool")]
    schema = None if tool.parameters is None else parameter_schema(tool.parameters)
    if schema is None:
        return []
    if call.arguments is None:
        return [Defect("unreadable_arguments", call.name, None, "the arguments are not a JSON object")]
    listed = _undeclared(call, schema)
    try:
        for problem in schema_errors(schema, call.arguments):
            listed += _defects_of(call.name, problem)
    except NotChecked as problem:
        listed.append(Defect("not_checked", call.name, None, str(problem)))
    return listed


def parameter_schema(parameters: JsonObject) -> JsonObject | None:
    """The JSON Schema of a tool's parameters; `None` where they are no usable schema.

    Type names of programming languages are translated. In a flat map of name to type, every parameter without a
    default is required, unless some are marked as required.
    """
    try:
        return _schema(orjson.dumps(parameters))
    except (TypeError, orjson.JSONEncodeError):
        return None


@lru_cache(maxsize=4096)
def _schema(document: bytes) -> JsonObject | None:
    parameters = orjson.loads(document)
    schema = _translated(parameters if _is_schema(parameters) else _from_flat_map(parameters), 0)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError):
        return None
    return schema


def _is_schema(parameters: JsonObject) -> bool:
    """Whether the map is a schema and not a flat map that happens to have a parameter named `type`."""
    return (
        "$ref" in parameters
        or isinstance(parameters.get("properties"), dict)
        or (isinstance(parameters.get("type"), str) and _TYPES.get(parameters["type"], parameters["type"]) == "object")
    )


def _from_flat_map(parameters: JsonObject) -> JsonObject:
    declared = {name: about if isinstance(about, dict) else {"type": about} for name, about in parameters.items()}
    says_so = any(isinstance(about.get("required"), bool) for about in declared.values())
    return {
        "type": "object",
        "properties": {
            name: {key: value for key, value in about.items() if key != "required" or isinstance(value, list)}
            for name, about in declared.items()
        },
        "required": [
            name
            for name, about in declared.items()
            if (about.get("required") is True if says_so else "default" not in about)
        ],
    }


def _translated(schema: Any, depth: int) -> Any:
    """A schema in the words of JSON Schema, without patterns."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema if isinstance(schema, bool) else {}
    result = {key: value for key, value in schema.items() if key not in _PATTERNS}
    kind = _json_type(result.pop("type", None))
    if kind is not None:
        result["type"] = kind
    if not isinstance(result.get("required", []), list):
        del result["required"]
    for key in _ONE_SCHEMA:
        if key in result:
            result[key] = _translated(result[key], depth + 1)
    for key in _SCHEMA_LISTS:
        if isinstance(result.get(key), list):
            result[key] = [_translated(item, depth + 1) for item in result[key]]
    for key in _SCHEMA_MAPS:
        if isinstance(result.get(key), dict):
            result[key] = {name: _translated(item, depth + 1) for name, item in result[key].items()}
    return result


def _json_type(kind: Any) -> str | list[str] | None:
    """A type, or several, in JSON Schema's words; `None` for any and for names nobody knows."""
    if isinstance(kind, list):
        known = [known for name in kind if isinstance(known := _json_type(name), str)]
        return known if len(known) == len(kind) and known else None
    if not isinstance(kind, str) or kind.lower() in _ANY:
        return None
    name = _TYPES.get(kind.lower(), kind.lower())
    return name if name in _JSON_TYPES else None


def _undeclared(call: Call, schema: JsonObject) -> list[Defect]:
    """Parameters the definition does not have. A schema that does not say so allows them; a tool does not."""
    if schema.get("additionalProperties", False) is not False or any(key in schema for key in ("$ref", *_SCHEMA_LISTS)):
        return []
    declared: Mapping[str, Any] = schema.get("properties") or {}
    return [
        Defect("undeclared_parameter", call.name, name, f"the tool has no such parameter, it got {shown(value)}")
        for name, value in (call.arguments or {}).items()
        if name not in declared
    ]


def _defects_of(tool: str, problem: ValidationError) -> list[Defect]:
    path = ".".join(map(str, problem.absolute_path))
    if problem.validator == "required":
        name = _named_first(problem.message)
        return [Defect("missing_required", tool, f"{path}.{name}".strip("."), "is required and missing")]
    if problem.validator == "additionalProperties":
        if not path:
            return []  # found by _undeclared, one by one
        return [Defect("undeclared_parameter", tool, path, problem.message[:200])]
    if problem.validator == "type":
        detail = f"{shown(problem.instance)} is not of type {shown(problem.validator_value)}"
        return [Defect("wrong_type", tool, path or None, detail)]
    if problem.validator in ("enum", "const"):
        detail = f"{shown(problem.instance)} is not one of {shown(problem.validator_value, 160)}"
        return [Defect("not_in_enum", tool, path or None, detail)]
    return [Defect("invalid_value", tool, path or None, problem.message[:200])]


def _named_first(message: str) -> str:
    """The property in the library's message: `'city' is a required property`."""
    return message.removesuffix(" is a required property").strip("'\"")
