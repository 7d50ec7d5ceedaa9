"""A real Dagster UI with its daemon, and what a browser shows of it."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.conftest import SAMPLE, record

pytestmark = pytest.mark.slow

Found = TypeVar("Found")


def free_port() -> int:
    """A port that nothing uses, below those that the system gives to servers of other tests in the meantime."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            port = random.SystemRandom().randrange(20_000, 32_000)
            probe.bind(("127.0.0.1", port))
            return port


def wait_for(what: Callable[[], Found | None], seconds: float) -> Found:
    """The first result that is not None; the limit is generous, it only ends a test that would hang."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found is not None:
            return found
        time.sleep(0.5)
    raise AssertionError(f"not within {seconds} s")


class Server:
    """`evaluation-assets ui` on a home of its own."""

    def __init__(self, home: Path, log: Path = Path(os.devnull)) -> None:
        self.home = home
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._process = ui(home, port, log)

    def ask(self, query: str, **variables: Any) -> Any | None:
        """A GraphQL answer; None while the server is not up."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def runs(self) -> list[dict[str, Any]]:
        """All runs, newest first."""
        data = self.ask("{runsOrError{... on Runs{results{runId status tags{key value}}}}}")
        runs = data["runsOrError"]["results"] if data else []
        return [run | {"drop": {t["key"]: t["value"] for t in run["tags"]}.get("dagster/partition")} for run in runs]

    def finished(self, drop: str, count: int) -> list[dict[str, Any]] | None:
        """The runs of a drop once there are so many and all have ended."""
        runs = [run for run in self.runs() if run["drop"] == drop]
        ended = [run for run in runs if run["status"] in ("SUCCESS", "FAILURE")]
        return ended if len(runs) == len(ended) == count else None

    def stop(self) -> None:
        """End the UI, its daemon and their code servers."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)


def test_the_ui_ends_with_everything_it_started(tmp_path: Path) -> None:
    started = Server(tmp_path)
    wait_for(lambda: started.ask("{version}"), 120)
    started.stop()
    assert started.ask("{version}") is None


def ui(home: Path, port: int, stderr: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evaluation_assets.cli", "ui", "--home", str(home), "--port", str(port)]
    with stderr.open("wb") as file:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file, start_new_session=True)


def test_changed_settings_are_loaded_and_unusable_ones_told(tmp_path: Path) -> None:
    panel, said = tmp_path / "home" / "panel.yaml", tmp_path / "stderr"
    started = Server(tmp_path / "home", said)

    def judges() -> set[str] | None:
        found = started.ask("{assetNodes{assetKey{path}}}")
        names = [node["assetKey"]["path"][-1] for node in found["assetNodes"]] if found else []
        return {name.split("_")[0] for name in names if name.endswith("_clip_verdicts")} or None

    try:
        assert wait_for(judges, 120) == {"rules"}
        panel.write_text("judges: [{name: rules")
        wait_for(lambda: "those before stay" in said.read_text() or None, 60)
        assert judges() == {"rules"}
        panel.write_text("judges: [{name: rules, provider: rules}, {name: gpt, provider: openai, model: gpt-5-mini}]")
        wait_for(lambda: judges() == {"rules", "gpt"} or None, 60)
        assert said.read_text().count("changed settings are loaded") == 1
    finally:
        started.stop()


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert ui(tmp_path / "home", port, tmp_path / "stderr").wait(60) == 2
    assert f"port {port} of 127.0.0.1 is in use" in (tmp_path / "stderr").read_text()


def test_a_home_that_is_served_is_refused_until_its_ui_is_gone(tmp_path: Path) -> None:
    home, said = tmp_path / "home", tmp_path / "second"
    port = free_port()
    first = ui(home, port, tmp_path / "first")
    try:
        wait_for(lambda: "The reports are at" in (tmp_path / "first").read_text() or None, 60)
        for other in (port, free_port()):
            assert ui(home, other, said).wait(60) == 2
            assert f"{home} is already served at http://127.0.0.1:{port}; use that UI" in said.read_text()
    finally:
        first.kill()
        first.wait(60)
    third = ui(home, free_port(), said)
    wait_for(lambda: "The reports are at" in said.read_text() or None, 60)
    third.send_signal(signal.SIGTERM)
    third.wait(60)


def webserver_of(home: Path) -> int | None:
    """The process that serves the UI of an installation."""
    wanted = f"EVALUATION_HOME={home}".encode()
    for folder in Path("/proc").iterdir():
        try:
            is_ours = folder.name.isdigit() and wanted in (folder / "environ").read_bytes().split(b"\0")
            if is_ours and b"dagster_webserver" in (folder / "cmdline").read_bytes():
                return int(folder.name)
        except OSError:
            continue
    return None


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")
def test_the_ui_fails_and_names_the_service_that_died(tmp_path: Path) -> None:
    home, said = tmp_path / "home", tmp_path / "stderr"
    started = ui(home, free_port(), said)
    try:
        webserver = wait_for(lambda: webserver_of(home), 120)
        wait_for(lambda: "Serving dagster-webserver" in said.read_text() or None, 120)
        os.kill(webserver, signal.SIGKILL)
        assert started.wait(120) == 1
    finally:
        if started.poll() is None:
            started.send_signal(signal.SIGTERM)
            started.wait(60)
    assert "dagster-webserver died, and all services were stopped" in said.read_text()
    assert webserver_of(home) is None


def test_settings_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "gate.yaml").write_text("sensors: {budget_usd_per_day: -1}")
    assert ui(home, free_port(), tmp_path / "stderr").wait(60) == 2
    assert "sensors.budget_usd_per_day: must be greater than or equal to 0" in (tmp_path / "stderr").read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("home"))
    try:
        wait_for(lambda: started.ask("{assetNodes{assetKey{path}}}") or None, 120)
        yield started
    finally:
        started.stop()


def test_a_dropped_file_is_scored_and_a_changed_one_scored_again(server: Server) -> None:
    drop = server.home / "drops" / "assistants.jsonl"
    shutil.copy(SAMPLE, drop)
    (server.home / "drops" / "broken.jsonl").write_bytes(b"this is no record\n")
    (first,) = wait_for(lambda: server.finished("assistants", 1), 180)
    assert first["status"] == "SUCCESS"
    (broken,) = wait_for(lambda: server.finished("broken", 1), 180)
    assert broken["status"] == "FAILURE"
    report = server.home / "reports" / "assistants" / "report.json"
    assert json.loads(report.read_text())["records"]["kept"] == 16
    with drop.open("ab") as more:
        more.write(record("one-more"))
    again = wait_for(lambda: server.finished("assistants", 2), 180)
    assert {run["status"] for run in again} == {"SUCCESS"}
    assert json.loads(report.read_text())["records"]["kept"] == 17


def with_sample(server: Server) -> None:
    """Evaluate the sample, unless a test before has done so."""
    if not (server.home / "reports" / "assistants" / "report.html").exists():
        shutil.copy(SAMPLE, server.home / "drops" / "assistants.jsonl")
        wait_for(lambda: server.finished("assistants", 1), 180)


def test_the_ui_links_to_the_reports_that_it_serves(server: Server) -> None:
    with_sample(server)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.goto(f"{server.url}/assets/evaluation_report?partition=assistants")
        link = page.locator("a[href$='/assistants/report.html']").first
        link.wait_for(timeout=60_000)
        page.goto(str(link.get_attribute("href")))
        assert page.locator("#summary h1").inner_text() == "assistants"
        page.get_by_role("link", name="Runs", exact=True).click()  # the script runs under the server's policy
        page.locator("table.runs tbody tr").nth(15).wait_for(timeout=60_000)
        page.goto(f"{server.url}/assets/evaluation_report?view=overview")
        reports = page.locator("a[href$='/index.html']").first
        reports.wait_for(timeout=60_000)
        page.goto(str(reports.get_attribute("href")))
        page.get_by_role("region", name="Reports").get_by_role("link", name="assistants").wait_for(timeout=60_000)


def test_the_browser_shows_lineage_and_metadata(server: Server, tmp_path: Path) -> None:
    with_sample(server)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.goto(server.url)
        for group in ("1_read_runs", "2_score_clips", "7_report"):
            page.get_by_text(group).first.wait_for(timeout=60_000)
        page.locator("svg").get_by_text("evaluation_report").wait_for(timeout=60_000)
        page.goto(f"{server.url}/assets/clip_scores?partition=assistants")
        page.get_by_text("mean_code_correctness").first.wait_for(timeout=60_000)
        page.screenshot(path=str(tmp_path / "clip_scores.png"))
