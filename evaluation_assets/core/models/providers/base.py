"""The interface of provider adapters, and what they share."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import orjson
from pydantic import BaseModel

from evaluation_assets.core.models.dialects import Dialect
from evaluation_assets.core.models.errors import ProviderError
from evaluation_assets.core.models.json_text import loads
from evaluation_assets.core.models.messages import Finish, Reply, Request
from evaluation_assets.core.models.providers.capabilities import Capabilities
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.text.well_formed import well_formed_json
from evaluation_assets.core.traces.trajectories.model import JsonObject


def name_of(*parts: Any) -> str | None:
    """What a provider says of the model that answered: the texts among these. Nothing else in them fails a reply."""
    return " ".join(part for part in parts if part and isinstance(part, str)) or None


_FINISH: Mapping[str, Finish] = {
    **dict.fromkeys(("length", "max_tokens", "model_length", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("content_filter", "sensitive", "safety", "recitation", "blocklist"), "content_filter"),
    "refusal": "refusal",
    **dict.fromkeys(("error", "abort", "network_error", "insufficient_system_resource"), "error"),
}
"""What providers, gateways and servers call the ends of replies that are not whole, in lower case."""


def finish_of(reason: str | None) -> Finish:
    """How a reply ended; what has no name here is the end of a whole one."""
    return _FINISH.get((reason or "").lower(), "stop")


def parsed(answer: Any) -> Any:
    """The body of an answer, with well-formed texts. The SDKs leave JSON alone that is sent as `text/plain`.

    Raises:
        ValueError: the text is not JSON.
        RecursionError: the body is nested too deeply.
    """
    if isinstance(answer, str | bytes):
        try:
            return loads(answer)
        except orjson.JSONDecodeError:  # it may hold numbers that JSON lacks
            answer = json.loads(answer)
    return well_formed_json(answer)


Answer = TypeVar("Answer", bound=BaseModel)


def answer_of(kind: type[Answer], answer: Any) -> Answer:
    """An answer of an SDK, which gives the body itself where that is of another type than JSON.

    Raises:
        ValueError: the body is not JSON, or not of this kind.
    """
    return answer if isinstance(answer, kind) else kind.model_validate(parsed(answer))


BatchItem = Reply | ProviderError | None
"""What a batch has for a request: its reply, an answer that cannot be read, or none."""


def batch_item(read: Callable[[Any], Reply], answer: Any) -> BatchItem:
    """What an answer of a batch is. An error in the place of an answer is none, and not billed."""
    try:
        return read(answer)
    except ProviderError:
        return None
    except (ValueError, LookupError, TypeError):
        return unread_item()


def unread_item() -> ProviderError:
    """An answer of a batch that cannot be read."""
    return ProviderError("server", "the answer in the batch cannot be read", retryable=False, is_billed=True)


def lines_of(content: bytes) -> Iterator[tuple[str | None, JsonObject]]:
    """The lines of a batch's results with the names of their requests, `None` where a line says none."""
    for line in content.splitlines():
        try:
            item = loads(line)
        except ValueError:
            item = None
        fields = item if isinstance(item, dict) else {}
        name = fields.get("custom_id")
        yield name if isinstance(name, str) else None, fields


NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}
"""The JSON Schema of a tool that takes none."""


def with_schema(request: Request) -> str:
    """The system text with the reply's JSON Schema in it, for endpoints that take no schema."""
    schema = orjson.dumps(request.schema).decode()
    return f"{request.system}\n\nReply with one JSON object that fits this JSON Schema:\n<schema>\n{schema}\n</schema>"


class BatchGone(Exception):
    """The endpoint does not know a batch or its results, or no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """How far a batch is: requests that have ended, in whatever way, of all."""

    ended: bool
    done: int
    total: int


class BatchProvider(Protocol):
    """The batches of one endpoint.

    Raises:
        ProviderError: there was no answer; every method may raise it.
        BatchGone: there is no such batch, or it has no results any more.
    """

    async def submit(self, bodies: Mapping[str, Any]) -> str:
        """Submit requests by their names; the name of the batch."""
        ...

    async def state(self, batch: str) -> BatchState:
        """How far it is."""
        ...

    def results(self, batch: str) -> AsyncIterator[tuple[str | None, BatchItem]]:
        """What a batch that has ended has for its requests, by their names, in any order.

        A name is `None` where a line of the results cannot be read.
        """
        ...


class Provider(Protocol):
    """One endpoint with one model behind it."""

    def body(self, request: Request, dialect: Dialect | None = None, *, in_batch: bool = False) -> dict[str, Any]:
        """What is sent, by default as the provider is usually asked. It grows by appending along a chain.

        In a batch, nothing is marked for the prefix cache: nothing would be read from it in time, and writing costs.
        """
        ...

    async def complete(self, request: Request, dialect: Dialect) -> Reply:
        """Send a request once, in a dialect.

        Raises:
            ProviderError: there was no reply.
        """
        ...

    def batches(self) -> BatchProvider | None:
        """The endpoint's batches, over the same connections; `None` where it has none."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class _SdkClient(Protocol):
    async def close(self) -> None: ...


Client = TypeVar("Client", bound=_SdkClient)


class SdkEndpoint(Generic[Client]):
    """One model that the client of an SDK reaches. Subclasses say what it is sent, and read its replies."""

    def __init__(self, client: Client, model: str, abilities: Capabilities, secrets: Sequence[str] = ()) -> None:
        self._client = client
        self._model = model
        self._abilities = abilities
        self._mask = Mask(secrets)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
