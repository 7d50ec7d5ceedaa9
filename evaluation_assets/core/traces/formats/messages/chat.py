"""OpenAI-style chat messages: roles, content, tool calls and tool messages."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.messages.call_arguments import given_to
from evaluation_assets.core.traces.formats.messages.contents import (
    CALL_PARTS,
    TEXTS,
    are_data,
    content_of,
    part_text,
    split_thought,
)
from evaluation_assets.core.traces.formats.messages.pieces import Piece, Thought, agent_events
from evaluation_assets.core.traces.formats.outcome_words import outcome_of
from evaluation_assets.core.traces.formats.run_usage import usage_of_answer
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in
from evaluation_assets.core.traces.trajectories.failures import told_in
from evaluation_assets.core.traces.trajectories.model import Usage

ROLES = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
    "ai": "assistant", "AIMessageChunk": "assistant", "gpt": "assistant", "model": "assistant", "tool": "tool",
    "function": "tool", "observation": "tool", "function_call": "assistant", "tool_call": "assistant",
    "tool_response": "tool", "tool_result": "tool", "tool_output": "tool", "function_response": "tool",
    "function-call": "assistant", "function-response": "tool",
    "ipython": "tool", "environment": "tool", "execution_environment": "tool", "bot": "assistant",
    "chatbot": "assistant", "customer": "user", "client": "user",
    "caller": "user", "usermessage": "user", "apimessage": "assistant", "agent": "assistant",
    "api": "assistant",
}  # fmt: skip
"""Meaning of a message's role or type, in lower case too. Any other role may be the name of an agent."""

_ENUM = re.compile(r"^\w*Role\.(?=[A-Z]+$)")

GUESSED = "speaker_is_guessed"
"""Field of a message whose speaker may be no agent."""
GOES_ON = "answer_goes_on"
"""Field of a message that is a part of the answer in the message before it."""
_LATENCIES = ("latency_ms", "duration_ms", "latencyMs", "durationMs")
_ERRORS = ("error", "exception")
FAILED = frozenset(
    ("error", "failed", "failure", "incomplete", "timeout", "denied", "rejected", "cancelled", "canceled", "aborted")
)
"""What the status of a call says that failed, in lower case."""
_FLAGS = ("is_error", "isError", "failed")
_BESIDE = ("metadata", "additional_kwargs", "response_metadata")
"""Objects in a result that may say that the call failed."""
EXITS = ("exit_code", "exitCode", "returncode", "return_code")
_CALL_IDS, _TOOLS = ("tool_call_id", "toolCallId"), ("tool_name", "toolName")
_OWN_IDS = ("id", "call_id", *_CALL_IDS)
MADE = ("tool_calls", "toolCalls", "function_call")
"""Fields of a message that hold its calls."""

_UNSAID = frozenset(("id", "usage", "timestamp", "created_at", "createdAt"))
"""Fields that say nothing of what somebody said, without a role beside them."""

_OF_PROVIDERS = ("server_tool_call", "server_tool_use", "mcp_tool_use")
"""Content parts that are calls of tools that the provider runs; their results are parts of the same message."""

_SHOWN = ("output", "result", "tool_result", "tool_output", "toolResult", "toolOutput", "response", "observation")
"""Fields of a message of a tool without content that hold what came back."""

_KINDS_OF_OTHERS = frozenset(("input_text", "output_text", "summary_text", "tool-call", "tool-result"))
_UNTYPED_KINDS = frozenset(("text", "toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent"))
"""Types of parts of the Responses API and the AI SDK, and fields that name the kind of a part of Bedrock."""


def role_of(message: Any) -> str | None:
    """Normalise a message's `role`, or its `type` (LangChain) or `from` (ShareGPT)."""
    if not isinstance(message, dict):
        return None
    for key in ("role", "type", "from"):
        if isinstance(role := message.get(key), str):
            return meaning_of(role)
    return None


