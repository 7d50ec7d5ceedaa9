"""The page `docs/configuration.md`; `python -m evaluation_assets_tests.generated_pages.settings` prints it."""

import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
import orjson
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from evaluation_assets.core.intake.clips.tool_types import ToolTypesFile
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.intake.sources.settings import SETTINGS as SOURCES
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.judging.rubrics.model import Rubric
from evaluation_assets.core.pipeline.settings import Settings
from evaluation_assets.core.report.sinks.settings import SETTINGS as SINKS
from evaluation_assets.core.sections.constraints.settings import Checks
from evaluation_assets.core.suites.agents.settings import AgentSettings
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.field_meanings import meanings, prose

_INTRODUCTION = """\
# Configuration

<!-- Written by `make docs` from the settings in evaluation_assets/core. Change the text there. -->

Settings are YAML files in the home folder (`--home`, `EVALUATION_HOME`, default `.evaluation`), except the sidecar,
which is next to its drop. All files are optional. An unknown field is an error, except in the sidecar. Secrets are not
written into files: a field that ends in `_env` is the name of the environment variable that holds one.

After each field stand its type, unless it is a text, and its default, or `required`. Where there is neither, the field
is null or empty, and sets, checks and limits nothing, unless the text says otherwise.

Commands read the files when they start. `ui` loads files of a local home again when they change; if one cannot be used,
it says so, and those before stay. Elsewhere, reload the code location; suites and sidecars need no reload.
"""

_NAMES = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    timedelta: "duration",
    type(None): "null",
}

_EMPTY = ("null", '""', "[]", "{}")
_LONGEST_DEFAULT = 100
"""Characters of a default; what a longer one says is in the meaning of its field."""


@dataclass(frozen=True)
class _File:
    """A file of settings: its name, what it is for, and its models with the type that selects each."""

    name: str
    purpose: str
    models: Mapping[str, type[BaseModel]]


FILES = (
    _File(
        "panel.yaml",
        "The judges, and how their verdicts are combined. See [judging](judging.md) and [cascade](cascade.md).",
        {"": Panel},
    ),
    _File("gate.yaml", "The gate, headlines, canaries, review and schedules. See [gates](gates.md).", {"": Settings}),
    _File("checks.yaml", "Rules on calls and answers. See [constraints](constraints.md).", {"": Checks}),
    _File("sources.yaml", "`sources:` maps names to entries, each of a type. See [sources](sources.md).", SOURCES),
    _File("sinks.yaml", "`sinks:` maps names to entries, each of a type. See [sinks](sinks.md).", SINKS),
    _File(
        "rubrics/<level>/<name>.yaml",
        "What a judge is asked about one kind of subject. See [the shipped rubrics](rubrics.md).",
        {"": Rubric},
    ),
    _File(
        "tool_types.yaml",
        "Tool types by name pattern and by server, which precede the shipped ones.",
        {"": ToolTypesFile},
    ),
    _File(
        "suites/<name>.yaml",
        "A test suite, also as `.yml` or `.json`. `--suite FILE` copies it here. See [tool use](tool_use.md).",
        {"": Suite},
    ),
    _File(
        "agents/<name>.yaml",
        "An agent: a model with tools, a Python function, or a command. `suite run --agent FILE` copies it here. See "
        "[agents](agents.md).",
        {"": AgentSettings},
    ),
    _File(
        "<drop>.drop.yaml",
        "The sidecar, next to the drop; `_drop.yaml` in a folder that is one drop. `evaluate` copies it with the drop "
        "to `drops/`. Reports show other fields too.",
        {"": Sidecar},
    ),
)
"""Every file of settings."""


def page(files: Iterable[_File]) -> str:
    """The documentation of files of settings, as Markdown."""
    described: dict[type[BaseModel], str] = {}
    return "\n".join((_INTRODUCTION, *(part for file in files for part in _sections(file, described))))


def _sections(file: _File, described: dict[type[BaseModel], str]) -> Iterator[str]:
    yield f"## `{file.name}`\n\n{file.purpose}\n"
    kinds = by_key((model, kind) for kind, model in file.models.items())
    for model, names in kinds.items():
        yield from _model(model, ", ".join(f"`type: {name}`" for name in names if name), described)


