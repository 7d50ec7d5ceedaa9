"""Do two versions of the package make the same of the same files? Every table, report and export, byte for byte.

    python benchmarks/same_outputs.py BEFORE AFTER FILE...

BEFORE and AFTER are checkouts. Each evaluates the files with the embedded judge, in an installation of its own at the
same place, and exports every drop in every format. The version before does so twice: what differs between its own two
runs (times, run ids) is named and not compared. Exit status 1 where anything else differs.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

EXPORTS = ("atif", "openai_messages", "otel_evaluations", "session_agents")


def outputs(checkout: Path, files: Sequence[Path], home: Path) -> dict[str, str]:
    """The digest of everything that a version writes, by where it lies in the installation."""
    shutil.rmtree(home, ignore_errors=True)
    environment = os.environ | {"PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"}

    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", "evaluation_assets.cli", *arguments, "--home", str(home)]
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{' '.join(arguments)}: exit status {done.returncode}: {done.stderr.strip()[-300:]}")

    run("evaluate", *map(str, files))
    for drop in [
        path.with_suffix("").name for path in sorted((home / "lake" / "trajectory_scores").rglob("*.parquet"))
    ]:
        for name in EXPORTS:
            run("export", drop, "--format", name, "--output", str(home / "exports" / f"{drop}.{name}.jsonl"))
    return {
        path.relative_to(home).as_posix(): sha256(path.read_bytes()).hexdigest()
        for folder in ("lake", "reports", "exports")
        for path in sorted((home / folder).rglob("*"))
        if path.is_file()
    }


def differing(first: Mapping[str, str], second: Mapping[str, str]) -> set[str]:
    """Files that are not the same on both sides."""
    return {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("before", type=Path)
    arguments.add_argument("after", type=Path)
    arguments.add_argument("files", type=Path, nargs="+")
    given = arguments.parse_args()
    files = [path.resolve() for path in given.files]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        before, again = (outputs(given.before.resolve(), files, home) for _ in range(2))
        after = outputs(given.after.resolve(), files, home)
    unstable = differing(before, again)
    changed = differing(before, after) - unstable
    print(f"{len(before)} files before, {len(after)} after, {len(changed)} changed, {len(unstable)} not compared")
    for word, names in (("changed", changed), ("not compared", unstable)):
        for name in sorted(names):
            print(f"{word}: {name}")
    sys.exit(bool(changed or not before))


if __name__ == "__main__":
    main()
