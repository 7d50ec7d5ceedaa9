"""Write the text of a trajectory from structured events, and record the spans of its parts.

Readers of messages, events and spans add events to a `Transcript` in order. It writes a readable text with the same
tags for all sources, and returns the turns with their spans. Each call directly precedes its result, so that every
call, including parallel calls, is a separate clip.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from evaluation_assets.core.text.nullable import sum_of, whole_sum_of
from evaluation_assets.core.traces.formats.base import UnusableRecord
from evaluation_assets.core.traces.formats.turns import Turns
from evaluation_assets.core.traces.trajectories.failures import failure_in
from evaluation_assets.core.traces.trajectories.model import (
    TWO_OUTCOMES,
    Span,
    Step,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    arguments_in,
)

UNNAMED = "agent"
"""ID of an agent that the messages of its source do not name."""

_SHOWN = re.compile(r"(?:\s*+(?>\[image[^\]]*+\]|<system-reminder>.*?</system-reminder>))++\s*+", re.DOTALL)
"""Images and reminders that programs add in the name of the user. Atomic: nothing is tried twice."""

_MCP_NAME = re.compile(r"mcp__(.+?)__.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call of a source. `arguments` is an object, or a text that should be one.

    `latency_ms` is the latency that the source records with the call; a latency of the result takes precedence.
    """

    name: str
    arguments: Any = None
    id: str | None = None
    server: str | None = None
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a call. `error` is set if the source itself reports a failure.

    `agent_id` is the agent of a result without a call, by default the one that spoke last. `succeeded` is set if the
    source itself reports success: the content is then not searched for errors. `tool` names the tool of a result
    without a call ID. `exit_code` is that of the command that the call ran.
    """

    content: str
    call_id: str | None = None
    tool: str | None = None
    error: str | None = None
    latency_ms: float | None = None
    agent_id: str | None = None
    succeeded: bool = False
    exit_code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One output of an agent: reasoning, message and calls.

    `to` is the agent that a message hands the work to, and `model` the one that wrote it, if the source names them.
    `stop_reason` is that of the model. What `goes_on` is of the same answer as the output before it, which has the
    usage.
    """

    agent_id: str = UNNAMED
    thought: str | None = None
    message: str | None = None
    to: str | None = None
    calls: tuple[Call, ...] = ()
    latency_ms: float | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    model: str | None = None
    goes_on: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A user message, which starts a turn."""

    text: str
    knowledge: str | None = None


Event = Asked | Said | Result
"""An event of a conversation. Results come after their calls."""


class Transcript:
    """Builds the text and turns of one trajectory, event by event."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._turns = Turns()
        self._speaker: str | None = None

    def asked(self, asked: Asked) -> None:
        """Start a turn with a user message."""
        self._turns.ask(asked.text, asked.knowledge)
        self._turns.agent = None
        self._tagged("user", asked.text)

    def said(self, said: Said, results: Sequence[Result | None] = ()) -> None:
        """Add an agent event with the results of its calls, `None` for calls without one; empty events are skipped.

        Latency and usage of the model call are assigned to the first step, since one model call made all tool calls.
        The text names who speaks with a message, or else where that is another agent than before.
        """
        if not (said.thought or said.message or said.calls):
            return
        self._turns.speak(said.agent_id)
        by = {} if said.message or self._speaker in (None, said.agent_id) else {"agent": said.agent_id}
        self._speaker = said.agent_id
        thought = self._tagged("think", said.thought, **by) if said.thought else None
        to = {} if said.to is None else {"to": said.to}
        message = self._tagged("message", said.message, agent=said.agent_id, **to) if said.message else None
        start, latency, usage = self._turns.position, said.latency_ms, said.usage
        if not said.calls:
            self._turns.response = said.message or self._turns.response
            self._turns.add(
                Step(start=start, end=self._length, thought=thought, message=message, latency_ms=latency, usage=usage)
            )
            return
        self._turns.response = None
        for index, call in enumerate(said.calls):
            result = results[index] if index < len(results) else None
            written = self._call(call, {} if index or thought else by)
            answer = None if result is None else self._result(result)
            took = call.latency_ms if result is None or result.latency_ms is None else result.latency_ms
            self._turns.add(
                Step(
                    start=self._turns.position,
                    end=self._length,
                    thought=thought,
                    message=message,
                    call=written,
                    result=answer,
                    latency_ms=sum_of((latency, took)),
                    usage=usage,
                )
            )
            thought = message = latency = usage = None

    def observed(self, result: Result) -> None:
        """Add a result without a call, as a separate step."""
        self._turns.speak(result.agent_id or self._turns.agent or UNNAMED)
        start, content = self._turns.position, self._result(result)
        self._turns.add(Step(start=start, end=self._length, result=content, latency_ms=result.latency_ms))

    def answered(self, latency_ms: float | None = None) -> None:
        """End the current interaction; `latency_ms` is its total latency, if measured by the source."""
        self._turns.end_interaction(latency_ms)
        self._turns.agent = None

    @property
    def steps_written(self) -> int:
        """Number of steps so far, i.e. the number of the next step."""
        return self._turns.steps_written

    def finished(self, unless: str | None = None) -> tuple[str, tuple[Turn, ...]]:
        """The text and its turns.

        Raises:
            UnusableRecord: nobody said or did anything; `unless` says so of the source.
        """
        if unless is not None and not self._length:
            raise UnusableRecord("no_trajectory_text", unless)
        return "".join(self._pieces), self._turns.finished()

    def _call(self, call: Call, by: dict[str, str]) -> ToolCall:
        raw = call.arguments if isinstance(call.arguments, str) else as_text(call.arguments)
        span = self._tagged("tool_call", raw, name=call.name, **by)
        plain = arguments_in(raw) is not None
        return ToolCall(
            name=call.name,
            id=None if call.id is None else str(call.id),
            server=call.server or _server_in(call.name),
            raw=span,
            arguments=None if plain else {"arguments": call.arguments},
        )

    def _result(self, result: Result) -> ToolResult:
        span = self._tagged("result", result.content)
        if result.succeeded:
            return ToolResult(content=span)
        return ToolResult(content=span, error=result.error or failure_in(result.content, (0, len(result.content))))

    def _tagged(self, tag: str, content: str, **attributes: str) -> Span:
        """Write an element; return the span of its content."""
        names = "".join(f' {name}="{value}"' for name, value in attributes.items())
        opening = f"<{tag}{names}>\n"
        start = self._length + len(opening)
        self._pieces += [opening, content, f"\n</{tag}>\n"]
        end = start + len(content)
        self._length = end + len(self._pieces[-1])
        return start, end


