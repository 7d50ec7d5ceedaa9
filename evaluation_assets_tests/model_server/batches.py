"""Batches of both protocols. A batch ends after as many questions about it as the script says."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evaluation_assets_tests.model_server.answers import answer
from evaluation_assets_tests.model_server.anthropic_messages import Anthropic
from evaluation_assets_tests.model_server.faults import ERRORS
from evaluation_assets_tests.model_server.openai_chat import OpenAI

if TYPE_CHECKING:
    from evaluation_assets_tests.model_server.application import Entry, Models

_AT = "2026-01-01T00:00:00Z"


@dataclass(slots=True)
class Batch:
    """What was asked, and how often how far it is was asked for."""

    name: str
    requests: list[tuple[str, dict[str, Any]]]
    polls: int = 0


class Batches:
    """The batch endpoints of one protocol. Results come in the reverse order."""

    def __init__(self, models: Models, protocol: type[OpenAI | Anthropic]) -> None:
        self.models = models
        self.protocol = protocol

    async def entered(self, request: Request) -> tuple[Entry, bytes]:
        body = await request.body()
        entry = self.models.enter(request.url.path, body)
        entry.status, entry.answered = 200, time.time()
        return entry, body

    def shown(self, batch: Batch) -> Response:
        """What is said of the state of a batch."""
        raise NotImplementedError

    async def state(self, request: Request) -> Response:
        entry, _ = await self.entered(request)
        batch = self.models.batches.get(request.path_params["name"])
        if failed := self.failure(entry):
            return failed
        if batch is None:
            return _json(self.protocol.error(ERRORS["not_found"], {}, entry.number), 404)
        batch.polls += 1
        return self.shown(batch)

    def begun(self, name: str, requests: list[tuple[str, dict[str, Any]]]) -> Batch:
        batch = self.models.batches[name] = Batch(name, requests)
        return batch

    def ended(self, batch: Batch) -> bool:
        return batch.polls > self.models.script.batch_polls

    def failure(self, entry: Entry) -> Response | None:
        """What the script has for a request about batches."""
        for rule in self.models.script.rules:
            if rule.takes(entry.path, b"", None, entry.sha256):
                failure = ERRORS[rule.fault["kind"]]
                status: int = rule.fault.get("status", failure.status)
                entry.fault, entry.status = rule.fault["kind"], status
                return _json(self.protocol.error(failure, rule.fault, entry.number), status)
        return None

    def results(self, batch: Batch) -> Iterator[tuple[str, str, Any, str]]:
        """The name of each request, how it ended, the answer or the error, and what is wrong with it."""
        for number, (name, body) in reversed(list(enumerate(batch.requests))):
            content = orjson.dumps(body)
            rules = self.models.script.rules
            fault: Mapping[str, Any] = next(
                (rule.fault for rule in rules if rule.takes("batch", content, body["model"], name)), {}
            )
            kind = fault.get("kind", "")
            if kind == "expired":
                yield name, "expired", None, kind
            elif kind in ERRORS:
                yield name, "errored", self.protocol.error(ERRORS[kind], fault, number), kind
            else:
                reading = self.protocol.read(body)
                text, stop = answer(reading, fault)
                usage, _ = self.protocol.account(reading, set(), "batch")
                reply = self.protocol.reply(reading, text, (), stop, usage, number)
                if kind == "no_usage":
                    del reply["usage"]
                yield name, "succeeded", {"choices": "none"} if kind == "no_reply" else reply, kind


class AnthropicBatches(Batches):
    """Message batches."""

    async def create(self, request: Request) -> Response:
        entry, body = await self.entered(request)
        if failed := self.failure(entry):
            return failed
        asked = [(item["custom_id"], item["params"]) for item in orjson.loads(body)["requests"]]
        return self.shown(self.begun(f"msgbatch_{entry.number}", asked))

    async def read(self, request: Request) -> Response:
        entry, _ = await self.entered(request)
        if failed := self.failure(entry):
            return failed
        batch, lines = self.models.batches[request.path_params["name"]], []
        for name, kind, value, wrong in self.results(batch):
            result = {"type": kind} | {"succeeded": {"message": value}, "errored": {"error": value}}.get(kind, {})
            lines.append(_line({"custom_id": name, "result": result}, wrong))
        return Response(b"\n".join(lines), media_type="application/x-jsonl")

    def shown(self, batch: Batch) -> Response:
        ended, count = self.ended(batch), len(batch.requests)
        counts = {"processing": 0 if ended else count, "succeeded": count if ended else 0}
        return _json(
            {
                "id": batch.name,
                "type": "message_batch",
                "processing_status": "ended" if ended else "in_progress",
                "request_counts": counts | {"errored": 0, "canceled": 0, "expired": 0},
                "created_at": _AT,
                "expires_at": _AT,
                "results_url": f"/v1/messages/batches/{batch.name}/results" if ended else None,
            }
        )


class OpenAIBatches(Batches):
    """Batches of chat completions, and the files of their requests and results."""

    async def upload(self, request: Request) -> Response:
        entry, body = await self.entered(request)
        content = re.search(rb'name="file".*?\r\n\r\n(.*?)\r\n--', body, re.DOTALL)
        assert content is not None
        name = f"file_{entry.number}"
        self.models.files[name] = content[1]
        about = {"id": name, "object": "file", "bytes": len(content[1]), "created_at": 0, "filename": "batch.jsonl"}
        return _json(about | {"purpose": "batch", "status": "processed"})

    async def create(self, request: Request) -> Response:
        entry, body = await self.entered(request)
        if failed := self.failure(entry):
            return failed
        lines = self.models.files[json.loads(body)["input_file_id"]].splitlines()
        asked = [(item["custom_id"], item["body"]) for item in map(orjson.loads, lines)]
        return self.shown(self.begun(f"batch_{entry.number}", asked))

    async def content(self, request: Request) -> Response:
        entry, _ = await self.entered(request)
        if failed := self.failure(entry):
            return failed
        kind, _, name = request.path_params["name"].partition("-")
        lines = []
        for key, how, value, wrong in self.results(self.models.batches[name]):
            if (how == "succeeded") == (kind == "output"):
                status = {"succeeded": 200, "errored": 400}.get(how)
                response = None if status is None else {"status_code": status, "body": value}
                error = {"code": "batch_expired", "message": "not in time"} if how == "expired" else None
                lines.append(_line({"custom_id": key, "response": response, "error": error}, wrong))
        return Response(b"\n".join(lines), media_type="application/octet-stream")

    def shown(self, batch: Batch) -> Response:
        ended, count = self.ended(batch), len(batch.requests)
        shown = {"id": batch.name, "object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h"}
        shown |= {"created_at": 0, "input_file_id": "file", "status": "completed" if ended else "in_progress"}
        shown |= {"request_counts": {"total": count, "completed": count if ended else 0, "failed": 0}}
        files = {"output_file_id": f"output-{batch.name}", "error_file_id": f"error-{batch.name}"}
        return _json(shown | files if ended else shown)


def routes(models: Models) -> list[Route]:
    openai, anthropic = OpenAIBatches(models, OpenAI), AnthropicBatches(models, Anthropic)
    return [
        Route("/v1/files", openai.upload, methods=["POST"]),
        Route("/v1/files/{name}/content", openai.content),
        Route("/v1/batches", openai.create, methods=["POST"]),
        Route("/v1/batches/{name}", openai.state),
        Route("/anthropic/v1/messages/batches", anthropic.create, methods=["POST"]),
        Route("/anthropic/v1/messages/batches/{name}", anthropic.state),
        Route("/anthropic/v1/messages/batches/{name}/results", anthropic.read),
    ]


def _line(item: dict[str, Any], wrong: str) -> bytes:
    """A line of a file of results, perhaps cut off or without its name."""
    if wrong == "without_name":
        del item["custom_id"]
    line = orjson.dumps(item)
    return line[: len(line) // 2] if wrong == "broken_line" else line


def _json(value: object, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")
