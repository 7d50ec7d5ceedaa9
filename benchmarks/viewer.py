"""Size and response times of a report with 2,000 trajectories, in headless Chromium.

    python -m benchmarks.viewer FILE [--trajectories 2000] [--clips 20] [--home DIR]

The drop is made of the runs in FILE (records with `messages`, for instance of tau-bench, or a list of them), joined
and cut so that each has `--clips` clips. Every copy is another trajectory with its own IDs. Aims: at most 15 MB, first
view within 2 s, a trajectory within 200 ms, a search within 300 ms.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from evaluation_assets_tests.browser import chromium

_DROP = "viewer_benchmark"


def messages_of(file: Path) -> list[list[dict[str, Any]]]:
    """The conversations of a file."""
    text = file.read_text("utf-8")
    records = json.loads(text) if text.lstrip().startswith("[") else map(json.loads, text.splitlines())
    return [record.get("messages") or record["traj"] for record in records]


def write_drop(path: Path, conversations: list[list[dict[str, Any]]], trajectories: int, calls: int) -> None:
    """Write a drop in which each trajectory joins conversations until it has so many calls and an answer."""
    place = 0
    with path.open("w") as sink:
        for number in range(trajectories):
            joined: list[dict[str, Any]] = []
            made = 0
            while made < calls:
                part = conversations[place % len(conversations)]
                place += 1
                for message in part[1:] if joined else part:
                    made += len(message.get("tool_calls") or ())
                    joined.append(message)
                    if made >= calls and message["role"] == "tool":
                        joined.append({"role": "assistant", "content": "That is all."})
                        break
            text = json.dumps({"task_id": f"task-{number}", "messages": joined})
            sink.write(text.replace('"call_', f'"call_{number}_') + "\n")


def main() -> None:
    """Make the drop, evaluate it, and measure its report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--trajectories", type=int, default=2000)
    parser.add_argument("--clips", type=int, default=20)
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = options.home or Path(folder) / "home"
        report = home / "reports" / _DROP / "report.html"
        if not report.exists():
            drop = Path(folder) / f"{_DROP}.jsonl"
            write_drop(drop, messages_of(options.file), options.trajectories, options.clips - 1)
            started = time.perf_counter()
            command = [sys.executable, "-m", "evaluation_assets.cli", "evaluate", str(drop), "--home", str(home)]
            subprocess.run([*command, "--quiet"], check=True, stdout=subprocess.DEVNULL)
            print(f"evaluation          {time.perf_counter() - started:.0f} s")
        measure(report)


def measure(report: Path) -> None:
    """Print size and times of a report."""
    data = sum(path.stat().st_size for path in report.parent.glob("report_data/*"))
    print(f"report.html         {report.stat().st_size / 1e6:.1f} MB, report_data {data / 1e6:.1f} MB")
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        started = time.perf_counter()
        page.goto(report.as_uri())
        page.wait_for_selector("html[data-viewer=ready]")
        print(f"first view          {time.perf_counter() - started:.2f} s")
        started = time.perf_counter()
        page.evaluate("location.hash = '#/runs?q=nothing-has-this'")
        page.wait_for_function("() => /^0 of/.test(document.querySelector('#view-runs [role=status]').textContent)")
        print(f"reading all texts   {time.perf_counter() - started:.2f} s (once, in the background)")
        page.evaluate("location.hash = '#/runs'")
        page.wait_for_selector("table.runs")
        names = page.locator("table.runs tbody th a").all_inner_texts()[:20]
        print(f"a trajectory        {_slowest(page, [f'#/run/{name}' for name in names], '#view-run .item')}")
        queries = ["reservation", "error", "cancel", "flight", "baggage", "certificate", "errors>0 cancel", "score<0.6"]
        print(f"a search            {_slowest(page, [f'#/runs?q={query}' for query in queries], None)}")


_TIMED = """async ([hash, selector]) => {
  const status = document.querySelector('#view-runs [role=status]');
  const view = document.querySelector(selector === null ? '#view-runs' : '#view-run');
  const started = performance.now();
  const changed = new Promise((resolve) => {
    const watch = new MutationObserver(() => {
      const done = selector === null ? !/Reading/.test(status.textContent) : document.querySelector(selector) !== null;
      if (done) { watch.disconnect(); requestAnimationFrame(() => setTimeout(resolve)); }
    });
    watch.observe(view, { childList: true, subtree: true });
  });
  location.hash = hash;
  await changed;
  return performance.now() - started;
}"""


def _slowest(page: Any, addresses: list[str], selector: str | None) -> str:
    """Median and maximum until a view is drawn."""
    times = [page.evaluate(_TIMED, [address, selector]) for address in addresses]
    return f"median {statistics.median(times):.0f} ms, maximum {max(times):.0f} ms"


if __name__ == "__main__":
    main()
