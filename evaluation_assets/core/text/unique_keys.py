"""YAML that loses nothing."""

from typing import Any

import yaml


class UniqueKeyLoader(yaml.SafeLoader):
    """Refuses a key that stands twice in a mapping, since one of its values would be lost."""

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
