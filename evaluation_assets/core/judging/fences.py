"""Fence trajectory text with markers that its author cannot guess."""

import hashlib
import hmac
import re
from collections.abc import Callable

from evaluation_assets.core.text.plain_text import visible

_LOOK_ALIKE = re.compile(r"<(?=[\s/]*(?:untrusted|piece|evaluation)\b)", re.IGNORECASE)
_CONTROL_TOKEN = re.compile(
    r"<(?=[|\uff5c]|[a-z_]{1,20}\|>|/?(?:s|bos|eos|sop|eop)>|<?/?SYS>>|/?(?:start|end)_of_\w{1,20}>|(?:BOS|EOS)_TOKEN>"
    r"|SPECIAL_\d|extra_id_\d|reserved_\d|seed:)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|MODEL_SETTINGS|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT))\]|gMASK\]"
    r"|\|(?:system|user|assistant|tool|endofturn)\||e~\[)|\](?=~!?b[\[\]])"
)
"""What begins a mark of today's chat templates: a role, a turn, the beginning or the end of a text. Marks of thoughts
and tool calls, such as `<think>`, stay: transcripts are full of them, and they end no turn."""

_LESS_THAN = "\uff1c\ufe64"  # other forms of it, which a tokenizer may take for it

Show = Callable[[str], str]
"""How untrusted text is shown: neutral, and without what must not leave for the provider."""


def fence_of(secret: str, trajectory_text: str) -> str:
    """The marker of a trajectory: the same along its chain and in every process that shares the secret."""
    digest = hmac.new(secret.encode(), hashlib.sha256(trajectory_text.encode("utf-8", "replace")).digest(), "sha256")
    return f"untrusted-{digest.hexdigest()[:20]}"


def neutral(text: str) -> str:
    """Untrusted text that can neither look like our markers nor steer a chat template; it reads the same."""
    text = visible(text)
    for sign in _LESS_THAN:
        text = text.replace(sign, "<")
    return _CONTROL_TOKEN.sub(lambda found: found.group() + "\u2060", _LOOK_ALIKE.sub("&lt;", text))


def fenced(text: str, fence: str) -> str:
    """Text that is neutral already, between the markers."""
    return f"<{fence}>\n{text}\n</{fence}>"