def meaning_of(role: str) -> str:
    """What a role or type means, also as Python prints it (`MessageRole.USER`); the role itself if it is not known."""
    return ROLES.get(role) or ROLES.get(_ENUM.sub("", role).lower(), role)


def part_kinds(messages: Iterable[Any]) -> set[str]:
    """The types of the content parts in these messages."""
    return {
        part["type"]
        for message in messages
        if isinstance(message, dict) and isinstance(message.get("content"), list)
        for part in message["content"]
        if isinstance(part, dict) and isinstance(part.get("type"), str)
    }


def is_of_agentscope(data: Any) -> bool:
    """Whether a value is a message of AgentScope: it names who says it, and when."""
    if not isinstance(data, dict) or not {"name", "role", "content", "metadata"} <= data.keys():
        return False
    blocks = data["content"]
    is_dated = "timestamp" in data or "created_at" in data
    return is_dated and (isinstance(blocks, str) or all(first_text(block, "type") for block in list_in(blocks)))


def has_parts_of_others(messages: Iterable[Any]) -> bool:
    """Whether messages have content parts of an API that has a format of its own."""
    objects = [message for message in messages if isinstance(message, dict)]
    contents = [content for message in objects if isinstance(content := message.get("content"), list)]
    untyped = [part for content in contents for part in content if isinstance(part, dict) and "type" not in part]
    return (
        any(isinstance(message.get(key), list) for message in objects for key in ("parts", "toolInvocations"))
        or any(map(is_of_agentscope, objects))
        or any(len(part.keys() & _UNTYPED_KINDS) == 1 for part in untyped)
        or not part_kinds(objects).isdisjoint(_KINDS_OF_OTHERS)
    )


def events_of(
    messages: Iterable[Fields], agent: str = "agent", usages: Mapping[int, Usage] | None = None
) -> Iterator[Event]:
    """Convert messages to events. System prompts are not events; see `system_of`.

    `usages` holds the usage of answers by message index, for sources that record it outside the message. A role that
    is not known is read as the name of an agent, which is a guess.
    """
    messages = list(messages)
    has_results = any(meaning_of(message.text("role", "type", "from") or "") == "tool" for message in messages)
    for index, message in enumerate(messages):
        role = message.text("role", "type", "from") or ""
        meaning = meaning_of(role)
        if not meaning and not _UNSAID.issuperset(message.filled()):
            message.note_unknown("message without a role")
        if meaning in ("system", ""):
            continue
        message.set_aside("type", "from", "id", "example")
        if meaning == "user":
            text = content_of(message)
            message.set_aside("name")
            if text.strip():
                yield Asked(text=text)
        elif meaning == "tool" or (meaning != "assistant" and _answers_a_call(message)):
            yield result_of(message)
        elif any(map(_is_of_provider, part_kinds([{"content": message.peek("content")}]))):
            used = usage_of_answer(message)
            message.set_aside("index", "status", "finish_reason")
            yield from agent_events(
                _pieces_of(message), message.text("name") or agent, (usages or {}).get(index) or used
            )
        else:
            said = said_of(message, agent if meaning == "assistant" else role, usage=(usages or {}).get(index))
            if said is not None:
                if meaning != "assistant" or message.flag(GUESSED):
                    message.note_speaker(said.agent_id)
                results = [] if has_results else list(_results_within(message))
                is_last = meaning_of(_role(messages[index + 1 : index + 2])) != "assistant"
                if results and said.message and is_last:  # what the agent says with results at hand comes after them
                    yield replace(said, message=None)
                    yield from results
                    yield replace(said, thought=None, calls=(), usage=_nothing_more(said.usage), latency_ms=None)
                else:
                    yield said
                    yield from results


def _nothing_more(used: Usage | None) -> Usage | None:
    """What the rest of an answer used, the whole of which is known."""
    return (
        None if used is None else Usage(input_tokens=0, output_tokens=0, cost_usd=None if used.cost_usd is None else 0)
    )


