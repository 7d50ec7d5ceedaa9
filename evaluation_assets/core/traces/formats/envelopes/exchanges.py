"""Turns that are a question with its answer, in the form of those that name the user and the agent.

{"turns": [{"query": "Is order 17 paid?", "response": "It is.", "tool_calls": [...]}]}
"""

from typing import Any

from evaluation_assets.core.traces.formats.envelopes.asked import asked_in
from evaluation_assets.core.traces.formats.messages.acts import TOOLS
from evaluation_assets.core.traces.formats.untyped import first_text, list_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

USER = ("user_message", "user_input", "user", "human")
AGENT = (
    "assistant_message", "assistant_response", "agent_response", "agent_message", "assistant", "agent", "bot", "ai",
)  # fmt: skip
"""Who spoke, as the name of what they said. Single words come last: they may name a person, or an agent."""
_LISTS = ("turns", "exchanges", "interactions", "conversation", "dialogue", "dialog")
_ASKED = ("user_query", "userQuery", "query", "question", "prompt", "request", "input")
_SAID = ("bot_response", "response", "answer", "reply", "completion", "output")


def with_exchanges(data: JsonObject) -> JsonObject:
    """A record whose turns name the user and the agent; any other record unchanged.

    Where the record states another task than that of the first turn, these are requests to a model.
    """
    name = next((name for name in _LISTS if list_in(data.get(name))), None)
    if name is None or not all(map(_is_exchange, data[name])):
        return data
    turns, asked = list(map(_named, data[name])), asked_in(data)
    return {**data, name: turns} if asked is None or asked[1] == turns[0]["user"] else data


def exchanged_in(item: JsonObject) -> tuple[str, str] | None:
    """The fields with what a user asked and with what was answered, which may be nothing; `None` if it lacks one."""
    asked = next((name for name in (*_ASKED, "message", *USER) if first_text(item, name)), None)
    said = next((name for name in (*_SAID, *AGENT) if isinstance(item.get(name, 0), str | None)), None)
    return None if asked is None or said is None else (asked, said)


def _is_exchange(item: Any) -> bool:
    """Whether an item is what was asked and answered, and no call of a tool."""
    is_plain = isinstance(item, dict) and "role" not in item and not any(name in item for name in TOOLS)
    return is_plain and all(first_text(item, *names) for names in (_ASKED, _SAID))


def _named(item: JsonObject) -> JsonObject:
    asked, said = (next(name for name in names if first_text(item, name)) for names in (_ASKED, _SAID))
    names = {asked: "user", said: "assistant"}
    return {names.get(key, key): value for key, value in item.items()}
