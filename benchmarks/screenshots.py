"""Make the pictures of the documentation from the samples: `make screenshots`."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation_assets.cli.serving.start_page import LINEAGE
from evaluation_assets.defs.groups import AGENTS, REPORT
from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.test_component import asked
from evaluation_assets_tests.test_ui import Server, free_port, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SAMPLE = ROOT / "examples" / "sessions" / "teams.json"
PROJECT = ROOT / "examples" / "dagster_project"
INPUT = ("tickets", "support/agent_runs", "dropped/agent_runs_dropped")


def main() -> None:
    """Evaluate the sample, and take a picture of its findings, of a transcript, of the review, and of the lineage.

    That of a project with the component is taken too.
    """
    with tempfile.TemporaryDirectory() as folder:
        evaluate = [sys.executable, "-m", "evaluation_assets.cli", "evaluate", str(SAMPLE), "--home", folder, "--quiet"]
        subprocess.run(evaluate, check=False)  # a check may fail
        report = (Path(folder) / "reports" / "teams" / "report.html").as_uri()
        with chromium() as browser:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.goto(report)
            page.wait_for_selector("html[data-viewer=ready]")
            page.locator("#findings").screenshot(path=IMAGES / "findings.png")
            for name, view in (("transcript", "#/run/order-lamps"), ("review", "#/run/order-lamps?review=1")):
                page.goto(report + view)
                page.wait_for_selector(".item")
                page.screenshot(path=IMAGES / f"{name}.png")
            lineage(browser, Path(folder))
            host_project(browser, Path(folder) / "project")


def lineage(browser: "Browser", home: Path) -> None:
    """The groups of an installation in Dagster's UI."""
    server = Server(home)
    try:
        wait_for(lambda: server.ask("{version}"), 120)
        page = browser.new_page(viewport={"width": 1500, "height": 760})
        page.goto(server.url + LINEAGE)
        page.locator("svg").get_by_text("evaluation_report").wait_for(timeout=60_000)
        page.wait_for_timeout(5_000)  # edges are drawn last
        page.screenshot(path=IMAGES / "lineage.png")
    finally:
        server.stop()


def host_project(browser: "Browser", project: Path) -> None:
    """The groups of the example project in `dagster dev`, which has evaluated what the agent of the project did."""
    shutil.copytree(PROJECT, project)
    (dagster_home := project / "dagster").mkdir()
    environment = os.environ | {"DAGSTER_HOME": str(dagster_home), "PYTHONPATH": f"{project / 'src'}:{ROOT}"}
    dagster, module, port = [sys.executable, "-m", "dagster"], ["-m", "support_bot.definitions"], free_port()
    subprocess.run(
        [*dagster, "asset", "materialize", "--select", ",".join(INPUT), *module], env=environment, check=True
    )
    command = [*dagster, "dev", *module, "-h", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, cwd=project, env=environment, start_new_session=True)
    try:
        wait_for(lambda: _has_evaluated(port), 180)  # the sensor looks every ten seconds
        page = browser.new_page(viewport={"width": 1700, "height": 640})
        page.goto(f"http://127.0.0.1:{port}/asset-groups")
        page.get_by_role("button", name="Skip").click(timeout=60_000)  # a newsletter
        graph = page.locator("svg")
        for group in ("support", AGENTS):
            graph.get_by_text(group, exact=True).first.click(timeout=60_000)
            page.wait_for_timeout(2_000)
        page.reload()  # which shows all of it again
        graph.get_by_text(REPORT).wait_for(timeout=60_000)
        page.wait_for_timeout(5_000)  # edges are drawn last
        page.screenshot(path=IMAGES / "host_project.png", clip={"x": 540, "y": 180, "width": 1160, "height": 310})
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)


def _has_evaluated(port: int) -> bool | None:
    try:
        found = asked(port, '{runsOrError(filter: {pipelineName: "evaluate"}) {... on Runs {results {status}}}}')
    except OSError:
        return None
    return any(run["status"] == "SUCCESS" for run in found["runsOrError"]["results"]) or None


if __name__ == "__main__":
    main()
