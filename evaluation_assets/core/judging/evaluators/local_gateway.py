"""Judges' models behind an HTTP address of this machine, for packages that know models only by their address.

Each verdict has a route with a random name, which ends with it. Requests are OpenAI chat completions; what the route's
model is asked goes through the ledger like every other question.
"""

import asyncio
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from evaluation_assets.core.judging.evaluators.asked_model import ChatModel, Said
from evaluation_assets.core.traces.trajectories.model import json_object

_Route = tuple[asyncio.AbstractEventLoop, ChatModel]
_LARGEST_REQUEST = 64 * 2**20


class LocalGateway:
    """A server of this process, on 127.0.0.1 and a free port."""

    def __init__(self) -> None:
        self._routes: dict[str, _Route] = {}
        routes = self._routes

        class Handler(_Handler):
            def route(self, name: str) -> _Route | None:
                return routes.get(name)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"

    @contextmanager
    def route(self, model: ChatModel) -> Iterator[str]:
        """The name under which a model is asked for the length of the block, in the running event loop."""
        name = secrets.token_hex(16)
        self._routes[name] = (asyncio.get_running_loop(), model)
        try:
            yield name
        finally:
            del self._routes[name]


@cache
def local_gateway() -> LocalGateway:
    """The server of this process, which starts when it is first needed."""
    return LocalGateway()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer, sent in two pieces, waits 40 ms for the caller

    def route(self, name: str) -> _Route | None:
        """The model of a name, and the event loop that it is asked in."""
        raise NotImplementedError

    def handle_one_request(self) -> None:
        """Answer a request, unless its sender hangs up meanwhile."""
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def do_POST(self) -> None:
        """Answer a chat completion. Failures have a status that no client retries: the model was retried already."""
        said = self.headers.get("content-length", "")
        if "origin" in self.headers or not said.isdecimal() or int(said[:12]) > _LARGEST_REQUEST:
            self.close_connection = True  # its body is not read
            self._answer(403, {"error": {"message": "only metrics of this process are answered"}})
            return
        length = int(said)
        asked = json_object(self.rfile.read(length).decode(errors="replace")) or {}
        route = self.route(str(asked.get("model")))
        if route is None:
            self._answer(404, {"error": {"message": "there is no such model"}})
            return
        loop, model = route
        try:
            text = asyncio.run_coroutine_threadsafe(_reply(model, asked), loop).result()
        except Exception as problem:  # noqa: BLE001  # the caller of the metric knows it from the model
            self._answer(422, {"error": {"message": str(problem)}})
            return
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None}
        about = {"id": "local", "object": "chat.completion", "created": 0, "model": asked["model"]}
        self._answer(200, {**about, "choices": [choice], "usage": usage})

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are in the ledger."""

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


async def _reply(model: ChatModel, asked: dict[str, Any]) -> str:
    wanted = asked.get("response_format") or {}
    schema = wanted["json_schema"]["schema"] if wanted.get("type") == "json_schema" else None
    return await model.ask([Said(message["role"], message["content"]) for message in asked["messages"]], schema)
