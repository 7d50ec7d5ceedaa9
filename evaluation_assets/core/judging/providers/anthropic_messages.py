"""The Anthropic messages protocol: Claude, and gateways that speak it."""

from collections.abc import Mapping
from typing import Any

import anthropic
from anthropic.lib.vertex import AsyncAnthropicVertex
from anthropic.types import Message as AnthropicMessage

from evaluation_assets.core.judging.providers.base import Finish, ProviderError, Reply, Request, TokenUsage, with_schema
from evaluation_assets.core.judging.providers.capabilities import Capabilities
from evaluation_assets.core.judging.providers.errors import connection_error, status_error

_MARK = {"type": "ephemeral"}
_FINISH: Mapping[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class AnthropicMessages:
    """One model behind a messages endpoint.

    Three cache marks: the end of the system prompt, of the clip the last request ended with (what that one wrote), and
    of the new clip (what the next one reads).
    """

    def __init__(
        self, client: anthropic.AsyncAnthropic | AsyncAnthropicVertex, model: str, abilities: Capabilities
    ) -> None:
        self._client = client
        self._model = model
        self._abilities = abilities

    def body(self, request: Request) -> dict[str, Any]:
        """The request as it is sent."""
        structured = self._abilities.structured == "json_schema"
        marked = {index for index, turn in enumerate(request.turns) if turn.role == "user"}
        marked = set(sorted(marked)[-2:])
        messages = [
            {"role": turn.role, "content": [_block(turn.text, marked=index in marked)]}
            for index, turn in enumerate(request.turns)
        ]
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_output_tokens,
            "system": [_block(request.system if structured else with_schema(request), marked=True)],
            "messages": messages,
        }
        if structured:
            body["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
        return body | dict(request.parameters)

    async def complete(self, request: Request) -> Reply:
        """Send a request once."""
        try:
            answer = await self._client.post("/v1/messages", body=self.body(request), cast_to=AnthropicMessage)
        except anthropic.APIStatusError as problem:
            raise status_error(problem.status_code, problem.response.headers, problem.body) from None
        except anthropic.APIConnectionError as problem:
            raise connection_error(problem, timed_out=isinstance(problem, anthropic.APITimeoutError)) from None
        except (anthropic.AnthropicError, ValueError) as problem:
            raise ProviderError("server", f"unreadable response: {type(problem).__name__}", retryable=True) from None
        return _reply(answer)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _block(text: str, *, marked: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return block | {"cache_control": _MARK} if marked else block


def _reply(answer: AnthropicMessage) -> Reply:
    usage = answer.usage
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return Reply(
        text="".join(block.text for block in answer.content if block.type == "text"),
        finish=_FINISH.get(answer.stop_reason or "", "stop"),
        usage=TokenUsage(
            input_tokens=usage.input_tokens + read + written,  # Anthropic's own figure leaves the cached ones out
            cached_tokens=read,
            cache_write_tokens=written,
            output_tokens=usage.output_tokens,
        ),
    )
