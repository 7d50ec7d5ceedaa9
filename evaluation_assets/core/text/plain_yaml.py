"""Load untrusted YAML: plain values only, bounded in time and memory."""

from typing import Any

import yaml
from upath import UPath
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from evaluation_assets.core.text.unique_keys import UniqueKeyLoader
from evaluation_assets.core.text.well_formed import well_formed_json

_LARGEST = 64 << 10
"""Bytes. What people say about a file takes hundreds."""

_DEEPEST = 20
_LARGEST_INTEGER = 1 << 63


class InvalidYaml(ValueError):
    """A text that is no plain YAML; the message says what is wrong with it."""


def load_plain(path: UPath) -> Any:
    """The value in a YAML file; `None` for an empty one.

    Raises:
        InvalidYaml: it is too large or too deep, has aliases, is not UTF-8, or is no YAML.
    """
    with path.open("rb") as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise InvalidYaml(f"larger than {_LARGEST >> 10} kB")
    try:
        value = yaml.load(content.decode("utf-8-sig"), _PlainLoader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise InvalidYaml(" ".join(str(problem).split())) from problem
    except Exception as problem:  # 2024-99-99, `!!int ""`: PyYAML raises whatever a value ends in
        raise InvalidYaml(f"a value cannot be read: {type(problem).__name__}: {str(problem)[:200]}") from problem
    return well_formed_json(value)


class _PlainLoader(UniqueKeyLoader):
    """Refuses keys that stand twice, deep nesting, integers that no table holds, and aliases.

    With aliases, a few lines expand to gigabytes.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next value."""
        if self.check_event(yaml.AliasEvent):
            raise ComposerError(None, None, "aliases are not supported", self.peek_event().start_mark)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ComposerError(
                None, None, f"values are nested more than {_DEEPEST} levels deep", self.peek_event().start_mark
            )
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def plain_integer(self, node: yaml.ScalarNode) -> int:
        """A whole number of 64 bits."""
        number = self.construct_yaml_int(node)
        if not -_LARGEST_INTEGER <= number < _LARGEST_INTEGER:
            raise ConstructorError(None, None, "an integer has more than 64 bits", node.start_mark)
        return number


_PlainLoader.add_constructor("tag:yaml.org,2002:int", _PlainLoader.plain_integer)
_PlainLoader.add_constructor("tag:yaml.org,2002:binary", yaml.SafeLoader.construct_undefined)
