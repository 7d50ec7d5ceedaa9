"""Runs of n8n's AI agents: executions with the data of each node, and items with an agent's intermediate steps.

An execution records the runs of the nodes below an agent: models without the calls that they asked for, and tools with
what they were given and returned. The calls that follow a model's run are those it asked for.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.times import elapsed_s
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import ESTIMATED
from evaluation_assets.core.traces.trajectories.model import JsonObject

_MODEL, _TOOL = "ai_languageModel", "ai_tool"
_ASKED = ("chatInput", "input", "text", "query", "prompt")
_SETTINGS = ("finished", "mode", "retryOf", "retrySuccessId", "waitTill", "workflowId", "createdAt", "customData")
_HUMAN = "Human: "
_SPEAKERS = ("\nAI:", "\nTool:", "\nSystem:")


def _run_data(data: Any) -> JsonObject:
    return object_in(at(at(at(data, "data"), "resultData"), "runData"))


def _item(data: Any) -> JsonObject:
    """The item in a record: n8n writes items as `{"json": ...}`, a webhook's answer has them bare."""
    return object_in(at(data, "json")) or object_in(data)


def _executions(data: Any) -> list[JsonObject]:
    """The executions with agents in a record: an execution, or a page of them as the API returns it."""
    objects = [object_in(data), *objects_in(at(data, "data"))]
    return [execution for execution in objects if _parts_of(_run_data(execution))]


def _holds(data: Any) -> bool:
    return bool(_executions(data)) or any(
        "tool" in object_in(at(step, "action")) for step in list_in(_item(data).get("intermediateSteps"))
    )


def _conversations(data: JsonObject) -> Iterator[Chat]:
    if executions := _executions(data):
        yield from map(_execution, executions)
        return
    item = _item(data)
    messages = [plain_message("user", _asked_in(item))] if _asked_in(item) else []
    for number, step in enumerate(objects_in(item["intermediateSteps"])):
        action = object_in(step.get("action"))
        call_id = first_text(action, "toolCallId") or f"step {number}"
        messages += _called([(call_id, first_text(action, "tool"), action.get("toolInput"))])
        messages += [plain_message("tool", as_text(step.get("observation")), tool_call_id=call_id)]
    others = without(item, "intermediateSteps", "output", *_ASKED)
    yield Chat({**others, "messages": [*messages, *_answer(item.get("output"))]})


def _execution(data: JsonObject) -> Chat:
    """The conversation of the agents in an execution."""
    runs = _run_data(data)
    start, end = first_text(data, "startedAt"), first_text(data, "stoppedAt")
    messages: list[JsonObject] = []
    model: str | None = None
    asked = next((task for _, json in _outputs(runs, "main") if (task := first_text(json, "chatInput"))), None)
    for index, (node, kind, run) in enumerate(_parts_of(runs)):
        agent = first_text(next(objects_in(run.get("source")), None), "previousNode")
        given, output = (_first_json(at(run.get(side), kind)) for side in ("inputOverride", "data"))
        if kind == _MODEL:
            options, generation = object_in(given.get("options")), _generation(output)
            model = model or first_text(generation.get("generationInfo"), "model_name") or first_text(options, "model")
            prompt = "\n".join(text for text in list_in(given.get("messages")) if isinstance(text, str))
            asked = asked or _human_in(prompt)
            said = generation.get("text")
            text = said if isinstance(said, str) and said.strip() else None
            messages.append(plain_message("assistant", text, name=agent, usage=_usage(output), tool_calls=[]))
        else:
            call_id = f"{node} {index}"
            if not messages or messages[-1]["role"] == "user":
                messages.append(plain_message("assistant", None, name=agent, tool_calls=[]))
            last = next(message for message in reversed(messages) if message["role"] == "assistant")
            last["tool_calls"] += _called([(call_id, node, given.get("query", given))])[0]["tool_calls"]
            failed = at(run.get("error"), "message")
            content = as_text(failed or output.get("response", output))
            messages.append(plain_message("tool", content, tool_call_id=call_id, status="error" if failed else None))
    answers = [as_text(json["output"]) for _, json in _outputs(runs, "main") if json.get("output") is not None]
    if answers and not any(message.get("content") == answers[-1] for message in messages[-1:]):
        speaker = next((name for message in reversed(messages) if (name := message.get("name"))), None)
        messages += _answer(answers[-1], speaker)
    record = {
        **without(data, "data", "workflowData", "startedAt", "stoppedAt", "status", *_SETTINGS),
        "id": data.get("id"),
        "session_id": next((json["sessionId"] for _, json in _outputs(runs, "main") if "sessionId" in json), None),
        "started_at": start,
        "duration_s": elapsed_s(start, end),
        "model": model,
        "termination_reason": data.get("status"),
        "metadata": {"workflow": first_text(data.get("workflowData"), "name")},
        "messages": [*([plain_message("user", asked)] if asked else []), *messages],
    }
    error = at(at(at(data.get("data"), "resultData"), "error"), "message")
    is_broken = data.get("status") in ("error", "crashed")
    return Chat(record, (error if isinstance(error, str) else data["status"]) if is_broken else None)


