"""Gemini contents: bare lists, requests with or without their responses, and chunks of streamed responses.

A content has a role and parts. Chunks of one response are one answer, and their usage is that of the last.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from evaluation_assets.core.traces.formats.coding.client_context import is_client_context, is_thanks_for_context
from evaluation_assets.core.traces.formats.messages.gemini_contents import (
    CODE_EXECUTION,
    Pairs,
    are_parts,
    merged,
    pieces_of,
    usage_of_gemini,
)
from evaluation_assets.core.traces.formats.messages.lists import MessageShape, first_text_of
from evaluation_assets.core.traces.formats.messages.pieces import agent_events, user_events
from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_of
from evaluation_assets.core.traces.formats.transcript import Event
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, listed, objects_in
from evaluation_assets.core.traces.trajectories.model import Tool, Usage

NAME = "gemini"
DESCRIPTION = "Gemini contents: lists, requests with or without responses, chunks of streamed responses"
DETECTION = "contents (or messages, history) with roles and parts such as functionCall, or responses with candidates"

_LISTS = ("contents", "messages", "history")
_ROLES = ("user", "model", "function", "tool")
_RESPONSES: tuple[tuple[str, ...], ...] = ((), ("response",))


def _is_response(data: Any) -> bool:
    return (
        isinstance(data, dict)
        and isinstance(data.get("candidates"), list)
        and not any(key in data for key in (*_LISTS, "request"))
    )


def _is_message(data: Any) -> bool:
    return _is_response(data) or (
        isinstance(data, dict) and data.get("role") in _ROLES and isinstance(data.get("parts"), list | str)
    )


def _is_typical(data: Any) -> bool:
    candidates = [at(candidate, "content") for candidate in objects_in(at(data, "candidates"))]
    is_plain = at(data, "role") == "model" and all(isinstance(part, str) for part in listed(data["parts"]))
    return is_plain or any(are_parts(content) for content in (data, at(data, "content"), *candidates))


def _continues(earlier: Any, later: Any) -> bool:
    """Whether two lines belong together: not those of two responses."""
    if not (_is_response(earlier) and _is_response(later)):
        return True
    before, after = (first_text(data, "responseId", "response_id") for data in (earlier, later))
    if before is not None or after is not None:
        return before == after
    stopped = (first_text(one, "finishReason", "finish_reason") for one in objects_in(earlier.get("candidates")))
    return not any(stopped)


def _events(messages: Sequence[Fields], usages: Mapping[int, Usage]) -> Iterator[Event]:
    pairs = Pairs()
    chunks: list[Fields] = []
    used: Usage | None = None
    for index, message in _without_context(messages):
        is_chunk = message.is_list("candidates")
        if chunks and not is_chunk:
            yield from _answer(chunks, used, pairs)
            chunks, used = [], None
        if is_chunk:
            chunks.append(_first_content(message))
            used = usage_of_gemini(message.object("usageMetadata", "usage_metadata")) or used
            message.set_aside("responseId", "response_id", "createTime", "create_time", "sdkHttpResponse", "parsed")
        elif message.is_object("content"):
            if not message.whole("index"):  # the others are alternatives
                yield from _answer([_content_of(message)], usages.get(index), pairs)
        elif message.text("role") == "model":
            yield from _answer([message], usages.get(index), pairs)
        else:
            message.set_aside("role")
            yield from user_events(merged(pieces_of(message, pairs)))
    if chunks:
        yield from _answer(chunks, used, pairs)


def _without_context(messages: Sequence[Fields]) -> Iterator[tuple[int, Fields]]:
    """The messages, numbered, without those that Gemini CLI puts before what the user says and its answers to them."""
    is_waiting = False
    for index, message in enumerate(messages):
        said = [first_text(part, "text") or "" for part in listed(message.peek("parts"))] or [""]
        is_answer = message.peek("role") == "model"
        is_context = is_waiting and is_thanks_for_context(said[0]) if is_answer else all(map(is_client_context, said))
        is_waiting = is_context and not is_answer
        if is_context:
            message.set_aside("role")
        else:
            yield index, message


def _first_content(response: Fields) -> Fields:
    candidates = response.objects("candidates")
    return _content_of(candidates[0]) if candidates else Fields({})


def _content_of(candidate: Fields) -> Fields:
    candidate.set_aside(
        "index", "finishReason", "finish_reason", "safetyRatings", "safety_ratings", "avgLogprobs", "avg_logprobs",
        "tokenCount", "token_count", "finishMessage",
    )  # fmt: skip
    return candidate.object("content")


def _answer(contents: Sequence[Fields], used: Usage | None, pairs: Pairs) -> Iterator[Event]:
    pairs.next_answer()
    for content in contents:
        content.set_aside("role")
    pieces = chain.from_iterable(pieces_of(content, pairs) for content in contents)
    return agent_events(merged(pieces), usage=used)


def _stopped(message: Fields) -> str | None:
    """Why the model stopped after a candidate, a response, or a chunk of one."""
    candidate = next(iter(message.objects("candidates")), message)
    return candidate.text("finishReason", "finish_reason")


def _system(request: Fields, _: Sequence[Fields]) -> str | None:
    settings = request.object("config")
    for holder, key in (
        (holder, key)
        for holder in (request, settings)
        for key in ("systemInstruction", "system_instruction")
        if key in holder
    ):
        if holder.is_object(key):
            inner = holder.object(key)
            inner.set_aside("role")
            return "\n".join(piece for piece in pieces_of(inner, Pairs()) if isinstance(piece, str)) or None
        return holder.text(key)
    return None


def _tools(request: Fields) -> tuple[Tool, ...] | None:
    listed = [*request.objects("tools"), *request.object("config").objects("tools")]
    tools = [tools_of(each, "functionDeclarations", "function_declarations") or () for each in listed]
    runs_code = any("codeExecution" in each or "code_execution" in each for each in listed)
    return (*chain.from_iterable(tools), *([Tool(name=CODE_EXECUTION)] if runs_code else [])) or None


def _model(fields: Fields, messages: Sequence[Fields]) -> str | None:
    return first_text_of((fields, fields.object("response"), *messages), "modelVersion", "model_version")


_SHAPE = MessageShape(
    name=NAME,
    is_message=_is_message,
    is_typical=_is_typical,
    events=_events,
    system=_system,
    tools=_tools,
    messages_at=(*((name,) for name in _LISTS), ("request", "contents")),
    answers_at=tuple((*path, "candidates") for path in _RESPONSES),
    usage_at=tuple((*path, name) for path in _RESPONSES for name in ("usageMetadata", "usage_metadata")),
    stopped=_stopped,
    model=_model,
    usage=usage_of_gemini,
    continues=_continues,
    each_counted=True,
)
detect, read = _SHAPE.detects, _SHAPE.read
