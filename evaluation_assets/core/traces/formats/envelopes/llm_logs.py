"""Logs of the command line tool `llm` (`llm logs --json`): responses, of which those of one conversation are a run.

What tools gave back stands in the response after their calls, unless the provider ran them.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KEYS = {"prompt", "response", "conversation_id", "datetime_utc"}
_READ = (
    *_KEYS, "id", "model", "resolved_model", "system", "prompt_json", "response_json", "conversation_name",
    "conversation_model", "prompt_fragments", "system_fragments", "tools", "tool_calls", "tool_results", "attachments",
    "reasoning", "input_tokens", "output_tokens", "token_details", "duration_ms", "options_json",
)  # fmt: skip


def _part_of(data: Any) -> str | None:
    row = object_in(data)
    return None if not row.keys() >= _KEYS else first_text(row, "conversation_id") or first_text(row, "id") or ""


def _conversations(data: JsonObject) -> Iterator[Chat]:
    rows = sorted(objects_in(data.get(PARTS)), key=lambda row: str(row.get("datetime_utc")))
    first, last = rows[0], rows[-1]
    tools = {first_text(tool, "name"): tool for row in rows for tool in objects_in(row.get("tools"))}
    yield Chat(
        {
            "id": first_text(first, "conversation_id"),
            "started_at": first_text(first, "datetime_utc"),
            "model": first_text(last, "resolved_model", "model"),
            "metadata": last.get("options_json"),
            "system_prompt": _with_fragments(first, "system_fragments", "system"),
            "tools": [
                {"name": name, "description": tool.get("description"), "parameters": tool.get("input_schema")}
                for name, tool in tools.items()
            ],
            "messages": [message for row in rows for message in _messages(row)],
        }
    )


def _messages(row: JsonObject) -> Iterator[JsonObject]:
    results = list(objects_in(row.get("tool_results")))
    yield from (_result(result) for result in results if result.get("server_executed") is not True)
    attached = [f"[{first_text(each, 'type') or 'file'}]" for each in objects_in(row.get("attachments"))]
    asked = "\n".join([*filter(None, [_with_fragments(row, "prompt_fragments", "prompt")]), *attached])
    if asked:
        yield plain_message("user", asked)
    details = object_in(row.get("token_details"))
    counts = {name: row[name] for name in ("input_tokens", "output_tokens") if row.get(name) is not None}
    calls = [
        {"id": call.get("tool_call_id"), "name": call.get("name"), "arguments": call.get("arguments")}
        for call in objects_in(row.get("tool_calls"))
    ]
    yield {
        **without(row, *_READ),
        **plain_message("assistant", row.get("response"), reasoning_content=row.get("reasoning")),
        **({"tool_calls": calls} if calls else {}),
        **({"usage": {**details, **counts}} if counts else {}),
        "latency_ms": row.get("duration_ms"),
    }
    yield from (_result(result) for result in results if result.get("server_executed") is True)


def _result(result: JsonObject) -> JsonObject:
    return plain_message(
        "tool", as_text(result.get("output")), tool_call_id=result.get("tool_call_id"), name=result.get("name"),
        error=result.get("exception"),
    )  # fmt: skip


def _with_fragments(row: JsonObject, fragments: str, name: str) -> str | None:
    """A prompt behind its fragments, which are named where the log has no more of them."""
    given = (first_text(each, "content") or f"[fragment {at(each, 'hash')}]" for each in objects_in(row.get(fragments)))
    return "\n\n".join([*given, *filter(None, [first_text(row, name)])]) or None


LLM_LOGS = Envelope(
    name="llm_logs",
    description="logs of the command line tool llm: llm logs --json",
    detection="prompt, response, conversation_id and datetime_utc",
    holds=lambda _: False,
    part_of=_part_of,
    conversations=_conversations,
)
