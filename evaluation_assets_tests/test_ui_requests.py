"""Requests to the UI that a hostile page sends from the browser of a user, to a real Dagster."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.http_server import Reply, http_server
from evaluation_assets_tests.test_ui import Server, wait_for

pytestmark = pytest.mark.slow

WHERE = '{repositoryName: "__repository__", repositoryLocationName: "evaluation_assets.definitions"}'


def adding(drop: str) -> str:
    what = f'partitionsDefName: "drops", partitionKey: "{drop}", repositorySelector: {WHERE}'
    return f"mutation {{addDynamicPartition({what}) {{__typename}}}}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("EVALUATION_ALLOWED_HOSTS", "evaluation.example.com, other.example.com")
        started = Server(tmp_path_factory.mktemp("home"))
    try:
        wait_for(lambda: started.ask("{assetNodes{assetKey{path}}}") or None, 120)
        yield started
    finally:
        started.stop()


def drops(server: Server) -> list[str]:
    data = server.ask("""{assetNodes(assetKeys: [{path: ["raw_trajectories"]}]) {partitionKeys}}""")
    assert data is not None
    return data["assetNodes"][0]["partitionKeys"]


def asked(server: Server, method: str, path: str, content: str | None = None, **sent: str) -> httpx.Response:
    headers = {name.replace("_", "-"): value for name, value in sent.items()}
    return httpx.request(method, f"{server.url}{path}", content=content, headers=headers, timeout=60)


def test_reading_requests_change_nothing(server: Server) -> None:
    for path in ("/graphql", "/graphql%0A"):
        both = f"query a {{version}} {adding('both')}".replace("mutation", "mutation b")
        for query in (adding("image"), f"# {{\n{adding('comment')}", both + "&operationName=b"):
            name = quote(query, safe="&=")
            reply = asked(server, "GET", f"{path}?query={name}")
            assert (reply.status_code, reply.text) == (405, "Mutations must be sent with POST.")
    assert asked(server, "GET", "/graphql?query={version}").json()["data"]["version"]
    assert not {"image", "comment", "both"} & set(drops(server))


def test_only_pages_of_the_ui_send_requests_that_change_something(server: Server) -> None:
    body, own = json.dumps({"query": adding("own")}), server.url
    for origin in ("https://attacker.example", "null", server.url[:-1], f"{own}.attacker.example", "http://["):
        query = f"/graphql?query={quote(adding('form'))}"
        assert asked(server, "POST", query, Origin=origin).status_code == 403
        reported = asked(server, "POST", "/report_asset_materialization/evaluation_report", Origin=origin)
        assert reported.status_code == 403
    assert "form" not in drops(server)
    assert asked(server, "POST", "/graphql", body, Origin=own, Content_Type="application/json").status_code == 200
    assert "own" in drops(server), "the mutation is one that works"


def test_a_foreign_name_of_this_machine_is_refused(server: Server) -> None:
    """A page that makes its own name point to this machine is one of the same origin to the browser."""
    for host in ("attacker.example", "localhost.attacker.example", "evil@attacker.example", "[", ""):
        reply = asked(server, "GET", "/graphql?query={version}", Host=host)
        assert reply.status_code in (400, 421), host
    refused = asked(server, "GET", "/", Host="attacker.example")
    assert "EVALUATION_ALLOWED_HOSTS=NAME" in refused.text
    for host in ("localhost", "[::1]:3000", "192.0.2.7:3000", "evaluation.example.com", "Other.Example.com:443"):
        assert asked(server, "GET", "/graphql?query={version}", Host=host).status_code == 200


def handshake(server: Server, **sent: str) -> int:
    """The status of the answer to the beginning of a WebSocket."""
    headers = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Protocol": "graphql-ws",
    }
    with httpx.stream("GET", f"{server.url}/graphql", headers=headers | sent, timeout=60) as reply:
        return reply.status_code


def test_a_websocket_is_opened_by_pages_of_the_ui(server: Server) -> None:
    assert handshake(server, Origin="https://attacker.example") == 403
    assert handshake(server, Origin=server.url, Host="attacker.example") == 403
    assert handshake(server, Origin=server.url) == 101


def test_a_hostile_page_in_a_browser_changes_nothing_and_the_ui_works_beside_it(server: Server) -> None:
    image = f"{server.url}/graphql?query={quote(adding('shown'))}"
    form = f"{server.url}/graphql?query={quote(adding('sent'))}"
    page = f"<img src='{image}'><form method=post action='{form}'><button>go</button></form>"
    reply = Reply(text=page, headers={"Content-Type": "text/html"})
    with http_server(lambda _: reply) as attacker, chromium() as browser:
        hostile = browser.new_page()
        hostile.goto(attacker)
        hostile.wait_for_load_state("networkidle")
        with hostile.expect_navigation():
            hostile.get_by_text("go").click()
        assert "other sites" in hostile.inner_text("body")
        own = browser.new_page()
        sockets: list[str] = []
        own.on("websocket", lambda socket: sockets.append(socket.url))
        own.goto(f"{server.url}/asset-groups")
        own.get_by_text("1_read_runs").first.wait_for(timeout=60_000)
        wait_for(lambda: sockets or None, 60)
    assert not {"shown", "sent"} & set(drops(server))
