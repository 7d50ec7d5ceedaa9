"""The OpenAI chat protocol: OpenAI itself and every server that speaks it."""

from typing import Any

from pydantic import Field

from evaluation_assets.core.models.dialects import Dialect
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.messages import Message, Reply, Request, ToolUse
from evaluation_assets.core.models.providers.base import NO_PARAMETERS, finish_of, name_of, with_schema
from evaluation_assets.core.models.providers.openai_batches import OpenAIBatches
from evaluation_assets.core.models.providers.openai_endpoint import OpenAIEndpoint
from evaluation_assets.core.models.providers.sdk_errors import answer_in
from evaluation_assets.core.models.usage import reported
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets.core.traces.trajectories.images import Image
from evaluation_assets.core.traces.trajectories.model import Tool

_TEXT_PARTS = ("text", "output_text")


class OpenAIChat(OpenAIEndpoint):
    """One model behind a chat completions endpoint."""

    def body(self, request: Request, dialect: Dialect | None = None, *, in_batch: bool = False) -> dict[str, Any]:
        """The request as it is sent; the protocol has no marks for a cache."""
        dialect = dialect or self._abilities.dialect
        structured = None if request.schema is None else dialect.structured
        system = request.system if structured in (None, "json_schema") else with_schema(request)
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        for turn in request.turns:
            messages += _messages(turn)
        if system and not dialect.system_role:
            messages = _without_system(messages)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            dialect.max_tokens_field: request.max_output_tokens,
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
        return body | dialect.parameters(request.parameters)

    async def complete(self, request: Request, dialect: Dialect) -> Reply:
        """Send a request once, in a dialect."""
        with self._translated():
            sent = dumped(self.body(request, dialect))
            return self._read(await self._client.post("/chat/completions", content=sent, cast_to=object))

    def _read(self, given: Any) -> Reply:
        return _reply(answer_in(given, self._mask))

    def batches(self) -> OpenAIBatches | None:
        """The endpoint's batches."""
        if not self._abilities.has_batches:
            return None
        return OpenAIBatches(self._client, self._read, self._translated)


def _messages(turn: Message) -> list[dict[str, Any]]:
    """A turn is one message; the answers to calls are one each."""
    if turn.wire is not None:
        return [turn.wire]
    if turn.answers:
        return [{"role": "tool", "tool_call_id": answer.id, "content": answer.content} for answer in turn.answers]
    if turn.images:
        return [{"role": turn.role, "content": [{"type": "text", "text": turn.text}, *map(_image, turn.images)]}]
    return [{"role": turn.role, "content": turn.text}]


def _image(image: Image) -> dict[str, Any]:
    """Without `detail: high` an image of a phone has 14,000 tokens of GPT-6."""
    url = f"data:{image.media_type};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": url, "detail": "high"}}


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The system text in front of the first user message, for models whose template has no place for it."""
    system, first, *later = messages
    before, said = system["content"], first["content"]
    both = f"{before}\n\n{said}" if isinstance(said, str) else [{"type": "text", "text": before}, *said]
    return [first | {"content": both}, *later]


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters or NO_PARAMETERS}
    return {"type": "function", "function": function}


class _Function(Frozen):
    name: str
    arguments: str


class _Call(Frozen):
    id: str
    type: str = "function"
    function: _Function | None = None


class _Said(Frozen):
    """`content` is a text or a list of parts. Servers that show reasoning have one of two fields for it."""

    content: str | tuple[Any, ...] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    tool_calls: tuple[_Call, ...] | None = None


class _Choice(Frozen):
    message: _Said
    finish_reason: str | None = None


class _Completion(Frozen):
    """What is read of a completion. The SDK's own type is filled in without a look, and takes longer."""

    choices: tuple[_Choice, ...] = Field(min_length=1)
    usage: Any = None
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
    usage, problem = _usage(completion.usage)
    return Reply(
        text=message.refusal or _text(message.content),
        finish="refusal" if message.refusal else finish_of(choice.finish_reason),
        usage=usage,
        usage_problem=problem,
        thought=_thought(message),
        calls=calls,
        wire={name: value for name, value in said.items() if value is not None} if calls else None,
        served_model=name_of(completion.model, completion.system_fingerprint),
    )


def _text(content: Any) -> str:
    """The text of a message: all of its parts that are text."""
    if not isinstance(content, tuple | list):
        return content or ""
    return "".join(
        part if isinstance(part, str) else part["text"]
        for part in content
        if isinstance(part, str)
        or (isinstance(part, dict) and part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str))
    )


def _thought(message: _Said) -> str | None:
    """Reasoning in a field of its own, else in parts of the content."""
    shown = message.reasoning_content or message.reasoning
    if isinstance(shown, str) and shown:
        return shown
    content = message.content if isinstance(message.content, tuple) else ()
    parts = [part.get("thinking") for part in content if isinstance(part, dict)]
    return "".join(_text(part) for part in parts if isinstance(part, str | list)) or None


def _usage(given: Any) -> tuple[TokenUsage, str | None]:
    """Where servers differ, under their own names: DeepSeek's `prompt_cache_hit_tokens`, Kimi's `cached_tokens`,
    LiteLLM's `cache_creation_tokens`.

    What is wrong with it never fails a reply.
    """
    usage = given if isinstance(given, dict) else {}
    inputs, outputs = (
        details if isinstance(details := usage.get(name), dict) else {}
        for name in ("prompt_tokens_details", "completion_tokens_details")
    )
    written = inputs.get("cache_write_tokens")
    if written is None:
        written = inputs.get("cache_creation_tokens")
    by_time = inputs.get("cache_creation_token_details")
    cached = (inputs.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens"))
    return reported(
        {
            "input_tokens": usage.get("prompt_tokens"),
            "cached_tokens": next((tokens for tokens in cached if tokens is not None), None),
            "cache_write_tokens": written,
            "cache_write_1h_tokens": by_time.get("ephemeral_1h_input_tokens") if isinstance(by_time, dict) else None,
            "output_tokens": usage.get("completion_tokens"),
            "reasoning_tokens": outputs.get("reasoning_tokens"),
        }
    )
