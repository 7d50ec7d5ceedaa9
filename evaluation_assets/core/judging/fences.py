"""Fence trajectory text with markers that its author cannot guess."""

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Callable

from evaluation_assets.core.plain_text import visible

_LOOK_ALIKE = re.compile(r"<(?=[\s/]*(?:untrusted|piece|evaluation)\b)", re.IGNORECASE)
_CONTROL_TOKEN = re.compile(r"<(?=\|)|\[(?=/?INST\])|<(?=/?(?:start|end)_of_turn>)")

Show = Callable[[str], str]
"""How untrusted text is shown: neutral, and without what must not leave for the provider."""


def fence_of(secret: str, trajectory_text: str) -> str:
    """The marker of a trajectory: the same along its chain and in every process that shares the secret."""
    digest = hmac.new(secret.encode(), hashlib.sha256(trajectory_text.encode("utf-8", "replace")).digest(), "sha256")
    return f"untrusted-{digest.hexdigest()[:20]}"


def neutral(text: str) -> str:
    """Untrusted text that can neither look like our markers nor steer a chat template; it reads the same."""
    text = visible(text)
    if not text.isascii() and "\uff1c" in text:
        text = text.replace("\uff1c", unicodedata.normalize("NFKC", "\uff1c"))
    return _CONTROL_TOKEN.sub(lambda found: found.group() + "\u2060", _LOOK_ALIKE.sub("&lt;", text))


def fenced(text: str, fence: str) -> str:
    """Text that is neutral already, between the markers."""
    return f"<{fence}>\n{text}\n</{fence}>"
