"""A scripted model server for agent frameworks, stdlib only. It decides each reply from the conversation it is sent.

    with serve() as server:
        OpenAI(base_url=f"{server.url}/RUN/v1", api_key="any")
        Anthropic(base_url=f"{server.url}/RUN", api_key="any")
        genai.Client(http_options={"base_url": f"{server.url}/RUN"}, api_key="any")
        server.replies("RUN")

`RUN` is any name: the log of replies is kept per run. A run whose name contains `reasoning` gets reasoning content.
"""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from benchmarks.frameworks import protocols
from benchmarks.frameworks.scenario import Reply, next_reply


class Server:
    """A running server: its address, the replies it gave per run, and the requests it could not answer."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.problems: list[str] = []
        self._replies: defaultdict[str, list[Reply]] = defaultdict(list)
        self._lock = threading.Lock()

    def replies(self, run: str) -> list[Reply]:
        """The replies given to a run so far."""
        with self._lock:
            return list(self._replies[run])

    def log(self, run: str, reply: Reply) -> None:
        with self._lock:
            self._replies[run].append(reply)


@contextmanager
def serve() -> Iterator[Server]:
    """Serve on a free local port until the block ends."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    http.state = Server(f"http://127.0.0.1:{http.server_address[1]}")  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield http.state  # type: ignore[attr-defined]
    finally:
        http.shutdown()
        http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer, sent in two pieces, waits 40 ms for the caller

    def do_POST(self) -> None:
        state: Server = self.server.state  # type: ignore[attr-defined]
        path = urlsplit(self.path).path
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        protocol = protocols.protocol_of(path)
        run = path.split("/")[1]
        try:
            if protocol is None:
                raise ValueError(f"no protocol has the path {path}")
            reply = next_reply(protocol.read(request), thinks="reasoning" in run)
        except (ValueError, KeyError) as problem:
            state.problems.append(f"{path}: {type(problem).__name__}: {problem}")
            self._send(400, "application/json", json.dumps({"error": {"message": str(problem)}}))
            return
        state.log(run, reply)
        model = str(request.get("model") or "gemini")
        if request.get("stream") or path.endswith(":streamGenerateContent"):
            events = [
                (f"event: {name}\n" if name else "")
                + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
                for name, data in protocol.events(reply, model)
            ]
            self._send(200, "text/event-stream", "".join(events))
        else:
            self._send(200, "application/json", json.dumps(protocol.body(reply, model)))

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: what matters is in the replies."""
