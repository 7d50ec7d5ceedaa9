"""What is asked of a model, and what comes back, whatever the wire protocol."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import orjson

from evaluation_assets.core.judging.verdicts import ErrorKind
from evaluation_assets.core.trajectories.model import JsonObject, Tool

Role = Literal["user", "assistant"]
Finish = Literal["stop", "length", "refusal", "content_filter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A call that a model asks for. `arguments` is JSON as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What the call with this id gave."""

    id: str
    content: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    A user's turn may be the answers to the calls of the turn before it. `wire` is an assistant's turn in the protocol's
    own form: it is sent back as it came, because reasoning and signatures in it have to stand where they stood.
    """

    role: Role
    text: str
    answers: tuple[ToolAnswer, ...] = ()
    wire: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A conversation that asks for a JSON object of this schema, or without a schema for text or calls of `tools`.

    `cache_key` is the same for all requests of one chain. Turns alternate and end with the user's.
    """

    system: str
    turns: tuple[Message, ...]
    schema: Mapping[str, Any] | None
    max_output_tokens: int
    cache_key: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[Tool, ...] = ()


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
    """What a model answered, as it came.

    `thought` is reasoning the provider shows. A reply with calls has its `wire` form, for the turn that sends it back.
    `served_model` is the model that answered, in the provider's words: `None` where it does not say.
    """

    text: str
    finish: Finish
    usage: TokenUsage
    thought: str | None = None
    calls: tuple[ToolUse, ...] = ()
    wire: JsonObject | None = None
    served_model: str | None = None


class ProviderError(Exception):
    """A request that got no reply.

    `retryable` says whether the same request may do better later, `retry_after` in how many seconds the provider wants
    it; `endpoint_failed` that it is not this request which is at fault, but whoever should have answered it; `schema`
    that the endpoint does not take a JSON schema. The message never holds a key, a prompt or a response body.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retryable: bool,
        retry_after: float | None = None,
        endpoint_failed: bool = False,
        schema: Literal["surely", "perhaps"] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        self.endpoint_failed = endpoint_failed
        self.schema = schema


def name_of(*parts: Any) -> str | None:
    """What a provider says of the model that answered: the texts among these. Nothing else in them fails a reply."""
    return " ".join(part for part in parts if part and isinstance(part, str)) or None


def parsed(answer: Any) -> Any:
    """The body of an answer: the SDKs leave JSON alone that is sent as `text/plain`.

    Raises:
        ValueError: it is no JSON.
    """
    return json.loads(answer) if isinstance(answer, str) else answer


NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}
"""The JSON Schema of a tool that takes none."""


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
