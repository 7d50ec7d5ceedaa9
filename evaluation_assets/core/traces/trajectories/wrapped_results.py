"""What a tool's result says inside of what frameworks and servers put around it.

MCP answers `{"content": [{"type": "text", "text": ...}], "isError": false}`, others `{"result": ...}`; where a log has
that as it is, the text of the result is JSON in JSON.
"""

import re
from typing import Any

import orjson

from evaluation_assets.core.traces.trajectories.model import JsonObject, Step, Trajectory, json_document

_AROUND = frozenset({"result", "output", "response", "content", "text"})
"""Names of the only field with something to say."""

_BESIDE = frozenset(
    {"isError", "is_error", "success", "ok", "type", "annotations", "meta", "_meta", "structuredContent"}
)
"""Fields beside it."""

_MAY_BE = re.compile(rf'\s*(?:\[\s*)?{{\s*"(?:{"|".join(sorted(_AROUND | _BESIDE))})"\s*:')
_LONGEST = 1_000_000


def text_inside(result: str) -> str | None:
    """The text, or the JSON of the object or list, that a result is put around; `None` if it is none."""
    if len(result) > _LONGEST or _MAY_BE.match(result) is None:
        return None
    inner = value_inside(json_document(result))
    return orjson.dumps(inner).decode() if isinstance(inner, dict | list) else inner


def said_by(trajectory: Trajectory, step: Step) -> str:
    """What the result of a step says, without what is put around it; empty without one."""
    written = trajectory.piece(None if step.result is None else step.result.content)
    return text_inside(written) or written


def value_inside(document: Any) -> str | JsonObject | list[Any] | None:
    """The text, object or list that JSON is put around; `None` if it is none."""
    inner = document
    if isinstance(document, dict):
        said = [value for name, value in document.items() if name not in _BESIDE]
        inner = said[0] if len(said) == 1 and not _AROUND.isdisjoint(document) else None
    texts = _of_blocks(inner)
    if texts is not None or inner is document:
        return texts
    return inner if isinstance(inner, str | dict | list) else None


def _of_blocks(value: Any) -> str | None:
    """The text of a list of blocks of text."""
    blocks = value if isinstance(value, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    is_text = texts and len(texts) == len(blocks) and all(isinstance(text, str) for text in texts)
    return "\n".join(map(str, texts)) if is_text else None
