"""Traces of Amazon Bedrock Agents: the events of `InvokeAgent`, one a line, or in a record of the invocation.

    {"trace": {"sessionId": "s", "trace": {"orchestrationTrace": {"rationale": {"text": "I look it up."}}}}}

Each event has one thing that happened: what the model was given, its answer with its tokens, why it acts, the action,
or what came back. The question stands in what the model was given first.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.transcript import as_text, one_line
from evaluation_assets.core.traces.formats.untyped import (
    as_object,
    at,
    decoded,
    first_text,
    list_in,
    object_in,
    objects_in,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject

_LISTS = ("completion", "traces", "trace", "events", "trace_events", "traceEvents")
_KINDS = (
    "orchestrationTrace", "preProcessingTrace", "postProcessingTrace", "routingClassifierTrace", "failureTrace",
    "guardrailTrace", "customOrchestrationTrace",
)  # fmt: skip
_ASKED = ("inputText", "input_text", "input", "question", "prompt", "query")
_ANSWERS = ("outputText", "output_text", "answer", "response", "output", "final_response", "finalResponse")
_INPUT_TEXT = re.compile(r"\[\{text=(.*), type=text\}\]", re.DOTALL)
"""How the service prints a question in what the model is given."""
_OUTPUTS = ("actionGroupInvocationOutput", "codeInterpreterInvocationOutput", "knowledgeBaseLookupOutput")
_READ = ("modelInvocationInput", "modelInvocationOutput", "rationale", "invocationInput", "observation")


def _trace_of(event: Any) -> tuple[JsonObject, JsonObject] | None:
    """The part of a trace that an event has, and the kinds in it; `None` for any other value."""
    for part in (object_in(at(event, "trace")), object_in(event)):
        kinds = object_in(part.get("trace")) or part
        if any(isinstance(kinds.get(kind), dict) for kind in _KINDS):
            return part, kinds
    return None


def _events_in(data: Any) -> list[JsonObject]:
    lists = (list(objects_in(at(data, name))) for name in _LISTS)
    return next((events for events in lists if any(map(_trace_of, events))), [])


def _holds(data: Any) -> bool:
    return bool(_events_in(data))


def _part_of(data: Any) -> str | None:
    """The session of an event on a line of its own; a chunk of an answer is of that of the event before."""
    found = _trace_of(data)
    if found is None:
        return "" if isinstance(at(object_in(data).get("chunk"), "bytes"), str) else None
    return None if _events_in(data) else first_text(found[0], "sessionId") or ""


def _conversations(data: JsonObject) -> Iterator[Chat]:
    events = data[PARTS] if PARTS in data else _events_in(data)
    told = _Told()
    asked = next((text for name in _ASKED if (text := first_text(data, name)) is not None), None)
    if asked is not None:
        told.ask(asked)
    for event in events:
        told.add(event)
    answer = next((text for name in _ANSWERS if (text := first_text(data, name)) is not None), None) or told.chunks
    if answer and not told.has_answered:
        told.say(answer)
    told.flush()
    first = next((found[0] for event in events if (found := _trace_of(event)) is not None), {})
    others = without(
        data, PARTS, *_LISTS, *_ASKED, *_ANSWERS, "ResponseMetadata", "contentType", "sessionId", "memoryId"
    )
    record = {
        **others,
        **told.others,
        "session_id": first_text(first, "sessionId") or first_text(data, "sessionId"),
        "agent_name": first_text(first, "agentName", "agentId"),
        "agent_version": first_text(first, "agentVersion"),
        "started_at": first_text(first, "eventTime"),
        "model": told.model,
        "messages": told.messages,
    }
    yield Chat(record, told.failure)


@dataclass(slots=True)
class _Told:
    """Collects what the events of a session say, as messages. The tokens of a request are those of the next message."""

    messages: list[JsonObject] = field(default_factory=list)
    others: dict[str, list[Any]] = field(default_factory=dict)
    model: str | None = None
    failure: str | None = None
    chunks: str = ""
    has_answered: bool = False
    _asked: str | None = None
    _usage: JsonObject | None = None
    _thought: str | None = None
    _open: list[str] = field(default_factory=list)

    def add(self, event: JsonObject) -> None:
        found = _trace_of(event)
        if found is None:
            text = at(event.get("chunk"), "bytes")
            self.chunks += text if isinstance(text, str) else ""
            if "returnControl" in event:
                self.others.setdefault("returnControl", []).append(event["returnControl"])
            return
        part, kinds = found
        by = {"name": name} if (name := first_text(part, "collaboratorName")) else {}
        for kind in _KINDS:
            trace = object_in(kinds.get(kind))
            if kind == "failureTrace" and trace:
                self.failure = one_line(first_text(trace, "failureReason") or "the invocation failed")
            elif kind in ("guardrailTrace", "customOrchestrationTrace") and trace:
                self.others.setdefault(kind, []).append(trace)
            elif trace:
                self._orchestrated(trace, by, is_acting=kind == "orchestrationTrace")

    def ask(self, text: str) -> None:
        """A question, once, however often the model is given it."""
        if text.strip() and text != self._asked:
            self.flush()
            self.messages.append(plain_message("user", text))
            self._asked, self.has_answered = text, False

    def say(self, text: str | None, **more: Any) -> None:
        """A message of the agent with the tokens and the thought that are known."""
        thought, self._thought = self._thought, None
        usage, self._usage = self._usage, None
        self.messages.append(plain_message("assistant", text, usage=usage, reasoning_content=thought, **more))

    def flush(self) -> None:
        """A message for tokens, or a thought, that nothing came of."""
        if self._usage is not None or self._thought is not None:
            self.say("")

    def _orchestrated(self, trace: JsonObject, by: JsonObject, *, is_acting: bool) -> None:
        given, made = object_in(trace.get("modelInvocationInput")), object_in(trace.get("modelInvocationOutput"))
        if given:
            self.model = self.model or first_text(given, "foundationModel")
            if is_acting and not by and (asked := _question_in(given.get("text"))) is not None:
                self.ask(asked)
        if made:
            self.flush()
            self._usage = at(made.get("metadata"), "usage")
        if (thought := first_text(trace.get("rationale"), "text")) is not None:
            self._thought = thought
        for name, value in trace.items():
            if name not in _READ:
                self.others.setdefault(f"orchestrationTrace.{name}", []).append(value)
        if isinstance(call := trace.get("invocationInput"), dict):
            self._called(call, by)
        if isinstance(shown := trace.get("observation"), dict):
            self._observed(shown, by)

    def _called(self, call: JsonObject, by: JsonObject) -> None:
        name, arguments = _call_in(call)
        call_id = f"call {len(self.messages)}"
        self.say(None, tool_calls=[{"id": call_id, "name": name, "arguments": arguments}], **by)
        self._open.append(call_id)

    def _observed(self, shown: JsonObject, by: JsonObject) -> None:
        if (text := first_text(shown.get("finalResponse"), "text")) is not None:
            self.say(text, **by)
            self.has_answered = self.has_answered or not by
            return
        result, failed = _result_in(shown)
        if result is None:
            self.others.setdefault("orchestrationTrace.observation", []).append(shown)
            return
        call_id = self._open.pop(0) if self._open else None
        self.messages.append(plain_message("tool", result, tool_call_id=call_id, is_error=failed or None))


def _call_in(call: JsonObject) -> tuple[str, Any]:
    """The name of the tool that is called, and what it is given."""
    if isinstance(action := call.get("actionGroupInvocationInput"), dict):
        path = first_text(action, "apiPath")
        name = first_text(action, "function") or (
            path and f"{(first_text(action, 'verb') or '').upper()} {path}".strip()
        )
        body = object_in(at(action.get("requestBody"), "content"))
        listed = [
            *objects_in(action.get("parameters")),
            *(each for given in body.values() for each in objects_in(given)),
        ]
        return name or first_text(action, "actionGroupName") or "action", {
            str(one.get("name")): one.get("value") for one in listed
        }
    if isinstance(search := call.get("knowledgeBaseLookupInput"), dict):
        return "knowledge_base_lookup", search
    if isinstance(code := call.get("codeInterpreterInvocationInput"), dict):
        return "code_interpreter", code
    other = object_in(call.get("agentCollaboratorInvocationInput"))
    name = first_text(other, "agentCollaboratorName") or first_text(call, "invocationType") or "unnamed"
    return name, {"input": first_text(other.get("input"), "text") or other.get("input")}


def _result_in(shown: JsonObject) -> tuple[str | None, bool]:
    """What a call gave back, and whether it failed."""
    output = next((shown[name] for name in _OUTPUTS if isinstance(shown.get(name), dict)), None)
    if output is not None:
        error = first_text(output, "executionError") or ("timeout" if output.get("executionTimeout") is True else None)
        text = next(
            (output[name] for name in ("text", "executionOutput", "retrievedReferences") if output.get(name)), None
        )
        return as_text(text if text is not None else error or ""), error is not None
    if isinstance(other := shown.get("agentCollaboratorInvocationOutput"), dict):
        return first_text(other.get("output"), "text") or as_text(other.get("output")), False
    if isinstance(again := shown.get("repromptResponse"), dict):
        return first_text(again, "text") or "", True
    return None, False


def _question_in(text: Any) -> str | None:
    """The last message of the user, if it is the question and not a result."""
    given = as_object(text) or {}
    last = next(
        (message for message in reversed(list_in(given.get("messages"))) if at(message, "role") == "user"), None
    )
    content = decoded(at(last, "content"))
    if isinstance(content, str):
        match = _INPUT_TEXT.fullmatch(content)
        return match[1] if match else None if content.startswith("[{") else content
    texts = [first_text(part, "text") for part in objects_in(content)]
    return "\n".join(filter(None, texts)) if texts and all(texts) else None


BEDROCK_AGENTS = Envelope(
    name="bedrock_agents",
    description="traces of Amazon Bedrock Agents: events of InvokeAgent",
    detection="events with orchestrationTrace, preProcessingTrace or failureTrace",
    by_turn=True,
    holds=_holds,
    part_of=_part_of,
    conversations=_conversations,
)
