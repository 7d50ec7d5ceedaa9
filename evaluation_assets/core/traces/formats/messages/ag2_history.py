"""Chat histories of AG2 and AutoGen 0.2, which have the shape of OpenAI messages and another meaning of roles.

A history is written from the view of one party: what it said has the role `assistant`, what others said the role
`user`, regardless of the model, so the names identify the speakers. The results of parallel calls are one message.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.chat import calls_of, result_of, said_of
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.speakers import is_user
from evaluation_assets.core.traces.formats.transcript import Asked, Event
from evaluation_assets.core.traces.formats.unmapped_fields import Fields

_SPOKEN = ("user", "assistant")
_PROXIES = ("user_proxy", "userproxy", "userproxyagent", "user_proxy_agent", "admin")


def is_ag2(messages: Sequence[Any]) -> bool:
    """Whether messages have a field that only AG2 writes, or the task was put by the party with the role of a model."""
    objects = [message for message in messages if isinstance(message, dict)]
    if any(isinstance(message.get("tool_responses"), list) for message in objects):
        return True
    spoken = [message for message in objects if message.get("role") in _SPOKEN]
    if not spoken or not all(isinstance(message.get("name"), str) for message in spoken):
        return False
    first = spoken[0]
    return first["role"] == "assistant" and any(
        message["role"] == "user" and message["name"] != first["name"] for message in spoken
    )


def ag2_events(messages: Sequence[Fields]) -> Iterator[Event]:
    """Events of a history. Who put the task is the user; another agent that does is the user only once."""
    spoken = [message for message in messages if message.text("role") in _SPOKEN]
    names = list(dict.fromkeys(name for message in spoken if (name := message.text("name"))))
    user = next((name for name in names if _is_user(name)), names[0] if names else "user")
    others = [name for name in names if name != user]
    silent = others[0] if len(others) == 1 else "agent"  # calls come without a name
    asked = False
    for message in messages:
        role, name = message.text("role"), message.text("name")
        if role == "tool":
            answers = message.objects("tool_responses")
            message.set_aside("name", *(("content",) if answers else ()))
            for answer in answers or [message]:
                answer.set_aside("role")
                yield result_of(answer)
        elif role in _SPOKEN:
            is_asking = name == user and (not asked or _is_user(user)) and not any(calls_of(message))
            if is_asking:
                asked = True
                text = content_of(message)
                if text.strip():
                    yield Asked(text=text)
            elif (said := said_of(message, name or silent)) is not None:
                yield said


def _is_user(name: str) -> bool:
    return is_user(name) or name.lower() in _PROXIES
