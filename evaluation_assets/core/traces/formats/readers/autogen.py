"""Messages of AutoGen AgentChat (0.4 and later): results of tasks, lists of messages, saved states of teams and agents.

A hand-off is the call of its tool; the `HandoffMessage` that follows repeats the tool's result and is not read again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.context import NOTHING_KNOWN, Context
from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.messages.chat import first_line, stated_error
from evaluation_assets.core.traces.formats.messages.lists import MessageShape
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.speakers import is_user
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, object_in
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import Usage

NAME = "autogen"
DESCRIPTION = "AutoGen AgentChat: messages and events of a TaskResult, saved states of teams and agents"
DETECTION = "messages of types such as TextMessage, ToolCallRequestEvent, HandoffMessage, with a source"

_TEXTS = ("TextMessage", "StopMessage", "MultiModalMessage", "ToolCallSummaryMessage", "UserMessage")
_EVENTS = (
    "ToolCallRequestEvent",
    "ToolCallExecutionEvent",
    "ThoughtEvent",
    "CodeGenerationEvent",
    "CodeExecutionEvent",
)
_CONTEXT = ("SystemMessage", "AssistantMessage", "FunctionExecutionResultMessage")
"""Messages that an agent sends to its model, as its saved state has them."""

_SPOKEN = ("UserMessage", "AssistantMessage")
"""Of these, which name who spoke; those of other frameworks do not."""

_NOT_SAID = ("ModelClientStreamingChunkEvent", "UserInputRequestedEvent", "MemoryQueryEvent", "SelectSpeakerEvent")
_KNOWN = (*_TEXTS, *_EVENTS, *_CONTEXT, *_NOT_SAID, "HandoffMessage")
_LIMITS = ("Maximum number of ", "Token usage limit reached", "Timeout of ", "Max rounds reached")
"""How the reason of a team begins that stopped at one of its limits."""

_USERS = ("user_proxy", "userproxy", "user_proxy_agent")
_CODE = "code_execution"


def _is_message(data: Any) -> bool:
    kind = at(data, "type")
    return isinstance(kind, str) and (
        (kind in _KNOWN and (kind not in _SPOKEN or "source" in data))
        or ("source" in data and kind.partition("[")[0].endswith(("Event", "Message")) and "content" in data)
    )


def _is_typical(data: Any) -> bool:
    return at(data, "type") in _KNOWN and any(key in data for key in ("source", "content", "code_blocks", "result"))


def _unwrapped(data: Any) -> Any:
    """The messages in a saved state: the thread of a team's manager, else those that an agent sends to its model."""
    states = at(data, "agent_states")
    nested = [at(state, "agent_state") or state for state in object_in(states).values()]
    for state in (data, *nested):
        if isinstance(thread := at(state, "message_thread"), list):
            return {"messages": thread}
    for state in (data, *nested):
        if isinstance(messages := at(at(state, "llm_context"), "messages"), list):
            return {"messages": messages}
    return data


def _events(messages: Sequence[Fields], _: Mapping[int, Usage]) -> Iterator[Event]:
    last: Event | None = None
    thoughts: list[str] = []
    for message in messages:
        kind = (message.text("type") or "").partition("[")[0]
        source = message.text("source") or "agent"
        message.set_aside("id", "metadata", "created_at", "format_string", "full_message_id")
        used = usage_of(message.object("models_usage"))
        if kind == "ThoughtEvent":
            thoughts.append(as_text(message.value("content")))
            continue
        for event in _told(message, kind, source, used, last):
            if isinstance(event, Said) and thoughts:
                event = replace(event, thought="\n\n".join(filter(None, (*thoughts, event.thought))))
                thoughts = []
            yield event
            last = event


def _told(message: Fields, kind: str, source: str, used: Usage | None, last: Event | None) -> Iterator[Event]:
    if kind in ("ToolCallRequestEvent", "AssistantMessage"):
        thought = message.text("thought")
        if message.is_list("content"):
            calls = tuple(call_in(call, "name", "arguments", "id") for call in message.objects("content"))
            yield Said(agent_id=source, thought=thought, calls=calls, usage=used)
        else:
            yield Said(agent_id=source, thought=thought, message=message.text("content"), usage=used)
    elif kind in ("ToolCallExecutionEvent", "FunctionExecutionResultMessage"):
        yield from map(_result, message.objects("content"))
    elif kind == "CodeGenerationEvent":
        message.set_aside("content", "retry_attempt")
        yield Said(
            agent_id=source, calls=(Call(name=_CODE, arguments={"code": message.value("code_blocks")}),), usage=used
        )
    elif kind == "CodeExecutionEvent":
        yield _code_result(message)
    elif kind == "HandoffMessage":
        text, to = message.text("content") or "", message.text("target")
        message.set_aside("context")
        if not (isinstance(last, Result) and last.content == text):
            yield Asked(text=text) if _is_user(source) else Said(agent_id=source, message=text, to=to, usage=used)
    elif kind in _TEXTS or kind == "StructuredMessage":
        message.set_aside("tool_calls", "results")  # a summary repeats them
        text = _text(message)
        if text.strip():
            yield Asked(text=text) if _is_user(source) else Said(agent_id=source, message=text, usage=used)
    elif kind in _NOT_SAID:
        message.set_aside("content", "request_id")
    elif kind != "SystemMessage":
        yield Said(agent_id=source, message=f"[{message.note_unknown(kind or None)}]", usage=used)


def _is_user(source: str) -> bool:
    return is_user(source) or source.lower() in _USERS


def _result(result: Fields) -> Result:
    content = as_text(result.value("content"))
    result.set_aside("name")
    return Result(content=content, call_id=result.name("call_id"), error=stated_error(result, content))


def _code_result(message: Fields) -> Result:
    outcome = message.object("result")
    output = as_text(outcome.value("output"))
    failed = bool(outcome.whole("exit_code"))
    message.set_aside("retry_attempt")
    return Result(content=output, error=first_line(output) if failed else None)


def _text(message: Fields) -> str:
    """The content of a message: a text, an object, or texts and images."""
    if message.is_object("content"):
        return as_text(message.value("content"))
    pieces = [part if isinstance(part, str) else image_text(part) for part in message.parts("content")]
    return "\n".join(pieces)


def _system(_: Fields, messages: Sequence[Fields]) -> str | None:
    prompts = [message.text("content") for message in messages if message.text("type") == "SystemMessage"]
    return "\n\n".join(prompt for prompt in prompts if prompt) or None


def _ended(record: Fields, events: Sequence[Event]) -> Context:
    """How a task ended. A team that reached a limit has said something nevertheless: its last message is its result."""
    reason, last = record.peek("stop_reason"), events[-1] if events else None
    if not isinstance(reason, str) or not reason.startswith(_LIMITS):
        return NOTHING_KNOWN
    return Context(cut_off=True, final_answer=last.message if isinstance(last, Said) else None)


_SHAPE = MessageShape(
    name=NAME,
    is_message=_is_message,
    is_typical=_is_typical,
    events=_events,
    system=_system,
    unwrapped=_unwrapped,
    ended=_ended,
)
detect, read = _SHAPE.detects, _SHAPE.read
