"""What a call was given, under the names that programs have for it."""

from collections.abc import Mapping
from typing import Any

from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at

ARGUMENTS = (
    "action_input", "tool_input", "toolInput", "arguments", "args", "input_parameters", "inputParameters",
    "tool_args", "tool_kwargs", "action_args", "parameters", "params", "kwargs", "input", "inputs", "input_str",
    "param_dict",
)  # fmt: skip


def given_in(call: Mapping[str, Any]) -> Any:
    """What an object of a call has as arguments; `None` if it has none."""
    return next((value for name in ARGUMENTS if (value := call.get(name)) is not None), None)


def given_to(call: Fields) -> Any:
    """The arguments of a call; the schema of a tool's parameters is none."""
    return call.value(*(name for name in ARGUMENTS if not _is_schema(call.peek(name))))


def _is_schema(value: Any) -> bool:
    return at(value, "type") == "object" and isinstance(at(value, "properties"), dict)
