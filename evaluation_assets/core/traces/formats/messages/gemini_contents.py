"""Parts of Gemini contents, as the API and Google's SDKs write them: names in camel case or in snake case."""

from collections.abc import Iterable, Iterator
from typing import Any

from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.messages.pieces import Piece, Thought
from evaluation_assets.core.traces.formats.transcript import Call, Result, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in
from evaluation_assets.core.traces.formats.usage import Count, settled, usage
from evaluation_assets.core.traces.trajectories.model import Usage

_KINDS = frozenset(
    (
        "text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData", "inline_data",
        "fileData", "file_data", "executableCode", "executable_code", "codeExecutionResult", "code_execution_result",
    )
)  # fmt: skip
_TOLD = frozenset(("result", "output", "error"))
"""Fields of a result that say what a function told, by convention."""

CODE_EXECUTION = "code_execution"
"""The provider's own tool, which runs code between two parts of an answer."""


def are_parts(content: Any) -> bool:
    """Whether an object has a list of Gemini parts, at least one of them with content."""
    parts = list_in(at(content, "parts"))
    objects = [part for part in parts if isinstance(part, dict)]
    return (
        len(objects) == len(parts)
        and any(not _KINDS.isdisjoint(part) for part in objects)
        and not any(key in part for part in objects for key in ("type", "part_kind", "kind"))
    )


class Pairs:
    """Gives calls without an ID one, and their results the same: by name, in order, among the calls of one answer."""

    def __init__(self) -> None:
        self._made = 0
        self._waiting: dict[str, list[str]] = {}

    def next_answer(self) -> None:
        """Forget calls that have no result: results follow the answer that made the calls."""
        self._waiting = {}

    def made(self, name: str) -> str:
        """The ID of a call of this function."""
        self._made += 1
        self._waiting.setdefault(name, []).append(f"{name}-{self._made}")
        return self._waiting[name][-1]

    def answered(self, name: str) -> str | None:
        """The ID of the call that a result of this function answers."""
        waiting = self._waiting.get(name)
        return waiting.pop(0) if waiting else None


def pieces_of(content: Fields, pairs: Pairs) -> Iterator[Piece]:
    """The pieces of a content's parts."""
    for part in content.parts("parts"):
        if isinstance(part, str):
            yield part
            continue
        part.set_aside("thoughtSignature", "thought_signature", "videoMetadata", "video_metadata", "partMetadata")
        if (call := _inner(part, "functionCall", "function_call")) is not None:
            if call.items("partialArgs", "partial_args"):
                call.note_unknown("partialArgs")
            call.set_aside("willContinue", "will_continue")
            name = call.text("name") or "unnamed"
            yield Call(name=name, arguments=call.value("args"), id=call.name("id") or pairs.made(name))
        elif (response := _inner(part, "functionResponse", "function_response")) is not None:
            yield _result(response, pairs)
        elif (code := _inner(part, "executableCode", "executable_code")) is not None:
            written = {"code": code.value("code"), "language": code.value("language")}
            yield Call(name=CODE_EXECUTION, arguments=written, id=pairs.made(CODE_EXECUTION))
            code.set_aside("id")
        elif (outcome := _inner(part, "codeExecutionResult", "code_execution_result")) is not None:
            failed = outcome.text("outcome")
            output = outcome.text("output") or ""
            outcome.set_aside("id")
            error = None if failed in (None, "OUTCOME_OK") else one_line(output) or failed
            yield Result(content=output, call_id=pairs.answered(CODE_EXECUTION), error=error)
        elif (media := _inner(part, "inlineData", "inline_data", "fileData", "file_data")) is not None:
            kind = (media.text("mimeType", "mime_type") or "media").partition("/")[0]
            yield image_text(media) if kind == "image" else f"[{kind}]"
            media.rest()
        elif "text" in part or "thought" in part:
            text = as_text(part.value("text"))
            yield Thought(text) if part.flag("thought") is True else text
        elif any(part.filled()):
            yield f"[{part.note_unknown()}]"


def merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Pieces with neighbouring texts joined, since a text comes in any number of parts."""
    last: Piece | None = None
    for piece in pieces:
        if isinstance(last, str) and isinstance(piece, str):
            last += piece
        elif isinstance(last, Thought) and isinstance(piece, Thought):
            last = Thought(last.text + piece.text)
        else:
            if last is not None:
                yield last
            last = piece
    if last is not None:
        yield last


def usage_of_gemini(fields: Fields) -> Usage | None:
    """Usage metadata; reasoning counts as output."""
    answer = fields.whole("candidatesTokenCount", "candidates_token_count")
    thoughts = fields.whole("thoughtsTokenCount", "thoughts_token_count")
    asked = fields.whole("promptTokenCount", "prompt_token_count")
    tools = fields.whole("toolUsePromptTokenCount", "tool_use_prompt_token_count")
    given = None if asked is None else asked + (tools or 0)
    said = None if answer is None and thoughts is None else (answer or 0) + (thoughts or 0)
    counts = settled(fields.stated, fields.whole("totalTokenCount", "total_token_count"), Count(given), Count(said))
    counted = usage(
        *counts,
        cached_tokens=fields.whole("cachedContentTokenCount", "cached_content_token_count"),
    )
    fields.rest()
    return counted


def _inner(part: Fields, *keys: str) -> Fields | None:
    return next((part.object(key) for key in keys if part.is_object(key)), None)


def _result(response: Fields, pairs: Pairs) -> Result:
    """The result of a function. By convention, its failure is `error`, alone or beside output."""
    told = response.value("response")
    call_id = response.name("id") or pairs.answered(response.text("name") or "unnamed")
    response.set_aside("willContinue", "will_continue", "scheduling", "parts")
    fields = object_in(told)
    error = fields.get("error") if fields.keys() <= _TOLD else None
    alone = next((fields[key] for key in _TOLD if set(fields) == {key}), told)
    failed = None if error in (None, "", False) else one_line(as_text(error))
    return Result(content=as_text(alone), call_id=call_id, error=failed)
