"""The page `docs/api.md`: `python -m evaluation_assets_tests.generated_pages.python_api > docs/api.md`."""

import inspect
from collections.abc import Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

from docstring_parser import Docstring, DocstringStyle, parse

import evaluation_assets
from evaluation_assets import judging
from evaluation_assets.component import EvaluationComponent
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.text.field_meanings import prose
from evaluation_assets.core.traces.trajectories.model import Trajectory

_INTRODUCTION = """\
# Python API

<!-- Written by `make docs` from the docstrings of evaluation_assets. Change the text there. -->

[Evaluate from Python](python.md) shows how these are used.
"""

_MODULES = {
    "evaluation_assets": (
        evaluation_assets,
        ("evaluate", "load_home", "read", "compare", "Result", "StoredResult", "Home", "Comparison", "TaskChange"),
    ),
    "evaluation_assets.judging": (judging, ("judge", "Subject", "Call", "SaidMessage", "Score")),
}
"""The names of each module that people begin with; all others follow by the alphabet."""

_ALIASES = {"Checked", "SubjectView"}
"""Names for types that are described under another name."""

_WITHOUT_MEMBERS = (EvaluationComponent, Panel, Trajectory)
"""Data models."""

_PANEL = f"{prose(Panel)} [Configuration](configuration.md#panelyaml) has its fields.\n"


def page() -> str:
    """The documentation of the public names, as Markdown."""
    return "\n".join([_INTRODUCTION, *(line for name in _MODULES for line in _of_module(name))])


def _of_module(name: str) -> Iterator[str]:
    module, first = _MODULES[name]
    yield f"## {name}\n"
    for each in (*first, *sorted(set(_names(module)) - set(first) - _ALIASES)):
        yield from _of_name(each, getattr(module, each))


def _names(module: ModuleType) -> list[str]:
    return list(module.__all__)


def _of_name(name: str, described: Any) -> Iterator[str]:
    if inspect.isclass(described):
        yield f"### class {name}\n"
        yield from _text(described) if described is not Panel else [_PANEL]
        if not issubclass(described, _WITHOUT_MEMBERS):
            yield from _members(name, described)
    else:
        yield f"### {name}\n"
        yield from _signature(name, described)
        yield from _text(described)


def _members(owner: str, described: type) -> Iterator[str]:
    """Properties and methods of a class; those it inherits are described with the class that has them."""
    public = [base.__name__ for base in described.__bases__ if base.__name__ in evaluation_assets.__all__]
    if public and not issubclass(described, Exception):
        yield f"It has the members of `{public[0]}`, too.\n"
    for name, member in vars(described).items():
        if name.startswith("_") or not getattr(member, "__doc__", None):
            continue
        if isinstance(member, property | cached_property):
            yield f"`{owner}.{name}`\n"
            yield from _text(member)
        elif inspect.isfunction(member):
            yield from _signature(f"{owner}.{name}", member)
            yield from _text(member)


def _signature(name: str, function: Any) -> Iterator[str]:
    parameters = [each for each in inspect.signature(function).parameters.values() if each.name not in ("self", "cls")]
    shown = [_parameter(each) for each in parameters]
    keyword = next((at for at, each in enumerate(parameters) if each.kind == inspect.Parameter.KEYWORD_ONLY), None)
    if keyword is not None and not any(each.kind == inspect.Parameter.VAR_POSITIONAL for each in parameters):
        shown.insert(keyword, "*")
    yield f"`{name}({', '.join(shown)})`\n"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    has_default = parameter.default is not inspect.Parameter.empty
    return f"{stars}{parameter.name}" + (f"={parameter.default!r}" if has_default else "")


def _text(described: Any) -> Iterator[str]:
    """A docstring as Markdown."""
    text: Docstring = parse(inspect.getdoc(described) or "", DocstringStyle.GOOGLE)
    yield from (f"{part}\n" for part in (text.short_description, text.long_description) if part)
    if text.params:
        yield "".join(f"- `{each.arg_name}`: {_one_line(each.description)}\n" for each in text.params)
    if text.returns is not None:
        yield f"Returns: {_one_line(text.returns.description)}\n"
    if text.raises:
        yield "".join(f"- Raises `{each.type_name}`: {_one_line(each.description)}\n" for each in text.raises)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


if __name__ == "__main__":
    print(page(), end="")
