"""The OTLP/HTTP receiver: accepts traces and the log events of generative AI, and writes them to the spool.

https://opentelemetry.io/docs/specs/otlp/#otlphttp. A request is answered with success when the spool has it on disk.
Needs the extra `receive`.
"""

import hashlib
import hmac
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import anyio
import orjson
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from evaluation_assets.core.intake.sources.otlp import documents, messages
from evaluation_assets.core.intake.sources.otlp.counting import MOST_OBJECTS
from evaluation_assets.core.intake.sources.otlp.parts import MalformedRequest, OversizedRequest, Parts, Signal
from evaluation_assets.core.intake.sources.received import Spool, SpoolError
from evaluation_assets.core.intake.sources.tally import Tally

PROTOBUF = "application/x-protobuf"
JSON = "application/json"

MAX_BODY_BYTES = 64 << 20
"""Of a request, as sent and after decompression."""

MAX_PENDING_BYTES = 256 << 20
"""Of all requests that are not answered yet; more are asked to come back later."""

RETRY_SECONDS = 10
"""When a sender may come back if the spool cannot be written."""

LARGE_BYTES = 1 << 20
"""Of a decompressed body. Larger ones are decoded one at a time, since they take many times their size meanwhile, and
smaller ones beside them."""

BODY_SECONDS = 60.0
"""For a body to arrive."""

_WINDOWS = {"gzip": 31, "deflate": 15}
"""Encodings of bodies, with zlib's number for each container."""

_INVALID, _DEADLINE_EXCEEDED, _DENIED, _EXHAUSTED = 3, 4, 7, 8
_UNIMPLEMENTED, _UNAVAILABLE, _UNAUTHENTICATED = 12, 14, 16
"""gRPC's codes, which the protocol uses in the bodies of failures."""


class _Refused(Exception):
    """A request that is not accepted: HTTP status, gRPC code, and why."""

    def __init__(self, http_status: int, code: int, message: str, retry_s: int | None = None) -> None:
        super().__init__(message)
        self.http_status, self.code, self.retry_s = http_status, code, retry_s


def receiver(spool: Spool, tally: Tally, token: str | None) -> Starlette:
    """The ASGI application.

    Args:
        spool: where spans are written.
        tally: counts what is received.
        token: what senders have to give as bearer token; `None` accepts every sender.
    """
    return _Receiver(spool, tally, token).application()


@dataclass(slots=True)
class _Receiver:
    spool: Spool
    tally: Tally
    token: str | None
    pending_bytes: int = 0
    unpacking: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    decoding: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    decoding_large: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    writing: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))

    def application(self) -> Starlette:
        """Each signal at its path; metrics are accepted, because SDKs send all signals to one endpoint."""
        return Starlette(
            routes=[
                Route("/v1/traces", partial(self.answer, "traces"), methods=["POST"]),
                Route("/v1/logs", partial(self.answer, "logs"), methods=["POST"]),
                Route("/v1/metrics", partial(self.answer, "metrics"), methods=["POST"]),
                Route("/healthz", _healthy, methods=["GET"]),
                Route("/{path:path}", self.answer_elsewhere, methods=["POST"]),
            ]
        )

    async def answer(self, signal: Signal | Literal["metrics"], request: Request) -> Response:
        """Accept a request, or say why not."""
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.tally.requests += 1
        try:
            self._check(request, media)
            if signal == "metrics":
                async for _ in _arriving(request):
                    pass  # an unread body would end the connection
                return Response(b"" if media == PROTOBUF else b"{}", media_type=media)
            return await self._accepted(signal, media, request)
        except ClientDisconnect:
            return self._failed(media, _Refused(400, _INVALID, "the sender closed the connection"))
        except _Refused as problem:
            return self._failed(media, problem)

    async def answer_elsewhere(self, request: Request) -> Response:
        """A request to a wrong path, most often a variable of one signal that has no path."""
        problem = _Refused(
            404,
            _UNIMPLEMENTED,
            "no such path: set OTEL_EXPORTER_OTLP_ENDPOINT, to which SDKs append /v1/traces, and not "
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        )
        return self._failed(request.headers.get("content-type", ""), problem)

    async def _accepted(self, signal: Signal, media: str, request: Request) -> Response:
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        pieces: list[bytes] = []
        held = 0
        try:
            async for piece in _arriving(request):
                pieces.append(piece)
                held += len(piece)
                self.pending_bytes += len(piece)
                if self.pending_bytes > MAX_PENDING_BYTES:
                    raise _Refused(429, _EXHAUSTED, "too many requests at once", retry_s=1)
            body = b"".join(pieces)
            pieces.clear()
            if encoding != "identity":
                body = await run_sync(_decompressed, body, encoding, limiter=self.unpacking)
            limiter = self.decoding_large if len(body) > LARGE_BYTES else self.decoding
            parts = await run_sync(_parts_of, body, media, signal, limiter=limiter)
            added = await run_sync(self.spool.add, parts.parts, round(time.time(), 6), limiter=self.writing)
        except MalformedRequest as problem:
            raise _Refused(400, _INVALID, str(problem)) from None
        except OversizedRequest:
            raise _too_large() from None
        except SpoolError as problem:
            self.tally.problem = str(problem)
            raise _Refused(503, _UNAVAILABLE, "the spool cannot be written", RETRY_SECONDS) from None
        finally:
            self.pending_bytes -= held
        parts.reject(added.refused, added.reason)
        self._count(signal, parts, added.new_traces, added.refused)
        return Response(_success(signal, media, parts), media_type=media)

    def _count(self, signal: Signal, parts: Parts, new_traces: int, refused: int) -> None:
        written = sum(part.items for part in parts.parts) - refused
        if signal == "traces":
            self.tally.spans += written
        else:
            self.tally.events += written
        self.tally.traces += new_traces
        self.tally.refused += parts.rejected
        self.tally.ignored += parts.ignored
        if parts.reason:
            self.tally.problem = parts.reason

    def _check(self, request: Request, media: str) -> None:
        """Refuse senders without the token, web pages, and unknown content types.

        Web pages of any site can reach a server on this machine. Browsers say where a request comes from.
        """
        if "origin" in request.headers:
            raise _Refused(403, _DENIED, "requests from web pages are not accepted")
        if self.token is not None and not _is_token(request.headers.get("authorization", ""), self.token):
            raise _Refused(401, _UNAUTHENTICATED, "the bearer token is missing or wrong")
        if media not in (PROTOBUF, JSON):
            raise _Refused(415, _INVALID, f"the content type must be {PROTOBUF} or {JSON}")
        if request.headers.get("content-encoding", "identity").strip().lower() not in ("identity", *_WINDOWS):
            raise _Refused(415, _INVALID, f"the content encoding must be one of identity, {', '.join(_WINDOWS)}")
        length = request.headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > MAX_BODY_BYTES:
            raise _too_large()

    def _failed(self, media: str, problem: _Refused) -> Response:
        self.tally.failed += 1
        if problem.http_status != 503:  # else it is the spool's own
            self.tally.problem = str(problem)
        headers = {} if problem.retry_s is None else {"Retry-After": str(problem.retry_s)}
        if problem.http_status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if media == PROTOBUF:
            content = messages.status(problem.code, str(problem))
        else:
            media, content = JSON, orjson.dumps({"code": problem.code, "message": str(problem)})
        return Response(content, problem.http_status, headers, media)


