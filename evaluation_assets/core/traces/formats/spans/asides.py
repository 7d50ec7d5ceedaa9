"""Model calls that a chat program makes beside the agent's work: titles and tags of a conversation, checks of it."""

import re

from evaluation_assets.core.traces.formats.spans.attributes import ModelCall

_OF_CONVERSATION = re.compile(
    r"\b(?:title|tags|emoji|headline|follow-?up (?:questions|prompts)|suggested replies)\b"
    r"[^.\n]{0,80}\b(?:conversations?|chats?|threads?|dialog(?:ue)?s?)\b"
    r"|\b(?:conversation|chat|thread) (?:title|tags|emoji)\b",
    re.IGNORECASE,
)
"""What is asked of such a call: "Write a short title for the conversation", "You output only a thread title"."""

_GUARD = re.compile(
    r"(?:^|[-_/. ])(?:\w*guard|(?:\w+-)?moderation|shieldgemma|content-?safety)(?:$|[-_/.: \d])", re.IGNORECASE
)
"""Names of models that say whether a text is allowed."""


def is_aside(call: ModelCall) -> bool:
    """Whether a model call is no step of the agent's work. It is given texts alone, and calls no tool."""
    if call.tools or any(message.calls for message in (*call.inputs, *call.outputs)):
        return False
    if call.model is not None and _GUARD.search(call.model):
        return True
    asked = next((message.text for message in call.inputs if message.text.strip()), "")
    return _OF_CONVERSATION.search(asked[:2000]) is not None
