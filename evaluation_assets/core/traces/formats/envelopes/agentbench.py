"""Runs of AgentBench: lines of `runs.jsonl`, each with the output of a task's server and the history of the agent."""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, without
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_STOPPED = {"task limit reached": "step_limit", "agent context limit": "context_length_exceeded"}
"""States of a run that a limit ended, as reasons that are known from other sources."""


_BROKEN = ("task error", "unknown")


def _is_run(data: Any) -> bool:
    run = object_in(data)
    is_broken = isinstance(run.get("error"), str)
    if run.get("output") is None:
        return "index" in run and "info" in run and is_broken
    is_told = isinstance(at(run["output"], "history"), list) or is_broken
    return "index" in run and "status" in object_in(run["output"]) and is_told


def _conversations(data: JsonObject) -> Iterator[Chat]:
    output = object_in(data.get("output"))
    status, result, error = output.get("status"), output.get("result"), data.get("error")
    solved = at(result, "result")
    record = {
        "id": data["index"],
        "task_id": data["index"],
        "termination_reason": _STOPPED.get(status, status) if isinstance(status, str) else None,
        "final_output": result if isinstance(result, str) else None,
        "success": solved if isinstance(solved, bool) else None,
        "score": None if isinstance(result, str) else result,
        "info": data.get("info"),
        "output": without(output, "index", "status", "result", "history"),
        "messages": [_message(message) for message in list_in(output.get("history"))],
    }
    broken = error or (status if status in _BROKEN else None)
    yield Chat(record, broken if isinstance(broken, str) else None)


def _message(message: Any) -> Any:
    return {**message, "role": "assistant"} if at(message, "role") == "agent" else message


AGENTBENCH = Envelope(
    name="agentbench",
    description="AgentBench runs: runs.jsonl and error.jsonl of a task",
    detection="records with an index and an output that has a status and a history",
    holds=_is_run,
    conversations=_conversations,
    local_ids=True,
)
