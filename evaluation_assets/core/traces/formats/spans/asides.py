"""Model calls that a program makes beside the agent's work: titles, tags and summaries of a conversation, checks."""

import re

from evaluation_assets.core.traces.formats.spans.attributes import ModelCall

_SAID = r"(?:conversations?|chats?|threads?|dialog(?:ue)?s?|chat history|messages) ?"
_ASK = r"\b(?:generat|creat|writ|suggest|provid|giv|propos|produc|output|return|extract|identif)\w*\b[^.\n]{0,60}"
_BESIDE = re.compile(
    rf"{_ASK}\b(?:title|emoji|headline|suggested replies|tags (?:that|for|of|categori[sz]ing))\b[^.\n]{{0,80}}\b{_SAID}"
    rf"|{_ASK}\b(?:conversation|chat|thread) (?:title|tags|emoji)\b|\btitle generator\b"
    rf"|{_ASK}\bfollow-?up (?:questions?|prompts?)\b[^.\n]{{0,60}}\b(?:users?|might|may|could|next|chat|conversation)\b"
    rf"|{_ASK}\b(?:facts|memories|preferences)\b[^.\n]{{0,40}}\b(?:remember|memory|about the user)\b"
    rf"|\bsummari[sz]e\b[^.\n]{{0,40}}\b{_SAID}(?:so far|above|history)\b",
    re.IGNORECASE,
)
"""What is asked of such a call: "Write a short title for the conversation", "You output only a thread title"."""

_GUARD = re.compile(
    r"(?:^|[-_/. ])(?:\w*guard|(?:\w+-)?moderation|shieldgemma|content-?safety)(?:$|[-_/.: \d])", re.IGNORECASE
)
"""Names of models that say whether a text is allowed."""

_BEGINNING = 200
"""Characters of a prompt in which it is asked. Agents are told at the end to suggest the next question, too."""


def is_aside(call: ModelCall) -> bool:
    """Whether a model call is no step of the agent's work. It is given texts alone, and calls no tool."""
    if call.tools or any(message.calls for message in (*call.inputs, *call.outputs)):
        return False
    if call.model is not None and _GUARD.search(call.model):
        return True
    asked = next((message.text for message in call.inputs if message.text.strip()), "")
    return _BESIDE.search(asked[:_BEGINNING]) is not None
