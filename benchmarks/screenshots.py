"""Make the pictures of the documentation from the sample drops: `make screenshots`."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evaluation_assets_tests.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "examples" / "sessions" / "teams.json"

TRACES = ROOT / "examples" / "tool_use" / "weather.jsonl"
SUITE = ROOT / "examples" / "suites" / "weather.yaml"

VIEWS: tuple[tuple[str, str, str, int, int, Literal["light", "dark"]], ...] = (
    ("report", "", "#summary", 1280, 900, "light"),
    ("report_phone", "", "#summary", 390, 844, "light"),
    ("runs", "#/runs", "table.runs", 1280, 700, "light"),
    ("transcript", "#/run/order-lamps", ".item", 1400, 900, "light"),
    ("transcript_dark", "#/run/order-lamps", ".item", 1400, 900, "dark"),
    ("transcript_phone", "#/run/order-lamps?clip=1", ".item", 390, 844, "light"),
    ("review", "#/run/order-lamps?review=1", ".item", 1400, 700, "light"),
    ("labels", "#/labels", "#annotator", 1280, 400, "light"),
)
"""Name of the picture, address, what to wait for, width, height, colours."""


def main() -> None:
    """Evaluate the sample sessions, and take a picture of each view."""
    with tempfile.TemporaryDirectory() as folder:
        run("evaluate", str(SAMPLE), "--home", folder, "--quiet")
        report = (Path(folder) / "reports" / "teams" / "report.html").as_uri()
        with chromium() as browser:
            for name, view, wait, width, height, scheme in VIEWS:
                take(browser, name, report + view, wait, width, height, scheme)
            take(browser, "report_print", report, "#summary", 800, 1100, "light", media="print")
            take(browser, "compare", compared(Path(folder)), "#view-compare table", 1280, 500, "light")


def compared(folder: Path) -> str:
    """The address of a comparison: the sample of tool use, and the same runs with one wrong parameter."""
    for name, wrong in (("before", False), ("after", True)):
        drop = folder / f"weather_{name}.jsonl"
        text = TRACES.read_text("utf-8")
        drop.write_text(
            text.replace('\\"days\\": 5}}</tool_call>', '\\"days\\": 9}}</tool_call>') if wrong else text, "utf-8"
        )
        run("evaluate", str(drop), "--suite", str(SUITE), "--home", str(folder), "--quiet")
    printed = run("open", "weather_after", "--against", "weather_before", "--print", "--home", str(folder))
    return printed.strip()


def run(*arguments: str) -> str:
    """The output of a command; its status does not matter, a gate may have failed."""
    command = [sys.executable, "-m", "evaluation_assets.cli", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


def take(
    browser: "Browser",
    name: str,
    address: str,
    wait: str,
    width: int,
    height: int,
    scheme: Literal["light", "dark"],
    media: Literal["screen", "print"] = "screen",
) -> None:
    """Take a picture of a page."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.emulate_media(media=media)
    page.goto(address)
    page.wait_for_selector("html[data-viewer=ready]")
    page.wait_for_selector(wait)
    page.screenshot(path=str(ROOT / "docs" / "images" / f"{name}.png"))
    page.close()


if __name__ == "__main__":
    main()
