"""YAML that loses nothing."""

import re
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.scanner import ScannerError

_MOST_REPEATED = 100_000
"""Values that aliases may stand for in one file; with aliases of aliases, a few lines stand for gigabytes."""


_CONFLICT = re.compile(r"^<{7} .*?^={7}$.*?^>{7} ", re.MULTILINE | re.DOTALL)
"""What git leaves in a file; PyYAML says `mapping values are not allowed here` of one, and takes others for text."""


_WHOLE = r"(?:0|[1-9][0-9]*)"
_INTEGER = re.compile(rf"[-+]?{_WHOLE}\Z")
_FRACTION = rf"[-+]?(?:{_WHOLE}\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?"
_FLOAT = re.compile(rf"(?:{_FRACTION}|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
_EXPONENT = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+\Z")
_INT, _REAL = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"


class UniqueKeyLoader(yaml.SafeLoader):
    """Refuses a key that stands twice in a mapping, since one of its values would be lost, and endless aliases.

    Numbers are decimal. To PyYAML, as to YAML 1.1, the time 12:30 is 750 and the postcode 01234 is 668: they are texts.
    """

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        if isinstance(stream, str) and (conflict := _CONFLICT.search(stream)) is not None:
            line = stream.count("\n", 0, conflict.start())
            place = yaml.Mark("", conflict.start(), line, 0, None, 0)
            raise ScannerError(None, None, "a merge conflict of git is not resolved", place)
        self._values = 0
        self._repeated = 0
        self._begun: dict[str, int] = {}
        self._sizes: dict[str, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next value, counted with what its aliases stand for."""
        event = self.peek_event()
        anchor = event.anchor
        if self.check_event(yaml.AliasEvent):
            if anchor in self._begun:
                raise ComposerError(None, None, f"the alias {anchor!r} stands in its own value", event.start_mark)
            size = self._sizes.get(anchor, 0)
            self._repeated += size
            self._values += size
            if self._repeated > _MOST_REPEATED:
                said = f"aliases stand for more than {_MOST_REPEATED:,} values"
                raise ComposerError(None, None, said, event.start_mark)
            return super().compose_node(parent, index)
        if anchor is not None:
            self._begun[anchor] = self._values
        self._values += 1
        node = super().compose_node(parent, index)
        if anchor is not None:
            self._sizes[anchor] = self._values - self._begun.pop(anchor)
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """The mapping as it is written, before others are merged into it."""
        node = super().compose_mapping_node(anchor)
        known: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in known:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key.value!r} appears twice", key.start_mark
                    )
                known.add(key.value)
        return node


UniqueKeyLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_INT, _REAL)]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
UniqueKeyLoader.add_implicit_resolver(_INT, _INTEGER, list("-+0123456789"))
UniqueKeyLoader.add_implicit_resolver(_REAL, _FLOAT, list("-+.0123456789"))


class SettingsLoader(UniqueKeyLoader):
    """Reads `1e6` as a number, as YAML 1.2 does and PyYAML does not."""


class SettingsDumper(yaml.SafeDumper):
    """Quotes what `SettingsLoader` would take for a number, such as the ID 1e234567."""


for _settings in (SettingsLoader, SettingsDumper):
    _settings.add_implicit_resolver(_REAL, _EXPONENT, list("-+0123456789"))


def settings_of(text: str) -> Any:
    """The value in the text of a file of settings; `None` for an empty one.

    Raises:
        yaml.YAMLError: it is no YAML, or has a key twice.
    """
    return yaml.load(text, SettingsLoader)  # noqa: S506  (a SafeLoader)


def settings_text(value: Any) -> str:
    """A value as the text of a file of settings; `settings_of` it is the value."""
    return yaml.dump(value, Dumper=SettingsDumper, sort_keys=False, allow_unicode=True)
