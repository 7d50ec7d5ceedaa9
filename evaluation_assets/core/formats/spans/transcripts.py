"""Convert a trace to a trajectory: the span tree becomes steps of agents.

Model spans become messages, tool spans become results, agent spans determine the agent. Other spans are counted as
unmapped, by the library that wrote them. Each model call receives the whole history; here every message appears once,
at its first occurrence.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from evaluation_assets.core.formats.base import UnusableRecord
from evaluation_assets.core.formats.spans.attributes import (
    ModelCall,
    ToolRun,
    agent_run,
    grouped,
    kind_of,
    model_call,
    tool_run,
)
from evaluation_assets.core.formats.spans.messages import Message
from evaluation_assets.core.formats.spans.pending import PendingEvents, Place
from evaluation_assets.core.formats.spans.tree import Span, Trace
from evaluation_assets.core.formats.times import as_utc
from evaluation_assets.core.formats.transcript import (
    Call,
    Result,
    Said,
    Transcript,
    as_text,
    final_message,
    final_submission,
    hands_in,
    one_line,
    total,
)
from evaluation_assets.core.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.trajectories.identity import task_id_of
from evaluation_assets.core.trajectories.model import Agent, JsonObject, Tool, Trajectory, Usage

_SESSION = (
    "session.id",
    "gen_ai.conversation.id",
    "langsmith.trace.session_id",
    "traceloop.association.properties.session_id",
)
_EVALUATION = "gen_ai.evaluation.result"

_CODE = re.compile(r"```(?:py|python)?[ \t]*\n(.*?)```", re.DOTALL)
_CODE_STEP = '{"memory_step": "ActionStep('
_CODE_TOOL = "python_interpreter"
"""Prefix of a step recorded by smolagents, and its name for the tool that runs the model's code."""

_REPEATED = re.compile(r"\s*(?:Calling tools:\s*\[\{|Call id: \S+\s+(?:Observation|Error):)")
"""Start of a message in which smolagents repeats calls and their results to the model."""


def trajectory_of(trace: Trace, name: str, unmapped: UnmappedFields) -> Trajectory:
    """Build the trajectory of a trace.

    Raises:
        UnusableRecord: no span has a model message or a tool call.
    """
    telling = _Telling(unmapped)
    for root in trace.roots:
        telling.tell(root, "agent")
    if trace.repeated:
        unmapped.count("spans[] (exported twice)", trace.repeated)
    transcript = Transcript()
    steps = telling.events.write(transcript)
    text, turns = transcript.finished()
    if not any(turn.interactions for turn in turns):
        raise UnusableRecord("no_trajectory_text", "no span of the trace has a model message or a tool call")
    spans = list(trace.walk())
    item = next((found for span in spans for found in _dataset_items(span.logs)), {})
    task = telling.task or next((turn.user_message for turn in turns if turn.user_message), "")
    answer = telling.answer or final_submission(text, turns) or final_message(turns)
    starts = [span.start_s for span in spans if span.start_s is not None]
    ends = [span.start_s + (span.duration_ms or 0) / 1000 for span in spans if span.start_s is not None]
    about = {
        "trace_id": trace.id,
        "service": next((span.service for span in spans if span.service), None),
        "session_id": _first_attribute(spans, _SESSION),
        "spans": {span: steps[entry] + call for span, (entry, call) in telling.places.items()},
    }
    verdicts = list(_verdicts(spans))
    reference = item.get("true_answer")
    return Trajectory(
        id=trace.id,
        task_id=task_id_of(item.get("task_id") or item.get("instance_id"), task, text),
        format=name,
        task=task,
        text=text,
        turns=turns,
        agents=telling.participants(),
        final_answer=answer,
        reference_answer=as_text(reference).strip() or None,
        started_at=as_utc(min(starts)) if starts else None,
        duration_s=round(max(ends) - min(starts), 6) if starts else None,
        usage=telling.usage(),
        flags=() if answer or len(turns) > 1 else ("no_answer",),
        labels={"verdicts": verdicts} if verdicts else {},
        extra={key: value for key, value in about.items() if value},
    )


