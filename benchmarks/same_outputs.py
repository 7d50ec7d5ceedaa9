"""Compare what two versions of the package write for the same files: every table, report and export.

    python benchmarks/same_outputs.py BEFORE AFTER FILE[=SUITE]... [--expect PART]... [--expected FILE] [--keep FOLDER]

BEFORE and AFTER are checkouts, for instance git worktrees; both run with the Python that runs this script. FILE is
evaluated with the embedded judge, against the test suite SUITE if one is given, and each drop is exported in every
format. A folder gives one drop per file in it, a test suite may be a file of any supported format. Example:

    git worktree add ../before ae877dd
    python benchmarks/same_outputs.py ../before . --expected benchmarks/expected_changes.txt \
        examples/drops examples/tool_use/weather.jsonl=examples/suites/weather.yaml

Files whose bytes differ are compared value by value. A part is an output, a column or key, and the keys in it:
`clip_verdicts/rules.scores.evidence`, `report.json.headline.text`, `export atif.steps.message`. Column types and what a
table notes about itself are the parts `TABLE.(types)` and `TABLE.(facts)`. A text that was reworded is the part
`(words)` of its column, one in which a number differs the part `(figures)`. The version before runs twice: a part that
differs between its two runs (times, run ids) is listed and not compared.

State known differences with `--expect PART`, or in a file with one `PART  reason` per line, like
`benchmarks/expected_changes.txt`, the changes since the modules were moved; `*` matches any characters. Patterns that
match no difference are listed. Exit status: 0 if nothing else differs, 1 otherwise.
"""

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pyarrow.parquet as pq

EXPORTS = ("atif", "openai_messages", "otel_evaluations", "session_agents")
FIGURE = re.compile(r"\d+(?:\.\d+)?")
RUN_COMMANDS = """
import json, pathlib, runpy, sys
import evaluation_assets
assert pathlib.Path(evaluation_assets.__file__).is_relative_to(sys.argv[1]), evaluation_assets.__file__
commands, statuses = json.loads(sys.argv[2]), {}
for command in commands:
    sys.argv = ["evaluation-assets", *command]
    try:
        runpy.run_module("evaluation_assets.cli", run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code or 0
    if status:
        print(f"{' '.join(command)}: exit status {status}", file=sys.stderr)
    statuses[" ".join(command)] = status
print("\\n" + json.dumps(statuses))
"""
"""One process runs all commands, because starting one takes longer than most exports."""


@dataclass(frozen=True)
class Input:
    """A file or folder to evaluate, and the test suite to measure it with."""

    path: Path
    suite: Path | None

    @classmethod
    def parse(cls, text: str) -> "Input":
        """Reads `FILE` or `FILE=SUITE`."""
        path, _, suite = text.partition("=")
        return cls(Path(path).resolve(), Path(suite).resolve() if suite else None)

    def command(self) -> list[str]:
        """Arguments of the command line that evaluate it."""
        return ["evaluate", str(self.path), "--quiet", *(["--suite", str(self.suite)] if self.suite else [])]


@dataclass(frozen=True)
class Difference:
    """One value that is not the same."""

    part: str
    before: object
    after: object