def _role(messages: Sequence[Fields]) -> str:
    """The role of the first message; empty if there is none."""
    return next((message.text("role", "type", "from") or "" for message in messages), "")


def _results_within(message: Fields) -> Iterator[Result]:
    """The results that calls have inside them, where no message has any: what came back, or the error."""
    for call in message.objects("tool_calls", "toolCalls"):
        shown = call.value(*_SHOWN)
        told = next((error for key in _ERRORS if (error := call.peek(key))), None) if shown is None else None
        if shown is not None or told is not None:
            content = as_text(at(told, "message") or told if shown is None else shown)
            yield Result(content=content, call_id=call.recorded_id(*_OWN_IDS), error=stated_error(call, content))


def _answers_a_call(message: Fields) -> bool:
    """Whether a message names the call that it answers and makes none: what a sub-agent that was called gives back."""
    return any(key in message for key in _CALL_IDS) and not any(key in message for key in MADE)


def system_of(messages: Iterable[Fields]) -> str | None:
    """All system prompts, at the beginning and later, joined into one text."""
    prompts = [
        content_of(message)
        for message in messages
        if meaning_of(message.text("role", "type", "from") or "") == "system"
    ]
    return "\n\n".join(prompt for prompt in prompts if prompt.strip()) or None


def prompt_in(request: Fields, *names: str, text: Callable[[Fields], str]) -> str | None:
    """The system prompt of a request under one of these names: a text, a part or several, of which `text` is taken."""
    pieces = [part if isinstance(part, str) else text(part) for part in request.parts(*names)]
    return "\n\n".join(piece for piece in pieces if piece.strip()) or None


def said_of(
    message: Fields, agent: str = "agent", latency_ms: float | None = None, usage: Usage | None = None
) -> Said | None:
    """Convert one agent message; `None` if it is empty."""
    content = content_of(message)
    reasoning = _reasoning(message)
    thought, text = split_thought(content)
    own_usage = usage_of_answer(message)
    refusal = message.text("refusal")
    message.set_aside("index", "status")
    said = Said(
        agent_id=message.text("name", "agent_name", "sender") or agent,
        thought="\n\n".join(piece for piece in (reasoning, thought) if piece and piece.strip()) or None,
        message=text if text.strip() else refusal or message.object("audio").text("transcript"),
        calls=tuple(calls_of(message)),
        latency_ms=message.amount(*_LATENCIES) if latency_ms is None else latency_ms,
        usage=usage or own_usage,
        stop_reason=message.text("finish_reason") or ("refusal" if refusal else None),
        model=message.text("model") or message.object("response_metadata").text("model_name", "model"),
        goes_on=message.flag(GOES_ON) is True,
    )
    return said if said.thought or said.message or said.calls or said.usage else None


def calls_of(message: Fields) -> Iterator[Call]:
    """The tool calls of a message, under any of the supported keys."""
    for call in message.objects("tool_calls", "toolCalls"):
        named = call.text("function") if call.is_text("function") else None  # AgentDojo
        function = call.object("custom") if named else call.object("function", "custom")
        inside, beside = given_to(function), given_to(call)
        call.set_aside("type", "index")
        yield Call(
            name=named or function.text("name") or _named(call),
            arguments=beside if inside is None else inside,
            id=call.recorded_id(*_OWN_IDS),
        )
    for call in message.objects("invalid_tool_calls"):
        call.set_aside("type", "error")
        yield Call(name=_named(call), arguments=given_to(call), id=call.recorded_id("id"))
    legacy = message.object("function_call")
    name = legacy.text("name")
    if name is not None:
        yield Call(name=name, arguments=given_to(legacy))
    if "tool_calls" in message:
        return
    for part in message.parts("content"):
        if not isinstance(part, str) and part.text("type") in CALL_PARTS[:3]:
            call_id = part.recorded_id("call_id", "tool_call_id", "id")
            yield Call(name=_named(part), arguments=given_to(part), id=call_id)


