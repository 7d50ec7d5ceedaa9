"""LangChain: results of agent executors, LangGraph messages, and LangSmith run trees.

A run tree is nested (`child_runs`) or flat, one run a line in any order, with `parent_run_id`; then only the traces
that are not complete yet are in memory. Of a tree, calls of models, tools and retrievers are steps. Everything around
them (chains, prompts, parsers) is plumbing and counted as left out.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluation_assets.core.formats.base import DropFile, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.formats.chat import content_of, events_of, role_of, split_thought, system_of
from evaluation_assets.core.formats.context import Context, context_of, merged, reference
from evaluation_assets.core.formats.conversation import Conversation, grouped, not_a_record, trajectory_from
from evaluation_assets.core.formats.losses import Fields, Losses
from evaluation_assets.core.formats.records import read_records, usable
from evaluation_assets.core.formats.times import elapsed_ms
from evaluation_assets.core.formats.transcript import Asked, Call, Event, Result, Said, as_text
from evaluation_assets.core.formats.usage import usage, usage_of
from evaluation_assets.core.trajectories.model import JsonObject, Trajectory, Usage, json_object

NAME = "langchain"
DESCRIPTION = "LangChain agent results (intermediate_steps), LangGraph messages, LangSmith run trees, nested or flat"
DETECTION = "intermediate_steps, messages of type human and ai, or runs with run_type, inputs and outputs"

_RUN_TYPES = ("chain", "llm", "chat_model", "tool", "retriever", "embedding", "prompt", "parser")
_MESSAGE_CLASSES = {"Human": "human", "AI": "ai", "System": "system", "Tool": "tool", "Function": "tool", "Chat": "ai"}
_MESSAGE_TYPES = frozenset(("human", "ai", "AIMessageChunk"))
_TEXTS = ("output", "answer", "result", "text", "response", "content", "final_answer")
_QUESTIONS = ("input", "question", "query", "task", "prompt", "text", "user_input", "content")
_STOPPED = "Agent stopped due to"
"""How an executor begins the output of a run that it cut off."""

_REPR = re.compile(
    r"tool=(?P<tool>'[^']*'|\"[^\"]*\"),? tool_input=(?P<input>.*?),? log=(?P<log>'.*'|\".*\")", re.DOTALL
)
"""An action that was written to JSON as the text that Python prints for it."""

_ACTION = re.compile(r"^[ \t]*(?:Action\s*\d*\s*:|Invoking: |```)", re.MULTILINE)
"""Where the reasoning of a log ends and the call begins."""

_PLUMBING = (
    "serialized", "events", "dotted_order", "parent_run_id", "parent_run_ids", "child_run_ids", "run_type", "status",
    "direct_child_run_ids", "manifest_id", "manifest_s3_id", "inputs_s3_urls", "outputs_s3_urls", "execution_order",
    "app_path", "in_dataset", "share_token", "first_token_time", "last_queued_at", "trace_min_start_time", "child_runs",
    "reference_dataset_id", "inputs_preview", "outputs_preview", "s3_urls", "trace_first_received_at", "trace_upgrade",
)  # fmt: skip
_DEEPEST = 200


def detect(sample: Sample) -> bool:
    """Whether a record is an executor's result, a run, or holds LangChain's messages."""
    return any(
        (isinstance(record, dict) and isinstance(record.get("intermediate_steps"), list))
        or _is_run(record)
        or _is_message(record)
        or any(_is_message(message) for message in _messages_of(record))
        for record in sample.records
    )  # fmt: skip


def read(files: Sequence[DropFile], losses: Losses) -> Iterator[Trajectory | Rejection]:
    """One trajectory or one rejection a result, a conversation or a trace."""
    for file in files:
        runs = _Traces(file)
        for group in grouped([file], _belongs):
            if isinstance(group, Rejection):
                yield group
                continue
            for record in group if len(group) == 1 else [_together(group)]:
                complete = runs.add(record) if _is_flat(record.data) else record
                if complete is not None:
                    yield usable(complete, partial(trajectory_of, losses))


def trajectory_of(losses: Losses, record: Record) -> Trajectory:
    """The trajectory in a record.

    Raises:
        UnusableRecord: the record is none of what is read, or no agent says or does anything in it.
    """
    data = _plain(record.data)
    data = {"messages": data} if isinstance(data, list) else data
    if not isinstance(data, dict):
        raise not_a_record(record.data, "an object or a list of messages")
    with losses.reading(data) as fields:
        if isinstance(data.get("runs"), list):
            runs = sorted(fields.objects("runs"), key=_order)
            return _trace(fields, next((run for run in runs if "parent_run_id" not in run), runs[0]), runs, losses)
        if _is_run(data):
            return _trace(fields, fields, _below(fields), losses)
        if "intermediate_steps" in fields:
            return _result(fields)
        return _conversation(fields)


# Results of executors


def _result(fields: Fields) -> Trajectory:
    asked = _text_in(fields, _QUESTIONS)
    output = _text_in(fields, ("output", "answer", "result", "return_values"))
    stopped = output is not None and output.startswith(_STOPPED)
    events: list[Event] = list(events_of(fields.objects("chat_history")))
    if asked:
        events.append(Asked(text=asked))
    for step in fields.items("intermediate_steps"):
        events += _acted(*_step(step))
    if output:
        events.append(Said(message=output))
    context = context_of(fields)
    answer = Context(final_answer=None if stopped else output, task=asked, cut_off=stopped)
    return trajectory_from(NAME, Conversation(events=tuple(events)), merged(context, answer))


def _step(step: Any) -> tuple[Any, Any]:
    """The action and the observation of a step: a pair, or an object of both."""
    if isinstance(step, list) and step:
        return step[0], step[1] if len(step) > 1 else None
    if isinstance(step, dict) and "action" in step:
        return step["action"], step.get("observation")
    return step, None


def _acted(action: Any, observation: Any) -> Iterator[Event]:
    if isinstance(action, str):
        action = _printed_action(action)
    if not isinstance(action, dict):
        return
    log = action.get("log")
    thought = _thought_in(log) if isinstance(log, str) else None
    tool = action.get("tool")
    name = tool if isinstance(tool, str) and tool else "unnamed"
    yield Said(thought=thought, calls=(Call(name=name, arguments=action.get("tool_input")),))
    if observation is not None:
        content = observation.get("content", observation) if isinstance(observation, dict) else observation
        yield Result(content=as_text(content))


def _printed_action(text: str) -> JsonObject:
    found = _REPR.search(text)
    if found is None:
        return {"tool": "unnamed", "tool_input": text}
    return {name: _literal(found[group]) for name, group in (("tool", "tool"), ("tool_input", "input"), ("log", "log"))}


def _literal(text: str) -> Any:
    """A value as Python prints it; only literals are read, nothing is run."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, str | dict | list | int | float) else text


