"""Helpers shared by the writers: tool definitions, unique call ids, optional fields."""

from collections.abc import Iterable

from evaluation_assets.core.traces.formats.untyped import without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool


def functions(tools: Iterable[Tool]) -> list[JsonObject] | None:
    """Tools as OpenAI functions; `None` if there are none."""
    return [
        {
            "type": "function",
            "function": without_none(
                {"name": tool.name, "description": tool.description or None, "parameters": tool.parameters}
            ),
        }
        for tool in tools
    ] or None


class CallIds:
    """Makes call ids unique, since results are matched by them."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def unique(self, recorded: str | None) -> str:
        """The recorded id, numbered if missing or used before."""
        name, number = recorded or "call_1", 1
        while name in self._used:
            number += 1
            name = f"{recorded or 'call'}_{number}"
        self._used.add(name)
        return name
