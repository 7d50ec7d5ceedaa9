"""OpenAI's protocol: chat completions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from evaluation_assets_tests.model_server.faults import Failure
from evaluation_assets_tests.model_server.reading import MINIMUM, Calls, Malformed, Reading, dumped, read, tokens

STEP = 128


def read_openai(body: Mapping[str, Any]) -> Reading:
    wanted = body.get("response_format") or {}
    kind = wanted.get("type", "text")
    schema = wanted["json_schema"]["schema"] if kind == "json_schema" else None
    messages, open_calls = [], []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                raise Malformed("messages with role 'tool' must be a response to a preceding message with 'tool_calls'")
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            raise Malformed(f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
        calls = message.get("tool_calls") or []
        open_calls += [call["id"] for call in calls]
        content = message.get("content")
        messages.append((message["role"], (content or "") + dumped(calls) if calls else content))
    if open_calls:
        raise Malformed(f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
    reading = read(body, messages, schema, kind == "json_object")
    reading.cache_key = body.get("prompt_cache_key")
    return reading


def _arguments(call: Mapping[str, Any]) -> str:
    """A text is sent as it is, so that broken arguments can be scripted."""
    arguments = call["arguments"]
    return arguments if isinstance(arguments, str) else dumped(arguments)


def _in_parts(message: dict[str, Any]) -> None:
    text = message["content"]
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": 'A draft: {"scores": []}'}]}
    middle = len(text) // 2
    message["content"] = [thought, *({"type": "text", "text": part} for part in (text[:middle], text[middle:]))]


def _in_reasoning(message: dict[str, Any]) -> None:
    message["reasoning"], message["content"] = message["content"], ""


MOVED = {"parts": _in_parts, "in_reasoning": _in_reasoning}
"""Answers that stand where only some servers put them."""


class OpenAI:
    """Chat completions."""

    request_id = b"x-request-id"
    read = staticmethod(read_openai)

    @staticmethod
    def key(headers: Mapping[bytes, bytes]) -> str:
        scheme, _, key = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        return key.strip() if scheme.lower() == "bearer" else ""

    @staticmethod
    def error(failure: Failure, fault: Mapping[str, Any], number: int) -> dict[str, Any]:
        kind, code = failure.openai
        message = {"message": failure.message, "type": kind, "param": None, "code": code}
        return {"error": message | {key: fault[key] for key in ("message", "type", "code") if key in fault}}

    @staticmethod
    def account(reading: Reading, prefixes: set[int], key: str) -> tuple[dict[str, Any], list[int]]:
        """The usage of the prompt, and the prefixes that are cached once it is answered."""
        text, size = reading.text, 4 * STEP
        chain, hits, state = [], 0, hash((key, reading.model, reading.cache_key))
        for end in range(size, len(text) + 1, size):
            state = hash((state, text[end - size : end]))
            hits += len(chain) == hits and state in prefixes
            chain.append(state)
        cached = hits * STEP if hits * STEP >= MINIMUM else 0
        sent = tokens(len(text))
        written = sent - cached if sent >= MINIMUM else 0
        details = {"cached_tokens": cached, "cache_write_tokens": written}
        return {"prompt_tokens": sent, "prompt_tokens_details": details}, chain

    @staticmethod
    def reply(
        reading: Reading, text: str, calls: Calls, stop: str, usage: dict[str, Any], number: int
    ) -> dict[str, Any]:
        made = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": call["name"], "arguments": _arguments(call)},
            }
            for index, call in enumerate(calls)
        ]
        out = tokens(len(text)) + (tokens(len(dumped(made))) if made else 0)
        refused = stop == "refusal"
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": reading.model,
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": None if refused else text,
                        "refusal": text if refused else None,
                        **({"tool_calls": made} if made else {}),
                    },
                    "logprobs": None,
                    "finish_reason": "stop" if refused else "tool_calls" if made else stop,
                }
            ],
            "usage": usage | {"completion_tokens": out, "total_tokens": usage["prompt_tokens"] + out},
        }