def _thought_in(log: str) -> str | None:
    """The reasoning in an agent's log: what stands before the call, without its label."""
    said = (
        log.partition("responded: ")[2] if log.lstrip().startswith("Invoking: ") else _ACTION.split(log, maxsplit=1)[0]
    )
    return said.strip().removeprefix("Thought:").strip() or None


# Messages


def _conversation(fields: Fields) -> Trajectory:
    values = fields.object("values")
    messages = fields.objects("messages") or values.objects("messages")
    if not messages:
        raise UnusableRecord("no_trajectory_text", "neither messages nor intermediate_steps nor a run is there")
    for message in messages:
        _set_aside(message)
    conversation = Conversation(events=tuple(events_of(messages)), system=system_of(messages))
    return trajectory_from(NAME, conversation, context_of(fields))


def _set_aside(message: Fields) -> None:
    """What LangChain writes twice into a message."""
    response = message.object("response_metadata")
    response.set_aside(
        "token_usage", "usage", "model_name", "model", "finish_reason", "stop_reason", "system_fingerprint", "id",
        "logprobs", "service_tier", "model_provider", "stop_sequence", "type", "role", "object", "created",
    )  # fmt: skip


# Run trees


class _Traces:
    """The runs of a flat export by trace. A first pass counts them, so that a trace is done when its last run came."""

    def __init__(self, file: DropFile) -> None:
        self._file = file
        self._runs: dict[str, list[Record]] = {}
        self._parents: dict[str, str] | None = None
        self._left: Counter[str] = Counter()

    def add(self, record: Record) -> Record | None:
        """The whole trace as one record, when this run is its last."""
        if self._parents is None:
            self._count()
        trace = self._trace_of(record.data)
        runs = self._runs.setdefault(trace, [])
        runs.append(record)
        self._left[trace] -= 1
        if self._left[trace] > 0:
            return None
        del self._runs[trace]
        joined = _together(runs)
        return replace(joined, data={"runs": joined.data})

    def _count(self) -> None:
        self._parents = {}
        known: list[JsonObject] = []
        for record in read_records(self._file.path, self._file.source):
            if isinstance(record, Record) and _is_flat(record.data):
                names = {key: value for key in _NAMES if isinstance(value := record.data.get(key), str)}
                known.append(names)
                if "id" in names and "parent_run_id" in names:
                    self._parents[names["id"]] = names["parent_run_id"]
        self._left.update(self._trace_of(names) for names in known)

    def _trace_of(self, run: Mapping[str, Any]) -> str:
        """The trace's id, else that of the run at the root."""
        trace = run.get("trace_id")
        if isinstance(trace, str):
            return trace
        parents = self._parents or {}
        name, seen = run.get("id"), set()
        parent = run.get("parent_run_id")
        current = parent if isinstance(parent, str) else name if isinstance(name, str) else ""
        while current in parents and current not in seen:
            seen.add(current)
            current = parents[current]
        return current


