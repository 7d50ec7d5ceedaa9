"""The session of a coding agent while its records are read: what happened in order, and the sessions of its sub-agents.

Readers of coding agents add events to a `CodingSession`. The steps of a sub-agent come before the call that started it,
so that the call directly precedes its result.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from evaluation_assets.core.traces.formats.base import UnusableRecord
from evaluation_assets.core.traces.formats.final_answers import final_submission, last_words
from evaluation_assets.core.traces.formats.times import active_seconds, as_utc, chronological, elapsed_s
from evaluation_assets.core.traces.formats.transcript import (
    Asked,
    Call,
    Event,
    Result,
    Said,
    flags_of,
    results_of_no_call,
    total,
    written,
)
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import without_none
from evaluation_assets.core.traces.formats.usage import at_most
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory, Usage
from evaluation_assets.core.traces.trajectories.requests import KEPT, Request, kept

SUB_AGENT = "sub-agent"


@dataclass(slots=True)
class Parts:
    """The parts of one message by kind, while it is read."""

    thoughts: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


@dataclass(slots=True)
class CodingSession:
    """A session. `spent` and `calls_stated` are the usage and calls that the source records for the whole, if it does.

    `about` becomes `extra`. `error` is that of the last request, set after what was said before it.
    """

    agent: Agent
    id: str | None = None
    events: list[Event] = field(default_factory=list)
    started: dict[str, list["CodingSession"]] = field(default_factory=dict)
    strays: list["CodingSession"] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    about: JsonObject = field(default_factory=dict)
    outcome: str | None = None
    error: str | None = None
    stopped: bool = False
    truncated: bool = False
    compactions: int = 0
    interruptions: int = 0
    spent: Usage | None = None
    calls_stated: int | None = None
    exit_codes: dict[str, int] = field(default_factory=dict)
    _uncounted: int = 0
    _model: str | None = None
    _requests: list[Request] = field(default_factory=list)

    def at(self, time: str | None) -> None:
        """Note the time of a record."""
        if time is not None:
            self.times.append(time)

    def at_seconds(self, seconds: float | None) -> None:
        """Note the time of a record in seconds since 1970."""
        self.at(as_utc(seconds))

    def at_milliseconds(self, milliseconds: float | None) -> None:
        """Note the time of a record in milliseconds since 1970."""
        self.at_seconds(None if milliseconds is None else milliseconds / 1000)

    def know(self, **about: str | None) -> None:
        """Note what is known of the session, such as its folder."""
        self.about |= without_none(about)

    def ran_on(self, model: str | None) -> None:
        """Note the model of the requests from now on. That of the agent is its first one."""
        self._model = model or self._model
        self.agent = replace(self.agent, model=self.agent.model or model)

    def asked(self, text: str) -> None:
        """Add a prompt of the user, or of the agent that started this one."""
        if text.strip():
            self.events.append(Asked(text=text))

    def said(self, said: Said) -> None:
        """Add an output of this session's agent. An error before it did not end the session."""
        self.error = None
        self.events.append(replace(said, agent_id=self.agent.id))
        self._requested(said.usage)

    def spoke(
        self,
        thought: str | None = None,
        message: str | None = None,
        calls: Sequence[Call] = (),
        usage: Usage | None = None,
    ) -> bool:
        """Add an output of this session's agent, unless it is empty; whether there is one."""
        if thought or message or calls:
            self.said(Said(thought=thought or None, message=message or None, calls=tuple(calls), usage=usage))
        return bool(thought or message or calls)

    def answered(self, result: Result) -> None:
        """Add the result of a call."""
        if result.exit_code is not None and result.call_id is not None:
            self.exit_codes[result.call_id] = result.exit_code
        self.events.append(replace(result, agent_id=self.agent.id))

    def used(self, usage: Usage | None, model: str | None = None) -> None:
        """Add the usage of one model request: that of the first output since the last usage, if there is one."""
        if usage is None:
            return
        self._requested(usage, model)
        for index in range(self._uncounted, len(self.events)):
            event = self.events[index]
            if isinstance(event, Said) and event.usage is None:
                self.events[index] = replace(event, usage=usage)
                break
        self._uncounted = len(self.events)

    def _requested(self, usage: Usage | None, model: str | None = None) -> None:
        if usage is not None:
            self._requests.append(Request(model or self._model or self.agent.model, usage))

    def join(self, child: "CodingSession", call_id: str | None) -> None:
        """Add the session of a sub-agent, with the call that started it."""
        if call_id is None:
            self.strays.append(child)
        else:
            self.started.setdefault(call_id, []).append(child)

    def trajectory(self, format_name: str, unmapped: UnmappedFields) -> Trajectory:
        """Build the trajectory of the session and its sub-agents. What it states is compared with what it has.

        Raises:
            UnusableRecord: no agent said or did anything.
        """
        agents: dict[str, Agent] = {}
        self._confirm(unmapped)
        text, turns = written(_Writer(agents).events(self, self.agent.id, None))
        if not turns:
            raise UnusableRecord("no_trajectory_text", "no record has an agent message or a tool call")
        task = next((turn.user_message for turn in turns if turn.user_message), "")
        task_id = task_id_of(None, task, text)
        own = last_words(event for event in self.events if isinstance(event, Said)) if len(turns) == 1 else None
        answer = self.outcome or final_submission(text, turns, self.agent.id) or own
        times = sorted(self.times, key=chronological)
        counts = {"compactions": self.compactions, "interruptions": self.interruptions}
        more = {
            "active_s": active_seconds(times),
            "exit_codes": self._all_exit_codes(),
            KEPT: kept(self._all_requests()),
        }
        about = {"session_id": self.id, "error": self.error, **self.about, **counts, **more}
        unanswered = answer is None and len(turns) == 1
        return Trajectory(
            id=self.id or task_id,
            task_id=task_id,
            format=format_name,
            task=task,
            text=text,
            agents=tuple(agents.values()),
            turns=turns,
            final_answer=answer,
            started_at=times[0] if times else None,
            duration_s=elapsed_s(times[0], times[-1]) if len(times) > 1 else None,
            usage=self.usage(),
            flags=flags_of(
                cut_off=self.stopped,
                truncated=self.truncated,
                unanswered=unanswered,
                failed=self.error is not None,
            ),
            extra={name: value for name, value in about.items() if value},
        )

    def _confirm(self, unmapped: UnmappedFields) -> None:
        """Compare what the session states. Its usage may have requests that no step shows, but no fewer than they."""
        stated = unmapped.stated
        steps = total(event.usage for event in self.events if isinstance(event, Said))
        if self.spent is not None and steps is not None:
            part = at_most(self.spent, steps)
            stated.compare("input token", part.input_tokens, steps.input_tokens)
            stated.compare("output token", part.output_tokens, steps.output_tokens)
        calls = sum(len(event.calls) for event in self.events if isinstance(event, Said))
        stated.compare("call", self.calls_stated, calls)
        unmapped.note("unknown_part", "result of no call", results_of_no_call(self.events))

    def _all_exit_codes(self) -> dict[str, int]:
        """Exit codes by call ID, with those of sub-agents."""
        inner = (entry for child in self._children for entry in child._all_exit_codes().items())
        return {**dict(inner), **self.exit_codes}

    def _all_requests(self) -> list[Request]:
        """The requests of the session and its sub-agents; none if a usage is stated for the whole of one of them."""
        own = [replace(request, model=request.model or self.agent.model) for request in self._requests]
        inner = [request for child in self._children for request in child._all_requests()]
        return [] if self.spent is not None else [*own, *inner]

    @property
    def _children(self) -> Iterator["CodingSession"]:
        return (child for children in (*self.started.values(), self.strays) for child in children)

    def usage(self) -> Usage | None:
        """Usage of the session and its sub-agents."""
        own = self.spent or total(request.usage for request in self._requests)
        return total([own, *(child.usage() for child in self._children)])


