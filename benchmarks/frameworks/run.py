"""Run today's agent frameworks against a scripted model server, and measure how their traces are read.

    python -m benchmarks.frameworks.run [NAME...] [--samples DIR] [--write docs/formats.md]

Each framework runs in a virtual environment of its own and does the task of `scenario.py`, of which the truth is
known: the server logs each reply it gave. Prints a Markdown table; the exit code is 1 if anything is read wrongly.

To add a framework: a folder here with `requirements.txt`, the framework first, and `make.py OUT_DIR BASE_URL`. It
runs the scenario with the base URL `BASE_URL/RUN` and writes `RUN.SHAPE.json` or the like, and `overrides.json`
({file: {field of the truth: value}}, null where a shape cannot express a field).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.frameworks.environments import NotInstalled, python_of, version_of
from benchmarks.frameworks.reading import COLUMNS, NOT_COMPARED, compare
from benchmarks.frameworks.scenario import as_json, truth_of
from benchmarks.frameworks.server import Server, serve

HERE = Path(__file__).parent
BEGIN, END = "<!-- frameworks: begin -->", "<!-- frameworks: end -->"
_RUN_SECONDS = 180


@dataclass(frozen=True)
class Row:
    """A row of the table: one file of one framework."""

    framework: str
    version: str
    shape: str
    cells: tuple[str, ...]
    wrong: tuple[str, ...]
    unstated: tuple[str, ...] = ()


class NotRun(Exception):
    """A framework's `make.py` failed; the message is its last line."""


def names() -> list[str]:
    """The frameworks there are."""
    return sorted(path.parent.name for path in HERE.glob("*/make.py"))


def rows_of(name: str, samples: Path) -> list[Row]:
    """Run a framework and read each file it wrote. A framework that fails is one row that says why."""
    requirements, version = HERE / name / "requirements.txt", NOT_COMPARED
    try:
        python = python_of(name, requirements)
        version = version_of(python, requirements)
        with serve() as server:
            _make(name, python, samples, server)
            return _read(name, version, samples, server)
    except (NotInstalled, NotRun) as problem:
        reason = f"{'not installed' if isinstance(problem, NotInstalled) else 'failed'}: {problem}"
        return [Row(name, version, NOT_COMPARED, (NOT_COMPARED,) * len(COLUMNS), (reason,))]


def _make(name: str, python: Path, samples: Path, server: Server) -> None:
    samples.mkdir()
    command = [str(python), str(HERE / name / "make.py"), str(samples), server.url]
    environment = {key: value for key, value in os.environ.items() if not key.endswith(("_API_KEY", "_BASE_URL"))}
    environment["PYTHONPATH"] = str(HERE)
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_RUN_SECONDS)
    except subprocess.TimeoutExpired as problem:
        raise NotRun(f"not finished within {_RUN_SECONDS} s") from problem
    if server.problems:
        raise NotRun(f"the server refused {server.problems[0]}")
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise NotRun((done.stderr.strip().splitlines() or ["no message"])[-1][:200])


def _read(name: str, version: str, samples: Path, server: Server) -> list[Row]:
    stated = samples / "overrides.json"
    overrides = json.loads(stated.read_text("utf-8")) if stated.is_file() else {}
    rows, truths = [], {}
    for sample in sorted(path for path in samples.iterdir() if path.name not in ("overrides.json", "truth.json")):
        run, shape, *_ = sample.name.split(".")
        truth = replace(truth_of(server.replies(run)), **overrides.get(sample.name, {}))
        truths[sample.name] = as_json(truth)
        compared = compare(sample, truth)
        rows.append(Row(name, version, f"{run}, {shape}", compared.cells, compared.wrong, compared.unstated))
    (samples / "truth.json").write_text(json.dumps(truths, indent=1), "utf-8")
    return rows


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table; shapes of a framework that are read alike are one line."""
    head = ("framework", "version", "format", "read", "not stated", "exports")
    alike: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for row in rows:
        read: dict[str, str] = dict(zip(COLUMNS, row.cells, strict=True))
        wrong = ", ".join(f"{each} {read.get(each, '')}".strip() for each in row.wrong)
        cells = row.framework, row.version, read["format"], wrong or "right", ", ".join(row.unstated)
        run, _, shape = row.shape.partition(", ")
        alike.setdefault(cells, {}).setdefault(shape, []).append(run)
    lines = [(*cells, _exports(shapes)) for cells, shapes in alike.items()]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in [head, ("---",) * 6, *lines]
    )


def _exports(shapes: Mapping[str, Sequence[str]]) -> str:
    """The shapes of the files; those of the same runs together."""
    runs: dict[tuple[str, ...], list[str]] = {}
    for shape, of in shapes.items():
        runs.setdefault(tuple(of), []).append(shape)
    return "; ".join(f"{', '.join(of)}: {', '.join(shown)}" for of, shown in runs.items())


def write(page: Path, text: str) -> None:
    """Replace what is between the two markers of a page."""
    before, begin, rest = page.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page}: no markers. Add the lines {BEGIN} and {END}.")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how traces of agent frameworks are read.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"Frameworks (default: all): {', '.join(names())}")
    parser.add_argument("--samples", type=Path, help="Copy the files to this folder (default: discard them).")
    parser.add_argument("--write", type=Path, help="Replace the table between the markers of this page.")
    chosen = parser.parse_args()
    unknown = sorted(set(chosen.names) - set(names()))
    if unknown:
        parser.error(f"no framework {', '.join(unknown)}; choose from {', '.join(names())}")
    with tempfile.TemporaryDirectory() as temporary:
        rows = [row for name in chosen.names or names() for row in rows_of(name, Path(temporary) / name)]
        if chosen.samples:
            shutil.copytree(temporary, chosen.samples, dirs_exist_ok=True)
    print(table(rows))
    if chosen.write:
        write(chosen.write, table(rows))
    if any(row.wrong for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