_NAMES = ("id", "parent_run_id", "trace_id")


def _order(run: Fields) -> tuple[str, str]:
    return run.text("dotted_order") or "", run.text("start_time") or ""


def _below(root: Fields) -> list[Fields]:
    """A run and all runs below it, each before its children, children in the order they started."""
    found: list[Fields] = []
    waiting = [root]
    while waiting:
        run = waiting.pop()
        found.append(run)
        waiting += sorted(run.objects("child_runs"), key=_order, reverse=True)
    return found


def _trace(fields: Fields, root: Fields, runs: Sequence[Fields], losses: Losses) -> Trajectory:
    inputs, outputs = root.object("inputs"), root.object("outputs")
    told = _Story()
    asked = None
    if root.text("run_type") not in ("llm", "chat_model"):
        history = _flat_messages(inputs)
        told.events += events_of(history)
        asked = None if history else _text_in(inputs, _QUESTIONS)
        told.events += [Asked(text=asked)] if asked else []
    for run in runs:
        kind = run.text("run_type") or "unknown"
        if kind in ("llm", "chat_model"):
            told.model_ran(run)
        elif kind in ("tool", "retriever"):
            told.tool_ran(run)
        elif run is not root:
            losses.count(f"child_runs[] ({kind})")
            run.rest()
        run.set_aside(*_PLUMBING)
    final = _final_of(outputs)
    whole = _own_usage(root)
    error = root.text("error")
    if final and not told.ends_with(final):
        told.events.append(Said(message=final))
    root.set_aside(*_PLUMBING)
    metadata = root.object("extra").object("metadata")
    context = Context(
        id=root.name("id"),
        task=asked,
        task_id=root.name("reference_example_id") or metadata.name("task_id", "example_id"),
        model=told.model,
        final_answer=None if error else final,
        reference_answer=reference(root.value("reference_outputs", "reference_output")),
        started_at=root.text("start_time"),
        duration_s=None if (ms := elapsed_ms(root.text("start_time"), root.text("end_time"))) is None else ms / 1000,
        cut_off=bool(error),
        labels=root.short("feedback_stats", "feedback"),
        extra=root.short("name", "trace_id", "session_id", "session_name", "tags", "error", "thread_id"),
    )
    return trajectory_from(
        NAME,
        Conversation(events=tuple(told.events), system=told.system, usage=None if told.counted else whole),
        context,
    )


