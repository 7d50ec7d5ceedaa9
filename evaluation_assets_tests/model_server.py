"""A model server for tests and benchmarks: two wire protocols, answers that fit the schema asked for,
embeddings, faults by script.

Start it in a process of its own, and give its addresses to the real SDKs:

    with model_server([rule("rate_limited", times=2, retry_after=1)]) as server:
        AsyncOpenAI(api_key="any", base_url=server.openai_url, max_retries=0)
        AsyncAnthropic(api_key="any", base_url=server.anthropic_url, max_retries=0)
        ...
        assert [asked.status for asked in server.requests()] == [429, 429, 200]

By hand: `python -m evaluation_assets_tests.model_server --port 8123 --script script.json --latency 0.5`.

`latency` is waited before every answer that is no error; with a `spread` it is the median of a lognormal distribution
with that sigma, drawn from the body, so that a run can be repeated.

**Answers** depend on the messages alone: the same messages get the same answer, whatever the model or the protocol. An
answer fits the JSON schema of the request, else the one between the lines `<schema>` and `</schema>` of its system
prompt; without either it is a sentence (in JSON mode an object with one). `max_tokens` is kept to.

**Tokens** are characters by four, rounded up, of the schema and the messages (each with its role before it: see
`prompt_text`). OpenAI: cached is the longest prefix, in steps of 128 tokens from 1024 on, of an earlier answered
request with the same API key, model and `prompt_cache_key`. Anthropic: cached is everything up to the last
`cache_control` marker at which an earlier answered request had the same prefix and a marker too, from 1024 tokens on.

**A script** is a list of rules, and perhaps of settings:

    {"match": {"path": prefix of the path, "contains": text in the body, "model": name},
     "times": how often (null: always), "after": how many matches pass first, "rate": share of the matches,
     "fault": {"kind": one of FAULTS, "seconds": wait before it, ...}}
    {"rate_limit": {"requests_per_minute": n, "burst": b}}
    {"keys": [the only API keys that are accepted]}
    {"serves": {"model": name in every answer, "system_fingerprint": ...}}
    {"content_type": what every answer calls itself}

The first rule that matches and is not used up applies. A rate is drawn from the body and how often it has been seen,
so a run can be repeated. Error kinds take `retry_after`, `status`, `message`, `code` and `type`; `out_of_range` and
`missing` take `property`; `lenient` takes the points `by` which scores of judges move; `text` takes the `text` to
answer; `steps` takes the `steps` of an agent, of which the one is answered that the conversation has come to (the last
one for ever): `{"text": ..., "calls": [{"name": ..., "arguments":
{...}}]}`, either or both. As with the providers, a request that leaves a call unanswered is refused.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import math
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

Scripted = Sequence[Mapping[str, Any]] | Mapping[str, Any]
Calls = Sequence[Mapping[str, Any]]

MINIMUM = 1024
STEP = 128
MARKERS = 4
STOPS = {
    "calls": "tool_use",
    "stop": "end_turn",
    "length": "max_tokens",
    "refusal": "refusal",
    "content_filter": "refusal",
}
DEEP, TOO_DEEP = 8, 64
SENTENCES = (
    "The step does what the task asks for.",
    "The tool call has the right arguments.",
    "The answer follows from what was read before.",
    "The file is read before it is changed.",
    "The result is checked once and not again.",
    "The plan is short and is kept to.",
    "The error is seen, but its cause is not looked for.",
    "The same call is made twice without a reason.",
    "The number in the answer is not in the output.",
    "The claim has no evidence in the log.",
    "The tests run and the change stays small.",
    "The question is answered in part.",
    "The wrong file is edited first and then put right.",
    "The search finds the place in one step.",
    "The output is longer than it needs to be.",
    "The user is asked where a look would do.",
)
CRITERIA = re.compile(r"Criteria: ([a-z_]+(?:, [a-z_]+)*)")
"""Where a prompt names the criteria it wants scored: the last such list is answered, one entry each."""

SYNONYMS = {"railway": "train", "departs": "leaves"}
"""What stands for the same in embeddings."""

FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


class Failure(NamedTuple):
    """An error as each protocol words it."""

    status: int
    openai: tuple[str, str | None]
    anthropic: str
    message: str


ERRORS = {
    "bad_request": Failure(400, ("invalid_request_error", None), "invalid_request_error", "The request is not valid."),
    "context_length": Failure(
        400,
        ("invalid_request_error", "context_length_exceeded"),
        "invalid_request_error",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ),
    "wrong_key": Failure(
        401, ("invalid_request_error", "invalid_api_key"), "authentication_error", "Incorrect API key provided."
    ),
    "payment_required": Failure(402, ("billing_error", None), "billing_error", "Insufficient balance."),
    "forbidden": Failure(403, ("permission_error", None), "permission_error", "The key may not use this model."),
    "not_found": Failure(
        404, ("invalid_request_error", "model_not_found"), "not_found_error", "The model does not exist."
    ),
    "rate_limited": Failure(429, ("requests", "rate_limit_exceeded"), "rate_limit_error", "Too many requests."),
    "insufficient_quota": Failure(
        429,
        ("insufficient_quota", "insufficient_quota"),
        "rate_limit_error",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "server_error": Failure(500, ("server_error", None), "api_error", "The server had an error."),
    "unavailable": Failure(503, ("server_error", None), "api_error", "The service is not available."),
    "overloaded": Failure(529, ("server_error", "overloaded"), "overloaded_error", "Overloaded"),
}
CONNECTION_FAULTS = ("slow", "drop", "truncated_body", "other_body")
OTHER_BODY = b'{"choices": [null], "content": "no blocks", "error": {"message": "with status 200"}}'
"""What some gateways answer when they fail: fine by its status, and no answer of the protocol."""
ANSWER_FAULTS = ("length", "refusal", "content_filter", "empty", "text", "steps", "lenient")
VALUE_FAULTS = ("out_of_range", "missing", "extra")
TEXT_FAULTS: dict[str, Callable[[str], str]] = {
    "invalid_json": lambda text: "{" + text.replace(":", " ="),
    "prose": lambda text: f"Here is my evaluation:\n\n{text}\n\nLet me know if you need anything else.",
    "fenced": lambda text: f"```json\n{text}\n```",
    "trailing_comma": lambda text: f"{text[:-1]},{text[-1]}" if text[-1:] in ("}", "]") else f"{text},",
}
FAULTS = (*ERRORS, *CONNECTION_FAULTS, *ANSWER_FAULTS, *VALUE_FAULTS, *TEXT_FAULTS)


# What a request says, in either protocol.


@dataclass(slots=True)
class Reading:
    """A request: its prompt in blocks, each with the lifetime of the cache marker at its end, and its schema."""

    model: str
    blocks: list[tuple[str, str | None]]
    seed: bytes
    schema: dict[str, Any] | None
    json_only: bool
    most_tokens: int | None
    turns: int = 0
    cache_key: str | None = None

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.blocks)


class Malformed(Exception):
    """A request no provider would take."""


def tokens(length: int) -> int:
    """Tokens of that many characters."""
    return -(-length // 4)


def prompt_text(body: Mapping[str, Any]) -> str:
    """All text a request is charged for."""
    return (read_anthropic if "system" in body or "output_config" in body else read_openai)(body).text


def _parts(role: str, content: object) -> Iterator[tuple[str, str | None]]:
    """The blocks of a message, the first one with the role before it."""
    parts: list[dict[str, Any]] = content if isinstance(content, list) else [{"text": content or ""}]
    mark = f"<|{role}|>"
    for part in parts:
        text = part.get("text")
        control = part.get("cache_control")
        yield mark + (text if isinstance(text, str) else _dumped(part)), control.get("ttl", "5m") if control else None
        mark = ""


def _read(
    body: Mapping[str, Any], messages: list[tuple[str, object]], schema: dict[str, Any] | None, json_only: bool
) -> Reading:
    blocks, system = [], ""
    for role, content in messages:
        added = list(_parts(role, content))
        blocks += added
        if role in ("system", "developer"):
            system += "".join(text for text, _ in added).removeprefix(f"<|{role}|>") + "\n"
    seed = hashlib.blake2b("".join(text for text, _ in blocks).encode("utf-8", "surrogatepass")).digest()
    if schema is not None:
        blocks.insert(0, (_dumped(schema), None))
    elif tagged := re.search(r"^<schema>[ \t]*\n(.*?)\n[ \t]*</schema>[ \t]*$", system, re.MULTILINE | re.DOTALL):
        schema = orjson.loads(tagged[1])
    if body.get("tools"):
        blocks.insert(0, (_dumped(body["tools"]), None))
    most = body.get("max_completion_tokens", body.get("max_tokens"))
    turns = sum(role == "assistant" for role, _ in messages)
    return Reading(body["model"], blocks, seed, schema, json_only, most, turns)


def read_openai(body: Mapping[str, Any]) -> Reading:
    wanted = body.get("response_format") or {}
    kind = wanted.get("type", "text")
    schema = wanted["json_schema"]["schema"] if kind == "json_schema" else None
    messages, open_calls = [], []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                raise Malformed("messages with role 'tool' must be a response to a preceding message with 'tool_calls'")
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            raise Malformed(f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
        calls = message.get("tool_calls") or []
        open_calls += [call["id"] for call in calls]
        content = message.get("content")
        messages.append((message["role"], (content or "") + _dumped(calls) if calls else content))
    if open_calls:
        raise Malformed(f"tool_call_ids did not have response messages: {', '.join(open_calls)}")
    reading = _read(body, messages, schema, kind == "json_object")
    reading.cache_key = body.get("prompt_cache_key")
    return reading


def read_embeddings(body: Mapping[str, Any]) -> Reading:
    texts = body["input"]
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise Malformed("input: a list of texts that are not empty")
    return Reading(body["model"], [(text, None) for text in texts], b"", None, False, None)


def read_anthropic(body: Mapping[str, Any]) -> Reading:
    wanted = (body.get("output_config") or {}).get("format") or {}
    schema = wanted["schema"] if wanted.get("type") == "json_schema" else None
    if not isinstance(body.get("max_tokens"), int):
        raise Malformed("max_tokens: Field required")
    _all_answered(body["messages"])
    messages = [("system", body["system"])] if body.get("system") else []
    messages += [(message["role"], message["content"]) for message in body["messages"]]
    reading = _read(body, messages, schema, json_only=False)
    if control := body.get("cache_control"):
        reading.blocks[-1] = (reading.blocks[-1][0], control.get("ttl", "5m"))
    if (found := sum(ttl is not None for _, ttl in reading.blocks)) > MARKERS:
        raise Malformed(f"A maximum of {MARKERS} blocks with cache_control may be provided. Found {found}.")
    return reading


def read_vertex(body: Mapping[str, Any]) -> Reading:
    """As Anthropic's, but the model stands in the path and the version in the body."""
    if not body.get("anthropic_version"):
        raise Malformed("anthropic_version: Field required")
    if "model" in body:
        raise Malformed("model: Extra inputs are not permitted")
    return read_anthropic({**body, "model": "vertex"})