class _Telling:
    """Converts the spans of a trace to events, in order."""

    def __init__(self, unmapped: UnmappedFields) -> None:
        self._unmapped = unmapped
        self.events = PendingEvents()
        self._agents: dict[str, Agent] = {}
        self._seen: set[str] = set()
        self._model_usage: list[Usage | None] = []
        self._agent_usage: list[Usage | None] = []
        self.task: str | None = None
        self.answer: str | None = None
        self.places: dict[str, Place] = {}

    def tell(self, root: Span, agent_id: str) -> None:
        """Read a span and its descendants, iteratively: traces may be deeper than Python's recursion limit."""
        open_spans = [self._span(root, agent_id, None)]
        while open_spans:
            child = next(open_spans[-1], None)
            if child is None:
                open_spans.pop()
            else:
                open_spans.append(self._span(*child))

    def participants(self) -> tuple[Agent, ...]:
        """All agents with at least one event."""
        speaking = self.events.speakers()
        return tuple(agent for name, agent in self._agents.items() if name in speaking)

    def usage(self) -> Usage | None:
        """Tokens of the model spans; agent spans contain sums and are used only if model spans have none."""
        return total(self._model_usage) or total(self._agent_usage)

    def _span(self, span: Span, agent_id: str, wrapper: Span | None) -> Iterator[tuple[Span, str, Span | None]]:
        """Process a span; yields each child, which is processed before the span continues."""
        kind = kind_of(span)
        first, answered = len(self.events), None
        if kind == "model":
            inner = list(_inner_models(span))
            if not inner:
                self._model(_merged(span, wrapper), agent_id)
            elif wrapper is None and len(inner) == 1:
                wrapper = span
        elif kind == "agent":
            agent_id, answered = self._agent(span, agent_id)
        elif kind == "tool":
            agent_id = self._tool(span, agent_id)
        elif kind == "other":
            self._unmapped.count(
                f"spans[] ({span.scope or span.attributes.get('openinference.span.kind') or span.name})"
            )
        for child in span.children:
            yield child, agent_id, wrapper if kind in ("model", "other", "chain") else None
        if str(span.attributes.get("input.value", "")).startswith(_CODE_STEP):
            self._ran_code(span, first)
        elif kind == "chain":
            self._unmapped.count("spans[] (chain)")
        if answered is not None:
            self._handed_in(answered, first)
        if kind != "other" and len(self.events) > first:
            self.places.setdefault(span.id, (first, 0))

    def _agent(self, span: Span, caller: str) -> tuple[str, str | None]:
        """Process an agent span: its descendants belong to this agent; its output is the agent's answer."""
        with self._unmapped.reading(grouped(span.attributes), "spans[].") as fields:
            run = agent_run(span, fields)
            fields.set_aside(*_SESSION)
        outermost = caller == "agent"
        self._introduce(run.name, description=run.description, tools=run.tools)
        if run.asked is not None:
            if outermost:
                self.task = self.task or run.asked
                self.events.ask(run.asked)
            elif not self.events.is_known(run.asked):
                self.events.say(Said(agent_id=caller, message=run.asked))
            self.events.remember(run.asked)
        if outermost:
            self._agent_usage.append(run.usage)
            self.answer = run.answered or self.answer
        return run.name, run.answered

    def _handed_in(self, answered: str, first: int) -> None:
        """Set the answer as the result of the call that submits it, if its tool span has none."""
        for place, call in self.events.open_calls():
            if place[0] >= first and hands_in(call.name):
                self.events.answer(place, Result(content=answered))

    def _model(self, span: Span, agent_id: str) -> None:
        with self._unmapped.reading(grouped(span.attributes), "spans[].") as fields:
            call = model_call(span, fields)
            named = fields.text("gen_ai.agent.name")
            fields.set_aside(*_SESSION, "gen_ai.agent.description", "gen_ai.agent.id")
        if agent_id == "agent" and named:
            agent_id = named
        self._model_usage.append(call.usage)
        prompt = next((message.text for message in call.inputs if message.role == "system"), None)
        self._introduce(agent_id, prompt=prompt, model=call.model, tools=call.tools)
        for message in call.inputs:
            self._given(message, agent_id)
        self._answered(span, call, agent_id)

    def _answered(self, span: Span, call: ModelCall, agent_id: str) -> None:
        """Add the model's output."""
        texts = [message.text for message in call.outputs if message.text.strip()]
        thoughts = [message.thought for message in call.outputs if message.thought]
        calls = tuple(made for message in call.outputs for made in message.calls)
        self.places[span.id] = (len(self.events), 0)
        if texts or thoughts or calls:
            said = Said(
                agent_id=agent_id,
                thought="\n".join(thoughts) or None,
                message="\n".join(texts) or None,
                calls=calls,
                latency_ms=span.duration_ms,
                usage=call.usage,
            )
            self.events.say(said)
            self._seen.update(_key(message) for message in call.outputs)
        elif span.error is not None:
            self.events.observe(
                Result(content=span.error, error=one_line(span.error), agent_id=agent_id, latency_ms=span.duration_ms)
            )
        else:
            del self.places[span.id]
            self._unmapped.count("spans[] (model without its words)")

    def _given(self, message: Message, agent_id: str) -> None:
        """Add an input message of the model, unless it was added before."""
        if message.role == "tool" and message.call_id in self.events.made:
            place = next((one for one, call in self.events.open_calls() if call.id == message.call_id), None)
            if place is not None:
                self.events.answer(place, Result(content=message.text))
            return
        key = _key(message)
        if key in self._seen:
            return
        self._seen.add(key)
        if message.role in ("system", "developer", "tool-call") or (self.events and _REPEATED.match(message.text)):
            return
        if self.events.is_known(message.text) and not message.calls:
            return
        if message.role == "assistant":
            self.events.say(
                Said(agent_id=agent_id, thought=message.thought, message=message.text or None, calls=message.calls)
            )
        elif message.role == "user" and self.task is None:
            self.events.ask(message.text)
        else:
            self.events.observe(Result(content=message.text, agent_id=agent_id))
        self.events.remember(message.text)

    def _tool(self, span: Span, agent_id: str) -> str:
        """Add a tool span: its result goes to the matching call. Model calls inside it are attributed to the tool."""
        with self._unmapped.reading(grouped(span.attributes), "spans[].") as fields:
            run = tool_run(span, fields)
            fields.set_aside(*_SESSION)
        place = self._asked_for(run)
        if place is None:
            place = (len(self.events), 0)
            self.events.say(Said(agent_id=agent_id, calls=(run.call,)))
        if run.result is None:
            self.events.took(place, span.duration_ms)
        else:
            self.events.answer(
                place, Result(content=run.result, error=one_line(run.error), latency_ms=span.duration_ms)
            )
        self.places[span.id] = place
        self._introduce(agent_id, tools=(Tool(name=run.call.name, description=run.description or ""),))
        return agent_id if any(kind_of(child) == "agent" for child in span.walk()) else run.call.name

    def _asked_for(self, run: ToolRun) -> Place | None:
        """The pending call of this tool run, by id or by tool name."""
        calls = self.events.open_calls()
        if run.call.id is not None:
            for place, call in calls:
                if call.id == run.call.id:
                    return place
        for place, call in calls:
            if call.name == run.call.name and (call.id is None or run.call.id is None):
                return place
        return None

    def _ran_code(self, span: Span, first: int) -> None:
        """Add the execution of code in a model's message as a call, with the step's output as its result."""
        output = span.attributes.get("output.value")
        content = output if isinstance(output, str) else span.error or ""
        for entry in self.events.since(first):
            if not isinstance(entry.event, Said) or entry.event.calls or not entry.event.message:
                continue
            code = _CODE.findall(entry.event.message)
            if code:
                words = re.sub(r"\s*(?:Code:)?\s*$", "", entry.event.message[: entry.event.message.index("```")])
                call = Call(name=_CODE_TOOL, arguments="\n\n".join(part.rstrip() for part in code))
                entry.event = replace(entry.event, message=words or None, calls=(call,))
                entry.results = [Result(content=content, error=one_line(span.error))] if content else [None]
                self.events.remember(content)
                return
        if content and not self.events.is_known(content):
            self.events.observe(Result(content=content, error=one_line(span.error)))
            self.events.remember(content)

    def _introduce(
        self,
        name: str,
        *,
        description: str | None = None,
        prompt: str | None = None,
        model: str | None = None,
        tools: tuple[Tool, ...] = (),
    ) -> None:
        """Metadata of an agent; a prompt is preferred to a description, a definition to a name."""
        agent = self._agents.get(name) or Agent(id=name)
        known = {tool.name: tool for tool in agent.tools or ()}
        for tool in tools:
            if tool.name not in known or known[tool.name].parameters is None:
                known[tool.name] = tool
        if prompt and name not in self._seen:
            self._seen.add(name)
            agent = replace(agent, description=prompt)
        self._agents[name] = replace(
            agent,
            description=agent.description or description,
            model=agent.model or model,
            tools=tuple(known.values()) or None,
        )


