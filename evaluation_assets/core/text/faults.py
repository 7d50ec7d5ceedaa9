"""What pydantic finds wrong, for the person who wrote the data. No message repeats a value but that of a number."""

import re
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from evaluation_assets.core.text.meant import did_you_mean

_QUOTED = "; put it in quotes if it looks like a number or a date"
_NAMED = ", as in `name: value`"
_TEXT = f"must be text{_QUOTED}"
_LIST = "must be a list"
_FIELDS = f"must be fields with values{_NAMED}"
_WHOLE = "must be a whole number"
_NUMBER = "must be a number"
_FLAG = "must be true or false"
_REASONS = {
    "missing": "is missing",
    "extra_forbidden": "unknown field",
    "string_type": _TEXT,
    "list_type": _LIST,
    "tuple_type": _LIST,
    "dict_type": _FIELDS,
    "model_type": _FIELDS,
    "model_attributes_type": _FIELDS,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "bool_type": _FLAG,
    "bool_parsing": _FLAG,
    "finite_number": _NUMBER,
}
"""By type of error of pydantic, whose own words name its classes."""

_WRITTEN = re.compile(r"([-+]?\d{1,12}(?:[.,]\d{1,12})?) ?(%?)")
"""A number, with a decimal comma or as a percentage."""

_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
"""What may be a decimal comma or separate thousands."""

_PLAIN = {
    _NUMBER: re.compile(r"[-+]?\d{1,12}(?:\.\d{1,12})?"),
    _WHOLE: re.compile(r"[-+]?\d{1,12}"),
    _FLAG: re.compile("true|false"),
}
"""By reason, the texts that would be what is asked for, had they not been put in quotes."""

_SUBJECT = re.compile(r"^[A-Z][a-z]+ should ")
"""`Input should be less than 1`, `String should match ...`: what pydantic calls a field."""

_OF_KEYS = "[key]"
"""What pydantic adds to the place of a field whose name is wrong."""

_ALTERNATIVE = re.compile(r"[a-z-]+\[.*\]", re.DOTALL)
"""`literal['calls','completion']`, `dict[str,float]`: the alternative of a field that pydantic tried."""


@dataclass(frozen=True)
class Fault:
    """What is wrong at one place: names of fields and positions in lists, from the outermost."""

    place: tuple[str | int, ...]
    reason: str

    def __str__(self) -> str:
        return f"{place_name(self.place)}: {self.reason}" if self.place else self.reason


def place_name(place: tuple[str | int, ...]) -> str:
    """A place as it is written in code: `cases[0].expected_calls[1].tool`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def faults_of(
    problem: ValidationError,
    below: tuple[str | int, ...] = (),
    model: type[BaseModel] | None = None,
    *,
    is_yaml: bool = True,
) -> list[Fault]:
    """What is wrong, in the order of the fields.

    Args:
        problem: What pydantic says.
        below: The place of the data in its file.
        model: What the data should be; with it, an unknown field is told with the known ones that may be meant.
        is_yaml: Whether a person wrote the data as YAML; else how to write it there is left out.
    """
    errors = problem.errors(include_url=False, include_context=False)
    reasons = (_reason(error, model) for error in errors)
    told = reasons if is_yaml else (reason.removesuffix(_QUOTED).removesuffix(_NAMED) for reason in reasons)
    return [Fault((*below, *_place(error)), reason) for error, reason in zip(errors, told, strict=True)]


def _place(error: ErrorDetails) -> list[str | int]:
    named = (part for part in error["loc"] if part != _OF_KEYS)
    return [part for part in named if isinstance(part, int) or not _ALTERNATIVE.fullmatch(part)]


def _reason(error: ErrorDetails, model: type[BaseModel] | None) -> str:
    if model is not None and error["type"] == "extra_forbidden":
        return f"unknown field; {_meant(_place(error), model)}"
    reason = _REASONS.get(error["type"]) or _SUBJECT.sub("must ", error["msg"].removeprefix("Value error, "))
    if reason == _NUMBER and (number := _meant_number(error["input"])):
        return f"{reason}; write {number}, not {error['input']}"
    if (quoted := _PLAIN.get(reason)) and isinstance(error["input"], str) and quoted.fullmatch(error["input"]):
        return f"{reason}; write {error['input']} without quotes"
    return f"the name {reason}" if error["loc"][-1:] == (_OF_KEYS,) else reason


def _meant_number(value: Any) -> str | None:
    """The number that a text means which cannot be read as one."""
    written = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
    if written is None or _THOUSANDS.fullmatch(written[1]) or not {",", "%"} & {*value}:
        return None
    number = written[1].replace(",", ".")
    return f"{float(number) / 100:.12g}" if written[2] else number


def _meant(place: list[str | int], model: type[BaseModel]) -> str:
    """The known fields that an unknown one may stand for."""
    for part in place[:-1]:
        if isinstance(part, str) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation) or model
    known = f"known: {', '.join(model.model_fields)}"
    if isinstance(elsewhere := getattr(model, "unknown_field_hint", None), str):
        known = f"{elsewhere}; {known}"
    return did_you_mean(str(place[-1]), model.model_fields, known)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation holds, in a list or beside `None` too."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for each in get_args(annotation) if (model := _model_in(each))), None)
