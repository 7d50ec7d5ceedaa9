"""What steps of ATIF documents say where an exporter has chat messages in the place of the message."""

from itertools import takewhile
from typing import Any

from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import first_text, listed


def plain_message(message: Any) -> tuple[Any, str | None, str | None]:
    """What a step says, its system prompt and its reasoning.

    Versions of NeMo Relay have chat messages in the place of the message: a whole request, of which only what the user
    said last is new, or an answer.
    """
    chats = [chat for chat in listed(message) if isinstance(chat, dict) and isinstance(chat.get("role"), str)]
    if not chats or len(chats) < len(listed(message)):
        return message, None, None
    if chats[-1]["role"] == "assistant":
        return chats[-1].get("content"), None, first_text(chats[-1], "reasoning_content", "reasoning")
    last = [*takewhile(lambda chat: chat["role"] == "user", reversed(chats))][::-1]
    said, told = (
        "\n\n".join(as_text(chat.get("content")) for chat in each)
        for each in (last, [chat for chat in chats if chat["role"] in ("system", "developer")])
    )
    return said, told, None
