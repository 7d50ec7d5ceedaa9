"""The model server behaves as scripted, as the real SDKs see it."""

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import anthropic
import openai
import orjson
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation_assets_tests.model_server import (
    ERRORS,
    ModelServer,
    model_server,
    prompt_text,
    rule,
)

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


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.script([])
    running.reset()
    return running


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


# Answers.


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


# Usage and cached prefixes.


def test_usage_is_counted(server: ModelServer) -> None:
    usage = chat(server).usage
    text, _ = said_by_chat(server)
    prompt = prompt_text(server.requests()[0].body)
    assert prompt.endswith("<|system|>You judge.<|user|>A clip.")
    assert usage.prompt_tokens == -(-len(prompt) // 4)
    assert usage.completion_tokens == -(-len(text) // 4)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    counted = messages(server).usage
    assert (counted.input_tokens, counted.output_tokens) == (usage.prompt_tokens, usage.completion_tokens)
    assert (counted.cache_read_input_tokens, counted.cache_creation_input_tokens) == (0, 0)


def test_chat_completions_cache_the_longest_common_prefix(server: ModelServer) -> None:
    def cached(text: str, **more: Any) -> int:
        return chat(server, text, **more).usage.prompt_tokens_details.cached_tokens

    long = "".join(f"{number} " for number in range(3000))
    assert cached(long) == 0
    whole = len(prompt_text(server.requests()[0].body)) // 512 * 128
    assert cached(long) == whole
    assert cached(long + "more") == whole
    half = cached(long[:6000] + "x" * 6000)
    assert 6000 // 4 <= half < whole
    assert half % 128 == 0
    assert cached("short") == cached("short") == 0
    assert cached(long, model="other") == 0
    assert cached(long, key="other") == 0
    assert cached(long, prompt_cache_key="a") == 0
    assert cached(long, prompt_cache_key="b") == 0
    assert cached(long, prompt_cache_key="a") == whole


def test_failed_calls_cache_nothing(server: ModelServer) -> None:
    server.script([rule("server_error", times=1)])
    with pytest.raises(openai.InternalServerError):
        chat(server, "x" * 9000)
    assert chat(server, "x" * 9000).usage.prompt_tokens_details.cached_tokens == 0
    assert chat(server, "x" * 9000).usage.prompt_tokens_details.cached_tokens > 0


def block(text: str, ttl: str | None = None) -> dict[str, Any]:
    return {"type": "text", "text": text} | ({"cache_control": {"type": "ephemeral", "ttl": ttl}} if ttl else {})


def test_messages_cache_up_to_markers(server: ModelServer) -> None:
    clips = [f"Clip {number}: " + "step. " * 1000 for number in range(4)]

    def turns(count: int, ttl: str = "5m") -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for number in range(count):
            made.append({"role": "user", "content": [block(clips[number], ttl if number >= count - 2 else None)]})
            made.append({"role": "assistant", "content": [block(f"verdict {number}")]})
        return made[:-1]

    def usage(count: int, **more: Any) -> tuple[int, int, int]:
        used = messages(server, messages=turns(count), system=[block("You judge. " * 500, "5m")], **more).usage
        assert used.cache_read_input_tokens is not None
        assert used.cache_creation_input_tokens is not None
        return used.cache_read_input_tokens, used.cache_creation_input_tokens, used.input_tokens

    before = usage(1)
    assert before[0] == before[2] == 0
    for count in range(2, 5):
        now = usage(count)
        assert now[0] == before[0] + before[1]
        assert now[1] > 1400
        assert now[2] == 0
        before = now
    assert usage(4) == (sum(before), 0, 0)
    assert usage(4, model="other")[0] == 0
    assert usage(4, key="other")[0] == 0


def test_messages_without_a_marker_or_too_short_are_not_cached(server: ModelServer) -> None:
    for _ in range(2):
        used = messages(server, "x" * 9000).usage
        assert (used.cache_read_input_tokens, used.cache_creation_input_tokens) == (0, 0)
        used = messages(server, system=[block("You judge.", "5m")]).usage
        assert (used.cache_read_input_tokens, used.cache_creation_input_tokens) == (0, 0)
    hour = messages(server, system=[block("y" * 9000, "1h")]).usage
    assert hour.cache_creation is not None
    assert hour.cache_creation.ephemeral_1h_input_tokens == hour.cache_creation_input_tokens
    assert messages(server, "x" * 9000, cache_control={"type": "ephemeral"}).usage.cache_creation_input_tokens
    assert messages(server, "x" * 9000, cache_control={"type": "ephemeral"}).usage.cache_read_input_tokens
    with pytest.raises(anthropic.BadRequestError, match="maximum of 4"):
        messages(server, system=[block("z", "5m")] * 5)


# Errors.


@pytest.mark.parametrize(
    ("kind", "status", "of_openai", "code", "of_anthropic", "error_type"),
    [
        ("bad_request", 400, "BadRequestError", None, "BadRequestError", "invalid_request_error"),
        (
            "context_length",
            400,
            "BadRequestError",
            "context_length_exceeded",
            "BadRequestError",
            "invalid_request_error",
        ),
        ("wrong_key", 401, "AuthenticationError", "invalid_api_key", "AuthenticationError", "authentication_error"),
        ("payment_required", 402, "APIStatusError", None, "PaymentRequiredError", "billing_error"),
        ("forbidden", 403, "PermissionDeniedError", None, "PermissionDeniedError", "permission_error"),
        ("not_found", 404, "NotFoundError", "model_not_found", "NotFoundError", "not_found_error"),
        ("rate_limited", 429, "RateLimitError", "rate_limit_exceeded", "RateLimitError", "rate_limit_error"),
        ("insufficient_quota", 429, "RateLimitError", "insufficient_quota", "RateLimitError", "rate_limit_error"),
        ("server_error", 500, "InternalServerError", None, "InternalServerError", "api_error"),
        ("unavailable", 503, "InternalServerError", None, "ServiceUnavailableError", "api_error"),
        ("overloaded", 529, "InternalServerError", "overloaded", "OverloadedError", "overloaded_error"),
    ],
)
def test_errors(
    server: ModelServer,
    kind: str,
    status: int,
    of_openai: str,
    code: str | None,
    of_anthropic: str,
    error_type: str,
) -> None:
    server.script([rule(kind)])
    with pytest.raises(openai.APIStatusError) as failed:
        chat(server)
    assert type(failed.value).__name__ == of_openai
    assert (failed.value.status_code, failed.value.code, failed.value.request_id) == (status, code, "req_1")
    assert "retry-after" not in failed.value.response.headers
    with pytest.raises(anthropic.APIStatusError) as refused:
        messages(server)
    assert type(refused.value).__name__ == of_anthropic
    assert (refused.value.status_code, refused.value.type, refused.value.request_id) == (status, error_type, "req_2")
    if kind == "context_length":
        assert "prompt is too long" in str(refused.value)
    assert [(asked.status, asked.fault) for asked in server.requests()] == [(status, kind)] * 2


def test_every_error_is_tested() -> None:
    cases = next(mark for mark in test_errors.pytestmark if mark.name == "parametrize").args[1]  # type: ignore[attr-defined]
    assert {case[0] for case in cases} == set(ERRORS)


def test_errors_are_worded_by_the_script(server: ModelServer) -> None:
    server.script([rule("rate_limited", retry_after=7, message="later", code="busy")])
    with pytest.raises(openai.RateLimitError, match="later") as failed:
        chat(server)
    assert (failed.value.response.headers["retry-after"], failed.value.code) == ("7", "busy")
    with pytest.raises(anthropic.RateLimitError, match="later") as refused:
        messages(server)
    assert (refused.value.response.headers["retry-after"], refused.value.error_code) == ("7", "busy")
    server.script([rule("server_error", status=504, retry_after="Wed, 21 Oct 2026 07:28:00 GMT")])
    with pytest.raises(anthropic.InternalServerError) as gone:
        messages(server)
    assert gone.value.status_code == 504
    assert gone.value.response.headers["retry-after"].endswith("GMT")


def test_keys(server: ModelServer) -> None:
    server.script([{"keys": ["good"]}])
    said_by_chat(server, key="good")
    said_by_messages(server, key="good")
    with pytest.raises(openai.AuthenticationError):
        chat(server, key="bad")
    with pytest.raises(anthropic.AuthenticationError):
        messages(server, key="bad")
    unset = {"Authorization": anthropic.omit}
    said_by_messages(server, extra_headers=unset | {"x-api-key": "good"})
    with pytest.raises(openai.AuthenticationError):
        chat(server, extra_headers={"Authorization": "good"})


def test_requests_no_provider_would_take(server: ModelServer) -> None:
    with pytest.raises(openai.BadRequestError):
        chat(server, messages="hello")
    with pytest.raises(openai.BadRequestError, match="stream"):
        chat(server, stream=True)
    with pytest.raises(anthropic.BadRequestError):
        messages(server, messages=[{"role": "user"}])
    loop: dict[str, Any] = {"$ref": "#"}
    with pytest.raises(anthropic.BadRequestError, match="schema"):
        messages(server, output_config={"format": {"type": "json_schema", "schema": loop}})
    assert {asked.fault for asked in server.requests()} == {"malformed"}

    async def elsewhere() -> None:
        async with AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0) as client:
            await client.messages.create(model="claude", max_tokens=1, messages=[{"role": "user", "content": "a"}])

    with pytest.raises(anthropic.NotFoundError):
        asyncio.run(elsewhere())
    assert server.requests()[-1].status == 404


# The connection.


@both
@pytest.mark.parametrize("kind", ["drop", "truncated_body"])
def test_connections_break(server: ModelServer, say: Saying, kind: str) -> None:
    server.script([rule(kind, times=1)])
    with pytest.raises(SDKS[say].APIConnectionError) as failed:
        say(server)
    assert not isinstance(failed.value, SDKS[say].APITimeoutError)
    say(server)
    first, second = server.requests()
    assert (first.fault, first.status) == (kind, None if kind == "drop" else 200)
    assert (second.fault, second.status) == (None, 200)


@both
def test_slow_answers_run_into_the_timeout(server: ModelServer, say: Saying) -> None:
    server.script([rule("slow", seconds=5, contains="late", times=1)])
    with pytest.raises(SDKS[say].APITimeoutError):
        say(server, "late", timeout=0.5)
    assert say(server, "late")[1] == "stop"
    assert [asked.fault for asked in server.requests()] == ["slow", None]
    server.script([rule("overloaded", seconds=0.1)])
    with pytest.raises(SDKS[say].InternalServerError):
        say(server)
    asked = server.requests()[-1]
    assert asked.answered is not None
    assert asked.answered > asked.arrived


# Answers that are wrong.


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


# Scripts.


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


def test_rules_apply_in_turn(server: ModelServer) -> None:
    server.script([rule("rate_limited", times=2, after=1), rule("overloaded", times=1), rule("unavailable", after=5)])
    assert statuses(server, *["a"] * 7) == [529, 429, 429, 200, 200, 200, 200]
    server.reset()
    assert statuses(server, *["a"] * 8) == [529, 429, 429, 200, 200, 200, 200, 200]
    assert statuses(server, "a") == [503]


def test_rules_match(server: ModelServer) -> None:
    said = 'He said:\n"Größe"'
    server.script(
        [
            rule("forbidden", path="/anthropic"),
            rule("overloaded", model="big"),
            rule("unavailable", contains=said),
            rule("server_error", contains="needle"),
        ]
    )
    assert statuses(server, "a", "a needle", f"<{said}>") == [200, 500, 503]
    assert statuses(server, "a needle", model="big") == [529]
    with pytest.raises(anthropic.PermissionDeniedError):
        messages(server)


def test_rates_are_drawn_alike_every_time(server: ModelServer) -> None:
    server.script([rule("overloaded", rate=0.3)])
    texts = [f"{number % 50}" for number in range(150)]
    first = statuses(server, *texts)
    server.reset()
    assert statuses(server, *texts) == first
    assert 25 <= first.count(529) <= 65
    assert first[:50] != first[50:100]
    server.script([rule("overloaded", rate=0), rule("unavailable", rate=1)])
    assert statuses(server, "a", "b") == [503, 503]


def test_the_rate_limit(server: ModelServer) -> None:
    server.script([{"rate_limit": {"requests_per_minute": 0.5, "burst": 3}}, rule("overloaded", times=1)])
    assert statuses(server, *"abcdef") == [529, 200, 200, 429, 429, 429]
    assert [asked.fault for asked in server.requests()][-1] == "rate_limit"
    with pytest.raises(anthropic.RateLimitError) as failed:
        messages(server)
    assert 0 < int(failed.value.response.headers["retry-after"]) <= 120
    assert 0 < int(failed.value.response.headers["retry-after-ms"]) <= 120_000
    server.script({"rate_limit": {"requests_per_minute": 6_000_000, "burst": 100}, "rules": [rule("slow", seconds=0)]})
    assert statuses(server, *["a"] * 20) == [200] * 20


@pytest.mark.parametrize(
    "script",
    [
        [{"fault": {"kind": "bad luck"}}],
        [{"fault": {"kind": "slow"}}],
        [{"fault": {"kind": "text"}}],
        [{"fault": {"kind": "drop", "wait": 1}}],
        [{"match": {"body": "x"}, "fault": {"kind": "drop"}}],
        [{"time": 1, "fault": {"kind": "drop"}}],
        [{"rates": {}}],
        [1],
    ],
)
def test_wrong_scripts_are_refused(server: ModelServer, script: Any) -> None:
    server.script([rule("overloaded")])
    with pytest.raises(ValueError, match=r"\w"):
        server.script(script)
    assert statuses(server, "a") == [529]


# The log and the process.


def test_the_log(server: ModelServer) -> None:
    server.script([rule("overloaded", times=1)])
    with pytest.raises(openai.InternalServerError):
        chat(server, "one")
    messages(server, "two")
    first, second = server.requests()
    assert (first.number, first.path, first.status, first.fault) == (1, "/v1/chat/completions", 529, "overloaded")
    assert (second.number, second.path, second.status, second.fault) == (2, "/anthropic/v1/messages", 200, None)
    assert first.body["messages"][1]["content"] == "one"
    assert second.body["messages"][0]["content"][0]["text"] == "two"
    assert first.answered is not None
    assert first.arrived <= first.answered <= second.arrived
    assert len(first.sha256) == 64
    assert [asked.body for asked in server.requests(bodies=False)] == [None, None]
    server.reset()
    assert server.requests() == []


def test_many_at_once(server: ModelServer) -> None:
    async def calls() -> list[ChatCompletion]:
        async with AsyncOpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as client:
            return await asyncio.gather(
                *(
                    client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": f"{number}"}])
                    for number in range(200)
                )
            )

    assert len({completion.id for completion in asyncio.run(calls())}) == 200
    asked = server.requests()
    assert {one.status for one in asked} == {200}
    assert sorted(one.body["messages"][0]["content"] for one in asked) == sorted(map(str, range(200)))


def test_stop_kill_and_start_at_the_same_port() -> None:
    with model_server([rule("overloaded", times=1)], keep_bodies=False) as server:
        assert statuses(server, "a", "a") == [529, 200]
        assert server.requests()[0].body is None
        assert server.requests()[0].sha256 == server.requests()[1].sha256
        server.kill()
        assert server.process.poll() is not None
        with pytest.raises(openai.APIConnectionError):
            chat(server)
    with model_server(port=server.port) as again:
        assert again.url == server.url
        assert statuses(again, "a") == [200]
        again.stop()
        with pytest.raises(anthropic.APIConnectionError):
            messages(again)


def test_killed_under_a_call() -> None:
    with model_server([rule("slow", seconds=60)]) as server:

        async def call() -> None:
            async with AsyncOpenAI(api_key="k", base_url=server.openai_url, max_retries=0) as client:
                asked = asyncio.ensure_future(
                    client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "a"}])
                )
                while not await asyncio.to_thread(server.requests):
                    await asyncio.sleep(0.01)
                server.kill()
                await asked

        with pytest.raises(openai.APIConnectionError):
            asyncio.run(call())


