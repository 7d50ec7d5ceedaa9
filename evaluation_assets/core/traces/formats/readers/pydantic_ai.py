"""Messages of Pydantic AI, as `all_messages_json` writes them: requests and responses with parts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.images import image_text, states_image
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.messages.lists import MessageShape, first_text_of
from evaluation_assets.core.traces.formats.messages.pieces import Piece, Thought, agent_events, call_in, user_events
from evaluation_assets.core.traces.formats.transcript import Event, Result, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import objects_in
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import Usage

NAME = "pydantic_ai"
DESCRIPTION = "Pydantic AI messages (all_messages_json): requests and responses with parts"
DETECTION = "messages of kind request and response whose parts have a part_kind"

_PLUMBING = (
    "kind", "timestamp", "run_id", "conversation_id", "metadata", "state", "provider_name", "provider_url",
    "provider_details", "provider_response_id", "vendor_id", "vendor_details", "finish_reason", "canonical_system",
    "model_id", "workspace_ref", "history_digest", "failed_attempts",
)  # fmt: skip
_PART_PLUMBING = (
    "part_kind", "timestamp", "provider_name", "provider_details", "tool_kind", "metadata", "id", "signature",
    "dynamic_ref", "content_file_digests", "retry", "name", "provider_response_id",
)  # fmt: skip
_CALLS = ("tool-call", "builtin-tool-call", "native-tool-call")
_RETURNS = ("tool-return", "builtin-tool-return", "native-tool-return")
_NOT_SAID = ("system-prompt", "instruction", "compaction")
"""Parts for the model only; instructions are taken from the messages."""


def _is_message(data: Any) -> bool:
    return (
        isinstance(data, dict) and data.get("kind") in ("request", "response") and isinstance(data.get("parts"), list)
    )


def _is_typical(data: Any) -> bool:
    return any("part_kind" in part for part in objects_in(data.get("parts")))


def _events(messages: Sequence[Fields], _: Mapping[int, Usage]) -> Iterator[Event]:
    for message in messages:
        is_response = message.text("kind") == "response"
        message.set_aside(*_PLUMBING)
        pieces = [piece for part in message.objects("parts") for piece in _pieces(part)]
        if is_response:
            usage = message.object("usage")
            used = usage_of(usage)
            usage.rest()
            yield from agent_events(pieces, usage=used)
        else:
            yield from user_events(pieces)


def _pieces(part: Fields) -> Iterator[Piece]:
    kind = part.text("part_kind") or "text"
    part.set_aside(*_PART_PLUMBING)
    if kind in ("user-prompt", "text"):
        yield "\n".join(
            filter(None, (item if isinstance(item, str) else _shown(item) for item in part.parts("content")))
        )
    elif kind == "thinking":
        yield Thought(part.text("content") or "[redacted]")
    elif kind in _CALLS:
        yield call_in(part, "tool_name", "args", "tool_call_id")
    elif kind in _RETURNS:
        yield _result(part, failed=part.text("outcome") not in (None, "success"))
    elif kind in ("retry-prompt", "retry-feedback"):
        if part.text("tool_name") is None:
            refusal = as_text(part.value("content"))  # of the answer itself; the model is asked again
            yield Result(content=refusal, error=first_line(refusal))
        else:
            yield _result(part, failed=True)
    elif kind == "file":
        part.set_aside("content")
        yield "[file]"
    elif kind == "speech":
        yield part.text("transcript") or "[audio]"
        part.set_aside("audio")
    elif kind in _NOT_SAID or kind.endswith(("-delta", "-digest", "-baseline")):
        part.rest()
    else:
        yield f"[{part.note_unknown(kind)}]"


def _shown(item: Fields) -> str:
    """Content other than text, named in brackets."""
    kind = item.text("kind") or "media"
    if kind == "binary" and states_image(item):
        return image_text(item)
    text = item.text("content", "text") if kind.startswith("text") else None
    item.rest()
    return text or ("" if kind == "cache-point" else f"[{kind.removesuffix('-url')}]")


def _result(part: Fields, *, failed: bool) -> Result:
    content = as_text(part.value("content"))
    part.set_aside("tool_name", "outcome")
    return Result(content=content, call_id=part.name("tool_call_id"), error=first_line(content) if failed else None)


def _system(_: Fields, messages: Sequence[Fields]) -> str | None:
    prompts = [message.text("instructions") for message in messages]
    prompts += [
        content_of(part)
        for message in messages
        for part in message.objects("parts")
        if part.text("part_kind") == "system-prompt"
    ]
    return "\n\n".join(dict.fromkeys(prompt for prompt in prompts if prompt and prompt.strip())) or None


_SHAPE = MessageShape(
    name=NAME,
    is_message=_is_message,
    is_typical=_is_typical,
    events=_events,
    system=_system,
    messages_at=(("messages",), ("all_messages",), ("message_history",)),
    stopped=lambda message: message.text("finish_reason"),
    model=lambda _, messages: first_text_of(messages, "model_name"),
    each_counted=True,
)
detect, read = _SHAPE.detects, _SHAPE.read