def _model(model: type[BaseModel], title: str, described: dict[type[BaseModel], str]) -> Iterator[str]:
    """The fields of a model, then those of the models in it.

    `described` has the titles of the sections so far by model. A field that a model has from another one as it is
    stands in the section of that one alone.
    """
    if model in described:
        return
    base = next((each for each in model.__bases__ if issubclass(each, BaseModel) and each.model_fields), None)
    if base is not None:
        yield from _model(base, _words(base).capitalize(), described)
    described[model] = title
    inherited = {} if base is None else _entries(base)
    if title:
        yield f"### {title}\n\n{prose(model)}\n"
    own = {name: entry for name, entry in _entries(model).items() if entry != inherited.get(name)}
    if base is not None:
        defaults = {
            name: own.pop(name).default
            for name, entry in inherited.items()
            if name in own and own[name] == replace(entry, default=own[name].default)
        }
        other = "".join(f", `{name}` with the default {default}" for name, default in defaults.items())
        yield f"Fields: {_link(described[base])}{other}{', and:' if own else '.'}\n"
    yield "".join(f"- `{model.model_fields[name].alias or name}`{entry}\n" for name, entry in own.items())
    for name, field in model.model_fields.items():
        if name not in inherited:
            for below in _models_in(field.annotation):
                yield from _model(below, file_path(model, name), described)


@dataclass(frozen=True)
class _Entry:
    """What the page says about a field. That it may be null is said in `meaning`."""

    type: str
    default: str
    meaning: str

    def __str__(self) -> str:
        shown = "; ".join(each for each in (self.type, self.default) if each not in ("", "text"))
        return f" ({shown}): {self.meaning}" if shown else f": {self.meaning}"


def _entries(model: type[BaseModel]) -> dict[str, _Entry]:
    """The entry of each field; the `type` of a source or sink is in the title of its section."""
    meaning_of = meanings(model)
    return {
        name: _Entry(type_name(field.annotation).removesuffix(" or null"), _default(field), meaning_of[name])
        for name, field in model.model_fields.items()
        if name != "type"
    }


def _link(title: str) -> str:
    """A link to the section with a title."""
    anchor = re.sub(r"[^\w ]", "", title.lower()).replace(" ", "-")
    return f"[{title}](#{anchor})"


def models() -> set[type[BaseModel]]:
    """The models of all files, with those in their fields."""
    classes: set[type[BaseModel]] = set()
    left = [model for file in FILES for model in file.models.values()]
    while left:
        if (model := left.pop()) not in classes:
            classes.add(model)
            left += [below for field in model.model_fields.values() for below in _models_in(field.annotation)]
    return classes


def file_path(model: type[BaseModel], field: str) -> str:
    """The title of the section about a field: its name, with its model's where that is not the file itself."""
    whole = {model for file in FILES for model in file.models.values()}
    return f"`{field}`" if model in whole else f"`{field}` of {_words(model)}"


def type_name(annotation: Any) -> str:
    """A type in words: `text`, `list of text`, `number or null`."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_name(parts[0])
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(type_name(part) for part in parts))
    if origin in (tuple, list):
        return f"list of {type_name(parts[0])}"
    if origin is dict:
        return f"mapping of {type_name(parts[0])} to {type_name(parts[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _words(annotation)
    return _NAMES.get(annotation, "any value" if annotation is Any else "text")


def _words(model: type[BaseModel]) -> str:
    """The name of a model as words: `JudgeSettings` is `judge settings`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in model.__name__).strip()


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, BaseModel) or (
        isinstance(value, tuple) and any(isinstance(each, BaseModel) for each in value)
    ):
        return ""
    if isinstance(value, timedelta):
        return f"`{value.total_seconds():g}s`"
    shown = orjson.dumps(value, default=str).decode()
    return f"`{shown}`" if shown not in _EMPTY and len(shown) <= _LONGEST_DEFAULT else ""


if __name__ == "__main__":
    click.echo(page(FILES), nl=False)
