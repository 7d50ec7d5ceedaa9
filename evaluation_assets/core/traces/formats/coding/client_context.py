"""Messages that the client of a coding agent puts into the user's place: where it runs, instructions of the project."""

import re
from typing import Any

from evaluation_assets.core.traces.formats.untyped import listed

_CODEX = (
    r"# AGENTS\.md instructions|<(?:environment_context|user_instructions|INSTRUCTIONS|skill|user_shell_command|"
    r"turn_aborted|subagent_notification|hook_prompt|codex_internal_context|goal_context|permissions instructions|"
    r"collaboration_mode|realtime_conversation|personality_spec|recommended_plugins)\b|"
    r"Warning: (?:apply_patch was requested via|The maximum number of unified exec processes|Your account was flagged)"
)
_GEMINI = r"<(?:session_context|state_snapshot)>|This is the Gemini CLI\. We are setting up the context for our chat\."
_CONTEXT = re.compile(rf"\s*(?:{_CODEX}|{_GEMINI})")
_EXIT = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Original token count|Total output lines|Warning)[^\n]*\n|Output:\n)*"
    r"(?:Process exited with code|Exit code:) (-?\d+)"
)

CLINE_RESULT = re.compile(r"\[(\w+)(?: for .*?| to .*?)?\] Result:[ \t]*\n?", re.DOTALL)
"""The header that Cline puts before the result of a call, e.g. `[read_file for 'a.py'] Result:`."""


def is_client_context(text: str) -> bool:
    """Whether a user message was written by the client of Codex or Gemini CLI."""
    return _CONTEXT.match(text) is not None


def is_thanks_for_context(text: str) -> bool:
    """Whether an answer is the one that Gemini CLI puts after its context."""
    return text.startswith("Got it. Thanks for the ")


def exit_code_of(output: str) -> int | None:
    """The exit code in the header that Codex puts before the output of a command."""
    match = _EXIT.match(output)
    return None if match is None else int(match[1])


def is_of_cline(message: Any) -> bool:
    """Whether Cline wrote a user message: with the state of the editor, or with the result of a call as text."""
    if not isinstance(message, dict) or message.get("role") != "user":
        return False
    content = message.get("content")
    texts = (part.get("text") if isinstance(part, dict) else part for part in listed(content))
    return any(isinstance(text, str) and _is_clines(text) for text in texts)


def _is_clines(text: str) -> bool:
    return "<environment_details>" in text or CLINE_RESULT.match(text) is not None
