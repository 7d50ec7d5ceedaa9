"""The OpenAI chat protocol: OpenAI itself and every server that speaks it."""

from collections.abc import Mapping
from typing import Any

import openai
from pydantic import BaseModel, ConfigDict, Field

from evaluation_assets.core.llm.json_text import dumped
from evaluation_assets.core.llm.messages import (
    Finish,
    Message,
    Reply,
    Request,
    TokenUsage,
    ToolUse,
)
from evaluation_assets.core.llm.providers.base import NO_PARAMETERS, name_of, parsed, with_schema
from evaluation_assets.core.llm.providers.capabilities import Capabilities, Structured
from evaluation_assets.core.llm.providers.sdk_errors import in_our_words
from evaluation_assets.core.llm.providers.structured import StructuredOutput
from evaluation_assets.core.trajectories.model import Tool

_FINISH: Mapping[str, Finish] = {"length": "length", "content_filter": "content_filter"}


class OpenAIChat:
    """One model behind a chat completions endpoint."""

    def __init__(self, client: openai.AsyncOpenAI, model: str, abilities: Capabilities) -> None:
        self._client = client
        self._model = model
        self._abilities = abilities
        self._output = StructuredOutput(model, abilities.structured, ("json_schema", "json_object", "prompted"))

    def body(self, request: Request, way: Structured | None = None) -> dict[str, Any]:
        """The request as it is sent."""
        structured = None if request.schema is None else way or self._output.way
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
        """Send a request once, and again in a simpler way where the endpoint refuses a schema."""
        return await self._output.ask(request, self._send)

    async def _send(self, request: Request, way: Structured) -> Reply:
        with in_our_words(
            status=openai.APIStatusError,
            connection=openai.APIConnectionError,
            timeout=openai.APITimeoutError,
            other=openai.OpenAIError,
        ):
            sent = dumped(self.body(request, way))
            return _reply(parsed(await self._client.post("/chat/completions", content=sent, cast_to=object)))

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


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Function(_Model):
    name: str
    arguments: str


class _Call(_Model):
    id: str
    type: str = "function"
    function: _Function | None = None


class _Said(_Model):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[_Call, ...] | None = None


class _Choice(_Model):
    message: _Said
    finish_reason: str | None = None


class _InputDetails(_Model):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(_Model):
    reasoning_tokens: int | None = None


class _Usage(_Model):
    """Where servers differ, their own names: DeepSeek's `prompt_cache_hit_tokens`, Kimi's `cached_tokens`."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    cached_tokens: int | None = None


class _Completion(_Model):
    """What is read of a completion. The SDK's own type is filled in without a look, and takes longer."""

    choices: tuple[_Choice, ...] = Field(min_length=1)
    usage: _Usage | None = None
    model: Any = None
    system_fingerprint: Any = None


def _reply(answer: Any) -> Reply:
    """The reply in a completion.

    Raises:
        pydantic.ValidationError: it is none.
    """
    completion = _Completion.model_validate(answer)
    choice = completion.choices[0]
    message = choice.message
    calls = tuple(
        ToolUse(id=call.id, name=call.function.name, arguments=call.function.arguments)
        for call in message.tool_calls or ()
        if call.type == "function" and call.function is not None
    )
    said = answer["choices"][0]["message"]
    return Reply(
        text=message.refusal or message.content or "",
        finish="refusal" if message.refusal else _FINISH.get(choice.finish_reason or "", "stop"),
        usage=_tokens(completion.usage or _Usage()),
        thought=message.reasoning_content,
        calls=calls,
        wire={name: value for name, value in said.items() if value is not None} if calls else None,
        served_model=name_of(completion.model, completion.system_fingerprint),
    )


def _tokens(usage: _Usage) -> TokenUsage:
    inputs, outputs = usage.prompt_tokens_details, usage.completion_tokens_details
    cached = (None if inputs is None else inputs.cached_tokens, usage.prompt_cache_hit_tokens, usage.cached_tokens)
    return TokenUsage(
        input_tokens=usage.prompt_tokens,
        cached_tokens=next((tokens for tokens in cached if tokens is not None), None),
        cache_write_tokens=None if inputs is None else inputs.cache_write_tokens,
        output_tokens=usage.completion_tokens,
        reasoning_tokens=None if outputs is None else outputs.reasoning_tokens,
    )
