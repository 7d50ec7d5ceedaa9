"""Anthropic's protocol: messages, at Anthropic and on Google Cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation_assets_tests.model_server.faults import Failure
from evaluation_assets_tests.model_server.openai_chat import OpenAI
from evaluation_assets_tests.model_server.reading import MINIMUM, Calls, Malformed, Reading, dumped, read, tokens

MARKERS = 4
STOPS = {
    "calls": "tool_use",
    "stop": "end_turn",
    "length": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
}


def read_anthropic(body: Mapping[str, Any]) -> Reading:
    wanted = (body.get("output_config") or {}).get("format") or {}
    schema = wanted["schema"] if wanted.get("type") == "json_schema" else None
    if not isinstance(body.get("max_tokens"), int):
        raise Malformed("max_tokens: Field required")
    _all_answered(body["messages"])
    messages = [("system", body["system"])] if body.get("system") else []
    messages += [(message["role"], message["content"]) for message in body["messages"]]
    reading = read(body, messages, schema, json_only=False)
    if control := body.get("cache_control"):
        reading.blocks[-1] = (reading.blocks[-1][0], control.get("ttl", "5m"))
    if (found := sum(ttl is not None for _, ttl in reading.blocks)) > MARKERS:
        raise Malformed(f"A maximum of {MARKERS} blocks with cache_control may be provided. Found {found}.")
    return reading


def read_vertex(body: Mapping[str, Any]) -> Reading:
    """As Anthropic's, but the model stands in the path and the version in the body."""
    if not body.get("anthropic_version"):
        raise Malformed("anthropic_version: Field required")
    if "model" in body:
        raise Malformed("model: Extra inputs are not permitted")
    return read_anthropic({**body, "model": "vertex"})


def _all_answered(messages: Sequence[Mapping[str, Any]]) -> None:
    """Every `tool_use` has its `tool_result` in the message right after it, and the other way round."""
    asked: set[str] = set()
    for message in [*messages, {"content": []}]:
        content = message["content"] if isinstance(message["content"], list) else []
        given = {block["tool_use_id"] for block in content if block.get("type") == "tool_result"}
        if given != asked:
            raise Malformed(f"tool_use ids without tool_result blocks immediately after, or reversed: {given ^ asked}")
        asked = {block["id"] for block in content if block.get("type") == "tool_use"}


class Anthropic:
    """Messages."""

    request_id = b"request-id"
    read = staticmethod(read_anthropic)

    @staticmethod
    def key(headers: Mapping[bytes, bytes]) -> str:
        return OpenAI.key(headers) or headers.get(b"x-api-key", b"").decode("latin-1")

    @staticmethod
    def error(failure: Failure, fault: Mapping[str, Any], number: int) -> dict[str, Any]:
        error: dict[str, Any] = {"type": failure.anthropic, "message": failure.message}
        error |= {key: fault[key] for key in ("message", "type") if key in fault}
        if "code" in fault:
            error["details"] = {"error_code": fault["code"]}
        return {"type": "error", "error": error, "request_id": f"req_{number}"}

    @staticmethod
    def account(reading: Reading, prefixes: set[int], key: str) -> tuple[dict[str, Any], list[int]]:
        """The usage of the prompt, and the prefixes that are cached once it is answered."""
        state, length, read, marked, lifetime, marks = hash((key, reading.model)), 0, 0, 0, "5m", []
        for text, ttl in reading.blocks:
            state = hash((state, text))
            length += len(text)
            if ttl is not None and tokens(length) >= MINIMUM:
                marks.append(state)
                marked, lifetime = tokens(length), ttl
                if state in prefixes:
                    read = marked
        written = marked - read
        usage = {
            "input_tokens": tokens(length) - marked,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": 0 if lifetime == "1h" else written,
                "ephemeral_1h_input_tokens": written if lifetime == "1h" else 0,
            },
            "service_tier": "standard",
        }
        return usage, marks

    @staticmethod
    def reply(
        reading: Reading, text: str, calls: Calls, stop: str, usage: dict[str, Any], number: int
    ) -> dict[str, Any]:
        made = [
            {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": call["name"], "input": call["arguments"]}
            for index, call in enumerate(calls)
        ]
        details = None
        if STOPS[stop] == "refusal":
            details = {"type": "refusal", "category": "general_harms", "explanation": text or None}
            text = ""
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": reading.model,
            "content": [*([{"type": "text", "text": text, "citations": None}] if text else []), *made],
            "stop_reason": STOPS[stop],
            "stop_sequence": None,
            "stop_details": details,
            "usage": usage | {"output_tokens": tokens(len(text)) + (tokens(len(dumped(made))) if made else 0)},
        }


class Vertex(Anthropic):
    """Messages of Claude on Google Cloud."""

    read = staticmethod(read_vertex)
