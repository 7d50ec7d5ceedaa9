"""What the sensor remembers of each drop, in the key-value storage of the Dagster instance."""

from collections.abc import Iterable, Mapping, Sequence

import dagster as dg

from evaluation_assets.core.intake.triggers.new_drops import Seen, from_json, to_json
from evaluation_assets.core.system.chunks import chunks

_PREFIX = "evaluation_assets/drop/"

_CHUNK = 200
"""Keys in one statement: databases limit the parameters of a statement, SQLite the depth of an expression."""


class SeenDrops:
    """The memory of the sensor `new_drops`.

    Installations on the same instance have assets with different prefixes, and a memory each: both may have a drop of
    the same name.
    """

    def __init__(self, instance: dg.DagsterInstance, prefix: Sequence[str] = ()) -> None:
        self._storage = instance.daemon_cursor_storage
        self._prefix = _PREFIX + ("/".join(prefix) + "//" if prefix else "")  # no drop has an empty part in its name

    def read(self, drops: Iterable[str]) -> dict[str, Seen]:
        """What is known of these drops."""
        names = {self._prefix + drop for drop in drops}
        return {key.removeprefix(self._prefix): from_json(value) for key, value in self._values(names).items()}

    def write(self, seen: Mapping[str, Seen]) -> None:
        """Remember these drops. Dagster's storage updates keys or inserts them, but not both in one call."""
        values = {self._prefix + drop: to_json(now) for drop, now in seen.items()}
        known = self._values(values).keys()
        for part in (values.keys() & known, values.keys() - known):
            for names in chunks(sorted(part), _CHUNK):
                self._storage.set_cursor_values({name: values[name] for name in names})

    def _values(self, names: Iterable[str]) -> dict[str, str]:
        values: dict[str, str] = {}
        for some in chunks(sorted(names), _CHUNK):
            values |= self._storage.get_cursor_values(set(some))
        return values