def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_bytes(orjson.dumps([rule("text", text="from a file")]))
    command = [sys.executable, "-m", "evaluation_assets_tests.model_server", "--script", str(path), "--latency", "0.01"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [*command, "--with-parent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        url = process.stdout.readline().strip()

        async def call() -> ChatCompletion:
            async with AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as client:
                return await client.chat.completions.create(model="gpt", messages=[{"role": "user", "content": "a"}])

        assert asyncio.run(call()).choices[0].message.content == "from a file"
        process.stdin.close()
        assert process.wait(timeout=10) == 0
    path.write_text('[{"fault": {"kind": "bad luck"}}]')
    wrong = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    assert wrong.returncode != 0
    assert "bad luck" in wrong.stderr


def test_hashes_are_those_of_the_bodies(server: ModelServer) -> None:
    chat(server)
    asked = server.requests()[0]
    compact = json.dumps(asked.body, separators=(",", ":"), ensure_ascii=False).encode()
    assert asked.sha256 == hashlib.sha256(compact).hexdigest()


def test_a_spread_of_latencies_is_drawn_from_the_bodies() -> None:
    waits = []
    for _ in range(2):
        with model_server(latency=0.01, spread=0.5) as server:
            for text in ("one", "two", "three"):
                chat(server, text)
            waits.append([asked.waited for asked in server.requests()])
    assert waits[0] == waits[1]
    assert len(set(waits[0])) == 3
    assert all(0.001 < seconds < 0.1 for seconds in waits[0])
