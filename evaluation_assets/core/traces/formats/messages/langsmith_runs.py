"""LangSmith run trees: nested, or flat with one run per line in any order.

LLM, tool and retriever runs become steps. Other runs (chains, prompts, parsers) are counted as unmapped.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record
from evaluation_assets.core.traces.formats.context import Context, merged, reference
from evaluation_assets.core.traces.formats.conversation import Conversation, joined
from evaluation_assets.core.traces.formats.endings import LIMIT
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.messages.chat import ROLES, events_of, result_of, role_of, system_of
from evaluation_assets.core.traces.formats.messages.contents import content_of, split_thought
from evaluation_assets.core.traces.formats.messages.langsmith_facts import facts_of
from evaluation_assets.core.traces.formats.pauses import error_of_run
from evaluation_assets.core.traces.formats.times import chronological, elapsed_ms, elapsed_s, marked_utc
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, as_text, one_line, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import as_object, listed, object_in
from evaluation_assets.core.traces.formats.usage import confirm, usage, usage_of, with_cache_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

QUESTIONS = ("input", "question", "query", "task", "prompt", "text", "user_input", "content")
"""Input fields that usually hold the question."""

_TEXTS = ("output", "answer", "result", "text", "response", "content", "final_answer")
_RUN_TYPES = ("chain", "llm", "chat_model", "tool", "retriever", "embedding", "prompt", "parser")
_NAMES = ("id", "parent_run_id", "trace_id")
_PLUMBING = (
    "serialized", "events", "dotted_order", "parent_run_id", "parent_run_ids", "child_run_ids", "run_type", "status",
    "direct_child_run_ids", "manifest_id", "manifest_s3_id", "inputs_s3_urls", "outputs_s3_urls", "execution_order",
    "app_path", "in_dataset", "share_token", "first_token_time", "last_queued_at", "trace_min_start_time", "child_runs",
    "reference_dataset_id", "inputs_preview", "outputs_preview", "s3_urls", "trace_first_received_at", "trace_upgrade",
)  # fmt: skip


def is_run(data: Any) -> bool:
    """Whether a value is a LangSmith run."""
    return isinstance(data, dict) and data.get("run_type") in _RUN_TYPES and ("inputs" in data or "outputs" in data)


def is_flat(data: Any) -> bool:
    """Whether a value is a run of a flat export: it names its trace or parent and has no nested runs."""
    return is_run(data) and not data.get("child_runs") and ("trace_id" in data or "parent_run_id" in data)


class Traces:
    """Groups the runs of a flat export by trace. A first pass counts them, to know the last run of each trace."""

    def __init__(self, file: DropFile) -> None:
        self._file = file
        self._runs: dict[str, list[Record]] = {}
        self._parents: dict[str, str] | None = None
        self._left: Counter[str] = Counter()

    def add(self, record: Record) -> Record | None:
        """Add a run; return the whole trace as one record if this was its last run."""
        if self._parents is None:
            self._count()
        trace = self._trace_of(record.data)
        runs = self._runs.setdefault(trace, [])
        runs.append(record)
        self._left[trace] -= 1
        if self._left[trace] > 0:
            return None
        del self._runs[trace]
        whole = joined(runs)
        return replace(whole, data={"runs": whole.data})

    def _count(self) -> None:
        self._parents = {}
        known: list[JsonObject] = []
        for record in read_records(self._file):
            if isinstance(record, Record) and is_flat(record.data):
                names = {key: value for key in _NAMES if isinstance(value := record.data.get(key), str)}
                known.append(names)
                if "id" in names and "parent_run_id" in names:
                    self._parents[names["id"]] = names["parent_run_id"]
        self._left.update(self._trace_of(names) for names in known)

    def _trace_of(self, run: Mapping[str, Any]) -> str:
        """The trace id, or the id of the root run."""
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


def _order(run: Fields) -> tuple[str, datetime]:
    return run.text("dotted_order") or "", chronological(run.text("start_time"))


def nested_trace(root: Fields, unmapped: UnmappedFields) -> tuple[Conversation, Context]:
    """Convert a run and all its descendants."""
    return _trace(root, _below(root), unmapped)


def flat_trace(runs: Sequence[Fields], unmapped: UnmappedFields) -> tuple[Conversation, Context]:
    """Convert the runs of one trace, given in any order."""
    ordered = sorted(runs, key=_order)
    return _trace(next((run for run in ordered if "parent_run_id" not in run), ordered[0]), ordered, unmapped)


def _below(root: Fields) -> list[Fields]:
    """A run and its descendants, parents first, children by start time."""
    runs: list[Fields] = []
    waiting = [root]
    while waiting:
        run = waiting.pop()
        runs.append(run)
        waiting += sorted(run.objects("child_runs"), key=_order, reverse=True)
    return runs


def _trace(root: Fields, runs: Sequence[Fields], unmapped: UnmappedFields) -> tuple[Conversation, Context]:
    inputs, outputs = root.object("inputs"), root.object("outputs")
    told = _Story()
    asked = None
    if root.text("run_type") not in ("llm", "chat_model"):
        history = _flat_messages(inputs)
        told.events += events_of(history)
        asked = None if history else text_in(inputs, QUESTIONS)
        told.events += [Asked(text=asked)] if asked else []
    for run in runs:
        kind = run.text("run_type") or "unknown"
        if kind in ("llm", "chat_model"):
            told.model_ran(run)
        elif kind in ("tool", "retriever"):
            told.tool_ran(run)
        elif run is not root:
            unmapped.count(f"child_runs[] ({kind})")
            run.rest()
        run.set_aside(*_PLUMBING)
    if not told.ran:
        told.ended_with(inputs, outputs, asked)
    final = _final_of(outputs)
    whole = _own_usage(root)
    if told.counted:
        confirm(unmapped.stated, whole, total(event.usage for event in told.events if isinstance(event, Said)))
    error = error_of_run(root.text("error"))
    stopped = error is not None and LIMIT.search(error) is not None
    if final and not told.ends_with(final):
        told.events.append(Said(message=final))
    root.set_aside(*_PLUMBING)
    facts = facts_of(root, unmapped)
    context = Context(
        id=root.name("id"),
        task=asked,
        task_id=root.name("reference_example_id"),
        trial=facts.trial,
        model=told.model,
        final_answer=None if error else final,
        reference_answer=reference(root.value("reference_outputs", "reference_output")),
        started_at=marked_utc(root.text("start_time")),
        duration_s=elapsed_s(root.text("start_time"), root.text("end_time")),
        cut_off=stopped,
        failure=None if stopped else one_line(error),
        extra=root.short("name", "trace_id", "session_id", "session_name", "tags", "error", "thread_id"),
    )
    usage_of_all = None if told.counted else whole
    conversation = Conversation(events=tuple(told.events), system=told.system, usage=usage_of_all)
    return conversation, merged(context, facts)


class _Story:
    """Converts the runs of a trace to events. A tool run is the result of the model's call of that tool."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.system: str | None = None
        self.model: str | None = None
        self.counted = False
        self.ran = False
        self._open: list[tuple[str, str]] = []
        self._named = 0

    def ends_with(self, final: str) -> bool:
        """Whether the last message is this answer."""
        said = next((event for event in reversed(self.events) if isinstance(event, Said)), None)
        return said is not None and (said.message or "").strip() == final.strip()

    def ended_with(self, inputs: Fields, outputs: Fields, asked: str | None) -> None:
        """Add what a run did that was exported without its child runs: the messages in its output.

        They may repeat those of the input, and with a memory all that came before; this run starts with its input.
        """
        messages = _flat_messages(outputs)
        keys = [_key(message) for message in messages]
        given = [_key(message) for message in _flat_messages(inputs)] or [("user", (asked or "").strip())]
        places = range(len(keys) - len(given), -1, -1)
        start = next((place for place in places if keys[place : place + len(given)] == given), None)
        for message in messages:
            set_copies_aside(message)
        added = list(events_of(messages[start or 0 :]))
        self.events = added if start is not None else [*self.events, *added]
        self.system = system_of(messages)
        self.counted = any(isinstance(event, Said) and event.usage is not None for event in added)

    def model_ran(self, run: Fields) -> None:
        """Add an LLM run; input messages that were added before are skipped."""
        self.ran = True
        given = _flat_messages(run.object("inputs"))
        self.system = self.system or system_of(given)
        if not self.events:
            self.events += events_of(given)
        for message in given:
            set_copies_aside(message)
            answer = message.name("tool_call_id")
            if role_of({"role": message.text("role", "type")}) == "tool" and self._close(answer, None):
                self.events.append(replace(result_of(message), call_id=answer))
        run.object("inputs").rest()
        extra = run.object("extra")
        metadata, parameters = extra.object("metadata"), extra.object("invocation_params")
        self.model = self.model or metadata.text("ls_model_name") or parameters.text("model", "model_name")
        agent = metadata.text("lc_agent_name", "langgraph_node") or "agent"
        ignore_rest(extra, metadata, parameters)
        latency = elapsed_ms(run.text("start_time"), run.text("end_time"))
        own = _own_usage(run)
        outputs = run.object("outputs")
        counts = outputs.object("usage", "usage_metadata")
        token_usage = usage_of(outputs.object("llm_output").object("token_usage")) or usage_of(counts)
        outputs.object("llm_output").rest()
        outputs.set_aside("type", "run")
        for said in _answers(outputs, agent):
            known = with_cache_of(own, said.usage) or said.usage or token_usage
            self.counted = self.counted or known is not None
            calls = tuple(call if call.id else replace(call, id=self._name()) for call in said.calls)
            self._open += [(call.id or "", call.name) for call in calls]
            self.events.append(replace(said, calls=calls, latency_ms=latency, usage=known))
            latency, own, token_usage = None, None, None
        run.set_aside("id", "name", "trace_id", "session_id", "tags", "start_time", "end_time")

    def tool_ran(self, run: Fields) -> None:
        """Add a tool or retriever run, as the result of a model's call or as a call of its own."""
        self.ran = True
        name = run.text("name") or "unnamed"
        inputs, outputs, extra = run.object("inputs"), run.object("outputs"), run.object("extra")
        arguments = inputs.rest()
        output = outputs.value("output", "documents", "result", "content")
        content = _tool_text(outputs.rest() or None if output is None else output)
        message = object_in(output)
        recorded = extra.name("tool_call_id") or message.get("tool_call_id")
        extra.rest()
        call_id = self._close(recorded if isinstance(recorded, str) else None, name)
        if call_id is None:
            call_id = self._name()
            given = arguments.get("input") if set(arguments) == {"input"} else arguments
            given = as_object(given) or given
            self.events.append(Said(calls=(Call(name=name, arguments=given, id=call_id),)))
        error = error_of_run(stated := run.text("error"))
        failed = error or (content[:200] or "error" if message.get("status") == "error" else None)
        latency = elapsed_ms(run.text("start_time"), run.text("end_time"))
        result = Result(content=content or error or "", call_id=call_id, error=one_line(failed), latency_ms=latency)
        if content or error == stated:  # else it waits for a human
            self.events.append(result)
        run.set_aside("id", "trace_id", "session_id", "tags", "start_time", "end_time", *_TOKENS)

    def _close(self, call_id: str | None, name: str | None) -> str | None:
        """Take the pending call with this id, or the first pending call of this tool."""
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
    """Tokens and cost counted by LangSmith; parent runs repeat the usage of their children."""
    tokens = {key: run.whole(key) for key in _TOKENS[:2]}
    cost, details = run.number("total_cost"), run.object("prompt_token_details")
    cached, written = details.whole("cache_read"), details.whole("cache_creation")
    run.set_aside(*_TOKENS)
    details.rest()
    known = {key: value if value and value > 0 else None for key, value in tokens.items()}
    return usage(known["prompt_tokens"], known["completion_tokens"], cost, cached, written)