class _Story:
    """What the runs of a trace tell, as events. A tool that ran answers the call the model made of it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.system: str | None = None
        self.model: str | None = None
        self.counted = False
        self._open: list[tuple[str, str]] = []
        self._named = 0

    def ends_with(self, final: str) -> bool:
        """Whether the last thing said is this answer."""
        said = next((event for event in reversed(self.events) if isinstance(event, Said)), None)
        return said is not None and (said.message or "").strip() == final.strip()

    def model_ran(self, run: Fields) -> None:
        """A model was asked. Of what it was given, only what nobody told yet counts."""
        given = _flat_messages(run.object("inputs"))
        self.system = self.system or system_of(given)
        if not self.events:
            self.events += events_of(given)
        for message in given:
            _set_aside(message)
            answer = message.name("tool_call_id")
            if role_of({"role": message.text("role", "type")}) == "tool" and self._close(answer, None):
                self.events.append(Result(content=content_of(message), call_id=answer))
        run.object("inputs").rest()
        extra = run.object("extra")
        metadata, parameters = extra.object("metadata"), extra.object("invocation_params")
        self.model = self.model or metadata.text("ls_model_name") or parameters.text("model", "model_name")
        agent = metadata.text("lc_agent_name", "langgraph_node") or "agent"
        for plumbing in (extra, metadata, parameters):
            plumbing.rest()
        latency = elapsed_ms(run.text("start_time"), run.text("end_time"))
        own = _own_usage(run)
        outputs = run.object("outputs")
        token_usage = usage_of(outputs.object("llm_output").object("token_usage")) or usage_of(outputs.object("usage"))
        outputs.object("llm_output").rest()
        outputs.set_aside("type", "run")
        for said in _answers(outputs, agent):
            known = own or said.usage or token_usage
            self.counted = self.counted or known is not None
            calls = tuple(call if call.id else replace(call, id=self._name()) for call in said.calls)
            self._open += [(call.id or "", call.name) for call in calls]
            self.events.append(replace(said, calls=calls, latency_ms=latency, usage=known))
            latency, own, token_usage = None, None, None
        run.set_aside("id", "name", "trace_id", "session_id", "tags", "start_time", "end_time")

    def tool_ran(self, run: Fields) -> None:
        """A tool or a retriever ran: for a call of the model, or on its own."""
        name = run.text("name") or "unnamed"
        inputs, outputs, extra = run.object("inputs"), run.object("outputs"), run.object("extra")
        arguments = inputs.rest()
        output = outputs.value("output", "documents", "result", "content")
        content = _tool_text(outputs.rest() or None if output is None else output)
        message = output if isinstance(output, dict) else {}
        recorded = extra.name("tool_call_id") or message.get("tool_call_id")
        extra.rest()
        call_id = self._close(recorded if isinstance(recorded, str) else None, name)
        if call_id is None:
            call_id = self._name()
            given = arguments.get("input") if set(arguments) == {"input"} else arguments
            given = json_object(given) or given if isinstance(given, str) else given
            self.events.append(Said(calls=(Call(name=name, arguments=given, id=call_id),)))
        error = run.text("error")
        failed = error or (content[:200] or "error" if message.get("status") == "error" else None)
        latency = elapsed_ms(run.text("start_time"), run.text("end_time"))
        self.events.append(
            Result(
                content=content or error or "",
                call_id=call_id,
                error=None if failed is None else " ".join(failed[:1000].split())[:200],
                latency_ms=latency,
            )
        )
        run.set_aside("id", "trace_id", "session_id", "tags", "start_time", "end_time", *_TOKENS)

    def _close(self, call_id: str | None, name: str | None) -> str | None:
        """The open call with this id, else the first of this name, which is open no longer."""
        for by_id in (True, False):
            for index, (known, tool) in enumerate(self._open):
                if (known == call_id) if by_id else (tool == name):
                    del self._open[index]
                    return known
        return None

    def _name(self) -> str:
        self._named += 1
        return f"call-{self._named}"


_TOKENS = (
    "prompt_tokens", "completion_tokens", "total_tokens", "prompt_cost", "completion_cost", "total_cost",
    "prompt_token_details", "completion_token_details", "prompt_cost_details", "completion_cost_details",
)  # fmt: skip


def _own_usage(run: Fields) -> Usage | None:
    """Tokens and cost that LangSmith counted; runs that contain others repeat theirs."""
    tokens = {key: run.whole(key) for key in _TOKENS[:2]}
    cost = run.number("total_cost")
    run.set_aside(*_TOKENS)
    known = {key: value if value and value > 0 else None for key, value in tokens.items()}
    return usage(known["prompt_tokens"], known["completion_tokens"], cost)


def _answers(outputs: Fields, agent: str) -> Iterator[Said]:
    """What a model answered, in the forms that LangChain and wrapped clients trace it."""
    found = [
        generation
        for batch in outputs.items("generations")
        for generation in (batch if isinstance(batch, list) else [batch])
    ]
    plain: list[Any] = [generation.get("message") or generation for generation in found if isinstance(generation, dict)]
    plain += [choice.get("message") for choice in outputs.items("choices")[:1] if isinstance(choice, dict)]
    plain += outputs.items("messages")[-1:]
    if not plain:
        output = outputs.value("output", "message")
        plain = [output] if output is not None else [outputs.rest()]
    for answer in plain:
        if isinstance(answer, str):
            yield Said(agent_id=agent, message=answer)
        if not isinstance(answer, dict):
            continue
        if "content" not in answer and isinstance(answer.get("text"), str):
            answer = {"content": answer["text"]}
        with Losses().reading({"messages": [{**answer, "role": "assistant"}]}) as read:
            for event in events_of(read.objects("messages"), agent):
                if isinstance(event, Said):
                    yield replace(event, agent_id=agent)


def _final_of(outputs: Fields) -> str | None:
    """What came out at the end: a text, or the last message of a model."""
    found = _text_in(outputs, _TEXTS)
    if found is not None:
        return found
    for message in reversed(outputs.objects("messages")):
        if role_of({"role": message.text("role", "type")}) == "assistant":
            text = split_thought(content_of(message))[1]
            outputs.rest()
            return text if text.strip() else None
    return None


def _flat_messages(inputs: Fields) -> list[Fields]:
    """The messages a model was given; chat models have them in batches of one."""
    found = inputs.value("messages", "input", "chat_history")
    if not isinstance(found, list):
        return []
    nested = [item for batch in found if isinstance(batch, list) for item in batch]
    with Losses().reading({"messages": nested or found}) as read:
        return [message for message in read.objects("messages") if role_of({"role": message.text("role", "type")})]


def _tool_text(output: Any) -> str:
    """What a tool returned: a text, a message, documents."""
    if isinstance(output, dict) and "content" in output:
        return as_text(output["content"])
    if isinstance(output, list) and output and all(isinstance(one, dict) and "page_content" in one for one in output):
        return "\n\n".join(as_text(document["page_content"]) for document in output)
    return as_text(output)


def _text_in(fields: Fields, keys: Sequence[str]) -> str | None:
    """The first of these fields as text; what is no text stands there as JSON, or is a message."""
    for key in keys:
        value = fields.value(key) if key in fields else None
        if isinstance(value, dict) and isinstance(inner := value.get("content", value.get("output")), str):
            value = inner
        if isinstance(value, list):
            value = "\n".join(
                part["text"] for part in value if isinstance(part, dict) and isinstance(part.get("text"), str)
            )
        text = as_text(value)
        if text.strip():
            return text
    return None


# Shapes


def _plain(value: Any, depth: int = 0) -> Any:
    """The value with serialised LangChain objects as plain ones, and inputs that were exported as text parsed."""
    if depth > _DEEPEST:
        raise UnusableRecord("bad_json", f"values are nested more than {_DEEPEST} levels deep")
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("kwargs"), dict) and isinstance(name := value.get("id"), list) and "lc" in value:
        return _plain(_typed(value["kwargs"], name), depth + 1)
    if value.get("type") in ROLES_OF_LANGCHAIN and isinstance(value.get("data"), dict):
        return _plain({**value["data"], "type": value["type"]}, depth + 1)
    if value.get("type") in ROLES_OF_LANGCHAIN and isinstance(value.get("additional_kwargs"), dict):
        value = _lifted(value)
    if isinstance(value.get("run_type"), str):
        parsed = {
            key: json_object(text) for key in ("inputs", "outputs", "extra") if isinstance(text := value.get(key), str)
        }
        value = value | {key: found for key, found in parsed.items() if found is not None}
    return {key: _plain(item, depth + 1) for key, item in value.items()}


ROLES_OF_LANGCHAIN = ("human", "ai", "system", "tool", "function", "AIMessageChunk")


def _lifted(message: JsonObject) -> JsonObject:
    """A message with what providers of old put beside it."""
    beside = message["additional_kwargs"]
    metadata = message.get("response_metadata")
    lifted = {key: beside[key] for key in ("reasoning_content", "tool_calls", "function_call") if beside.get(key)}
    if isinstance(metadata, dict) and "usage_metadata" not in message:
        counted = next((metadata[key] for key in ("usage", "token_usage") if metadata.get(key)), None)
        lifted |= {"usage": counted} if counted else {}
    if message.get("tool_calls"):
        lifted.pop("function_call", None)
    return lifted | {
        key: value for key, value in message.items() if key != "additional_kwargs" and value not in (None, [])
    }


def _typed(fields: JsonObject, name: list[Any]) -> JsonObject:
    """The fields of a serialised object, a message with its type."""
    last = str(name[-1]) if name else ""
    kind = next((kind for start, kind in _MESSAGE_CLASSES.items() if last.startswith(f"{start}Message")), None)
    return fields if kind is None else {**fields, "type": kind}


def _is_run(data: Any) -> bool:
    return isinstance(data, dict) and data.get("run_type") in _RUN_TYPES and ("inputs" in data or "outputs" in data)


def _is_flat(data: Any) -> bool:
    return _is_run(data) and not data.get("child_runs") and ("trace_id" in data or "parent_run_id" in data)


def _is_message(data: Any) -> bool:
    if not isinstance(data, dict) or "role" in data:
        return False
    if "lc" in data and isinstance(name := data.get("id"), list) and name:
        return str(name[-1]).removesuffix("Chunk").endswith("Message")
    kind = data.get("type")
    return (
        isinstance(kind, str) and kind in _MESSAGE_TYPES and ("content" in data or isinstance(data.get("data"), dict))
    )


def _messages_of(data: Any) -> list[Any]:
    if isinstance(data, list):
        return data
    if not isinstance(data, dict):
        return []
    holders = (data, data.get("values"))
    return next(
        (found for one in holders if isinstance(one, dict) and isinstance(found := one.get("messages"), list)), []
    )


def _belongs(earlier: Any, later: Any) -> bool:
    """Messages one a line are one conversation."""
    types = (*ROLES_OF_LANGCHAIN,)
    return (
        _is_message(earlier) and isinstance(later, dict) and later.get("type", "lc" in later) in (*types, "constructor")
    )


def _together(group: Sequence[Record]) -> Record:
    return Record(
        group[0].source,
        group[0].line,
        [record.data for record in group],
        b"\n".join(record.raw.strip() for record in group),
    )
