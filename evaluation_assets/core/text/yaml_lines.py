"""The lines of values in YAML, and in JSON, which is YAML."""

from functools import cached_property
from typing import Any

import yaml

from evaluation_assets.core.text.unique_keys import UniqueKeyLoader


class Lines:
    """Finds the lines of values in a text; it is looked through again when the first line is asked for."""

    def __init__(self, text: str) -> None:
        self._text = text

    def at(self, *path: str | int) -> int | None:
        """The line of the value at a path of keys and positions, or of the last part of the path that is there."""
        node: Any = self._root
        line = None if node is None else node.start_mark.line + 1
        for step in path:
            if isinstance(node, yaml.MappingNode):
                pair = next(((key, value) for key, value in node.value if key.value == step), None)
                if pair is None:
                    break
                line, node = pair[0].start_mark.line + 1, pair[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line + 1
            else:
                break
        return line

    @cached_property
    def _root(self) -> yaml.Node | None:
        try:
            return yaml.compose(self._text.replace("\t", " "), UniqueKeyLoader)
        except yaml.YAMLError:
            return None
