"""Messages of the Amazon Bedrock Converse API, with their requests and responses, and of agents that keep them.

Parts are objects with one field that names their kind: `text`, `toolUse`, `toolResult`, `reasoningContent`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.messages.chat import prompt_in, stated_error
from evaluation_assets.core.traces.formats.messages.lists import MessageShape
from evaluation_assets.core.traces.formats.messages.pieces import Piece, Thought, agent_events, call_in, user_events
from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_of
from evaluation_assets.core.traces.formats.transcript import Event, Result, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import Tool, Trajectory, Usage

NAME = "bedrock_converse"
DESCRIPTION = "Amazon Bedrock Converse messages, with or without requests and responses; messages of Strands agents"
DETECTION = "messages whose parts are objects such as toolUse, toolResult, reasoningContent, or text without a type"

_OWN_FILE = re.compile(r"(.*/)?message_(\d+)\.json")
_BESIDE = ("session.json", "agent.json")
"""Files of a Strands session: a message each, and the state beside them."""

_MEDIA = ("image", "document", "video", "audio")
_KINDS = frozenset(
    ("text", "toolUse", "toolResult", "reasoningContent", "guardContent", "cachePoint", "citationsContent", *_MEDIA)
)
_RESPONSES: tuple[tuple[str, ...], ...] = ((), ("response",), ("output", "outputBodyJson"))
_REQUESTS: tuple[tuple[str, ...], ...] = ((), ("request",), ("input", "inputBodyJson"))
"""Where records, logs of calls, and model invocation logs have the request and the response."""


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per conversation; messages in files of their own are one per folder."""
    alone = {
        file.source: int(match[2])
        for file in files
        if (match := _OWN_FILE.fullmatch(file.source)) is not None and sample_of(file).has("message_id", "message")
    }
    folders: dict[str, list[DropFile]] = {}
    for file in sorted((file for file in files if file.source in alone), key=lambda file: alone[file.source]):
        folders.setdefault(file.source.rpartition("/")[0], []).append(file)
    for folder in folders.values():
        yield from _SHAPE.read_as_one(folder, unmapped)
    for file in files:
        if folders and file.source.rpartition("/")[2] in _BESIDE:
            unmapped.count(file.source.rpartition("/")[2])
        elif file.source not in alone:
            yield from _SHAPE.read([file], unmapped)


def _is_message(data: Any) -> bool:
    message = _unwrapped(data)
    return (
        isinstance(message, dict)
        and message.get("role") in ("user", "assistant")
        and _has_parts(message)
        and "meta" not in message
    )


def _unwrapped(data: Any) -> Any:
    """A message, also from a session file of Strands, which has one each with an ID."""
    return data["message"] if isinstance(data, dict) and "message_id" in data and "message" in data else data


def _has_parts(message: dict[str, Any]) -> bool:
    return isinstance(message.get("content"), list) and "messages" not in message


def _is_typical(data: Any) -> bool:
    parts = list_in(at(_unwrapped(data), "content"))
    return (
        bool(parts)
        and all(isinstance(part, dict) and len(without_none(part).keys() & _KINDS) == 1 for part in parts)
        and not any("type" in part for part in objects_in(parts))
    )


def _events(messages: Sequence[Fields], usages: Mapping[int, Usage]) -> Iterator[Event]:
    for index, message in enumerate(messages):
        message.set_aside("message_id", "redact_message", "updated_at", "created_at", "tracking_id")
        message = message.object("message") if "message" in message else message
        if message.text("role") == "assistant":
            metadata = message.object("metadata")
            used = usages.get(index) or usage_of(metadata.object("usage"))
            metadata.set_aside("metrics")
            yield from agent_events(_pieces(message), usage=used)
        else:
            yield from user_events(_pieces(message))


def _pieces(message: Fields) -> Iterator[Piece]:
    for part in message.parts("content"):
        if isinstance(part, str):
            yield part
        elif "toolUse" in part:
            call = part.object("toolUse")
            call.set_aside("type", "reasoningSignature")
            yield call_in(call, "name", "input", "toolUseId")
        elif "toolResult" in part:
            yield _result(part.object("toolResult"))
        elif "reasoningContent" in part:
            reasoning = part.object("reasoningContent")
            told = reasoning.object("reasoningText")
            told.set_aside("signature")
            yield Thought(told.text("text") or reasoning.text("text") or "[redacted]")
            reasoning.set_aside("redactedContent", "signature")
        else:
            yield _text(part)


def _result(result: Fields) -> Result:
    content = "\n".join(
        piece for part in result.parts("content") if (piece := part if isinstance(part, str) else _text(part))
    )
    result.set_aside("type")
    return Result(content=content, call_id=result.name("toolUseId"), error=stated_error(result, content))


def _text(part: Fields) -> str:
    """A part as text; other media are named in brackets."""
    if "text" in part or "json" in part:
        part.set_aside("citations")
        return as_text(part.value("text", "json"))
    for kind in _MEDIA:
        if kind in part:
            return image_text(part) if kind == "image" else f"[{kind}]"
    if "guardContent" in part:
        guarded = part.object("guardContent").object("text")
        guarded.set_aside("qualifiers")
        return guarded.text("text") or "[guarded]"
    if "citationsContent" in part:
        cited = part.object("citationsContent")
        return "".join(_text(inner) for inner in cited.objects("content"))
    if "cachePoint" in part:
        part.set_aside("cachePoint")
        return ""
    return f"[{part.note_unknown()}]"


def _tools(request: Fields) -> tuple[Tool, ...] | None:
    settings = request.object("toolConfig")
    settings.set_aside("toolChoice")
    specified = [tool.object("toolSpec") for tool in settings.objects("tools") if "toolSpec" in tool]
    tools = tuple(_tool(tool) for tool in specified)
    return tools or tools_of(request, "tools")


def _tool(tool: Fields) -> Tool:
    schema = tool.object("inputSchema").value("json")
    return Tool(
        name=tool.text("name") or "unnamed",
        description=tool.text("description") or "",
        parameters=object_in(schema) or None,
    )


def _model(fields: Fields, _: Sequence[Fields]) -> str | None:
    return fields.text("modelId") or fields.object("request").text("modelId")


_SHAPE = MessageShape(
    name=NAME,
    is_message=_is_message,
    is_typical=_is_typical,
    events=_events,
    system=lambda request, _: prompt_in(request, "system", "system_prompt", text=_text),
    tools=_tools,
    messages_at=tuple((*path, "messages") for path in _REQUESTS),
    answers_at=tuple((*path, "output", "message") for path in _RESPONSES),
    usage_at=tuple((*path, "usage") for path in _RESPONSES),
    stopped_at=tuple((*path, "stopReason") for path in _RESPONSES),
    model=_model,
    each_counted=True,
)
detect = _SHAPE.detects
