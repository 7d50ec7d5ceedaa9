"""Parts of Gemini messages, as Gemini CLI and Qwen Code store them: texts, thoughts, calls and their results."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.coding.session import Parts
from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.transcript import Call, Result, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import listed
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.model import Usage

_EXIT = re.compile(r"^Exit Code: (-?\d+)\s*$", re.MULTILINE)
_SHELL = ("run_shell_command", "shell")


def parts_of(items: Sequence[str | Fields]) -> Parts:
    """Sort the parts of a message; parts of an unknown kind are noted."""
    sorted_parts = Parts()
    for part in items:
        if isinstance(part, str):
            sorted_parts.texts.append(part)
            continue
        part.set_aside("thoughtSignature", "videoMetadata")
        if part.is_object("functionCall"):
            call = part.object("functionCall")
            sorted_parts.calls.append(
                Call(name=call.text("name") or "tool", id=call.name("id"), arguments=call.value("args"))
            )
        elif part.is_object("functionResponse"):
            sorted_parts.results.append(result_of(part.object("functionResponse")))
        elif (text := part.text("text")) is not None:
            (sorted_parts.thoughts if part.flag("thought") else sorted_parts.texts).append(text)
        elif (media := next((key for key in ("inlineData", "fileData") if key in part), None)) is not None:
            inner = part.object(media)
            kind = inner.text("mimeType") or media
            sorted_parts.texts.append(image_text(inner) if kind.startswith("image/") else f"[{kind}]")
            inner.rest()
        elif "text" not in part and "thoughtSignature" not in part:
            part.ignore_unknown()
        part.set_aside("thought")
    return sorted_parts


def result_of(response: Fields) -> Result:
    """A function response: its output or error, and the exit code that the shell tool reports in its output."""
    name, call_id, body = response.text("name") or "", response.name("id"), response.object("response")
    response.set_aside("parts", "willContinue", "scheduling")
    problem, output = body.value("error"), body.value("output")
    rest = body.rest()
    content = as_text(problem if output is None else output) or as_text(rest or None)
    error = None if problem is None else one_line(as_text(problem)) or "error"
    code = _exit_code(content) if name in _SHELL and error is None else None
    if code is not None and code != 0:
        error = f"exit code {code}"
    return Result(content=content, call_id=call_id, error=error, succeeded=error is None and code == 0)


def _exit_code(content: str) -> int | None:
    codes = list(_EXIT.finditer(content))
    return int(codes[-1][1]) if codes else None


def usage_in(counts: Fields, names: tuple[str, str, str, str, str]) -> Usage | None:
    """Token counts named `names`: input, output, thoughts, cached, total.

    The output has the thoughts of Gemini models on top; the counts of OpenAI models include them.
    """
    inputs, outputs, thoughts, cached, total = (counts.whole(name) for name in names)
    if outputs is not None and thoughts and total == (inputs or 0) + outputs + thoughts:
        outputs += thoughts
    counts.rest()
    return usage(inputs, outputs, cached_tokens=cached)


def texts_in(value: Any) -> Iterator[str]:
    """The texts of parts that are not read field by field."""
    for part in listed(value):
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(text := part.get("text"), str):
            yield text
