"""Inspect AI events as a conversation of several agents, for samples whose messages lack a part of it.

The messages of a sample are the final history of its outermost agent. What a sub-agent did (a hand-off, an agent that
is a tool), and what was compacted or removed from the history, is only in the events.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation_assets.core.traces.formats.messages.inspect_messages import Content, Resolved, content_of, parsed_calls
from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_in
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Usage

Usages = Mapping[str, tuple[Usage | None, float | None]]
"""Usage and seconds of the model calls, by the ID of the resulting message."""

KINDS = ("model", "tool", "span_begin", "span_end", "step")
"""The kinds of events that tell the conversation."""

_SCORING = ("scorers", "scorer")
_HANDED_BACK = re.compile(r"Successfully transferred to .+\.|The .+ agent has completed its work\.")
"""User messages that Inspect writes itself at the start and the end of a hand-off."""

_SUMMARY = "[CONTEXT COMPACTION SUMMARY]"
"""Start of the user message that replaces a compacted history."""

_NOBODY = "agent"
"""The agent of model calls outside of all agents."""

_LONGEST = 1e9
"""Upper limit in seconds for a plausible duration."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where an event happened: in which agent, called by which other one, in which tool, and whether in a scorer."""

    agent: str = _NOBODY
    caller: str | None = None
    tool: str | None = None
    scoring: bool = False

    def inside(self, kind: str | None, name: str) -> "_Scope":
        """The scope within a span of this kind."""
        if kind in _SCORING:
            return replace(self, scoring=True)
        if kind == "tool":
            return replace(self, tool=name)
        if kind == "agent":
            is_called = self.tool is not None or self.agent != _NOBODY
            return replace(self, agent=name, caller=self.agent if is_called else None, tool=None)
        return self


@dataclass(slots=True)
class AgentConversation:
    """The events of a conversation, and what they say about each agent."""

    events: list[Event] = field(default_factory=list)
    agents: dict[str, Agent] = field(default_factory=dict)


def is_incomplete(sample: JsonObject) -> bool:
    """Whether agents made calls that the messages of the sample lack, or handed over to each other."""
    kept = {first_text(call, "id") for message in objects_in(sample.get("messages")) for call in _calls(message)}
    return any(
        (event.get("event") == "tool" and event.get("agent"))
        or (
            event.get("event") == "model" and any(first_text(call, "id") not in kept for call in _calls(_output(event)))
        )
        for event, scope in _scoped(sample)
        if not scope.scoring
    )


def conversation_of(
    sample: JsonObject, resolved: Resolved, usages: Usages, unmapped: UnmappedFields
) -> AgentConversation:
    """The conversation of all agents of a sample, each message once."""
    telling = _Telling(resolved, usages, unmapped)
    messages = list(objects_in(sample.get("messages")))
    pool = list_in(at(sample.get("events_data"), "messages"))
    events = [(event, scope) for event, scope in _scoped(sample) if not scope.scoring]
    kept = {first_text(message, "id") for message in messages}
    kept.update(first_text(message, "id") for event, _ in events for message in _inputs(event, pool))
    for event, scope in events:
        if event.get("event") == "tool":
            telling.tool(event, scope)
        elif event.get("event") == "model":
            output = _output(event)
            if _calls(output) or first_text(output, "id") in kept or scope.caller or not messages:
                telling.model(event, output, _inputs(event, pool), scope)
            else:
                unmapped.count("events[] (model call outside the conversation)")
    telling.history(messages)
    return telling.conversation


