"""The Anthropic messages protocol: Claude, and gateways that speak it."""

from contextlib import AbstractContextManager
from typing import Any

import anthropic
from anthropic.lib.vertex import AsyncAnthropicVertex

from evaluation_assets.core.models.dialects import Dialect
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.messages import Message, Reply, Request, ToolUse
from evaluation_assets.core.models.providers.anthropic_batches import AnthropicBatches
from evaluation_assets.core.models.providers.base import NO_PARAMETERS, SdkEndpoint, finish_of, name_of, with_schema
from evaluation_assets.core.models.providers.sdk_errors import answer_in, in_our_words
from evaluation_assets.core.models.usage import reported
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets.core.traces.trajectories.images import Image
from evaluation_assets.core.traces.trajectories.model import Tool

_MARK = {"type": "ephemeral"}


class AnthropicMessages(SdkEndpoint[anthropic.AsyncAnthropic | AsyncAnthropicVertex]):
    """One model behind a messages endpoint.

    Three cache marks: the end of the system prompt, of the clip the last request ended with (what that one wrote), and
    of the new clip (what the next one reads).
    """

    def body(self, request: Request, dialect: Dialect | None = None, *, in_batch: bool = False) -> dict[str, Any]:
        """The request as it is sent."""
        dialect = dialect or self._abilities.dialect
        plain = request.schema is None or dialect.structured == "json_schema"
        system = request.system if plain else with_schema(request)
        marked = {index for index, turn in enumerate(request.turns) if turn.role == "user"}
        marked = set() if in_batch else set(sorted(marked)[-2:])
        messages = [_message(turn, marked=index in marked) for index, turn in enumerate(request.turns)]
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_output_tokens,
            "messages": messages,
        }
        if system:
            body["system"] = [_block(system, marked=not in_batch)]
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if request.schema is not None and plain:
            body["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
        return body | dialect.parameters(request.parameters)

    async def complete(self, request: Request, dialect: Dialect) -> Reply:
        """Send a request once, in a dialect."""
        with self._translated():
            body = self.body(request, dialect)
            if isinstance(self._client, AsyncAnthropicVertex):  # it writes the model into the address
                return self._read(await self._client.post("/v1/messages", body=body, cast_to=object))
            return self._read(await self._client.post("/v1/messages", content=dumped(body), cast_to=object))

    def _read(self, given: Any) -> Reply:
        return _reply(answer_in(given, self._mask))

    def batches(self) -> AnthropicBatches | None:
        """The endpoint's batches."""
        if not self._abilities.has_batches or isinstance(self._client, AsyncAnthropicVertex):
            return None
        return AnthropicBatches(self._client, self._read, self._translated)

    def _translated(self) -> AbstractContextManager[None]:
        return in_our_words(
            status=anthropic.APIStatusError,
            connection=anthropic.APIConnectionError,
            timeout=anthropic.APITimeoutError,
            other=anthropic.AnthropicError,
            mask=self._mask,
        )


def _message(turn: Message, *, marked: bool) -> dict[str, Any]:
    if turn.wire is not None:
        return turn.wire
    if not turn.answers:
        return {"role": turn.role, "content": [_block(turn.text, marked=marked), *map(_image, turn.images)]}
    content: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": answer.id, "content": answer.content, "is_error": answer.failed}
        for answer in turn.answers
    ]
    if marked:
        content[-1]["cache_control"] = _MARK
    return {"role": turn.role, "content": content}


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters or NO_PARAMETERS}


def _image(image: Image) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def _block(text: str, *, marked: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return block | {"cache_control": _MARK} if marked else block


class _Block(Frozen):
    type: str
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: Any = None


class _Answer(Frozen):
    """What is read of a message. The SDK's own type is filled in without a look, and takes longer."""

    content: tuple[_Block, ...]
    usage: Any = None
    stop_reason: str | None = None
    model: Any = None


def _reply(answer: Any) -> Reply:
    """The reply in a message.

    Raises:
        pydantic.ValidationError: it is none.
    """
    message = _Answer.model_validate(answer)
    usage, problem = _usage(message.usage)
    calls = tuple(
        ToolUse(id=block.id, name=block.name, arguments=dumped(block.input).decode())
        for block in message.content
        if block.type == "tool_use"
    )
    said = [{name: value for name, value in block.items() if value is not None} for block in answer["content"]]
    return Reply(
        text="".join(block.text for block in message.content if block.type == "text"),
        thought="".join(block.thinking for block in message.content if block.type == "thinking") or None,
        calls=calls,
        wire={"role": "assistant", "content": said} if calls else None,
        finish=finish_of(message.stop_reason),
        usage=usage,
        usage_problem=problem,
        served_model=name_of(message.model),
    )


def _usage(given: Any) -> tuple[TokenUsage, str | None]:
    """Anthropic's own figure of the input leaves the cached tokens out. What is wrong with it never fails a reply."""
    usage = given if isinstance(given, dict) else {}
    by_time = usage.get("cache_creation")
    return reported(
        {
            "input_tokens": usage.get("input_tokens"),
            "cached_tokens": usage.get("cache_read_input_tokens") or 0,
            "cache_write_tokens": usage.get("cache_creation_input_tokens") or 0,
            "cache_write_1h_tokens": by_time.get("ephemeral_1h_input_tokens") if isinstance(by_time, dict) else None,
            "output_tokens": usage.get("output_tokens"),
        },
        cached_beside=True,
    )
