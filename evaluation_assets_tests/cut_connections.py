"""A network between a client and a server on this machine that can be cut: connections break, new ones are refused."""

import socket
import threading
from contextlib import suppress


class Network:
    """Passes connections from a port of its own on to another one."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._listening: socket.socket | None = None
        self._open: list[socket.socket] = []
        self.port = 0
        self.mend()

    def cut(self) -> None:
        """Break all connections, and refuse new ones."""
        assert self._listening is not None
        for each in (self._listening, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._listening = None
        self._open.clear()

    def mend(self) -> None:
        """Accept connections again, at the same port."""
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(65536):
            target.sendall(content)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