class _Telling:
    """Converts the events of a sample to a conversation, in order."""

    def __init__(self, resolved: Resolved, usages: Usages, unmapped: UnmappedFields) -> None:
        self.conversation = AgentConversation()
        self._resolved = resolved
        self._usages = usages
        self._unmapped = unmapped
        self._ids: set[str] = set()
        self._texts: set[str] = set()
        self._made: set[str] = set()
        self._answered: set[str] = set()
        self._briefs: list[str] = []
        self._last = _NOBODY

    def model(self, event: JsonObject, output: JsonObject, inputs: list[JsonObject], scope: _Scope) -> None:
        """Add what is new in the input of a model call, and its output."""
        agent = scope.tool or scope.agent
        if agent == _NOBODY:
            agent = first_text(event, "role") or agent
        self._introduce(agent, event, inputs)
        self._last = agent
        for message in inputs:
            self._given(message, agent, scope.caller)
        if output:
            self._ids.add(str(output.get("id")))
            self._said(output, agent)

    def tool(self, event: JsonObject, scope: _Scope) -> None:
        """Add the result of a call, and the call itself where no model asked for it."""
        call_id = first_text(event, "id")
        if call_id is None or event.get("pending") is True:
            return
        if call_id not in self._made:
            name = first_text(event, "function") or "unknown"
            call = Call(name=name, arguments=self._resolved.value(event.get("arguments")), id=call_id)
            self._say(Said(agent_id=scope.agent, calls=(call,)))
        content = content_of(event.get("result"), self._resolved, self._unmapped).said
        self._result(call_id, content, event.get("error"), event.get("working_time"))

    def history(self, messages: list[JsonObject]) -> None:
        """Add the messages of the final history that no model call was given."""
        for message in messages:
            self._given(message, self._last, None)

    def _given(self, message: JsonObject, agent: str, caller: str | None) -> None:
        """Add a message, unless it was added before."""
        role = message.get("role")
        if role == "system" or self._is_known(message, by_text=role != "user" or caller is not None):
            return
        if role == "assistant":
            self._said(message, agent)
        elif role == "tool":
            call_id = first_text(message, "tool_call_id")
            if call_id in self._made and call_id not in self._answered:
                self._result(call_id, self._content(message).said, message.get("error"), None)
        elif role == "user":
            text = self._content(message).said
            if not text.strip() or _HANDED_BACK.fullmatch(text) or text.startswith(_SUMMARY):
                return
            if caller is None:
                self.conversation.events.append(Asked(text=text))
            elif text not in self._briefs:
                self._say(Said(agent_id=caller, message=text, to=agent))

    def _is_known(self, message: JsonObject, *, by_text: bool) -> bool:
        """Whether a message was added before. Agents that rebuild their history give it new IDs."""
        name = first_text(message, "id")
        if name in self._ids:
            return True
        calls = [first_text(call, "id") for call in _calls(message)]
        key = f"{message.get('role')} {calls} {message.get('tool_call_id')} {self._content(message).said}"
        known = (by_text or name is None) and key in self._texts
        self._texts.add(key)
        if name is not None:
            self._ids.add(name)
        return known

    def _said(self, message: JsonObject, agent: str) -> None:
        content = self._content(message)
        used, seconds = self._usages.get(str(message.get("id")), (None, None))
        self._say(
            Said(
                agent_id=agent,
                thought=content.thought or first_text(message, "reasoning"),
                message=content.said if content.said.strip() else None,
                calls=(*content.calls, *parsed_calls(message, self._resolved)),
                usage=used,
                latency_ms=_milliseconds(seconds),
            )
        )
        self.conversation.events += content.results

    def _say(self, said: Said) -> None:
        made = {call.id for call in said.calls if call.id}
        self._made |= made
        self._answered -= made
        self._briefs += [text for call in said.calls for text in object_in(call.arguments).values()]
        self.conversation.events.append(said)

    def _result(self, call_id: str, content: str, error: Any, seconds: Any) -> None:
        told = first_text(error, "message")
        told = None if told is None else self._resolved.text(told)
        self._answered.add(call_id)
        self.conversation.events.append(
            Result(
                content=content or told or "", call_id=call_id, error=one_line(told), latency_ms=_milliseconds(seconds)
            )
        )

    def _content(self, message: JsonObject) -> Content:
        return content_of(message.get("content"), self._resolved, self._unmapped)

    def _introduce(self, name: str, event: JsonObject, inputs: list[JsonObject]) -> None:
        """Metadata of an agent: its first prompt and model, and all its tools."""
        agent = self.conversation.agents.get(name) or Agent(id=name)
        tools = {tool.name: tool for tool in agent.tools or ()}
        for tool in tools_in(event.get("tools")):
            tools.setdefault(tool.name, tool)
        systems = [] if agent.description else [message for message in inputs if message.get("role") == "system"]
        prompts = [self._content(message).said for message in systems]
        self.conversation.agents[name] = replace(
            agent,
            description=agent.description or "\n".join(prompts).strip() or None,
            model=agent.model or first_text(event, "model"),
            tools=tuple(tools.values()) or None,
        )


def _scoped(sample: JsonObject) -> Iterator[tuple[JsonObject, _Scope]]:
    """All events but those of spans and steps, each with where it happened.

    Old logs have steps instead of spans, and events within the events of tools and subtasks.
    """
    events = [*objects_in(sample.get("events")), *objects_in(at(sample.get("transcript"), "events"))]
    waiting = [(event, _Scope()) for event in reversed(events)]
    spans: dict[str, _Scope] = {}
    steps: list[str | None] = []
    while waiting:
        event, outer = waiting.pop()
        kind, name = event.get("event"), first_text(event, "name") or _NOBODY
        if kind == "span_begin":
            above = spans.get(first_text(event, "parent_id") or "", outer)
            spans[first_text(event, "id") or ""] = above.inside(first_text(event, "type") or name, name)
        elif kind == "step" and event.get("action") == "begin":
            steps.append(first_text(event, "type"))
        elif kind == "step":
            del steps[-1:]
        else:
            scope = spans.get(first_text(event, "span_id") or "", outer)
            if any(step in _SCORING for step in steps):
                scope = replace(scope, scoring=True)
            yield event, scope
            inner = scope.inside("agent", agent) if (agent := first_text(event, "agent")) else scope
            waiting += [(nested, inner) for nested in reversed(list(objects_in(event.get("events"))))]


def _inputs(event: JsonObject, pool: list[Any]) -> list[JsonObject]:
    """The input of a model call; newer logs store the messages of all calls once, in a pool."""
    given = list_in(event.get("input"))
    for reference in list_in(event.get("input_refs")):
        if isinstance(reference, list) and len(reference) == 2 and all(isinstance(end, int) for end in reference):
            given = [*given, *pool[max(reference[0], 0) : max(reference[1], 0)]]
    return list(objects_in(given))


def _output(event: JsonObject) -> JsonObject:
    """The message that a model call resulted in."""
    choices = list(objects_in(at(event.get("output"), "choices")))
    return object_in(at(choices[0], "message")) if choices else {}


def _calls(message: JsonObject) -> list[JsonObject]:
    return list(objects_in(message.get("tool_calls")))


def _milliseconds(seconds: Any) -> float | None:
    return seconds * 1000 if isinstance(seconds, int | float) and 0 <= seconds < _LONGEST else None
