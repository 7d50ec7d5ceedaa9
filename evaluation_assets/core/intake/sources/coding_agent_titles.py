"""The coding agents whose sessions can be evaluated. Importing it is cheap."""

CODING_AGENT_TITLES = {
    "claude_code": "Claude Code",
    "codex": "Codex",
    "gemini_cli": "Gemini CLI",
    "qwen_code": "Qwen Code",
    "opencode": "opencode",
    "goose": "Goose",
    "cline": "Cline",
}
"""By the name of the agent's drop, its source and, with hyphens, what `--sessions` takes."""