def written(events: Iterable[Event]) -> tuple[str, tuple[Turn, ...]]:
    """The text and turns of a conversation in which results are separate events.

    A result is assigned to the call with its id, in the last message or an earlier one, or to the last message's first
    call without a result. What was shown right after a result, in the name of the user but without a word of one, is a
    part of it.
    """
    everything = _with_shown(events)
    results, strangers = _answered(everything)
    transcript = Transcript()
    for index, event in enumerate(everything):
        if isinstance(event, Asked):
            transcript.asked(event)
        elif isinstance(event, Said):
            transcript.said(event, results.get(index, ()))
        elif index in strangers:
            transcript.observed(event)
    return transcript.finished()


def shown_with(before: object, asked: Asked) -> Result | None:
    """The result before a message that has only images or reminders of a program, with these; else `None`."""
    if not isinstance(before, Result) or _SHOWN.fullmatch(asked.text) is None:
        return None
    return replace(before, content="\n".join(filter(None, (before.content, asked.text))))


def _with_shown(events: Iterable[Event]) -> list[Event]:
    joined: list[Event] = []
    for event in events:
        whole = shown_with(joined[-1] if joined else None, event) if isinstance(event, Asked) else None
        if whole is not None:
            joined.pop()
        joined.append(whole or event)
    return joined


def results_of_no_call(events: Sequence[Event]) -> int:
    """How many results name a call that the conversation does not have."""
    answered = [events[index] for index in _answered(events)[1]]
    return sum(isinstance(event, Result) and event.call_id is not None for event in answered)


