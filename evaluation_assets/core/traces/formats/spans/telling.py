"""Convert the spans of a trace to events of agents, in order."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation_assets.core.traces.formats.final_answers import hands_in
from evaluation_assets.core.traces.formats.spans.asides import is_aside
from evaluation_assets.core.traces.formats.spans.attributes import (
    ModelCall,
    ToolRun,
    agent_run,
    grouped,
    hand_off_in,
    kind_of,
    model_call,
    tool_run,
)
from evaluation_assets.core.traces.formats.spans.code_steps import is_code_step, run_code
from evaluation_assets.core.traces.formats.spans.content_settings import content_setting
from evaluation_assets.core.traces.formats.spans.drop_log import DropLog
from evaluation_assets.core.traces.formats.spans.history import (
    REPEATED,
    History,
    as_context,
    end_of_context,
    same_arguments,
    with_prompts,
)
from evaluation_assets.core.traces.formats.spans.langchain_dumps import USER_MESSAGES
from evaluation_assets.core.traces.formats.spans.messages import Message
from evaluation_assets.core.traces.formats.spans.naming import NOBODY, SESSION, agent_named_in
from evaluation_assets.core.traces.formats.spans.nesting import inner_models, merged, speaks, works
from evaluation_assets.core.traces.formats.spans.participants import Participants
from evaluation_assets.core.traces.formats.spans.pending import PendingEvents, Place
from evaluation_assets.core.traces.formats.spans.questions import is_put_so, question_in
from evaluation_assets.core.traces.formats.spans.statements import usage_of_spans
from evaluation_assets.core.traces.formats.spans.tree import Span
from evaluation_assets.core.traces.formats.spans.twins import Twins
from evaluation_assets.core.traces.formats.transcript import Call, Result, Said, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.usage import at_list_price
from evaluation_assets.core.traces.trajectories.model import Agent, Tool, Usage

_PROMPTS = ("system", "developer", "tool-call")


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Where a span is: whose work it is, who called that agent, the model span around it, and whether in a tool.

    `place` is the call whose tool ran it. It is `outermost` if no agent around it, nor a tool, says what it was asked.
    """

    agent_id: str = NOBODY
    caller: str | None = None
    wrapper: Span | None = None
    in_tool: bool = False
    place: Place | None = None
    outermost: bool = True


