"""Requests of sinks to a real server: repetition, `Retry-After`, what is made once, and reasons without secrets."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from evaluation_assets.core.report.sinks.http import SendError
from evaluation_assets.core.report.sinks.webhook import post
from evaluation_assets_tests.core.report.sinks.making import QUICK, SECRET, connected
from evaluation_assets_tests.http_server import Reply, Request, http_server


def asked(*replies: Reply) -> tuple[list[Request], list[object]]:
    """Send one request to a server that answers in this order; its requests, and the results or errors."""
    requests: list[Request] = []
    waiting = list(replies)

    def answer(request: Request) -> Reply:
        requests.append(request)
        return waiting.pop(0)

    results: list[object] = []
    with http_server(answer) as url, connected(url, {"x-key": SECRET}) as http:
        try:
            results.append(http.post("/scores", {"a": 1}))
        except SendError as problem:
            results.append(problem)
    return requests, results


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(status: int) -> None:
    requests, results = asked(Reply(status), Reply(200, {"id": 1}))
    assert [request.body for request in requests] == [{"a": 1}] * 2
    assert results == [{"id": 1}]


@pytest.mark.parametrize("date", [False, True])
def test_the_pause_that_the_server_asks_for_is_kept(date: bool) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True) if date else "1"
    started = datetime.now(UTC)
    _, results = asked(Reply(429, headers={"Retry-After": later}), Reply(200, {}))
    assert results == [{}]
    assert datetime.now(UTC) - started >= timedelta(seconds=0.9)


def test_no_request_waits_for_longer_than_a_minute() -> None:
    requests, (problem,) = asked(Reply(429, {"detail": "slow down"}, headers={"Retry-After": "3600"}))
    assert len(requests) == 1
    assert str(problem).startswith("HTTP 429: ") and str(problem).endswith("; it takes no request for 3,600 s")


@pytest.mark.parametrize("status", [400, 401, 404, 409, 422])
def test_a_refusal_is_final(status: int) -> None:
    requests, (problem,) = asked(Reply(status, {"detail": f"no; you sent {SECRET}\n\x1b[31m"}))
    assert len(requests) == 1
    assert isinstance(problem, SendError)
    assert str(problem).startswith(f"HTTP {status}: ") and "no; you sent [masked]" in str(problem)
    assert problem.is_down == (status == 401)


def test_the_last_reason_counts() -> None:
    requests, (problem,) = asked(Reply(503), Reply(hang_up=True), Reply(500, text="broken"))
    assert len(requests) == 3
    assert str(problem) == "HTTP 500: broken"


def test_a_server_that_is_not_there_is_down() -> None:
    with http_server(lambda _: Reply()) as url:
        pass
    with connected(url) as http, pytest.raises(SendError, match=r"^cannot connect$") as raised:
        http.get("/")
    assert raised.value.is_down


def test_a_password_in_the_url_is_sent_as_a_header_and_masked() -> None:
    seen: list[str] = []

    def answer(request: Request) -> Reply:
        seen.append(request.headers["authorization"])
        return Reply(400, text=f"who is {request.headers['authorization']}?")

    with (
        http_server(answer) as url,
        connected(url.replace("://", f"://ann:{SECRET}@")) as http,
        pytest.raises(SendError) as raised,
    ):
        http.get("/")
    assert seen[0].startswith("Basic ")
    assert seen[0].removeprefix("Basic ") not in str(raised.value)


def test_what_was_made_before_the_connection_broke_is_not_made_again() -> None:
    made: list[object] = []

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            made.append(request.body)
            return Reply(hang_up=True)
        return Reply(200, {"made": len(made)})

    with http_server(answer) as url, connected(url) as http:
        assert http.create("/items", {"a": 1}, lambda: http.get("/items")) == {"made": 1}
    assert made == [{"a": 1}]


def test_a_page_is_no_reply_of_a_store() -> None:
    _, (problem,) = asked(Reply(200, text="<html>Login please</html>"))
    assert isinstance(problem, SendError) and "not JSON" in str(problem)


@pytest.mark.parametrize("path", ["/hook/abc?key=a%2Fb&token=12345678", "/hook/", "/hook"])
def test_the_url_of_a_webhook_is_used_as_it_is(path: str) -> None:
    seen: list[str] = []

    def answer(request: Request) -> Reply:
        seen.append(request.target)
        return Reply(200, text="ok")

    with http_server(answer) as url:
        post(f"{url}{path}", {"text": "x"}, QUICK)
    assert seen == [path]


def test_parts_of_the_url_of_a_webhook_are_not_repeated() -> None:
    def answer(request: Request) -> Reply:
        return Reply(404, text=f"no {request.target}, not {request.path.rsplit('/', 1)[-1]}")

    with http_server(answer) as url, pytest.raises(SendError) as raised:
        post(f"{url}/hooks/SECRETPART?token=SECRETTOKEN", {"text": "x"}, QUICK)
    assert "404" in str(raised.value) and "SECRET" not in str(raised.value)
