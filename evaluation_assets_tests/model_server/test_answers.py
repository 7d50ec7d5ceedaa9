"""Answers of the model server, right and wrong ones, as the real SDKs see them."""

import asyncio
import json
from typing import Any

import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import BaseModel, ValidationError

from evaluation_assets_tests.model_server import ModelServer, rule
from evaluation_assets_tests.model_server.calling import (
    SCHEMA,
    Evidence,
    Saying,
    Verdict,
    both,
    chat,
    messages,
    said_by_chat,
    said_by_messages,
)


@both
def test_answers_fit_the_schema_in_its_order(server: ModelServer, say: Saying) -> None:
    for number in range(20):
        text, stop = say(server, f"Clip {number}.")
        assert stop == "stop"
        verdict = Verdict.model_validate_json(text, strict=True)
        assert list(json.loads(text)) == list(Verdict.model_fields)
        assert 0 < len(verdict.summary) < 80


def test_answers_depend_on_the_messages_alone(server: ModelServer) -> None:
    first = said_by_chat(server, "One.")
    assert said_by_chat(server, "One.", model="other", key="other") == first
    assert said_by_messages(server, "One.") == first
    texts = {said_by_chat(server, f"{number}.")[0] for number in range(10)}
    assert len(texts) == 10
    assert len({json.loads(text)["progress"] for text in texts}) > 2


@both
def test_a_schema_in_the_system_prompt_is_kept_to(server: ModelServer, say: Saying) -> None:
    tagged = f"You judge.\n<schema>\n{json.dumps(SCHEMA, indent=1)}\n</schema>\nAnswer in JSON."
    more: dict[str, Any] = {"system": tagged, "output_config": {}}
    if say is said_by_chat:
        prompt = [{"role": "system", "content": tagged}, {"role": "user", "content": "A clip."}]
        more = {"messages": prompt, "response_format": {"type": "json_object"}}
    Verdict.model_validate_json(say(server, **more)[0], strict=True)
    if say is said_by_chat:
        more["response_format"] = openai.omit
        Verdict.model_validate_json(say(server, **more)[0], strict=True)


def test_without_a_schema_the_answer_is_text(server: ModelServer) -> None:
    for text, stop in (
        said_by_chat(server, response_format=openai.omit),
        said_by_messages(server, output_config=anthropic.omit),
    ):
        assert text.endswith(".")
        assert stop == "stop"
    assert list(json.loads(said_by_chat(server, response_format={"type": "json_object"})[0])) == ["answer"]


class Node(BaseModel):
    name: str
    next: "Node | None"
    many: list["Node"]


@both
def test_a_schema_may_refer_to_itself(server: ModelServer, say: Saying) -> None:
    schema = Node.model_json_schema()
    wanted = {"type": "json_schema", "json_schema": {"name": "node", "schema": schema}}
    more: dict[str, Any] = {"output_config": {"format": {"type": "json_schema", "schema": schema}}, "max_tokens": 10**6}
    more = {"response_format": wanted} if say is said_by_chat else more | {"timeout": 60}
    for number in range(5):
        Node.model_validate_json(say(server, f"Clip {number}.", **more)[0], strict=True)


@both
def test_max_tokens_are_kept_to(server: ModelServer, say: Saying) -> None:
    text, stop = say(server, max_tokens=10)
    assert (len(text), stop) == (40, "length")


def test_the_sdks_parse_the_answers(server: ModelServer) -> None:
    async def parsed() -> tuple[object, object]:
        async with AsyncOpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as client:
            completion = await client.chat.completions.parse(
                model="gpt", messages=[{"role": "user", "content": "A clip."}], response_format=Verdict
            )
        async with AsyncAnthropic(api_key="k", base_url=server.anthropic_url, max_retries=0) as client:
            message = await client.messages.parse(
                model="claude",
                max_tokens=4000,
                messages=[{"role": "user", "content": "A clip."}],
                output_format=Evidence,
            )
        return completion.choices[0].message.parsed, message.parsed_output

    verdict, evidence = asyncio.run(parsed())
    assert isinstance(verdict, Verdict)
    assert isinstance(evidence, Evidence)


@both
def test_wrong_values(server: ModelServer, say: Saying) -> None:
    good = json.loads(say(server)[0])

    def wrong(kind: str, **more: object) -> dict[str, Any]:
        server.script([rule(kind, **more)])  # type: ignore[arg-type]
        text, stop = say(server)
        assert stop == "stop"
        with pytest.raises(ValidationError):
            Verdict.model_validate_json(text)
        return json.loads(text)

    assert wrong("out_of_range") == good | {"progress": 11}
    assert wrong("out_of_range", property="steps") == good | {"steps": 6}
    assert wrong("out_of_range", property="kind") == good | {"kind": "none of these"}
    assert wrong("out_of_range", property="weight")["evidence"][0]["weight"] == 2
    assert wrong("missing") == {name: value for name, value in good.items() if name != "done"}
    assert wrong("missing", property="safety") == {name: value for name, value in good.items() if name != "safety"}
    assert "place" not in wrong("missing", property="place")["evidence"][0]
    assert wrong("extra") == good | {"stranger": "not asked for"}
    assert wrong("extra", property="note") == good | {"note": "not asked for"}


@both
def test_wrong_texts(server: ModelServer, say: Saying) -> None:
    good, _ = say(server)

    def wrong(kind: str, **more: object) -> str:
        server.script([rule(kind, **more)])  # type: ignore[arg-type]
        text, stop = say(server)
        assert stop == "stop"
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)
        return text

    assert "{" in wrong("invalid_json")
    assert good in wrong("prose")
    assert wrong("fenced") == f"```json\n{good}\n```"
    assert wrong("trailing_comma") == good[:-1] + ",}"
    assert wrong("text", text="as you like it") == "as you like it"
    assert wrong("empty") == ""


@both
def test_answers_cut_short(server: ModelServer, say: Saying) -> None:
    good, _ = say(server)
    server.script([rule("length")])
    assert say(server) == (good[: len(good) // 2], "length")


def test_refusals(server: ModelServer) -> None:
    server.script([rule("refusal")])
    choice = chat(server).choices[0]
    assert (choice.message.content, choice.finish_reason) == (None, "stop")
    assert choice.message.refusal
    message = messages(server)
    assert (message.stop_reason, message.content) == ("refusal", [])
    assert message.stop_details is not None
    assert message.usage.input_tokens > 0
    server.script([rule("content_filter")])
    assert chat(server).choices[0].finish_reason == "content_filter"
    assert messages(server).stop_reason == "refusal"
