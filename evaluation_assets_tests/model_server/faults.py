"""Faults that a script can name: how each protocol words an error, and how an answer is damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Failure(NamedTuple):
    """An error as each protocol words it."""

    status: int
    openai: tuple[str, str | None]
    anthropic: str
    message: str


ERRORS = {
    "bad_request": Failure(400, ("invalid_request_error", None), "invalid_request_error", "The request is not valid."),
    "context_length": Failure(
        400,
        ("invalid_request_error", "context_length_exceeded"),
        "invalid_request_error",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ),
    "wrong_key": Failure(
        401, ("invalid_request_error", "invalid_api_key"), "authentication_error", "Incorrect API key provided."
    ),
    "payment_required": Failure(402, ("billing_error", None), "billing_error", "Insufficient balance."),
    "forbidden": Failure(403, ("permission_error", None), "permission_error", "The key may not use this model."),
    "not_found": Failure(
        404, ("invalid_request_error", "model_not_found"), "not_found_error", "The model does not exist."
    ),
    "rate_limited": Failure(429, ("requests", "rate_limit_exceeded"), "rate_limit_error", "Too many requests."),
    "insufficient_quota": Failure(
        429,
        ("insufficient_quota", "insufficient_quota"),
        "rate_limit_error",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "server_error": Failure(500, ("server_error", None), "api_error", "The server had an error."),
    "unavailable": Failure(503, ("server_error", None), "api_error", "The service is not available."),
    "overloaded": Failure(529, ("server_error", "overloaded"), "overloaded_error", "Overloaded"),
}
REFUSALS: dict[str, tuple[str, Callable[[Mapping[str, Any]], bool]]] = {
    "no_json_schema": (
        "response_format of type 'json_schema' is not supported by this model.",
        lambda body: (body.get("response_format") or {}).get("type") == "json_schema",
    ),
    "no_response_format": (
        "Unrecognized request argument supplied: response_format",
        lambda body: "response_format" in body,
    ),
    "no_max_tokens": (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        lambda body: "max_tokens" in body,
    ),
    "no_max_completion_tokens": (
        "Unrecognized request argument supplied: max_completion_tokens",
        lambda body: "max_completion_tokens" in body,
    ),
    "no_system_role": (
        "System role not supported",
        lambda body: any(message.get("role") == "system" for message in body.get("messages") or ()),
    ),
    "no_temperature": (
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        lambda body: "temperature" in body,
    ),
}
"""Servers that lack a feature: what they say, and to which requests. Other requests are answered."""
CONNECTION_FAULTS = ("slow", "drop", "truncated_body", "other_body")
OTHER_BODY = b'{"choices": [null], "content": "no blocks", "error": {"message": "with status 200"}}'
"""What some gateways answer when they fail: fine by its status, and no answer of the protocol."""
ANSWER_FAULTS = ("length", "refusal", "content_filter", "empty", "text", "steps", "lenient", "parts", "in_reasoning")
VALUE_FAULTS = ("out_of_range", "missing", "extra")
TEXT_FAULTS: dict[str, Callable[[str], str]] = {
    "invalid_json": lambda text: "{" + text.replace(":", " ="),
    "prose": lambda text: f"Here is my evaluation:\n\n{text}\n\nLet me know if you need anything else.",
    "fenced": lambda text: f"```json\n{text}\n```",
    "thinking": lambda text: f'<think>A draft: {{"scores": {{}}, "reasoning": "{{", "summary": ""}}</think>\n{text}',
    "thinking_without_begin": lambda text: f'As for {{this}}: {{"scores": []}}\n</think>\n\n{text}',
    "trailing_comma": lambda text: f"{text[:-1]},{text[-1]}" if text[-1:] in ("}", "]") else f"{text},",
}
BATCH_FAULTS = ("expired", "broken_line", "without_name", "no_reply", "no_usage")
FAULTS = (*BATCH_FAULTS, *ERRORS, *REFUSALS, *CONNECTION_FAULTS, *ANSWER_FAULTS, *VALUE_FAULTS, *TEXT_FAULTS)
