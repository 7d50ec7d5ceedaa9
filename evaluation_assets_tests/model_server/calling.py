"""Calls of the model server with the real SDKs."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal

import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion
from pydantic import BaseModel, ConfigDict, Field

from evaluation_assets_tests.model_server import ModelServer

Score = Literal[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]


class Evidence(BaseModel):
    model_config = ConfigDict(extra="forbid")
    place: str | None
    weight: Annotated[float, Field(ge=0, le=1)]


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    summary: str
    progress: Score
    safety: Score
    steps: Annotated[int, Field(ge=3, le=5)]
    kind: Literal["good", "bad"]
    evidence: Annotated[list[Evidence], Field(min_length=2, max_length=4)]
    done: bool


SCHEMA = Verdict.model_json_schema()


def chat(server: ModelServer, text: str = "A clip.", *, key: str = "k", timeout: float = 60, **more: Any) -> Any:
    """One call of chat completions."""

    async def call() -> ChatCompletion:
        async with AsyncOpenAI(api_key=key, base_url=server.openai_url, max_retries=0, timeout=timeout) as client:
            wanted = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA}}
            messages = [{"role": "system", "content": "You judge."}, {"role": "user", "content": text}]
            body = {"model": "gpt", "messages": messages, "response_format": wanted} | more
            return await client.chat.completions.create(**body)

    return asyncio.run(call())


def messages(
    server: ModelServer, text: str = "A clip.", *, key: str = "k", timeout: float = 60, **more: Any
) -> Message:
    """One call of messages."""

    async def call() -> Message:
        async with AsyncAnthropic(api_key=key, base_url=server.anthropic_url, max_retries=0, timeout=timeout) as client:
            body: dict[str, Any] = {
                "model": "claude",
                "max_tokens": 4000,
                "system": [{"type": "text", "text": "You judge."}],
                "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}],
                "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
            }
            return await client.messages.create(**body | more)

    return asyncio.run(call())


def said_by_chat(server: ModelServer, text: str = "A clip.", **more: Any) -> tuple[str, str]:
    choice = chat(server, text, **more).choices[0]
    return choice.message.content, choice.finish_reason


def said_by_messages(server: ModelServer, text: str = "A clip.", **more: Any) -> tuple[str, str]:
    message = messages(server, text, **more)
    assert message.stop_reason is not None
    stop = {"end_turn": "stop", "max_tokens": "length"}.get(message.stop_reason, message.stop_reason)
    return "".join(block.text for block in message.content if block.type == "text"), stop


Saying = Callable[..., tuple[str, str]]
both = pytest.mark.parametrize("say", [said_by_chat, said_by_messages])
SDKS = {said_by_chat: openai, said_by_messages: anthropic}


def statuses(server: ModelServer, *texts: str, **more: Any) -> list[int | None]:
    """The statuses of calls for these texts, one after the other."""

    async def call() -> None:
        async with AsyncOpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as client:
            for text in texts:
                try:
                    await client.chat.completions.create(
                        model=more.get("model", "gpt"), messages=[{"role": "user", "content": text}]
                    )
                except openai.APIStatusError:
                    continue

    before = len(server.requests())
    asyncio.run(call())
    return [asked.status for asked in server.requests()[before:]]
