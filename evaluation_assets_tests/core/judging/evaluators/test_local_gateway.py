"""The gateway to judges' models on this machine, asked by others than the metrics that it is for."""

import http.client

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
