"""Files that an agent reads again although nothing changed them in between."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class ReadLog:
    """What was read since it last changed, by agent: sub-agents do not see what others read."""

    repeated: Counter[str] = field(default_factory=Counter)
    _seen: set[tuple[str, str, str]] = field(default_factory=set)

    def read(self, agent: str, path: str, part: str) -> None:
        """Add a read of a part of a file."""
        key = (agent, path, part)
        if key in self._seen:
            self.repeated[path] += 1
        self._seen.add(key)

    def changed(self, paths: Iterable[str]) -> None:
        """Note that files changed."""
        changed = set(paths)
        self._seen = {key for key in self._seen if key[1] not in changed}

    def changed_any(self) -> None:
        """Note that any file may have changed."""
        self._seen.clear()
