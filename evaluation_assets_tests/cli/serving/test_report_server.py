"""The server of reports, asked over real connections."""

import contextlib
import http.client
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation_assets.cli.serving.report_server import FileHandler, serving
from evaluation_assets.core.report.index import write_index
from evaluation_assets.core.system.installation import Installation

PAGE = """<!doctype html><html><head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-abc='">
</head><body>the report</body></html>"""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "secret.txt").write_text("secret")
    reports = tmp_path / "reports"
    (reports / "team" / "week 1").mkdir(parents=True)
    (reports / "team" / "week 1" / "report.html").write_text(PAGE)
    (reports / "team" / "week 1" / "report.json").write_text("{}")
    (reports / "team" / "week 1" / ".hidden.json").write_text("{}")
    (reports / "foreign.html").write_text("<script>alert(1)</script>")
    (reports / "blob").write_text("<script>alert(1)</script>")
    (reports / "large").write_bytes(bytes(5_000_000))
    (reports / "link.txt").symlink_to(tmp_path / "secret.txt")
    (reports / "up").symlink_to(tmp_path)
    home = Installation.at(str(tmp_path))
    with serving(reports, "127.0.0.1", 0, lambda: write_index(home)) as found:
        yield found


def asked(port: int, path: str, method: str = "GET", host: str | None = None) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    reply = connection.getresponse()
    return reply.status, reply.read().decode(), {name.lower(): value for name, value in reply.getheaders()}


def test_a_page_is_served_with_the_policy_it_declares(port: int) -> None:
    status, body, headers = asked(port, "/team/week%201/report.html?x=1")
    assert (status, body) == (200, PAGE)
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert headers["content-security-policy"] == (
        "default-src 'none'; script-src 'sha256-abc='; frame-ancestors 'none'"
    )
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


def test_other_files_run_nothing(port: int) -> None:
    for path, content_type in (("/foreign.html", "text/html; charset=utf-8"), ("/blob", "application/octet-stream")):
        status, _, headers = asked(port, path)
        assert (status, headers["content-type"]) == (200, content_type)
        assert headers["content-security-policy"].startswith("default-src 'none'; sandbox")
    assert asked(port, "/team/week%201/report.json")[2]["content-type"] == "application/json"


def test_head_has_no_body_and_nothing_can_be_changed(port: int) -> None:
    status, body, headers = asked(port, "/team/week%201/report.html", "HEAD")
    assert (status, body, headers["content-length"]) == (200, "", str(len(PAGE)))
    assert {asked(port, "/blob", method)[0] for method in ("POST", "PUT", "DELETE", "OPTIONS")} == {501}


@pytest.mark.parametrize(
    "path",
    [
        *("/../secret.txt", "/%2e%2e/secret.txt", "/team/..%2f..%2fsecret.txt", "/..%5csecret.txt", "//secret.txt"),
        *("/link.txt", "/up/secret.txt", "/team/week%201/.hidden.json", "/team/", "/team", "/none", "/blob%00.html"),
    ],
)
def test_only_files_below_the_folder_are_served(port: int, path: str) -> None:
    status, body, _ = asked(port, path)
    assert status == 404
    assert "secret\n" not in body and body != "secret"


def test_the_list_of_reports_is_written_when_it_is_asked_for(port: int) -> None:
    for path in ("/", "/index.html"):
        status, body, _ = asked(port, path)
        assert status == 200
        assert "Evaluation reports" in body


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:1", 200), ("127.0.0.1", 200), ("[::1]", 200), ("evil.example", 421), ("", 421), ("[", 421)],
)
def test_a_foreign_name_of_this_machine_is_refused(port: int, host: str, status: int) -> None:
    assert asked(port, "/blob", host=host)[0] == status


def test_a_name_that_is_allowed_is_answered(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATION_ALLOWED_HOSTS", "reports.example.com")
    assert asked(port, "/blob", host="Reports.example.com:8443")[0] == 200
    assert asked(port, "/blob", host="attacker.example")[0] == 421


def test_a_server_for_other_machines_refuses_foreign_names_too(tmp_path: Path) -> None:
    (tmp_path / "blob").write_text("x")
    with serving(tmp_path, "0.0.0.0", 0) as found:
        assert asked(found, "/blob", host="evil.example")[0] == 421
        assert asked(found, "/blob", host="192.0.2.7:3001")[0] == 200


def answer_to(port: int, sent: bytes) -> bytes:
    """All that is answered to some bytes, until the server ends the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/9.9\r\n\r\n", 505),
        (b"GET /a b HTTP/1.1\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n", 400),
        (b"GET //[ HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (b"GET http://[/blob HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (b"GET /circle HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        (b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"a" * 300), 404),
        (b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"a/" * 3_000), 414),
        (b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"a" * 66_000), 414),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n" % (b"a" * 66_000), 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (b"X: y\r\n" * 200), 431),
    ],
)
def test_malformed_requests_are_refused_without_a_traceback(
    port: int, sent: bytes, status: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "reports" / "circle").symlink_to(tmp_path / "reports" / "circle")
    try:
        answer = answer_to(port, sent)
    except ConnectionResetError:  # the server did not read all of it
        answer = b""
    assert b"Traceback" not in answer
    assert answer == b"" or f" {status} ".encode() in answer.splitlines()[0]
    assert asked(port, "/blob")[0] == 200
    assert capfd.readouterr().err == ""


def test_connections_whose_request_does_not_arrive_end(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle one, one without an end of its head, and one that sends a byte from time to time."""
    monkeypatch.setattr(FileHandler, "request_seconds", 0.3)
    assert answer_to(port, b"") == b""
    assert answer_to(port, b"GET / HTTP/1.1\r\nHost: localhost\r\n") == b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        ended = threading.Event()

        def drip() -> None:
            with contextlib.suppress(OSError):
                while not ended.wait(0.05):
                    connection.sendall(b"G")

        sender = threading.Thread(target=drip)
        sender.start()
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
        ended.set()
        sender.join()


def test_a_browser_that_goes_away_leaves_no_traceback(port: int, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert asked(port, "/blob")[0] == 200
    assert capfd.readouterr().err == ""


def test_a_taken_port_is_an_error(port: int, tmp_path: Path) -> None:
    with pytest.raises(OSError), serving(tmp_path, "127.0.0.1", port):
        pass