def _too_large() -> _Refused:
    limit = f"{MAX_BODY_BYTES:,} bytes or {MOST_OBJECTS:,} messages"
    return _Refused(413, _EXHAUSTED, f"the body has more than {limit}; lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE")


async def _healthy(_request: Request) -> Response:
    return Response(b'{"status":"ok"}', media_type=JSON)


async def _arriving(request: Request) -> AsyncIterator[bytes]:
    """The pieces of a body.

    Raises:
        _Refused: it has too many bytes, or does not arrive in time.
    """
    size, until = 0, anyio.current_time() + BODY_SECONDS
    pieces = request.stream()
    while True:
        try:
            with anyio.fail_after(until - anyio.current_time()):
                piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError:
            message = f"the body did not arrive within {BODY_SECONDS:g} s"
            raise _Refused(408, _DEADLINE_EXCEEDED, message) from None
        size += len(piece)
        if size > MAX_BODY_BYTES:
            raise _too_large()
        yield piece


def _is_token(header: str, token: str) -> bool:
    """Whether a header has the token, compared in constant time."""
    scheme, _, given = header.partition(" ")
    matches = hmac.compare_digest(_digest(given.strip()), _digest(token))
    return scheme.lower() == "bearer" and matches


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def _parts_of(body: bytes, media: str, signal: Signal) -> Parts:
    """Decode and split a body."""
    document = messages.document_of(body, signal) if media == PROTOBUF else documents.document_of(body)
    return documents.parts_of(document, signal)


def _decompressed(body: bytes, encoding: str) -> bytes:
    inflater = zlib.decompressobj(_WINDOWS[encoding])
    try:
        content = inflater.decompress(body, MAX_BODY_BYTES + 1)
    except zlib.error:
        raise MalformedRequest(f"the body is not {encoding}") from None
    if len(content) > MAX_BODY_BYTES:
        raise OversizedRequest
    if not inflater.eof:
        raise MalformedRequest(f"the {encoding} body is cut off")
    return content


def _success(signal: Signal, media: str, parts: Parts) -> bytes:
    if media == PROTOBUF:
        return messages.response_to(signal, parts.rejected, parts.reason)
    if not parts.rejected:
        return b"{}"
    counted = "rejectedSpans" if signal == "traces" else "rejectedLogRecords"
    return orjson.dumps({"partialSuccess": {counted: str(parts.rejected), "errorMessage": parts.reason}})
