"""What an installation's own files of settings share: sections, names of variables, words for what is wrong.

Files that arrive with drops are not trusted; `plain_yaml` reads those. No message here repeats a value: people paste
keys into the wrong field.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    create_model,
)
from pydantic_core import CoreSchema
from upath import UPath

from evaluation_assets.core.text.faults import faults_of
from evaluation_assets.core.text.unique_keys import settings_of
from evaluation_assets.core.text.user_error import UserError
from evaluation_assets.core.text.yaml_lines import Lines

_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_ENTRY = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST_WORD = 20
"""No part of a variable's name is longer; random keys are."""

_KEY_PREFIX = re.compile(
    r"(?:sk|pk|rk|gsk|xai|hf|ghp|github_pat|AIza|ya29|AKIA|ASIA|Bearer)(?:[-_ .]|(?=[A-Za-z0-9]{12}))"
)


class InvalidConfiguration(UserError, ValueError):
    """A file of settings of the installation is unusable; the message names the file, the place and what is wrong."""


def looks_like_a_key(text: str) -> bool:
    """Whether a text is more likely a secret than the name of a variable."""
    if _KEY_PREFIX.match(text):
        return True
    return any(
        len(word) > _LONGEST_WORD or (len(word) >= _LONGEST_WORD // 2 and len(re.findall(r"\d", word)) > 2)
        for word in re.split(r"[_-]", text)
    )


def variable_name(value: str) -> str:
    """The name of an environment variable.

    Raises:
        ValueError: it is none, or looks like a key; the message does not repeat it.
    """
    if looks_like_a_key(value):
        raise ValueError(
            "this looks like a key: export the key in a variable and name the variable here, e.g. ANTHROPIC_API_KEY"
        )
    if not _NAME.fullmatch(value):
        raise ValueError(
            "the name of a variable consists of capital letters, digits and underscores, e.g. ANTHROPIC_API_KEY"
        )
    return value


VariableName = Annotated[str, AfterValidator(variable_name)]
"""The name of the environment variable that holds a secret, so that no secret stands in a file."""


_DURATION = re.compile(r"(\d{1,6})\s*([smhdw])")
_LONGEST = timedelta(days=36_500)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def duration(text: str) -> timedelta:
    """The time that a text such as `90s`, `30m`, `12h`, `7d` or `2w` names.

    Raises:
        ValueError: it names none.
    """
    match = _DURATION.fullmatch(text.strip())
    length = None if match is None else timedelta(**{_UNITS[match[2]]: int(match[1])})
    if not length or length > _LONGEST:
        raise ValueError("a duration is a number and a unit, for example 30m, 12h or 7d (units: s, m, h, d, w)")
    return length


def _duration(value: Any) -> Any:
    return value if isinstance(value, timedelta) else duration(str(value))


Duration = Annotated[timedelta, BeforeValidator(_duration)]
"""A duration as people write it: `30m`, `12h`, `7d`."""


Settings = TypeVar("Settings", bound=BaseModel)

Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """A part of a file of settings. Unknown fields are refused, and no message repeats a value.

    `true`, `"5"`, `.nan` and `.inf` are no numbers, `"yes"` and `1` are not true: who writes them means something else.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True, allow_inf_nan=False
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The usual schema, with numbers and booleans as they are written."""
        schema = handler(source)
        _without_conversion(schema)
        return schema


def _without_conversion(schema: Any) -> None:
    """Let the numbers and booleans of a schema be taken from nothing else."""
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _without_conversion(part)
    if isinstance(schema, dict) and schema.get("type") in ("int", "float", "bool"):
        schema["strict"] = True


def read_settings(file: UPath, model: type[Settings], invalid: type[Exception]) -> Settings:
    """The settings in a YAML file; the defaults of `model` where it is empty.

    Raises:
        invalid: it cannot be read, is not UTF-8 or no YAML, or a field is wrong; the message begins with the file's
            path.
    """
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError as problem:
        raise invalid(f"{file}: not UTF-8 ({problem.reason})") from None
    except OSError as problem:
        raise invalid(f"{file}: it cannot be read ({problem.strerror or problem})") from None
    try:
        data = settings_of(text)
    except yaml.YAMLError as problem:
        raise invalid(f"{file}: {_yaml_fault(problem)}") from None
    except RecursionError:
        raise invalid(f"{file}: values are nested too deeply") from None
    except Exception as problem:  # noqa: BLE001  # 2024-99-99, `!!int ""`: PyYAML raises whatever a value ends in
        raise invalid(f"{file}: a value cannot be read ({type(problem).__name__})") from None
    return validated({} if data is None else data, model, str(file), invalid, Lines(text))


def read_entries(
    file: UPath, key: str, types: Mapping[str, type[Settings]], invalid: type[Exception]
) -> dict[str, Settings]:
    """The entries of a file with one mapping, `key`, from names to settings, each of a `type`; none without a file.

    Raises:
        invalid: it is no such file, a name or type is wrong, or a field; the message begins with the file's path.
    """
    if not file.exists():
        return {}
    field: dict[str, Any] = {key: (dict[str, dict[str, Any]], Field(default_factory=dict))}
    whole = create_model("Entries", __base__=Section, **field)
    return {
        name: _entry(f"{file}: {key}.{name}", name, entry, types, invalid)
        for name, entry in getattr(read_settings(file, whole, invalid), key).items()
    }


def _entry(
    place: str, name: str, entry: dict[str, Any], types: Mapping[str, type[Settings]], invalid: type[Exception]
) -> Settings:
    if not _ENTRY.fullmatch(name):
        raise invalid(f"{place}: a name has lower-case letters, digits and underscores, e.g. my_agent")
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in types:
        raise invalid(f"{place}.type: choose one of: {', '.join(sorted(types))}")
    return validated(entry, types[kind], place, invalid)


def validated(
    data: Any, model: type[Settings], source: str, invalid: type[Exception], lines: Lines | None = None
) -> Settings:
    """The settings that parsed YAML describes, which has these `lines`.

    Raises:
        invalid: a field is wrong; the message begins with `source`, and the line if it is known.
    """
    try:
        return model.model_validate(data)
    except ValidationError as problem:
        faults = faults_of(problem, model=model)
        line = lines.at(*faults[0].place) if lines is not None and faults[0].place else None
        place = source if line is None else f"{source}:{line}"
        raise invalid(f"{place}: {'; '.join(map(str, faults))}") from None


def _yaml_fault(problem: yaml.YAMLError) -> str:
    """Describe a YAML error and its position, without the text."""
    mark = getattr(problem, "problem_mark", None)
    place = "" if mark is None else f" in line {mark.line + 1}, column {mark.column + 1}"
    return f"invalid YAML{place}: {getattr(problem, 'problem', None) or 'it cannot be parsed'}"
