"""The text that a request is charged for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation_assets_tests.model_server.anthropic_messages import read_anthropic
from evaluation_assets_tests.model_server.openai_chat import read_openai


def prompt_text(body: Mapping[str, Any]) -> str:
    """All text a request is charged for."""
    return (read_anthropic if "system" in body or "output_config" in body else read_openai)(body).text