def run(checkout: Path, commands: Sequence[Sequence[str]], home: Path) -> dict[str, int]:
    """Exit statuses of commands, by command."""
    arguments = json.dumps([[*command, "--home", str(home)] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", RUN_COMMANDS, str(checkout), arguments],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{checkout}: exit status {done.returncode}: {done.stderr.strip()[-2000:]}")
    statuses: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    for command, status in statuses.items():
        if status:
            print(f"{checkout}: {command}: exit status {status}: {done.stderr.strip()[-300:]}")
    return statuses


def evaluate(checkout: Path, inputs: Sequence[Input], home: Path, kept: Path) -> None:
    """Fill `kept` with all that a version writes. `home` is the same for all versions, because its path is written."""
    statuses = run(checkout, [each.command() for each in inputs], home)
    drops = [path.with_suffix("").name for path in sorted((home / "lake" / "trajectory_scores").rglob("*.parquet"))]
    (home / "exports").mkdir(parents=True)
    statuses |= run(
        checkout,
        [
            ["export", drop, "--format", name, "--output", str(home / "exports" / f"{drop}.{name}.jsonl")]
            for drop in drops
            for name in EXPORTS
        ],
        home,
    )
    (home / "exports" / "all.exit_statuses.json").write_text(json.dumps(statuses))
    for folder in ("lake", "reports", "exports"):
        shutil.move(home / folder, kept / folder)
    shutil.rmtree(home)


def output_of(path: Path) -> tuple[str, str]:
    """Which output a file is, and of which drop, by its path in an installation."""
    folder, *inner = path.parts
    match folder:
        case "lake":
            return "/".join(inner[:-1]), path.stem
        case "exports":
            drop, name = path.stem.rsplit(".", 1)
            return f"export {name}", drop
        case _:
            drop, *below = inner
            below[-1] = below[-1].replace(drop, "DROP")
            return (below[0] if len(below) == 1 else f"{below[0]}/*"), drop


def content(path: Path) -> object:
    """What a file holds, by columns or keys; null if there is no such file."""
    if not path.exists():
        return None
    match path.suffix:
        case ".parquet":
            facts = pq.read_metadata(path).metadata or {}
            table = pq.read_table(path)
            return {column: table[column].to_pylist() for column in table.column_names} | {
                "(types)": {field.name: str(field.type) for field in table.schema},
                "(facts)": {key.decode(): value.decode() for key, value in facts.items() if key != b"ARROW:schema"},
            }
        case ".json":
            return json.loads(path.read_text())
        case ".jsonl":
            return [json.loads(line) for line in path.read_text().splitlines()]
        case ".csv":
            with path.open(newline="") as file:
                return list(csv.DictReader(file))
        case _:
            return path.read_text()


def document(text: str) -> object:
    """The object or list that a text is as JSON; otherwise null."""
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def kind_of_change(before: str, after: str) -> str:
    """What to add to the part: whether a text was only reworded or has other figures. Names and JSON have no kind."""
    if " " not in before or " " not in after or document(before) is not None:
        return ""
    return ".(words)" if FIGURE.findall(before) == FIGURE.findall(after) else ".(figures)"


def differences(part: str, before: object, after: object) -> Iterator[Difference]:
    """Values that are not the same, at the smallest part that holds them. JSON inside texts is opened."""
    match before, after:
        case dict(), dict():
            for key in before | after:
                yield from differences(f"{part}.{key}", before.get(key), after.get(key))
        case list(), list() if len(before) == len(after):
            for first, second in zip(before, after, strict=True):
                yield from differences(part, first, second)
        case list(), list():
            yield Difference(part, f"{len(before)} values", f"{len(after)} values")
        case str(), str() if before != after:
            inside = list(differences(part, document(before), document(after)))
            yield from inside or [Difference(f"{part}{kind_of_change(before, after)}", before, after)]
        case _ if repr(before) != repr(after):  # unlike ==, tells 1 from 1.0 and holds nan for the same as nan
            yield Difference(part, before, after)
        case _:
            pass


def compare(before: Path, after: Path) -> dict[str, dict[str, Difference]]:
    """The first difference of each part, by drop."""
    paths = {path.relative_to(root) for root in (before, after) for path in root.rglob("*") if path.is_file()}
    found: dict[str, dict[str, Difference]] = {}
    for path in sorted(paths):
        first, second = before / path, after / path
        if first.exists() and second.exists() and first.read_bytes() == second.read_bytes():
            continue
        output, drop = output_of(path)
        parts = list(differences(output, content(first), content(second)))
        for difference in parts or [Difference(f"{output}.(bytes)", "values are equal", "bytes differ")]:
            found.setdefault(difference.part, {}).setdefault(drop, difference)
    return found


def reasons(text: str) -> dict[str, str]:
    """Expected differences of a file: pattern and reason, separated by two spaces or more; `#` begins a comment."""
    lines = [line.strip() for line in text.splitlines()]
    pairs = (re.split(r"\s{2,}", line, maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {pattern: (rest or ["expected"])[0] for pattern, *rest in pairs}


def expected_by(part: str, expected: Mapping[str, str]) -> str | None:
    """The first pattern that a part matches."""
    return next((pattern for pattern in expected if fnmatchcase(part, pattern)), None)


def excerpt(value: object, other: object) -> str:
    """A value in one short line, from shortly before the place where it differs from the other."""
    if isinstance(value, str) and isinstance(other, str):
        same = next((at for at, pair in enumerate(zip(value, other, strict=False)) if pair[0] != pair[1]), len(other))
        start = max(0, same - 40)
        return repr(value[start : start + 160])
    return repr(value)[:160]


def report(found: Mapping[str, Mapping[str, Difference]], unstable: set[str], expected: Mapping[str, str]) -> bool:
    """Print every difference; true if all are expected."""
    compared = {part: drops for part, drops in found.items() if part not in unstable}
    matched = {part: expected_by(part, expected) for part in compared}
    for part, drops in compared.items():
        pattern = matched[part]
        print(f"{'CHANGED' if pattern is None else 'expected'}: {part}, in {len(drops)}: {', '.join(drops)}")
        if pattern is None:
            first = next(iter(drops.values()))
            print(f"    before: {excerpt(first.before, first.after)}\n    after:  {excerpt(first.after, first.before)}")
        else:
            print(f"    {expected[pattern]}")
    for part in sorted(unstable):
        print(f"not compared: {part}")
    for pattern in sorted(expected.keys() - set(matched.values())):
        print(f"expected, but not found: {pattern}")
    unexpected = sum(pattern is None for pattern in matched.values())
    print(f"{unexpected} parts changed, {len(matched) - unexpected} as expected, {len(unstable)} not compared")
    return not unexpected


def main() -> None:
    arguments = argparse.ArgumentParser(description="Compare what two versions write for the same files.")
    arguments.add_argument("before", type=Path)
    arguments.add_argument("after", type=Path)
    arguments.add_argument("inputs", type=Input.parse, nargs="+", metavar="FILE[=SUITE]")
    arguments.add_argument("--expect", action="append", default=[], metavar="PART", help="Part that may differ.")
    arguments.add_argument("--expected", type=Path, help="File with parts that may differ, and why.")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="Keep the outputs of all runs in a new folder.")
    given = arguments.parse_args()
    expected = dict.fromkeys(given.expect, "expected")
    if given.expected:
        expected |= reasons(given.expected.read_text())
    if given.keep:
        given.keep.mkdir(parents=True)
    with nullcontext(given.keep) if given.keep else tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        kept = {name: root / name for name in ("before", "again", "after")}
        for name, place in kept.items():
            place.mkdir()
            checkout = given.after if name == "after" else given.before
            evaluate(checkout.resolve(), given.inputs, root / "home", place)
        written = [path for path in kept["before"].rglob("*") if path.is_file()]
        same = sum(
            path.read_bytes() == other.read_bytes()
            for path in written
            if (other := kept["after"] / path.relative_to(kept["before"])).is_file()
        )
        print(f"{len(written)} files before, {same} of them have the same bytes after")
        unstable = set(compare(kept["before"], kept["again"]))
        fine = report(compare(kept["before"], kept["after"]), unstable, expected)
    sys.exit(not fine or not written)


if __name__ == "__main__":
    main()
