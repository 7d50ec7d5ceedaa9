"""Runs of Agno agents and teams (`RunOutput.to_dict()`), and sessions with several of them.

A run repeats what was said before it, marked as history. Runs of a team's members stand beside that of the team.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_AGENTS = ("agent_id", "team_id", "workflow_id")
_REPEATED = (
    "content",
    "content_type",
    "messages",
    "metrics",
    "tools",
    "input",
    "created_at",
    "events",
    "model_provider",
)
"""Fields of a run that say what its messages say, or are read apart."""
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost")
_NO_TEXT = (
    "id", "from_history", "metrics", "tool_call_error", "created_at", "stop_after_tool_call", "tool_args", "temporary",
)  # fmt: skip


def _holds(data: Any) -> bool:
    return any(map(_is_run, [data, *objects_in(at(data, "runs"))]))


def _is_run(data: Any) -> bool:
    named = "run_id" in object_in(data) and any(name in data for name in _AGENTS)
    return named and any(map(role_of, objects_in(data.get("messages"))))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    if _is_run(data):
        yield _chat([data], data)
        return
    runs = [run for run in objects_in(data["runs"]) if _is_run(run)]
    whole = [run for run in runs if not first_text(run, "parent_run_id")]
    if whole:
        yield _chat(whole, {**without(data, "runs", "created_at", "updated_at"), "id": data.get("session_id")})
    for run in runs:
        if run not in whole:
            yield _chat([run], without(run, "parent_run_id"))  # members are runs by themselves


def _chat(runs: list[JsonObject], about: JsonObject) -> Chat:
    """One conversation of several runs. Each begins with the system prompt; the last has what was said before."""
    messages = list(objects_in(runs[0]["messages"]))
    for run in runs[1:]:
        messages += [
            message
            for message in objects_in(run["messages"])
            if message.get("from_history") is not True and role_of(message) != "system"
        ]
    created = runs[0].get("created_at")
    stated = [object_in(run.get("metrics")) for run in runs]
    record = {
        **without(about, *_REPEATED),
        "id": about.get("id") or about.get("run_id"),
        "started_at": as_utc(created) if isinstance(created, int | float) else None,
        "model": next((model for run in reversed(runs) if (model := first_text(run, "model"))), None),
        "usage": _sums(stated),
        "messages": [_message(message) for message in messages],
    }
    failed = runs[-1].get("status") == "ERROR"
    return Chat(record, failure=(first_text(runs[-1], "content") or "error") if failed else None)


def _message(message: JsonObject) -> JsonObject:
    earlier = message.get("from_history") is True
    usage = None if earlier else object_in(message.get("metrics")) or None
    more = {"usage": usage, "is_error": message.get("tool_call_error")}
    return {
        **without(message, "role", "content", *_NO_TEXT),
        **plain_message(message.get("role"), message.get("content"), **more),
    }


def _sums(stated: Sequence[JsonObject]) -> JsonObject | None:
    """The tokens and costs of all runs, as they state them; `None` if one does not."""
    if not all("input_tokens" in run for run in stated):
        return None
    counts = {name: [count for run in stated if isinstance(count := run.get(name), int | float)] for name in _COUNTS}
    return {name: sum(counted) for name, counted in counts.items() if counted}


AGNO = Envelope(
    name="agno",
    description="runs and sessions of Agno agents and teams",
    detection="run_id and agent_id (or team_id) with messages, or runs of such objects",
    holds=_holds,
    conversations=_conversations,
)
