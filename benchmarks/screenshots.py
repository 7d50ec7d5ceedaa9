"""Make the pictures of the documentation from the sample drops: `make screenshots`."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from evaluation_assets_tests.browser import chromium

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "examples" / "sessions" / "teams.json"

VIEWS: tuple[tuple[str, str, str, int, int, Literal["light", "dark"]], ...] = (
    ("report", "", "#summary", 1280, 900, "light"),
    ("runs", "#/runs", "table.runs", 1280, 700, "light"),
    ("transcript", "#/run/order-lamps", ".item", 1400, 900, "light"),
    ("transcript_dark", "#/run/order-lamps", ".item", 1400, 900, "dark"),
    ("transcript_phone", "#/run/order-lamps?clip=1", ".item", 390, 844, "light"),
)
"""Name of the picture, address, what to wait for, width, height, colours."""


def main() -> None:
    """Evaluate the sample sessions, and take a picture of each view."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "evaluation_assets.cli", "evaluate", str(SAMPLE), "--home", folder, "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        report = (Path(folder) / "reports" / "teams" / "report.html").as_uri()
        with chromium() as browser:
            for name, view, wait, width, height, scheme in VIEWS:
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(report + view)
                page.wait_for_selector("html[data-viewer=ready]")
                page.wait_for_selector(wait)
                page.screenshot(path=str(ROOT / "docs" / "images" / f"{name}.png"))
                page.close()


if __name__ == "__main__":
    main()