def _pieces_of(message: Fields) -> Iterator[Piece]:
    """What an answer has in the order of its parts, with the calls of tools that the provider ran for it."""
    for part in message.parts("content"):
        if isinstance(part, str):
            yield part
        elif part.text("type") in _OF_PROVIDERS:
            yield Call(name=_named(part), arguments=given_to(part), id=part.recorded_id("id"))
            part.set_aside("caller", "index", "extras")
        elif _is_of_provider(part.text("type")):
            yield _result_of_provider(part)
        else:
            thought, said = split_thought(part_text(part))
            yield from [] if thought is None else [Thought(thought)]
            yield said
    yield from calls_of(message)


def _result_of_provider(part: Fields) -> Result:
    returned = part.value("output", "content")
    content, code = as_text(returned), first_text(returned, "error_code")
    failed = code is not None or part.text("status") == "error"
    part.set_aside("caller", "index", "extras", "id")
    return Result(
        content=content,
        call_id=part.recorded_id("tool_call_id", "tool_use_id"),
        error=(code or first_line(content)) if failed else None,
    )


def _is_of_provider(kind: str | None) -> bool:
    """Whether a part of this type is the result of a tool that the provider ran."""
    return kind is not None and kind.endswith("_tool_result")


def _named(call: Fields) -> str:
    """The name of the tool that is called."""
    return call.text("name", *_TOOLS, "tool") or "unnamed"


def result_of(message: Fields) -> Result:
    """Convert a tool message. The call failed if the message or its text says so."""
    if are_data(next((value for key in TEXTS if (value := message.peek(key)) is not None), None)):
        content = as_text(message.value(*TEXTS))
    else:
        content = content_of(message) or as_text(message.value(*_SHOWN)) or _told(message)
    return Result(
        content=content,
        call_id=message.recorded_id(*_CALL_IDS, "call_id", "id"),
        tool=message.text("name", *_TOOLS),
        error=stated_error(message, content),
        latency_ms=message.amount(*_LATENCIES),
        succeeded=message.peek("success") is True or message.peek("error") is False,
    )


def _told(message: Fields) -> str:
    """The error that a message without a content states, in its own words."""
    return next((error for key in _ERRORS if isinstance(error := message.peek(key), str)), "")


def stated_error(result: Fields, content: str) -> str | None:
    """The error of a result whose own fields say that the call failed, in any of the ways that formats have."""
    error = result.value(*_ERRORS)
    told = as_text(error.get("message") or error) if isinstance(error, dict) else error
    if isinstance(told, str) and told.strip():
        return one_line(told)
    failed = any(outcome_of(result.value(key)) is False for key in ("success", "ok"))
    failed = failed or any(result.whole(key) for key in EXITS if key in result)
    beside = (result.object(name) for name in _BESIDE if object_in(result.peek(name)).keys() & {*_FLAGS, "status"})
    failed = failed or any(map(_says_failed, (result, *beside)))
    return first_line(content) if error is True or failed else None


def _says_failed(holder: Fields) -> bool:
    """Whether a flag or the status of an object says that a call failed."""
    failed = any(outcome_of(holder.value(key)) is True for key in _FLAGS)
    return failed or (holder.text("status") or "").lower() in FAILED


def first_line(content: str) -> str:
    """The error of a failed tool: what JSON says of it, or the first line of its output that says a word."""
    if (told := told_in(content)) is not None:
        return told
    lines = [stripped for line in content.splitlines() if (stripped := line.strip())]
    line = next((line for line in lines if any(map(str.isalnum, line[:200]))), *lines[:1] or [""])
    return line[:200] or "error"


def _reasoning(message: Fields) -> str | None:
    for key in ("reasoning_content", "reasoning", "thinking", "thought", "tool_plan"):
        pieces = [
            part if isinstance(part, str) else as_text(part.value("text", "content", "summary"))
            for part in message.parts(key)
        ]
        text = "\n".join(piece for piece in pieces if piece.strip())
        if text:
            message.set_aside("reasoning_details")  # repeats the reasoning, with signatures
            return text
    return None
