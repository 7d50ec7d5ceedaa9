"""The server of reports, asked over real connections."""

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation_assets.cli.report_server import serving

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
    (reports / "link.txt").symlink_to(tmp_path / "secret.txt")
    (reports / "up").symlink_to(tmp_path)
    with serving(reports, "127.0.0.1", 0) as found:
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


@pytest.mark.parametrize(("host", "status"), [("localhost:1", 200), ("127.0.0.1", 200), ("evil.example", 421)])
def test_a_foreign_name_of_this_machine_is_refused(port: int, host: str, status: int) -> None:
    assert asked(port, "/blob", host=host)[0] == status


def test_a_taken_port_is_an_error(port: int, tmp_path: Path) -> None:
    with pytest.raises(OSError), serving(tmp_path, "127.0.0.1", port):
        pass
