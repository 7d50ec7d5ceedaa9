"""What was asked and answered after a history of messages, as programs log an exchange with what it was given.

{"chat_history": [{"role": "user", "content": "Is order 7 paid?"}, ...], "query": "And order 8?", "response": "No."}
"""

import re
from typing import Any

from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.function_elements import text_of
from evaluation_assets.core.traces.formats.untyped import first_text
from evaluation_assets.core.traces.trajectories.model import JsonObject

_HISTORY = re.compile(
    r"(?:chat|conversation|message|dialog(?:ue)?)?_?history|(?:previous|prior|past|earlier)_?(?:messages|turns)",
    re.IGNORECASE,
)
_ASKED = (
    "user_query", "userQuery", "user_message", "userMessage", "user_input", "userInput", "query", "question",
    "message", "current_message", "input", "prompt", "user_prompt", "utterance",
)  # fmt: skip
_ANSWERED = (
    "response", "assistant_response", "agent_response", "bot_response", "model_response", "final_response", "reply",
    "answer", "final_answer", "output", "assistant_message",
)  # fmt: skip


def is_history(name: str) -> bool:
    """Whether a list of this name may be what was said before."""
    return _HISTORY.fullmatch(name) is not None


def next_turn(messages: list[Any], beside: JsonObject) -> tuple[list[JsonObject], tuple[str, ...]]:
    """The messages of the turn that stands beside a history, and the fields that have it; none if it is in there."""
    asked, answered = (next((key for key in keys if first_text(beside, key)), None) for keys in (_ASKED, _ANSWERED))
    if asked is None or answered is None or not messages or role_of(messages[-1]) != "assistant":
        return [], ()
    question, answer = (str(beside[key]).strip() for key in (asked, answered))
    said = [text.strip() for message in messages if (text := text_of(message))]
    if any(question in text or answer in text or (len(text) > len(answer) / 2 and text in answer) for text in said):
        return [], ()
    turn = [{"role": "user", "content": beside[asked]}, {"role": "assistant", "content": beside[answered]}]
    return turn, (asked, answered)
