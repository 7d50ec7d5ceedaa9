"""The web application: its log, its endpoints, and the routes that control it."""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from evaluation_assets_tests.model_server.answers import answer, step_of
from evaluation_assets_tests.model_server.anthropic_messages import Anthropic, Vertex
from evaluation_assets_tests.model_server.batches import Batch, routes
from evaluation_assets_tests.model_server.decisions import Decisions, SystemOne
from evaluation_assets_tests.model_server.faults import ERRORS, OTHER_BODY, REFUSALS
from evaluation_assets_tests.model_server.openai_chat import MOVED, OpenAI
from evaluation_assets_tests.model_server.openai_embeddings import Embeddings
from evaluation_assets_tests.model_server.reading import Malformed
from evaluation_assets_tests.model_server.scripts import Script, Scripted


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
        self.batches: dict[str, Batch] = {}
        self.files: dict[str, bytes] = {}
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
        meant = (rule for rule in rules if rule.is_for(asked))
        fault = next((rule.fault for rule in meant if rule.takes(entry.path, body, reading.model, entry.sha256)), {})
        entry.fault = fault.get("kind")
        if seconds := fault.get("seconds"):
            await asyncio.sleep(seconds)
        if entry.fault in ERRORS:
            return self.failed(fault, entry)
        if entry.fault in REFUSALS:
            failed = self.failed({"message": REFUSALS[entry.fault][0], **fault, "kind": "bad_request"}, entry)
            entry.fault = fault["kind"]
            return failed
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
        if entry.fault in MOVED:
            MOVED[entry.fault](reply["choices"][0]["message"])
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
            *routes(models),
            Route("/v1/embeddings", Endpoint(models, Embeddings), methods=["POST"]),
            Route("/v1/decisions", Endpoint(models, Decisions), methods=["POST"]),
            Route("/v1/systemone", Endpoint(models, SystemOne), methods=["POST"]),
            Route("/anthropic/v1/messages", Endpoint(models, Anthropic), methods=["POST"]),
            Route("/vertex/v1/{path:path}:rawPredict", Endpoint(models, Vertex), methods=["POST"]),
            Route("/log", log),
            Route("/script", script, methods=["POST"]),
            Route("/reset", reset, methods=["POST"]),
            Route("/{path:path}", Endpoint(models, OpenAI, known=False)),
        ]
    )