class Telling:
    """Converts the spans of one conversation to events, in order; `nobody` is the ID of an agent that no span names."""

    def __init__(self, unmapped: UnmappedFields, drop: DropLog, *, nobody: str, with_asides: bool) -> None:
        self._unmapped = unmapped
        self._nobody = nobody
        self._with_asides = with_asides
        self._history = History(drop.calls)
        self._model_twins = drop.twins
        self._tool_twins = Twins()
        self._ran: set[Place] = set()
        self._participants = Participants()
        self._model_usage, self._agent_usage = list[Usage | None](), list[Usage | None]()
        self._trace_id: str | None = None
        self._asked: str | None = None
        self._root_began = 0
        self._question: str | None = None
        self._is_chain = False
        self._said_by_user: set[str] = set()
        self.events = PendingEvents()
        self.task: str | None = None
        self.answer: str | None = None
        self.asides = 0
        """Model calls that are no step of the work: they are left out."""
        self.twins = 0
        """Spans of work that another instrumentation recorded, too."""
        self.places: dict[str, Place] = {}
        self.tool_spans: list[str] = []

    def tell(self, root: Span) -> None:
        """Read a span and its descendants, iteratively: traces may be deeper than Python's recursion limit."""
        if root.trace_id != self._trace_id:
            self._trace_id, self._asked, self._is_chain = root.trace_id, None, False
            self._history.begin_again()
        self._root_began = len(self.events)
        self._question = question_in(root) if kind_of(root) == "chain" else None
        open_spans = [self._span(root, Within(agent_id=self._nobody))]
        while open_spans:
            child = next(open_spans[-1], None)
            if child is None:
                open_spans.pop()
            else:
                open_spans.append(self._span(*child))

    def participants(self) -> tuple[Agent, ...]:
        """All agents with at least one event."""
        return self._participants.among(self.events.speakers())

    def usage(self) -> Usage | None:
        """Tokens of the model spans; agent spans contain sums and are used only if some model span has none."""
        return usage_of_spans(self._model_usage, self._agent_usage, self._unmapped.stated)

    def _span(self, span: Span, within: Within) -> Iterator[tuple[Span, Within]]:
        """Process a span; yields each child, which is processed before the span continues."""
        kind = kind_of(span)
        first, answered = len(self.events), None
        inside = within if kind in ("model", "other", "chain") else replace(within, wrapper=None)
        if kind == "model":
            inner = list(inner_models(span))
            if not inner:
                self._model(merged(span, within.wrapper), within)
            elif within.wrapper is None and len(inner) == 1:
                inside = replace(inside, wrapper=span)
        elif kind == "agent":
            inside, answered = self._agent(span, inside)
        elif kind == "tool":
            inside = self._tool(span, inside)
        elif kind == "chain":
            self._said_by_user.update(span.attributes.get(USER_MESSAGES, ()))
        elif kind == "check":
            self._check(span)
            return
        elif kind == "other":
            name = span.scope or span.attributes.get("openinference.span.kind") or span.name
            self._unmapped.count(f"spans[] ({name})")
        for child in span.children:
            yield child, inside
        if is_code_step(span):
            run_code(span, self.events, first)
        elif kind == "chain":
            self._unmapped.count("spans[] (chain)")
        if answered is not None:
            self._handed_in(answered, first)
        if kind != "other" and len(self.events) > first:
            self.places.setdefault(span.id, (first, 0))

    def _agent(self, span: Span, within: Within) -> tuple[Within, str | None]:
        """Process an agent span: its descendants belong to this agent; its output is the agent's answer."""
        with self._unmapped.reading(grouped(span.attributes), "spans[].") as fields:
            run = agent_run(span, fields)
            fields.set_aside(*SESSION)
        if not works(span) and run.answered in (None, run.asked):  # a step of a framework's loop
            self._unmapped.count("spans[] (agent that did nothing)")
            return within, None
        caller = within.agent_id
        outermost = within.outermost and (caller == self._nobody or len(self.events) == self._root_began)
        self._participants.introduce(run.name, description=run.description, tools=run.tools)
        if run.asked is not None:
            if outermost:
                self.task = self.task or run.asked
                if not run.goes_on or run.asked != self._asked:
                    self._ask(run.asked)
                self._asked = run.asked
            elif not self.events.is_known(run.asked):
                self.events.say(Said(agent_id=caller, message=run.asked))
                self._history.note([Message(role="user", text=run.asked)])
            self.events.remember(run.asked)
        if outermost:
            self._agent_usage.append(run.usage)
            self.answer = run.answered or self.answer
        silent = run.asked is None and run.answered is None
        inside = replace(
            within, agent_id=run.name, caller=None if outermost else caller, place=None, outermost=outermost and silent
        )
        if speaks(span):
            self._model(span, inside)
        return inside, run.answered

    def _is_asked_by_chain(self, given: Any) -> bool:
        """Whether a tool or a model is given the question of the chain around it, which then is asked before."""
        if self._question is None or self._asked is not None or not is_put_so(self._question, as_text(given)):
            return False
        self.task = self.task or self._question
        self._ask(self._question)
        self._asked, self._is_chain = self._question, True
        return True

    def _ask(self, text: str) -> None:
        """Start a turn."""
        self.events.ask(text)
        self._history.note([Message(role="user", text=text)])

    def _handed_in(self, answered: str, first: int) -> None:
        """Set the answer as the result of the call that submits it, if its tool span has none."""
        for place, call in self.events.open_calls():
            if place[0] >= first and hands_in(call.name):
                self.events.answer(place, Result(content=answered))

    def _model(self, span: Span, within: Within) -> None:
        with self._unmapped.reading(grouped(span.attributes), "spans[].") as fields:
            call = model_call(span, fields)
            call = replace(call, inputs=tuple(with_prompts(call.inputs, self._said_by_user)))
            fields.set_aside(*SESSION, "gen_ai.agent.name", "gen_ai.agent.description", "gen_ai.agent.id", "metadata")
        if within.agent_id == self._nobody and (named := agent_named_in(span)) is not None:
            within = replace(within, agent_id=named)
        if not self._with_asides and is_aside(call):
            self._aside(call)
            return
        if self._model_twins.of_model(span, call.outputs):
            self.twins += 1
            return
        call = replace(call, usage=at_list_price(call.usage, call.model))
        self._model_usage += [] if call.usage is None and span.error else [call.usage]  # what failed has no answer
        prompt = next((message.text for message in call.inputs if message.role == "system"), None)
        self._participants.introduce(within.agent_id, prompt=prompt, model=call.model, tools=call.tools)
        self._read_input(call.inputs, within)
        self._read_input(call.before, within)
        self._answered(span, call, within.agent_id)

    def _aside(self, call: ModelCall) -> None:
        """Leave out a model call beside the work, which is paid for."""
        self.asides += 1
        self._model_usage += [] if call.usage is None else [at_list_price(call.usage, call.model)]

    def _check(self, span: Span) -> None:
        """Leave out what looks at the work of others."""
        for model in (each for each in span.walk() if kind_of(each) == "model" and not any(inner_models(each))):
            with self._unmapped.reading(grouped(model.attributes), "spans[].") as fields:
                self._aside(model_call(model, fields))

    def _read_input(self, inputs: Sequence[Message], within: Within) -> None:
        """Add what is new in the input of a model call."""
        is_first = self._history.begins(within.agent_id)
        border = end_of_context(inputs) if is_first else 0
        answered = next((place for place, each in enumerate(inputs) if each.role == "assistant"), len(inputs))
        earlier: list[Message] = []
        for place, message in self._history.unknown(inputs):
            if place < border and not self._history.has_call(message.call_id):
                earlier += [] if message.role in _PROMPTS else [message]
            elif not self._is_answer(message):
                self._given(message, within, is_first=is_first, is_answered=place > answered)
                self._history.note([message])
        if earlier:
            self._had_before(earlier, within)
            self._history.note(earlier, made=False)

    def _is_answer(self, message: Message) -> bool:
        """Whether a message has the result of a call of this trace, which is then added unless it is known."""
        if message.role != "tool" or not self._history.has_call(message.call_id):
            return False
        place = next((one for one, call in self.events.open_calls() if call.id == message.call_id), None)
        if place is not None:
            self.events.answer(place, Result(content=message.text, error=message.error))
        return True

    def _had_before(self, earlier: Sequence[Message], within: Within) -> None:
        """Keep what was said before this trace as what the turn's answer has to agree with."""
        if within.in_tool or within.caller is not None:
            return
        asked = next((message.text for message in reversed(earlier) if message.role == "user" and message.text), None)
        if asked is not None and not self.events.is_asked:
            self.events.ask(asked)
        self.events.inform(as_context(earlier))

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
            self._history.note(call.outputs)
            if len(texts) > 1:  # a history may have them as one message
                self._history.note([Message(role="assistant", text="\n".join(texts))])
        elif span.error is not None:
            self.events.observe(
                Result(content=span.error, error=one_line(span.error), agent_id=agent_id, latency_ms=span.duration_ms)
            )
        else:
            del self.places[span.id]
            self._unmapped.count("spans[] (model without its words)")
            self._unmapped.note("no_content", content_setting(span.scope))

    def _given(self, message: Message, within: Within, *, is_first: bool, is_answered: bool) -> None:
        """Add an input message of the model."""
        if message.role in _PROMPTS or (self.events and REPEATED.match(message.text)):
            return
        if self.events.is_known(message.text) and not message.calls:
            return
        if message.role == "assistant":
            self.events.say(
                Said(
                    agent_id=within.agent_id,
                    thought=message.thought,
                    message=message.text or None,
                    calls=message.calls,
                )
            )
        elif message.role == "user" and within.in_tool:
            if not self.events.is_asked_of_tool(message.text):
                self.events.say(Said(agent_id=within.caller or within.agent_id, message=message.text))
        elif message.role == "user" and self._is_asked_by_chain(message.text):
            pass
        elif message.role == "user" and (self._asked is None or (self._is_chain and is_answered)):
            self.events.ask(message.text)
        elif message.role != "user" or not is_first or not is_put_so(self._asked or "", message.text):
            self.events.observe(Result(content=message.text, agent_id=within.agent_id, error=message.error))
        self.events.remember(message.text)

    def _tool(self, span: Span, within: Within) -> Within:
        """Add a tool span: its result goes to the matching call. Model calls inside it are attributed to the tool."""
        agent_id = within.agent_id
        with self._unmapped.reading(grouped(span.attributes), "spans[].") as fields:
            run = tool_run(span, fields)
            fields.set_aside(*SESSION)
        has_agent = any(kind_of(child) == "agent" for child in span.walk())
        inside = replace(
            within, agent_id=agent_id if has_agent else run.call.name, caller=agent_id, in_tool=True, outermost=False
        )
        twin = self._around(run, within) or self._tool_twins.of_tool(span, run.call.name, None)
        if twin is not None:
            self.twins += 1
            self._unmapped.note("twin_call", run.call.name)
            if run.result is not None and twin in [place for place, _ in self.events.open_calls()]:
                self.events.answer(twin, Result(content=run.result, error=one_line(run.error)))
            return inside
        if run.call.arguments is None and run.result is None and content_setting(span.scope):
            self._unmapped.note("no_content", content_setting(span.scope))
        to = hand_off_in(span)
        place = self._asked_for(run) if to is None else self._hand_off_to(to)
        if place is None:
            if to is not None:
                run = replace(run, call=Call(name=f"transfer_to_{to}"))
            self._is_asked_by_chain(run.call.arguments)
            place = (len(self.events), 0)
            self.events.say(Said(agent_id=agent_id, calls=(run.call,)))
            self._history.note_call(run.call)
        self._ran.add(place)
        called = self.events.call_at(place).name
        if run.result is None:
            self.events.took(place, span.duration_ms)
        else:
            self.events.answer(
                place, Result(content=run.result, error=one_line(run.error), latency_ms=span.duration_ms)
            )
        inside = replace(inside, place=place)
        self.places[span.id] = place
        self.tool_spans.append(span.id)
        self._tool_twins.of_tool(span, run.call.name, place)
        self._participants.introduce(agent_id, ran=Tool(name=called, description=run.description or ""))
        return inside

    def _around(self, run: ToolRun, within: Within) -> Place | None:
        """The call whose tool runs around this run, if both are one: a client or server of MCP records it again."""
        if within.place is None or self._asked_for(run) not in (None, within.place):
            return None
        outer = self.events.call_at(within.place)
        told = run.call.arguments is None or same_arguments(outer.arguments, run.call.arguments)
        return within.place if outer.name == run.call.name and told else None

    def _asked_for(self, run: ToolRun) -> Place | None:
        """The pending call of this tool run: by ID, by tool and arguments, or by tool if one of the two has no ID."""
        calls = self.events.open_calls()
        if run.call.id is not None:
            for place, call in calls:
                if call.id == run.call.id:
                    return place
            if (known := self.events.answered_call(run.call.id)) is not None and known not in self._ran:
                return known  # a history told its result before its span, which lost its parent, is read
        same = [(place, call) for place, call in calls if call.name == run.call.name and place not in self._ran]
        exact = run.call.arguments and next(
            (place for place, call in same if same_arguments(call.arguments, run.call.arguments)), None
        )
        if exact:  # Google ADK numbers the calls of a model, and names them anew when it runs them
            return exact
        return next((place for place, call in same if call.id is None or run.call.id is None), None)

    def _hand_off_to(self, agent: str) -> Place | None:
        """The pending call that hands over to an agent: the one that names it, or the last one."""
        calls = self.events.open_calls()
        named = [place for place, call in calls if _plain(agent) in _plain(call.name)]
        return next(iter(named or [place for place, _ in calls[-1:]]), None)


def _plain(name: str) -> str:
    return re.sub(r"\W|_", "", name).lower()