@dataclass(frozen=True, slots=True)
class _Writer:
    """Puts sessions in each other's place. `agents` collects the agents under their ids in the trajectory."""

    agents: dict[str, Agent]

    def events(self, session: CodingSession, agent_id: str, caller: str | None) -> Iterator[Event]:
        self.agents[agent_id] = replace(session.agent, id=agent_id)
        for event in session.events:
            if isinstance(event, Asked):
                yield event if caller is None else Said(agent_id=caller, message=event.text, to=agent_id)
            elif isinstance(event, Said) and any(call.id in session.started for call in event.calls):
                yield from self._delegated(session, replace(event, agent_id=agent_id))
            else:
                yield replace(event, agent_id=agent_id)
        called = {call.id for event in session.events if isinstance(event, Said) for call in event.calls}
        for call_id, children in session.started.items():
            for child in children if call_id not in called else ():
                yield from self._child(child, agent_id)
        for child in session.strays:
            yield from self._child(child, agent_id)

    def _delegated(self, session: CodingSession, said: Said) -> Iterator[Event]:
        """A message with calls that started sub-agents: its words, then each call after the steps it started."""
        words = replace(said, calls=())
        usage = said.usage
        if words.thought or words.message:
            yield words
            usage = None
        for call in said.calls:
            for child in session.started.get(call.id or "", ()):
                yield from self._child(child, said.agent_id)
            yield Said(agent_id=said.agent_id, calls=(call,), usage=usage)
            usage = None

    def _child(self, child: CodingSession, caller: str) -> Iterator[Event]:
        name, number = child.agent.id, 2
        while name in self.agents:
            name, number = f"{child.agent.id} {number}", number + 1
        yield from self.events(child, name, caller)
