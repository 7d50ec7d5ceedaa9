"""Calls that the user, or a policy, did not permit: by the words that each agent puts in place of a result."""

import re

_DENIED = re.compile(
    r"The user doesn't want to (?:proceed|take this action)"  # Claude Code
    r"|requested permissions? to .{0,500}?(?:but you haven't granted it yet|but the user denied)"
    r"|Permission to use \S+ (?:with command .{0,500}? )?has been denied"
    r"|(?:exec command|patch|command) rejected by user|\Adeclined\Z"  # Codex
    r"|denied by policy|User did not allow tool call|\[Operation Cancelled\] Reason: User"  # Gemini CLI, Qwen Code
    r"|The user rejected permission to use this specific tool call"  # opencode
    r"|The user has declined to run this tool"  # Goose
    r"|The user denied this operation",  # Cline
    re.DOTALL,
)
_READ = 2000


def is_denied(result: str, error: str | None) -> bool:
    """Whether the result of a call says that it was not permitted; only failed calls are."""
    return error is not None and (_DENIED.search(error) or _DENIED.search(result[:_READ])) is not None
