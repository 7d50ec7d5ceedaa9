"""Make the pictures of the documentation from the sample: `make screenshots`. That of the lineage is taken by hand."""

import subprocess
import sys
import tempfile
from pathlib import Path

from evaluation_assets_tests.browser import chromium

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SAMPLE = ROOT / "examples" / "sessions" / "teams.json"


def main() -> None:
    """Evaluate the sample, and take a picture of its findings, of a transcript, and of the review."""
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


if __name__ == "__main__":
    main()
