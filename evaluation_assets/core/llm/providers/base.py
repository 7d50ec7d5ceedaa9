"""The interface of provider adapters, and what they share."""

import json
from typing import Any, Protocol

import orjson

from evaluation_assets.core.llm.dialects import Dialect
from evaluation_assets.core.llm.messages import Reply, Request
from evaluation_assets.core.trajectories.model import JsonObject


def name_of(*parts: Any) -> str | None:
    """What a provider says of the model that answered: the texts among these. Nothing else in them fails a reply."""
    return " ".join(part for part in parts if part and isinstance(part, str)) or None


def parsed(answer: Any) -> Any:
    """The body of an answer: the SDKs leave JSON alone that is sent as `text/plain`.

    Raises:
        ValueError: the text is not JSON.
    """
    return json.loads(answer) if isinstance(answer, str) else answer


NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}
"""The JSON Schema of a tool that takes none."""


def with_schema(request: Request) -> str:
    """The system text with the reply's JSON Schema in it, for endpoints that take no schema."""
    schema = orjson.dumps(request.schema).decode()
    return f"{request.system}\n\nReply with one JSON object that fits this JSON Schema:\n<schema>\n{schema}\n</schema>"


class Provider(Protocol):
    """One endpoint with one model behind it."""

    def body(self, request: Request, dialect: Dialect | None = None) -> dict[str, Any]:
        """What is sent, by default as the provider is usually asked. It grows by appending along a chain."""
        ...

    async def complete(self, request: Request, dialect: Dialect) -> Reply:
        """Send a request once, in a dialect.

        Raises:
            ProviderError: there was no reply.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
