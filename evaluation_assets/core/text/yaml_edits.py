"""Set a value in a YAML file that people write: comments and order of everything else stay."""

import json
from collections.abc import Sequence
from typing import Any

import yaml

from evaluation_assets.core.text.unique_keys import SettingsDumper, SettingsLoader, settings_of
from evaluation_assets.core.text.user_error import UserError


class CannotEdit(UserError, ValueError):
    """The text is written in a way that cannot be edited in place."""


class _Readable(SettingsDumper):
    """Writes texts of several lines as blocks, and lists of numbers in one line."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


def _list(dumper: yaml.SafeDumper, value: Sequence[Any]) -> yaml.Node:
    numbers = all(isinstance(each, int | float) for each in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=numbers)


_Readable.add_representer(str, _text)
_Readable.add_representer(list, _list)


def with_value(text: str, place: Sequence[str | int], value: Any) -> str:
    """The YAML text with `value` at `place`, whose last part is a key and the others are there.

    Raises:
        CannotEdit: it would not read as meant, for instance because of aliases.
    """
    expected = settings_of(text)
    holder, key = expected, str(place[-1])
    node: Any = yaml.compose(text, SettingsLoader)
    for part in place[:-1]:
        holder = holder[part]
        node = node.value[part] if isinstance(part, int) else dict(_pairs(node))[part]
    holder[key] = value
    edited = _edited(text, node, key, value)
    try:
        read = settings_of(edited)
    except yaml.YAMLError as problem:
        raise CannotEdit(str(problem)) from problem
    if read != expected:
        raise CannotEdit(f"{key} cannot be set in place")
    return edited


def _edited(text: str, mapping: yaml.MappingNode, key: str, value: Any) -> str:
    own = next((pair for pair in mapping.value if pair[0].value == key), None)
    if mapping.flow_style:
        said = f"{key}: {json.dumps(value)}"
        if own is not None:
            return text[: own[0].start_mark.index] + said + text[own[1].end_mark.index :]
        end = _end(text, mapping.value[-1][1])
        return f"{text[:end]}, {said}{text[end:]}"
    indent = " " * mapping.start_mark.column
    dumped = yaml.dump({key: value}, Dumper=_Readable, sort_keys=False, allow_unicode=True, width=110)
    said = "\n".join(f"{indent}{line}" if line else line for line in dumped.rstrip("\n").split("\n"))
    if own is not None:
        return text[: own[0].start_mark.index] + said.lstrip() + text[_end(text, own[1]) :]
    end = text.find("\n", _end(text, mapping.value[-1][1]))
    end = len(text) if end < 0 else end  # behind a comment in the line
    return f"{text[:end]}\n{said}{text[end:]}"


def _pairs(node: yaml.MappingNode) -> list[tuple[str, yaml.Node]]:
    return [(key.value, value) for key, value in node.value]


def _end(text: str, node: yaml.Node) -> int:
    """Where a node ends. PyYAML ends blocks at what follows them, behind comments."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(text, last[1] if isinstance(last, tuple) else last)
    return len(text[: node.end_mark.index].rstrip())
