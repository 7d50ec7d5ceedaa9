"""What a judge asks of a model, and what comes back, whatever the wire protocol."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import orjson

from evaluation_assets.core.judging.verdicts import ErrorKind

Role = Literal["user", "assistant"]
Finish = Literal["stop", "length", "refusal", "content_filter"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A conversation that asks for a JSON object.

    `cache_key` is the same for all requests of one chain. Turns alternate and end with the user's.
    """

    system: str
    turns: tuple[Message, ...]
    schema: Mapping[str, Any]
    max_output_tokens: int
    cache_key: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Billed tokens. `input_tokens` is all input, cached reads and writes included; `None` where not reported."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered, as it came."""

    text: str
    finish: Finish
    usage: TokenUsage


class ProviderError(Exception):
    """A request that got no reply.

    `retryable` says whether the same request may do better later, `retry_after` in how many seconds the provider wants
    it. The message never holds a key, a prompt or a response body.
    """

    def __init__(self, kind: ErrorKind, message: str, *, retryable: bool, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retryable = retryable
        self.retry_after = retry_after


def with_schema(request: Request) -> str:
    """The system prompt with the reply's JSON Schema in it, for endpoints that take no schema."""
    schema = orjson.dumps(request.schema).decode()
    return f"{request.system}\n\nReply with one JSON object that fits this JSON Schema:\n<schema>\n{schema}\n</schema>"


class Provider(Protocol):
    """One endpoint with one model behind it."""

    def body(self, request: Request) -> dict[str, Any]:
        """What is sent: the part that decides the answer. It grows by appending along a chain."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Send a request once.

        Raises:
            ProviderError: there was no reply.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
