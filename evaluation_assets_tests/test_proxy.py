"""The UI and the reports behind the example of a proxy with logins: a real nginx, a real Dagster, a real browser."""

import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from evaluation_assets.cli.serving.start_page import LINEAGE
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.conftest import record
from evaluation_assets_tests.test_ui import Server, free_port, wait_for

pytestmark = pytest.mark.slow

CONFIGURATION = Path(__file__).parents[1] / "deploy" / "nginx" / "evaluation.conf"
UI, REPORTS = "evaluation.example.com", "reports.example.com"
USER, PASSWORD = "ada", "correct horse"
LOGIN = "Basic " + b64encode(f"{USER}:{PASSWORD}".encode()).decode()


def adding(drop: str) -> str:
    """An address of Dagster that adds a drop."""
    where = 'repositoryName: "__repository__", repositoryLocationName: "evaluation_assets.definitions"'
    what = f'partitionsDefName: "drops", partitionKey: "{drop}", repositorySelector: {{{where}}}'
    return f"/graphql?query={quote(f'mutation {{addDynamicPartition({what}) {{__typename}}}}')}"


def address_of_reports(home: Path) -> str | None:
    file = Installation.at(str(home)).served_reports
    return file.read_text() if file.exists() else None


@dataclass(frozen=True)
class Proxy:
    """nginx in front of the UI of an installation, whose reports are served at a second port."""

    port: int
    server: Server

    def ask(self, path: str, host: str = UI, *, method: str = "GET", **sent: str) -> httpx.Response:
        """Send a request, with the headers `sent`; with a login unless they name another."""
        headers = {"Host": host, "Authorization": LOGIN} | {
            name.replace("_", "-"): value for name, value in sent.items()
        }
        return httpx.request(method, f"https://127.0.0.1:{self.port}{path}", headers=headers, verify=False, timeout=60)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    nginx, openssl = shutil.which("nginx"), shutil.which("openssl")
    if nginx is None or openssl is None:
        pytest.skip("nginx or openssl is not installed (Debian: apt-get install nginx-light openssl)")
    folder = tmp_path_factory.mktemp("proxy")
    (folder / "home" / "drops").mkdir(parents=True)
    (folder / "home" / "drops" / "d.jsonl").write_bytes(record())
    certificate = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    certificate += ["-subj", f"/CN={UI}", "-keyout", str(folder / "evaluation.key"), "-out"]
    subprocess.run([*certificate, str(folder / "evaluation.crt")], check=True, capture_output=True)
    hashed = subprocess.run([openssl, "passwd", "-6", PASSWORD], check=True, capture_output=True, text=True).stdout
    (folder / "evaluation.users").write_text(f"{USER}:{hashed}")
    port = free_port()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("EVALUATION_ALLOWED_HOSTS", UI)
        server = Server(folder / "home")
    reports = wait_for(lambda: address_of_reports(folder / "home"), 120)
    said = CONFIGURATION.read_text()
    for before, after in (
        (" 443 ssl", f" 127.0.0.1:{port} ssl"),
        ("/etc/nginx/", f"{folder}/"),
        ("http://127.0.0.1:3000", server.url),
        ("http://127.0.0.1:3001", reports),
        (f"https://{UI}", f"https://{UI}:{port}"),
    ):
        assert before in said
        said = said.replace(before, after)
    user = "user root;" if os.geteuid() == 0 else ""
    main = f"{user} pid {folder}/pid; error_log {folder}/error.log; events {{}}\nhttp {{ access_log off;\n{said}\n}}\n"
    (folder / "nginx.conf").write_text(main)
    process = subprocess.Popen([nginx, "-c", str(folder / "nginx.conf"), "-g", "daemon off;"])
    try:
        wait_for(lambda: server.ask("{version}"), 120)
        wait_for(lambda: server.finished("d", 1), 300)
        yield Proxy(port, server)
    finally:
        process.terminate()
        process.wait(30)
        server.stop()


def forged(proxy: Proxy, name: str) -> bool:
    """Whether a mutation that adds a drop of this name was carried out."""
    asked = """{partitionDefinitions: assetNodes(assetKeys: [{path: ["raw_trajectories"]}]) {partitionKeys}}"""
    data = proxy.server.ask(asked)
    assert data is not None
    (node,) = data["partitionDefinitions"]
    assert "d" in node["partitionKeys"]
    return name in node["partitionKeys"]


@pytest.mark.parametrize(
    ("host", "path"),
    [(UI, "/"), (UI, LINEAGE), (UI, "/graphql?query={version}"), (REPORTS, "/d/report.html")],
)
def test_nothing_is_served_without_a_login(proxy: Proxy, host: str, path: str) -> None:
    assert proxy.ask(path, host, Authorization="").status_code == 401
    assert proxy.ask(path, host, Authorization="Basic YWRhOndyb25n").status_code == 401
    given = proxy.ask(path, host)
    assert (given.status_code, given.headers.get("location")) == ((302, LINEAGE) if path == "/" else (200, None))


def test_a_report_keeps_its_security_policy(proxy: Proxy) -> None:
    served = proxy.ask("/d/report.html", REPORTS)
    assert "script-src" in served.headers["Content-Security-Policy"]
    assert "<title>" in served.text


def test_pages_of_other_sites_change_nothing_with_the_login_of_a_user(proxy: Proxy) -> None:
    """An image, a form or a script of any page sends requests with the login that the browser remembers."""
    image = proxy.ask(adding("image"), Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")
    form = proxy.ask(adding("form"), method="POST", Origin="https://attacker.example")
    neighbour = proxy.ask(adding("neighbour"), method="POST", Origin=f"https://{REPORTS}")
    made_up = proxy.ask("/report_asset_materialization/evaluation_report", method="POST", Sec_Fetch_Site="cross-site")
    assert [each.status_code for each in (image, form, neighbour, made_up)] == [403] * 4
    assert not any(forged(proxy, name) for name in ("image", "form", "neighbour"))

    own = proxy.ask(adding("own"), method="POST", Sec_Fetch_Site="same-origin")
    assert own.status_code == 200
    assert forged(proxy, "own"), "the mutation is one that works"


def test_a_link_from_elsewhere_opens_a_page(proxy: Proxy) -> None:
    assert proxy.ask("/runs", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").status_code == 200


def test_a_websocket_needs_a_login_and_a_page_of_the_ui(proxy: Proxy) -> None:
    handshake = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    assert proxy.ask("/graphql", Authorization="", **handshake).status_code == 401
    assert proxy.ask("/graphql", Origin="https://attacker.example", **handshake).status_code == 403


def test_the_ui_works_in_a_browser_with_a_login(proxy: Proxy) -> None:
    """Its page of a run shows messages that arrive on a WebSocket."""
    (run,) = proxy.server.runs()
    with chromium(f"--host-resolver-rules=MAP {UI} 127.0.0.1") as browser:
        context = browser.new_context(
            ignore_https_errors=True, http_credentials={"username": USER, "password": PASSWORD}
        )
        page = context.new_page()
        sockets: list[str] = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        page.goto(f"https://{UI}:{proxy.port}/runs/{run['runId']}")
        page.get_by_text("RUN_SUCCESS").first.wait_for(timeout=60_000)
    assert f"wss://{UI}:{proxy.port}/graphql" in sockets
