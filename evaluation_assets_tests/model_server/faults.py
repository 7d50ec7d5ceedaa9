"""Faults that a script can name: how each protocol words an error, and how an answer is damaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


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
CONNECTION_FAULTS = ("slow", "drop", "truncated_body", "other_body")
OTHER_BODY = b'{"choices": [null], "content": "no blocks", "error": {"message": "with status 200"}}'
"""What some gateways answer when they fail: fine by its status, and no answer of the protocol."""
ANSWER_FAULTS = ("length", "refusal", "content_filter", "empty", "text", "steps", "lenient")
VALUE_FAULTS = ("out_of_range", "missing", "extra")
TEXT_FAULTS: dict[str, Callable[[str], str]] = {
    "invalid_json": lambda text: "{" + text.replace(":", " ="),
    "prose": lambda text: f"Here is my evaluation:\n\n{text}\n\nLet me know if you need anything else.",
    "fenced": lambda text: f"```json\n{text}\n```",
    "trailing_comma": lambda text: f"{text[:-1]},{text[-1]}" if text[-1:] in ("}", "]") else f"{text},",
}
FAULTS = (*ERRORS, *CONNECTION_FAULTS, *ANSWER_FAULTS, *VALUE_FAULTS, *TEXT_FAULTS)