def _all_answered(messages: Sequence[Mapping[str, Any]]) -> None:
    """Every `tool_use` has its `tool_result` in the message right after it, and the other way round."""
    asked: set[str] = set()
    for message in [*messages, {"content": []}]:
        content = message["content"] if isinstance(message["content"], list) else []
        given = {block["tool_use_id"] for block in content if block.get("type") == "tool_result"}
        if given != asked:
            raise Malformed(f"tool_use ids without tool_result blocks immediately after, or reversed: {given ^ asked}")
        asked = {block["id"] for block in content if block.get("type") == "tool_use"}


def _dumped(value: object) -> str:
    return orjson.dumps(value).decode()


# Answers.


class Filler:
    """Fills a JSON schema, each value drawn from the seed and its place."""

    def __init__(self, schema: dict[str, Any], seed: bytes, criteria: Sequence[str] = ()) -> None:
        self.root = schema
        self.seed = seed
        self.criteria = criteria
        self.bounds: list[tuple[tuple[str | int, ...], object]] = []

    def draw(self, path: tuple[str | int, ...], sides: int) -> int:
        name = "\0".join(map(str, path)).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(name, digest_size=8, key=self.seed).digest()) % sides

    def fill(self, schema: dict[str, Any], path: tuple[str | int, ...] = ()) -> Any:
        if len(path) > TOO_DEEP:
            raise Malformed("The schema has no end.")
        schema = self.resolved(schema, path)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            self.bounds.append((path, _stranger(schema["enum"])))
            return schema["enum"][self.draw(path, len(schema["enum"]))]
        kind = schema.get("type") or (
            "object" if "properties" in schema else "array" if "items" in schema else "string"
        )
        if isinstance(kind, list):
            kind = next(one for one in kind if one != "null" or len(kind) == 1)
        if kind in ("integer", "number"):
            return self.number(schema, path, whole=kind == "integer")
        if kind == "boolean":
            return self.draw(path, 2) == 1
        if kind == "null":
            return None
        if kind == "object":
            return self.object(schema, path)
        return self.array(schema, path) if kind == "array" else self.string(schema, path)

    def resolved(self, schema: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
        """A schema without references and choices."""
        for _ in range(TOO_DEEP):
            if "$ref" in schema:
                found: Any = self.root
                for step in schema["$ref"].removeprefix("#").split("/")[1:]:
                    found = found[step.replace("~1", "/").replace("~0", "~")]
                schema = found | {key: value for key, value in schema.items() if key != "$ref"}
            elif choices := schema.get("anyOf") or schema.get("oneOf"):
                null = [choice for choice in choices if choice.get("type") == "null"]
                solid = [choice for choice in choices if choice.get("type") != "null"]
                options = null if null and (len(path) > DEEP or not solid) else solid
                rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
                schema = rest | options[self.draw((*path, "?"), len(options))]
            elif "allOf" in schema:
                merged = {key: value for key, value in schema.items() if key != "allOf"}
                for part in schema["allOf"]:
                    merged |= self.resolved(part, path)
                schema = merged
            else:
                return schema
        raise Malformed("The schema refers to itself.")

    def number(self, schema: dict[str, Any], path: tuple[str | int, ...], whole: bool) -> int | float:
        step = schema.get("multipleOf", 1 if whole else None)
        low, high = schema.get("minimum"), schema.get("maximum")
        over, under = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        low = over if low is None else low
        high = under if high is None else high
        if high is not None or low is not None:
            self.bounds.append((path, high + 1 if high is not None else (low or 0) - 1))
        low = min(0, high or 0) if low is None else low
        high = low + (100 if whole else 1) if high is None else high
        if step is None:
            share = self.draw(path, 99) + 1
            return min(max(low + (high - low) * share / 100, low), high)
        first, last = math.ceil(low / step), math.floor(high / step)
        first += first * step == over
        last -= last * step == under
        return (first + self.draw(path, max(last - first, 0) + 1)) * step

    def string(self, schema: dict[str, Any], path: tuple[str | int, ...]) -> str:
        if (known := FORMATS.get(schema.get("format", ""))) is not None:
            return known
        text = SENTENCES[self.draw(path, len(SENTENCES))]
        while len(text) < schema.get("minLength", 0):
            text += " " + text
        return text[: schema.get("maxLength")]

    def object(self, schema: dict[str, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
        names = schema.get("properties", {})
        if len(path) > DEEP:
            names = {name: child for name, child in names.items() if name in schema.get("required", ())}
        return {name: self.fill(child, (*path, name)) for name, child in names.items()}

    def array(self, schema: dict[str, Any], path: tuple[str | int, ...]) -> list[Any]:
        items = schema.get("items", {})
        if self.criteria and "criterion" in items.get("properties", {}):
            filled = (self.fill(items, (*path, index)) for index in range(len(self.criteria)))
            return [entry | {"criterion": name} for name, entry in zip(self.criteria, filled, strict=True)]
        low = schema.get("minItems", 0)
        high = max(low, min(schema.get("maxItems", low + 3), low + 3)) if len(path) <= DEEP else low
        low = max(low, min(1, high))
        count = low + self.draw((*path, "#"), high - low + 1)
        return [self.fill(schema.get("items", {}), (*path, index)) for index in range(count)]

    def spoil(self, value: Any, fault: Mapping[str, Any]) -> None:
        """Make a valid answer invalid in one place."""
        name = fault.get("property")
        if fault["kind"] == "extra" and isinstance(value, dict):
            value[name or "stranger"] = "not asked for"
        elif fault["kind"] == "missing":
            found = [one for one in _objects(value) if (name in one if name else one)]
            if found:
                found[0].pop(name or list(found[0])[-1])
        elif fault["kind"] == "out_of_range":
            bounds = [(path, bad) for path, bad in self.bounds if path and name in (None, path[-1])]
            bounds.sort(key=lambda bound: isinstance(bound[1], str))
            if bounds:
                (*path, last), bad = bounds[0]
                for step in path:
                    value = value[step]
                value[last] = bad


def _stranger(values: list[Any]) -> object:
    """A value beside the allowed ones, of their type."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return max(numbers) + 1 if numbers else "none of these"


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a value, from outside to inside."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _objects(one)


def answer(reading: Reading, fault: Mapping[str, Any]) -> tuple[str, str]:
    """The text of an answer and why it ends: stop, length, refusal, content_filter or calls."""
    kind = fault.get("kind")
    if kind == "empty":
        return "", "stop"
    if kind == "refusal":
        return "I cannot help with that.", kind
    if kind == "content_filter":
        return "", kind
    if kind == "steps":
        step = step_of(reading, fault)
        return str(step.get("text", "")), "calls" if step.get("calls") else "stop"
    if kind == "text":
        text = str(fault["text"])
    else:
        schema = reading.schema
        if schema is None and reading.json_only:
            schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
        asked = CRITERIA.findall(reading.text)
        filler = Filler(schema or {"type": "string"}, reading.seed, asked[-1].split(", ") if asked else ())
        value = filler.fill(filler.root)
        if kind == "lenient":
            _shift(value, fault["by"])
        if kind in VALUE_FAULTS:
            filler.spoil(value, fault)
        text = value if schema is None else _dumped(value)
        if kind in TEXT_FAULTS:
            text = TEXT_FAULTS[kind](text)
    if kind == "length":
        return text[: len(text) // 2], kind
    if reading.most_tokens is not None and tokens(len(text)) > reading.most_tokens:
        return text[: 4 * reading.most_tokens], "length"
    return text, "stop"


def _shift(value: Any, by: int) -> None:
    """Another model behind the same name: every score of a judge's reply moves, from 0 to 10."""
    for entry in value.get("scores", ()):
        if entry["score"] is not None:
            entry["score"] = min(10, max(0, entry["score"] + by))


def step_of(reading: Reading, fault: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a scripted agent does now: one step for every turn it has had."""
    steps = fault.get("steps") or [{}]
    return steps[min(reading.turns, len(steps) - 1)]


# The two protocols.


def _arguments(call: Mapping[str, Any]) -> str:
    """A text is sent as it is, so that broken arguments can be scripted."""
    arguments = call["arguments"]
    return arguments if isinstance(arguments, str) else _dumped(arguments)


class OpenAI:
    """Chat completions."""

    request_id = b"x-request-id"
    read = staticmethod(read_openai)

    @staticmethod
    def key(headers: Mapping[bytes, bytes]) -> str:
        scheme, _, key = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        return key.strip() if scheme.lower() == "bearer" else ""

    @staticmethod
    def error(failure: Failure, fault: Mapping[str, Any], number: int) -> dict[str, Any]:
        kind, code = failure.openai
        message = {"message": failure.message, "type": kind, "param": None, "code": code}
        return {"error": message | {key: fault[key] for key in ("message", "type", "code") if key in fault}}

    @staticmethod
    def account(reading: Reading, prefixes: set[int], key: str) -> tuple[dict[str, Any], list[int]]:
        """The usage of the prompt, and the prefixes that are cached once it is answered."""
        text, size = reading.text, 4 * STEP
        chain, hits, state = [], 0, hash((key, reading.model, reading.cache_key))
        for end in range(size, len(text) + 1, size):
            state = hash((state, text[end - size : end]))
            hits += len(chain) == hits and state in prefixes
            chain.append(state)
        cached = hits * STEP if hits * STEP >= MINIMUM else 0
        return {"prompt_tokens": tokens(len(text)), "prompt_tokens_details": {"cached_tokens": cached}}, chain

    @staticmethod
    def reply(
        reading: Reading, text: str, calls: Calls, stop: str, usage: dict[str, Any], number: int
    ) -> dict[str, Any]:
        made = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": call["name"], "arguments": _arguments(call)},
            }
            for index, call in enumerate(calls)
        ]
        out = tokens(len(text)) + (tokens(len(_dumped(made))) if made else 0)
        refused = stop == "refusal"
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": reading.model,
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": None if refused else text,
                        "refusal": text if refused else None,
                        **({"tool_calls": made} if made else {}),
                    },
                    "logprobs": None,
                    "finish_reason": "stop" if refused else "tool_calls" if made else stop,
                }
            ],
            "usage": usage | {"completion_tokens": out, "total_tokens": usage["prompt_tokens"] + out},
        }


class Embeddings(OpenAI):
    """Embeddings: texts with the same words have the same vector, texts without a common word are at right angles."""

    read = staticmethod(read_embeddings)

    @staticmethod
    def account(reading: Reading, prefixes: set[int], key: str) -> tuple[dict[str, Any], list[int]]:
        used = sum(tokens(len(text)) for text, _ in reading.blocks)
        return {"prompt_tokens": used, "total_tokens": used}, []

    @staticmethod
    def reply(
        reading: Reading, text: str, calls: Calls, stop: str, usage: dict[str, Any], number: int
    ) -> dict[str, Any]:
        """The last text comes first: the index says which is which."""
        items = [
            {"object": "embedding", "index": index, "embedding": embedding(text)}
            for index, (text, _) in enumerate(reading.blocks)
        ]
        return {"object": "list", "model": reading.model, "data": items[::-1], "usage": usage}


def embedding(text: str) -> list[float]:
    """How often each word occurs, the words spread over 256 places; a few words have the place of another."""
    vector = [0.0] * 256
    for word in re.findall(r"\w+", text.lower()):
        meant: str = SYNONYMS.get(word) or word
        vector[hashlib.blake2b(meant.encode(), digest_size=1).digest()[0]] += 1.0
    return vector


class Anthropic:
    """Messages."""

    request_id = b"request-id"
    read = staticmethod(read_anthropic)

    @staticmethod
    def key(headers: Mapping[bytes, bytes]) -> str:
        return OpenAI.key(headers) or headers.get(b"x-api-key", b"").decode("latin-1")

    @staticmethod
    def error(failure: Failure, fault: Mapping[str, Any], number: int) -> dict[str, Any]:
        error: dict[str, Any] = {"type": failure.anthropic, "message": failure.message}
        error |= {key: fault[key] for key in ("message", "type") if key in fault}
        if "code" in fault:
            error["details"] = {"error_code": fault["code"]}
        return {"type": "error", "error": error, "request_id": f"req_{number}"}

    @staticmethod
    def account(reading: Reading, prefixes: set[int], key: str) -> tuple[dict[str, Any], list[int]]:
        """The usage of the prompt, and the prefixes that are cached once it is answered."""
        state, length, read, marked, lifetime, marks = hash((key, reading.model)), 0, 0, 0, "5m", []
        for text, ttl in reading.blocks:
            state = hash((state, text))
            length += len(text)
            if ttl is not None and tokens(length) >= MINIMUM:
                marks.append(state)
                marked, lifetime = tokens(length), ttl
                if state in prefixes:
                    read = marked
        written = marked - read
        usage = {
            "input_tokens": tokens(length) - marked,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": 0 if lifetime == "1h" else written,
                "ephemeral_1h_input_tokens": written if lifetime == "1h" else 0,
            },
            "service_tier": "standard",
        }
        return usage, marks

    @staticmethod
    def reply(
        reading: Reading, text: str, calls: Calls, stop: str, usage: dict[str, Any], number: int
    ) -> dict[str, Any]:
        made = [
            {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": call["name"], "input": call["arguments"]}
            for index, call in enumerate(calls)
        ]
        details = None
        if STOPS[stop] == "refusal":
            details = {"type": "refusal", "category": "general_harms", "explanation": text or None}
            text = ""
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": reading.model,
            "content": [*([{"type": "text", "text": text, "citations": None}] if text else []), *made],
            "stop_reason": STOPS[stop],
            "stop_sequence": None,
            "stop_details": details,
            "usage": usage | {"output_tokens": tokens(len(text)) + (tokens(len(_dumped(made))) if made else 0)},
        }


class Vertex(Anthropic):
    """Messages of Claude on Google Cloud."""

    read = staticmethod(read_vertex)


# Scripts.


@dataclass(slots=True)
class Rule:
    """A fault, and the requests it is for."""

    fault: dict[str, Any]
    path: str
    needles: tuple[bytes, ...]
    model: str | None
    times: int | None
    after: int
    rate: float | None
    matched: int = 0
    used: int = 0
    seen: Counter[str] = field(default_factory=Counter)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Rule:
        _known(given, "match", "times", "after", "rate", "fault")
        match, fault = given.get("match") or {}, dict(given["fault"])
        _known(match, "path", "contains", "model")
        _known(
            fault,
            "kind",
            "seconds",
            "retry_after",
            "status",
            "message",
            "code",
            "type",
            "property",
            "text",
            "steps",
            "by",
        )
        if fault.get("kind") not in FAULTS:
            raise ValueError(f"unknown fault {fault.get('kind')!r}, not one of {', '.join(FAULTS)}")
        if fault["kind"] == "text" and "text" not in fault:
            raise ValueError("the fault 'text' needs a text")
        if fault["kind"] == "steps" and not fault.get("steps"):
            raise ValueError("the fault 'steps' needs steps")
        if fault["kind"] == "slow" and "seconds" not in fault:
            raise ValueError("the fault 'slow' needs seconds")
        text = match.get("contains") or ""
        # As it stands in JSON: the inside of a string, with or without characters beyond ASCII, or the text itself.
        needles = {text.encode(), _dumped(text)[1:-1].encode(), json.dumps(text)[1:-1].encode()}
        times, rate = given.get("times"), given.get("rate")
        return cls(
            fault, match.get("path") or "", tuple(needles), match.get("model"), times, given.get("after") or 0, rate
        )

    def takes(self, path: str, body: bytes, model: object, digest: str) -> bool:
        if not path.startswith(self.path) or (self.model is not None and self.model != model):
            return False
        if not any(needle in body for needle in self.needles):
            return False
        self.matched += 1
        if self.matched <= self.after or (self.times is not None and self.used >= self.times):
            return False
        if self.rate is not None:
            drawn = hashlib.sha256(f"{digest} {self.seen[digest]}".encode()).digest()
            self.seen[digest] += 1
            if int.from_bytes(drawn[:8]) >= self.rate * 2**64:
                return False
        self.used += 1
        return True


@dataclass(slots=True)
class Bucket:
    """A token bucket."""

    per_second: float
    burst: float
    level: float = 0.0
    at: float = 0.0

    def wait(self) -> float:
        """Take one, or say after how many seconds there will be one."""
        now = time.monotonic()
        self.level = min(self.burst, self.level + (now - self.at) * self.per_second) if self.at else self.burst
        self.at = now
        if self.level >= 1:
            self.level -= 1
            return 0.0
        return (1 - self.level) / self.per_second


def _known(given: Mapping[str, Any], *names: str) -> None:
    if unknown := set(given) - set(names):
        raise ValueError(f"unknown in a script: {', '.join(sorted(unknown))}")


@dataclass(slots=True)
class Script:
    """Rules, a rate limit, keys, and what stands in every answer."""

    rules: list[Rule] = field(default_factory=list)
    bucket: Bucket | None = None
    keys: frozenset[str] | None = None
    serves: dict[str, Any] = field(default_factory=dict)
    content_type: str = "application/json"

    @classmethod
    def read(cls, given: Scripted) -> Script:
        script = cls()
        items = [given] if isinstance(given, Mapping) else list(given)
        for item in items:
            if "fault" in item:
                script.rules.append(Rule.read(item))
                continue
            _known(item, "rate_limit", "keys", "serves", "content_type", "rules")
            if limit := item.get("rate_limit"):
                _known(limit, "requests_per_minute", "burst")
                script.bucket = Bucket(limit["requests_per_minute"] / 60, max(limit.get("burst", 1), 1))
            if "keys" in item:
                script.keys = frozenset(item["keys"])
            script.serves |= item.get("serves", {})
            script.content_type = item.get("content_type", script.content_type)
            script.rules += map(Rule.read, item.get("rules", ()))
        return script


# The server.


@dataclass(slots=True)
class Entry:
    """A request in the log."""

    number: int
    path: str
    sha256: str
    body: bytes | None
    arrived: float
    status: int | None = None
    fault: str | None = None
    answered: float | None = None
    waited: float = 0.0

    def shown(self, bodies: bool) -> dict[str, Any]:
        names = ("number", "path", "sha256", "arrived", "status", "fault", "answered", "waited")
        shown: dict[str, Any] = {name: getattr(self, name) for name in names}
        if bodies and self.body is not None:
            try:
                shown["body"] = orjson.loads(self.body)
            except orjson.JSONDecodeError:
                shown["body"] = self.body.decode("utf-8", "replace")
        return shown


class Models:
    """What the server knows: its script, its log, the cached prefixes."""

    def __init__(self, latency: float = 0.0, keep_bodies: bool = True, spread: float = 0.0) -> None:
        self.latency = latency
        self.spread = spread
        self.keep_bodies = keep_bodies
        self.given: Scripted = ()
        self.reset()

    def reset(self) -> None:
        self.log: list[Entry] = []
        self.prefixes: set[int] = set()
        self.script = Script.read(self.given)

    def enter(self, path: str, body: bytes) -> Entry:
        kept = body if self.keep_bodies else None
        entry = Entry(len(self.log) + 1, path, hashlib.sha256(body).hexdigest(), kept, time.time())
        self.log.append(entry)
        return entry


class Connection(HttpToolsProtocol):
    """A connection that the application may close without an answer."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        state = self.scope.get("state")
        if state is not None:
            state["transport"] = self.transport


class Endpoint:
    """One protocol."""

    def __init__(self, models: Models, protocol: type[OpenAI | Anthropic], known: bool = True) -> None:
        self.models = models
        self.protocol = protocol
        self.known = known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            more = message["more_body"]
        entry = self.models.enter(scope["path"], body)
        try:
            status, headers, content = await self.answered(dict(scope["headers"]), body, entry)
        except (
            Malformed,
            TypeError,
            AttributeError,
            ValueError,
            LookupError,
            ArithmeticError,
            RecursionError,
        ) as error:
            said = str(error) if isinstance(error, Malformed) else f"{type(error).__name__}: {error}"
            status, headers, content = self.failed({"kind": "bad_request", "message": said}, entry)
            entry.fault = "malformed"
        if entry.fault == "other_body":
            content = OTHER_BODY
        length = b"%d" % len(content)
        headers += [
            (b"content-type", self.models.script.content_type.encode()),
            (b"content-length", length),
            (self.protocol.request_id, b"req_%d" % entry.number),
        ]
        if entry.fault == "drop" or scope["state"]["transport"].is_closing():
            await _hang_up(scope, receive)
        else:
            entry.status = status
            entry.answered = time.time()
            await send({"type": "http.response.start", "status": status, "headers": headers})
            if entry.fault == "truncated_body":
                await send({"type": "http.response.body", "body": content[: len(content) // 2], "more_body": True})
                await _hang_up(scope, receive)
            else:
                await send({"type": "http.response.body", "body": content})

    async def answered(
        self, headers: Mapping[bytes, bytes], body: bytes, entry: Entry
    ) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        if not self.known:
            return self.failed({"kind": "not_found", "message": f"There is no {entry.path} here."}, entry)
        models, protocol = self.models, self.protocol
        key = protocol.key(headers)
        if not key or (models.script.keys is not None and key not in models.script.keys):
            return self.failed({"kind": "wrong_key"}, entry)
        asked = orjson.loads(body)
        if asked.get("stream"):
            raise Malformed("This server does not stream.")
        reading = protocol.read(asked)
        if models.script.bucket is not None and (wait := models.script.bucket.wait()):
            failed = self.failed({"kind": "rate_limited", "retry_after": math.ceil(wait)}, entry)
            failed[1].append((b"retry-after-ms", b"%d" % math.ceil(wait * 1000)))
            entry.fault = "rate_limit"
            return failed
        rules = models.script.rules
        fault = next((rule.fault for rule in rules if rule.takes(entry.path, body, reading.model, entry.sha256)), {})
        entry.fault = fault.get("kind")
        if seconds := fault.get("seconds"):
            await asyncio.sleep(seconds)
        if entry.fault in ERRORS:
            return self.failed(fault, entry)
        if entry.fault == "drop":
            return 0, [], b""
        text, stop = answer(reading, fault)
        usage, prefixes = protocol.account(reading, models.prefixes, key)
        if models.latency:
            entry.waited = models.latency * math.exp(models.spread * random.Random(entry.sha256).gauss(0, 1))
            await asyncio.sleep(entry.waited)
        models.prefixes.update(prefixes)
        calls = step_of(reading, fault).get("calls", ())
        reply = protocol.reply(reading, text, calls, stop, usage, entry.number)
        return 200, [], orjson.dumps(reply | models.script.serves)

    def failed(self, fault: Mapping[str, Any], entry: Entry) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        failure = ERRORS[fault["kind"]]
        entry.fault = fault["kind"]
        waits = fault.get("retry_after")
        headers = [] if waits is None else [(b"retry-after", str(waits).encode())]
        content = orjson.dumps(self.protocol.error(failure, fault, entry.number))
        return fault.get("status", failure.status), headers, content


async def _hang_up(scope: Scope, receive: Receive) -> None:
    scope["state"]["transport"].close()
    while (await receive())["type"] != "http.disconnect":
        pass


def application(models: Models) -> Starlette:
    async def log(request: Request) -> Response:
        bodies = request.query_params.get("bodies", "1") != "0"
        shown = [entry.shown(bodies) for entry in models.log]
        return Response(orjson.dumps(shown), media_type="application/json")

    async def script(request: Request) -> Response:
        try:
            given = orjson.loads(await request.body())
            models.script = Script.read(given)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            return Response(f"{type(error).__name__}: {error}", status_code=400)
        models.given = given
        return Response(status_code=204)

    async def reset(_: Request) -> Response:
        models.reset()
        return Response(status_code=204)

    return Starlette(
        routes=[
            Route("/v1/chat/completions", Endpoint(models, OpenAI), methods=["POST"]),
            Route("/v1/embeddings", Endpoint(models, Embeddings), methods=["POST"]),
            Route("/anthropic/v1/messages", Endpoint(models, Anthropic), methods=["POST"]),
            Route("/vertex/v1/{path:path}:rawPredict", Endpoint(models, Vertex), methods=["POST"]),
            Route("/log", log),
            Route("/script", script, methods=["POST"]),
            Route("/reset", reset, methods=["POST"]),
            Route("/{path:path}", Endpoint(models, OpenAI, known=False)),
        ]
    )


def _end_with_parent() -> None:
    """End when the other side of standard input is gone."""

    def watch() -> None:
        while os.read(0, 1024):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(description="A model server for tests and benchmarks.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--script", type=Path, help="a JSON file")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer that is no error")
    parser.add_argument("--spread", type=float, default=0.0, help="sigma of a lognormal latency; 0: always the same")
    parser.add_argument("--forget-bodies", action="store_true", help="log the hashes of bodies only")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input is closed")
    options = parser.parse_args()
    models = Models(options.latency, keep_bodies=not options.forget_bodies, spread=options.spread)
    if options.script is not None:
        models.given = orjson.loads(options.script.read_bytes())
        models.reset()
    if options.with_parent:
        _end_with_parent()
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", options.port))
        listener.listen(2048)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        config = uvicorn.Config(
            application(models),
            http=Connection,
            ws="none",
            lifespan="off",
            access_log=False,
            log_level="error",
            server_header=False,
            date_header=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listener])


# The other side.


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the server's log has it: status and answered are None while no answer has been sent."""

    number: int
    path: str
    sha256: str
    arrived: float
    status: int | None
    fault: str | None
    answered: float | None
    waited: float
    body: Any = None


class ModelServer:
    """A server in a process of its own."""

    def __init__(
        self,
        script: Scripted = (),
        *,
        port: int = 0,
        latency: float = 0.0,
        spread: float = 0.0,
        keep_bodies: bool = True,
    ) -> None:
        root = str(Path(__file__).parent.parent)
        command = [sys.executable, "-m", "evaluation_assets_tests.model_server", "--with-parent"]
        command += ["--port", str(port), "--latency", str(latency), "--spread", str(spread)]
        command += [] if keep_bodies else ["--forget-bodies"]
        paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths}
        )
        try:
            assert self.process.stdout is not None
            self.url = self.process.stdout.readline().strip()
            if not self.url:
                raise RuntimeError(f"the model server ended with {self.process.wait()}")
            if script:
                self.script(script)
        except BaseException:
            self.kill()
            raise

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        return f"{self.url}/anthropic"

    @property
    def vertex_url(self) -> str:
        return f"{self.url}/vertex/v1"

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def requests(self, bodies: bool = True) -> list[Asked]:
        """All requests since the start or the last reset."""
        return [Asked(**one) for one in orjson.loads(self._call(f"/log?bodies={int(bodies)}"))]

    def script(self, script: Scripted) -> None:
        """Replace the script; the log and the cached prefixes stay."""
        self._call("/script", orjson.dumps(script))

    def reset(self) -> None:
        """Forget the log, the cached prefixes and what of the script is used up."""
        self._call("/reset", b"")

    def stop(self) -> None:
        """End it as its operator would: answers under way have a second."""
        self._end(self.process.terminate)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(self.process.kill)

    def _end(self, signal: Callable[[], None]) -> None:
        signal()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in filter(None, (self.process.stdin, self.process.stdout)):
            pipe.close()

    def _call(self, path: str, body: bytes | None = None) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(urllib.request.Request(self.url + path, data=body), timeout=60) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            with error:
                raise ValueError(error.read().decode()) from None


@contextlib.contextmanager
def model_server(
    script: Scripted = (),
    *,
    port: int = 0,
    latency: float = 0.0,
    spread: float = 0.0,
    keep_bodies: bool = True,
) -> Iterator[ModelServer]:
    """A model server for the length of a block."""
    server = ModelServer(script, port=port, latency=latency, spread=spread, keep_bodies=keep_bodies)
    try:
        yield server
    finally:
        server.stop()


def rule(
    kind: str,
    *,
    path: str | None = None,
    contains: str | None = None,
    model: str | None = None,
    times: int | None = None,
    after: int = 0,
    rate: float | None = None,
    **fault: object,
) -> dict[str, Any]:
    """A rule of a script."""
    match = {"path": path, "contains": contains, "model": model}
    return {"match": match, "times": times, "after": after, "rate": rate, "fault": {"kind": kind} | fault}


if __name__ == "__main__":
    main()