def _inner_models(span: Span) -> Iterator[Span]:
    """Model spans nested in a model span (a client's call in a framework's), except inside tools and agents."""
    waiting = list(span.children)
    while waiting:
        child = waiting.pop()
        kind = kind_of(child)
        if kind == "model":
            yield child
        elif kind in ("other", "chain"):
            waiting += child.children


def _merged(span: Span, wrapper: Span | None) -> Span:
    """Merge a client's model span with that of the framework around it."""
    if wrapper is None:
        return span
    return replace(span, attributes={**wrapper.attributes, **span.attributes}, events=[*wrapper.events, *span.events])


def _key(message: Message) -> str:
    calls = [(call.name, call.id) for call in message.calls]
    return f"{message.role} {message.text.strip()} {calls if calls else message.call_id or ''}"


def _dataset_items(logs: Iterable[Any]) -> Iterator[JsonObject]:
    """The benchmark item that a function was called with, as logged by the Patronus SDK."""
    for body in logs:
        arguments = body.get("function.arguments") if isinstance(body, dict) else None
        for value in arguments.values() if isinstance(arguments, dict) else ():
            if isinstance(value, dict) and ("true_answer" in value or "instance_id" in value):
                yield value


def _first_attribute(spans: list[Span], keys: tuple[str, ...]) -> str | None:
    found = (span.attributes.get(key) for span in spans for key in keys)
    return next((value for value in found if isinstance(value, str) and value), None)


def _verdicts(spans: Iterable[Span]) -> Iterator[JsonObject]:
    """Evaluation results recorded as span events."""
    for span in spans:
        for event in span.events:
            if event.name == _EVALUATION:
                name = event.attributes.get("gen_ai.evaluation.name")
                verdict = {
                    "judge": event.attributes.get("gen_ai.evaluation.evaluator.name") or name,
                    "level": "trajectory",
                    "subject": span.id,
                    "scores": {str(name): event.attributes.get("gen_ai.evaluation.score.value")},
                    "verdict": event.attributes.get("gen_ai.evaluation.score.label"),
                    "reasoning": event.attributes.get("gen_ai.evaluation.explanation"),
                }
                yield {key: value for key, value in verdict.items() if value is not None}
