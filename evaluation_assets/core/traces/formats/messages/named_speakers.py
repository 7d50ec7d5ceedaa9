"""Messages that name who speaks instead of a role, as logs of several agents have them.

{"speaker": "Planner", "content": "I ask the searcher."}
"""

import re
from collections.abc import Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.chat import GUESSED, ROLES, meaning_of, role_of
from evaluation_assets.core.traces.formats.messages.contents import TEXTS
from evaluation_assets.core.traces.formats.untyped import first_text, in_both_cases
from evaluation_assets.core.traces.trajectories.model import JsonObject

_AGENTS = ("agent", "agent_name", "agentName", "role_name")
SPEAKERS = ("speaker", *_AGENTS)
_SENDERS = ("sender", "sender_name", "from")
"""As letters have them too, which may be part of what agents work on, and have a body."""
_AUTHORS = ("author", "sender", "from")
"""Objects that say of which kind the one who speaks is."""
_DIRECTIONS = {"inbound": "user", "incoming": "user", "outbound": "assistant", "outgoing": "assistant"}
_OF_BOTS = in_both_cases("is_bot", "from_bot", "is_agent", "from_agent")
_OF_USERS = in_both_cases("is_user", "from_user", "is_customer", "from_customer")
_USERS = re.compile(
    r"(?:human|user|customer)[ _-]?(?:\d+|evaluator|annotator|participant|simulator|tester)", re.IGNORECASE
)
_OTHERS = ("role", "Role", "_role", "type", "event", "kind", "value", "level", "levelname", "severity", "logger")
"""Fields of messages with roles, of events, of messages in the ShareGPT form, and of lines that programs log."""


def speaker_of(message: JsonObject) -> str | None:
    """Who says a message; `None` for what is no such message."""
    if any(key in message for key in _OTHERS) or first_text(message, *TEXTS) is None:
        return None
    sure = first_text(message, *SPEAKERS) or _side_of(message)
    return sure or (None if "body" in message else first_text(message, *_SENDERS))


def _side_of(message: JsonObject) -> str | None:
    """Who says a message by the kind of its author, by its direction, or by a flag."""
    kinds = (first_text(message.get(name), "type", "role", "kind") for name in _AUTHORS)
    side = next(filter(None, kinds), None) or _DIRECTIONS.get((first_text(message, "direction") or "").lower())
    flags = {
        message[name] is (name in _OF_BOTS) for name in (*_OF_BOTS, *_OF_USERS) if isinstance(message.get(name), bool)
    }
    return side or ({True: "assistant", False: "user"}[flags.pop()] if len(flags) == 1 else None)


def may_be_letter(message: JsonObject) -> bool:
    """Whether a message names its speaker as a letter does its sender."""
    return speaker_of(message) is not None and first_text(message, *SPEAKERS) is None


def have_agent(messages: Sequence[Any]) -> bool:
    """Whether these are messages, and one is of an agent: by its role, by its speaker, or of those to a user."""
    if not all(isinstance(message, dict) for message in messages):
        return False
    speakers = {meaning_of(speaker_of(message) or "") for message in messages}
    return any(map(_is_said, messages)) or ("" not in speakers and {"user"} < speakers)


def _is_said(message: JsonObject) -> bool:
    """Whether a message is one of an agent; Pydantic AI calls it a response, dumps of LangChain have it inside."""
    if speaker_of(message) is not None:
        return not may_be_letter(message)
    return role_of(message) == "assistant" or message.get("kind") == "response" or "lc" in message


def are_strangers(messages: Sequence[Any]) -> bool:
    """Whether all messages name speakers, at least two, of whom none is known to be an agent or its user."""
    names = [None if not isinstance(one, dict) or first_text(one, *_AGENTS) else speaker_of(one) for one in messages]
    return len(set(names)) > 1 and all(name is not None and meaning_of(name) not in ROLES.values() for name in names)


def are_user_and_system(messages: Sequence[Any]) -> bool:
    """Whether a user talks with a system, as dialogue data sets call the agent."""
    names = [(speaker_of(one) or "").lower() if isinstance(one, dict) else "" for one in messages]
    return set(names) == {"user", "system"} and "system" in names[names.index("user") :]


def with_role(message: JsonObject, *, is_guessed: bool = False) -> JsonObject:
    """A message with the role that its speaker is, or else with that of an agent of this name."""
    speaker = speaker_of(message) or ""
    role = "user" if _USERS.fullmatch(speaker) else meaning_of(speaker)
    known = {"role": role} if role in ROLES.values() else {"role": "assistant", "name": speaker}
    known |= {GUESSED: True} if is_guessed else {}
    return {**{key: value for key, value in message.items() if key not in (*SPEAKERS, *_SENDERS)}, **known}