def _usage(output: JsonObject) -> JsonObject | None:
    """The tokens of a model's run; n8n estimates those that a provider does not report."""
    used, estimate = object_in(output.get("tokenUsage")), object_in(output.get("tokenUsageEstimate"))
    return used or ({**estimate, ESTIMATED: True} if estimate else None)


def _parts_of(runs: JsonObject) -> list[tuple[str, str, JsonObject]]:
    """The runs of models and tools in the order of their start, with the name of the node and the kind."""
    parts = [
        (node, kind, run)
        for node, of_node in runs.items()
        for run in objects_in(of_node)
        for kind in (_MODEL, _TOOL)
        if kind in object_in(run.get("data")) or kind in object_in(run.get("inputOverride"))
    ]
    return sorted(parts, key=lambda part: _order(part[2]))


def _order(run: JsonObject) -> tuple[float, float]:
    numbers = (run.get("startTime"), run.get("executionIndex"))
    start, index = (number if isinstance(number, int | float) else 0 for number in numbers)
    return start, index


def _outputs(runs: JsonObject, kind: str) -> Iterator[tuple[str, JsonObject]]:
    """The first item that each run of a node gave to the next, in the order of their start."""
    ordered = sorted(
        ((node, run) for node, of_node in runs.items() for run in objects_in(of_node)), key=lambda one: _order(one[1])
    )
    for node, run in ordered:
        if json := _first_json(at(run.get("data"), kind)):
            yield node, json


def _first_json(branches: Any) -> JsonObject:
    """The JSON of the first item in the first branch that has one."""
    return next(
        (json for branch in list_in(branches) for item in objects_in(branch) if (json := object_in(item.get("json")))),
        {},
    )


def _generation(output: JsonObject) -> JsonObject:
    generations = list_in(at(output.get("response"), "generations"))
    return next((generation for group in generations for generation in objects_in(group)), {})


def _asked_in(json: JsonObject) -> str | None:
    return first_text(json, *_ASKED)


def _human_in(prompt: str) -> str | None:
    """What the user said last in a prompt, which n8n writes as text with the history of the chat."""
    _, marker, rest = prompt.rpartition(_HUMAN)
    ends = [end for speaker in _SPEAKERS if (end := rest.find(speaker)) >= 0]
    return rest[: min(ends, default=len(rest))].strip() or None if marker else None


def _called(calls: list[tuple[str, str | None, Any]]) -> list[JsonObject]:
    made = [{"id": call_id, "name": name or "unnamed", "arguments": given} for call_id, name, given in calls]
    return [{"role": "assistant", "tool_calls": made}]


def _answer(output: Any, agent: str | None = None) -> list[JsonObject]:
    text = as_text(output)
    return [plain_message("assistant", text, name=agent)] if text.strip() else []


N8N = Envelope(
    name="n8n",
    description="n8n: executions with AI agents, and items with an agent's intermediate steps",
    detection="data.resultData.runData with runs of models or tools; items with intermediateSteps that have an action",
    holds=_holds,
    conversations=_conversations,
)
