"""Make the pictures of the documentation from the samples: `make screenshots`."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation_assets.cli.ui import LINEAGE
from evaluation_assets_tests.browser import chromium
from evaluation_assets_tests.test_ui import Server, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SAMPLE = ROOT / "examples" / "sessions" / "teams.json"


def main() -> None:
    """Evaluate the sample, and take a picture of its findings, of a transcript, of the review, and of the lineage."""
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


if __name__ == "__main__":
    main()