def _answers(outputs: Fields, agent: str) -> Iterator[Said]:
    """The model's answer, as traced by LangChain or by wrapped clients."""
    generations = [generation for batch in outputs.items("generations") for generation in listed(batch)]
    plain: list[Any] = [
        generation.get("message") or generation for generation in generations if isinstance(generation, dict)
    ]
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
        with UnmappedFields().reading({"messages": [{**answer, "role": "assistant"}]}) as read:
            for event in events_of(read.objects("messages"), agent):
                if isinstance(event, Said):
                    yield replace(event, agent_id=agent)


def _key(message: Fields) -> tuple[str | None, str]:
    return role_of({"role": message.text("role", "type")}), content_of(message).strip()


def _final_of(outputs: Fields) -> str | None:
    """The final output: a text or the last model message."""
    stated = text_in(outputs, _TEXTS)
    if stated is not None:
        return stated
    for message in reversed(outputs.objects("messages")):
        if role_of({"role": message.text("role", "type")}) == "assistant":
            text = split_thought(content_of(message))[1]
            outputs.rest()
            return text if text.strip() else None
    return None


def _flat_messages(inputs: Fields) -> list[Fields]:
    """The input messages of a model; chat models trace them in batches of one."""
    messages = inputs.value("messages", "input", "chat_history")
    if not isinstance(messages, list):
        return []
    items = [item for one in messages for item in (_batch(one) if isinstance(one, list) else [one])]
    with UnmappedFields().reading({"messages": items}) as read:
        return [message for message in read.objects("messages") if role_of({"role": message.text("role", "type")})]


def _batch(items: list[Any]) -> list[Any]:
    """The messages in a list; a pair of texts is a message, too: its role and what it says."""
    if len(items) == 2 and all(isinstance(item, str) for item in items) and items[0] in ROLES:
        return [{"role": items[0], "content": items[1]}]
    return items


def _tool_text(output: Any) -> str:
    """The output of a tool: a text, a message or documents."""
    if isinstance(output, dict) and "content" in output:
        return as_text(output["content"])
    if isinstance(output, list) and output and all(isinstance(one, dict) and "page_content" in one for one in output):
        return "\n\n".join(as_text(document["page_content"]) for document in output)
    return as_text(output)


def text_in(fields: Fields, keys: Sequence[str]) -> str | None:
    """The first of these fields as text; other values as JSON or as the text of a message."""
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


def set_copies_aside(message: Fields) -> None:
    """Mark fields that LangChain writes twice into a message as read."""
    response = message.object("response_metadata")
    response.set_aside(
        "token_usage", "usage", "model_name", "model", "finish_reason", "stop_reason", "system_fingerprint", "id",
        "logprobs", "service_tier", "model_provider", "stop_sequence", "type", "role", "object", "created",
    )  # fmt: skip
