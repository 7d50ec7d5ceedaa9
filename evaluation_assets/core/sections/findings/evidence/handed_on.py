"""Messages that hand on what a tool returned: the text of a page, a record. They claim nothing.

Agents do so whose calls the source did not record. What such an agent says of its pages cannot be checked either.
"""

import re
from collections.abc import Set

_LEAST = 5
"""Links that nothing had before, and fields of records, in a message that hands on what a tool returned."""

_LINK = re.compile(r"https?://[^\s\"'<>)\]}]{1,200}|(?<=\]\()[/#][^\s)]{1,200}")
_FIELD = re.compile(r"[{,]\s*[\"'][\w:.-]{1,60}[\"']\s?:")


class HandedOn:
    """The links that a run has had so far, and the agents that hand on pages without a recorded call."""

    def __init__(self, calling: Set[str]) -> None:
        self._calling = calling
        self._links: set[str] = set()
        self._agents: set[str] = set()

    def add(self, text: str) -> None:
        """Read a text that is given."""
        self._links.update(_LINK.findall(text))

    def is_handed_on(self, agent_id: str, text: str) -> bool:
        """Whether a message hands on a page or a record, or its agent has done so and makes no recorded calls."""
        if agent_id in self._agents:
            return True
        new = set(_LINK.findall(text)) - self._links
        if len(new) + len(_FIELD.findall(text)) < _LEAST:
            return False
        if agent_id not in self._calling:
            self._agents.add(agent_id)
        return True
