"""Calls and their results among the items of OpenAI's Responses: those that the client executes, and hosted ones."""

from typing import Any

from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.messages.call_arguments import given_to
from evaluation_assets.core.traces.formats.messages.chat import first_line, stated_error
from evaluation_assets.core.traces.formats.messages.contents import are_data
from evaluation_assets.core.traces.formats.transcript import Call, Result, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, objects_in

CALLS = ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call")
"""Calls that the client executes; their output is a separate item."""

HOSTED = {
    "mcp_call": "name", "web_search_call": "web_search", "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter", "image_generation_call": "image_generation",
}  # fmt: skip
"""Hosted tool calls: the item includes the result, if it is reported."""

_SOURCES = "sources"
"""Field of a web search with the pages that it found."""

_OF_FUNCTIONS = ("function_call_output", "custom_tool_call_output")
"""Outputs that may be any value."""

SELDOM = ("tool_search_call", "program")
"""Calls, too; their names are too common to tell the format."""


def call_of(item: Fields, kind: str) -> Call:
    """A call that the client executes."""
    given, acted = given_to(item), item.value("action", "operation", "actions")
    item.set_aside("pending_safety_checks", "caller", "environment", "execution", "fingerprint")
    return Call(
        name=item.text("name") or kind.removesuffix("_call"),
        arguments={"code": item.value("code")} if kind == "program" else acted if given is None else given,
        id=item.name("call_id", "id"),
        server=item.text("namespace"),
    )


def result_of(item: Fields, kind: str) -> Result:
    """The client's output of a call: a text, text parts, or shell output; the tools that a search found."""
    pieces: list[str] = [as_text(item.value("tools"))] if kind == "tool_search_output" else []
    error: str | None = None
    is_data = kind in _OF_FUNCTIONS and are_data(item.peek("output"))
    for part in [as_text(item.value("output"))] if is_data else item.parts("output", "result"):
        if isinstance(part, str):
            pieces.append(part)
            continue
        outcome = part.object("outcome")
        code = outcome.whole("exit_code")
        kind = part.text("type") or ""
        if kind in ("computer_screenshot", "input_image"):
            pieces.append(image_text(part))
            continue
        pieces += [text for key in ("text", "stdout", "stderr") if (text := part.text(key))]
        if code or outcome.text("type") == "timeout":
            error = f"exit code {code}" if code else "timeout"
            pieces.append(f"[{error}]")
    content = "\n".join(pieces)
    item.set_aside("acknowledged_safety_checks", "max_output_length", "name", "caller", "execution")
    names_call = ("call_id", "id") if kind == "local_shell_call_output" else ("call_id",)
    return Result(content=content, call_id=item.name(*names_call), error=error or stated_error(item, content))


def hosted_call(item: Fields, kind: str) -> Call:
    """A call that the provider executed."""
    item.set_aside("container_id", "approval_request_id", "background", "output_format", "quality", "size")
    arguments = item.value("arguments", "action", "revised_prompt")
    named = {key: value for key in ("queries", "code") if (value := item.value(key)) is not None}
    if isinstance(arguments, dict):
        arguments = {key: value for key, value in arguments.items() if key != _SOURCES}
    return Call(
        name=(item.text("name") or "mcp") if kind == "mcp_call" else HOSTED[kind],
        arguments=named or arguments,
        id=item.name("id"),
        server=item.text("server_label"),
    )


def hosted_result(item: Fields, kind: str) -> Result | None:
    """The output of a hosted tool; `None` if the item does not include it."""
    failure, status = item.value("error"), item.text("status")
    failed = failure is not None or status in ("failed", "incomplete")
    if kind == "image_generation_call":
        content = image_text(item) if "result" in item else ""
    elif kind == "web_search_call":
        pages = objects_in(at(item.value("action"), _SOURCES))
        content = "\n".join(url for page in pages if (url := first_text(page, "url", "name")) is not None)
    else:
        pieces = [
            part if isinstance(part, str) else _piece(part) for part in item.parts("output", "outputs", "results")
        ]
        content = "\n".join(piece for piece in pieces if piece)
    if not content and not failed:
        return None
    told = content or _told(failure)
    error = first_line(_told(failure) or told or status or "") if failed else None
    return Result(content=told, call_id=item.name("id"), error=error)


def _told(failure: Any) -> str:
    """What an error says: a text, its message, or the parts that a tool of MCP gave back."""
    content = at(failure, "content")
    texts = [text for part in objects_in(content) if (text := first_text(part, "text")) is not None]
    return "\n".join(texts) or first_text(failure, "message") or as_text(content or failure)


def _piece(part: Fields) -> str:
    """Format a code log or a file search result."""
    if part.text("type") == "image":
        return image_text(part)
    part.set_aside("attributes", "file_id", "vector_store_id")
    score = part.number("score")
    named = [part.text("filename"), None if score is None else f"score {score}"]
    head = ", ".join(piece for piece in named if piece)
    return "\n".join(piece for piece in (head, part.text("logs", "text")) if piece)
