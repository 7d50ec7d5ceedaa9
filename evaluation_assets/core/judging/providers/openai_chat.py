"""The OpenAI chat protocol: OpenAI itself and every server that speaks it."""

from collections.abc import Mapping
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from evaluation_assets.core.judging.providers.base import (
    NO_PARAMETERS,
    Finish,
    Message,
    ProviderError,
    Reply,
    Request,
    TokenUsage,
    ToolUse,
    with_schema,
)
from evaluation_assets.core.judging.providers.capabilities import Capabilities
from evaluation_assets.core.judging.providers.errors import in_our_words
from evaluation_assets.core.trajectories.model import Tool

_FINISH: Mapping[str, Finish] = {"length": "length", "content_filter": "content_filter"}


class OpenAIChat:
    """One model behind a chat completions endpoint.

    `.create` and not `.parse`: an answer that does not validate was paid for all the same, and `.parse` loses it.
    """

    def __init__(self, client: openai.AsyncOpenAI, model: str, abilities: Capabilities) -> None:
        self._client = client
        self._model = model
        self._abilities = abilities

    def body(self, request: Request) -> dict[str, Any]:
        """The request as it is sent."""
        structured = None if request.schema is None else self._abilities.structured
        system = request.system if structured in (None, "json_schema") else with_schema(request)
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        for turn in request.turns:
            messages += _messages(turn)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            self._abilities.max_tokens_field: request.max_output_tokens,
        }
        if structured == "json_schema":
            schema = {"name": "evaluation", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        if self._abilities.sends_cache_key:
            body["prompt_cache_key"] = request.cache_key
        return body | dict(request.parameters)

    async def complete(self, request: Request) -> Reply:
        """Send a request once."""
        with in_our_words(
            status=openai.APIStatusError,
            connection=openai.APIConnectionError,
            timeout=openai.APITimeoutError,
            other=openai.OpenAIError,
        ):
            answer = await self._client.post("/chat/completions", body=self.body(request), cast_to=ChatCompletion)
        return _reply(answer)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _messages(turn: Message) -> list[dict[str, Any]]:
    """A turn is one message; the answers to calls are one each."""
    if turn.wire is not None:
        return [turn.wire]
    if turn.answers:
        return [{"role": "tool", "tool_call_id": answer.id, "content": answer.content} for answer in turn.answers]
    return [{"role": turn.role, "content": turn.text}]


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters or NO_PARAMETERS}
    return {"type": "function", "function": function}


def _reply(answer: ChatCompletion) -> Reply:
    if not answer.choices:
        raise ProviderError("server", "a response without choices", retryable=True)
    choice = answer.choices[0]
    message = choice.message
    refused = bool(message.refusal)
    calls = tuple(
        ToolUse(id=call.id, name=call.function.name, arguments=call.function.arguments)
        for call in message.tool_calls or ()
        if call.type == "function"
    )
    return Reply(
        text=message.refusal or message.content or "",
        finish="refusal" if refused else _FINISH.get(choice.finish_reason or "", "stop"),
        usage=_usage(answer),
        thought=(message.model_extra or {}).get("reasoning_content"),
        calls=calls,
        wire=message.to_dict(exclude_none=True) if calls else None,
    )


def _usage(answer: ChatCompletion) -> TokenUsage:
    """Where servers differ, their own names: DeepSeek's `prompt_cache_hit_tokens`, Kimi's `cached_tokens`."""
    usage = answer.usage
    if usage is None:
        return TokenUsage()
    details, own = usage.prompt_tokens_details, usage.model_extra or {}
    cached = details.cached_tokens if details is not None else None
    if cached is None:
        cached = own.get("prompt_cache_hit_tokens", own.get("cached_tokens"))
    written = getattr(details, "cache_write_tokens", None)
    reasoning = usage.completion_tokens_details.reasoning_tokens if usage.completion_tokens_details else None
    return TokenUsage(
        input_tokens=usage.prompt_tokens,
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=usage.completion_tokens,
        reasoning_tokens=reasoning,
    )