def _answered(events: Sequence[Event]) -> tuple[dict[int, list[Result | None]], set[int]]:
    """The results of each message's calls, and the results without a call, by event index."""
    results: dict[int, list[Result | None]] = {}
    strangers: set[int] = set()
    open_calls: dict[str, tuple[int, int]] = {}
    last: _OpenCalls | None = None
    for index, event in enumerate(events):
        if isinstance(event, Said) and (event.thought or event.message or event.calls):
            results[index] = [None] * len(event.calls)
            last = _OpenCalls(event.calls, results[index])
            open_calls.update((call.id, (index, place)) for place, call in enumerate(event.calls) if call.id)
        elif isinstance(event, Asked):
            last = None
        elif isinstance(event, Result) and (last is None or not last.take(event)):
            message, place = open_calls.get(event.call_id or "", (None, 0))
            if message is None or results[message][place] is not None:
                strangers.add(index)
            else:
                results[message][place] = event
    return results, strangers


class _OpenCalls:
    """The calls of a message that wait for their results. Each is looked at a few times, however many there are."""

    def __init__(self, calls: Sequence[Call], results: list[Result | None]) -> None:
        self._calls, self._results = calls, results
        self._named, self._waiting = defaultdict[Any, deque[int]](deque), defaultdict[Any, deque[int]](deque)
        for place, call in enumerate(calls):
            self._named[call.id].append(place)
            for of_any_id in (True, False) if call.id is None else (True,):
                for tool in (call.name, None):
                    self._waiting[of_any_id, tool].append(place)

    def take(self, result: Result) -> bool:
        """Whether a result belongs to one of the calls, which has it then.

        It is that of its ID; else the first without one, or of a result without an ID the first, of its tool if any is.
        """
        place = None
        if result.call_id is not None and (named := self._open(self._named[result.call_id])):
            # IDs that differ only in their type are of two calls, or one that its result names differently
            same = (each for each in named if type(self._calls[each].id) is type(result.call_id))
            place = next((each for each in same if self._results[each] is None), named[0])
        for tool in (result.tool, None) if place is None else ():
            if place is None and (waiting := self._open(self._waiting[result.call_id is None, tool])):
                place = waiting[0]
        if place is not None:
            self._results[place] = result
        return place is not None

    def _open(self, places: deque[int]) -> deque[int]:
        """These places from the first one on that is open."""
        while places and self._results[places[0]] is not None:
            places.popleft()
        return places


def _server_in(name: str) -> str | None:
    """The MCP server in a tool name of the form `mcp__server__tool`."""
    return None if (match := _MCP_NAME.match(name)) is None else match[1]


def flags_of(
    *,
    cut_off: bool,
    unanswered: bool,
    truncated: bool = False,
    failed: bool = False,
    refused: bool = False,
    disputed: bool = False,
) -> tuple[str, ...]:
    """Flags of a trajectory: stopped at a limit, its last reply cut off, refused, without an answer, failed with its
    environment, disputed.
    """
    flags = {
        "step_limit": cut_off,
        "truncated": truncated,
        "refused": refused,
        "no_answer": unanswered,
        "failed": failed,
        TWO_OUTCOMES: disputed,
    }
    return tuple(flag for flag, applies in flags.items() if applies)


def one_line(text: str | None) -> str | None:
    """Shorten an error message to one line of at most 200 characters."""
    return None if text is None else " ".join(text[:1000].split())[:200]


def as_text(value: Any) -> str:
    """Convert a JSON value to text: texts unchanged, null as an empty text, anything else as JSON.

    Raises:
        UnusableRecord: the value is nested too deeply.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except orjson.JSONEncodeError as problem:
        raise UnusableRecord("bad_json", f"a value cannot be written as text: {problem}") from problem


def total(usages: Iterable[Usage | None]) -> Usage | None:
    """Sum the usage of several requests. A figure that one of them lacks is unknown: a partial sum is not a total."""
    reported = [usage for usage in usages if usage is not None]
    if not reported:
        return None
    cost = whole_sum_of([usage.cost_usd for usage in reported])
    return Usage(
        input_tokens=whole_sum_of([usage.input_tokens for usage in reported]),
        cached_tokens=sum_of(usage.cached_tokens for usage in reported),  # omitted if 0
        cache_write_tokens=sum_of(usage.cache_write_tokens for usage in reported),
        cache_write_1h_tokens=sum_of(usage.cache_write_1h_tokens for usage in reported),
        output_tokens=whole_sum_of([usage.output_tokens for usage in reported]),
        cost_usd=cost,
        is_list_price=cost is not None and any(usage.is_list_price for usage in reported),
    )
