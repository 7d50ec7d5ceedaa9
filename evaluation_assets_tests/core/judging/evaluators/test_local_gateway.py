"""The gateway to judges' models on this machine, asked by others than the metrics that it is for."""

import http.client
import socket
import struct

import pytest

from evaluation_assets.core.judging.evaluators.local_gateway import local_gateway


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://attacker.example"}, 403),
        ({"Origin": "null", "Content-Type": "text/plain"}, 403),
        ({"Content-Length": "-1"}, 403),
        ({"Content-Length": "9" * 30}, 403),
        ({"Content-Length": "many"}, 403),
        ({}, 404),
    ],
)
def test_web_pages_and_malformed_requests_are_refused(
    headers: dict[str, str], status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    content = b'{"model": "guessed"}'
    connection = http.client.HTTPConnection(local_gateway().url.removeprefix("http://"), timeout=60)
    connection.request("POST", "/", content, {"Content-Length": str(len(content))} | headers)
    assert connection.getresponse().status == status
    connection.close()
    assert capfd.readouterr().err == ""


def test_a_sender_that_hangs_up_is_no_failure(capfd: pytest.CaptureFixture[str]) -> None:
    port = int(local_gateway().url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as hung_up:
        hung_up.sendall(b"POST / HTTP/1.1\r\ncontent-length: 9\r\n")
        hung_up.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets
    answered = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    answered.request("POST", "/", b"{}")
    answered.getresponse().read()
    answered.close()
    assert capfd.readouterr().err == ""
