"""What each dependency of the default install costs and what it earns: `python benchmarks/dependencies.py`.

Prints the table of the deployment page from the environment that runs it. The size of a dependency is that of its
files and of the packages that it alone needs. The time is the CPU time of its import, on top of a bare
interpreter: the median of several processes.
"""

import re
import resource
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from statistics import median

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
ROUNDS = 5
WORTH_A_ROW_MB = 10

EARNS = {
    "ahocorasick-rs": ("ahocorasick_rs", "finds thousands of phrases in one pass, for the embedded judge"),
    "aiohttp": ("aiohttp", "connections to model servers"),
    "anthropic": ("anthropic", "judges and agents that speak Anthropic's protocol"),
    "click": ("click", "the command line"),
    "dagster": ("dagster", "assets, runs, sensors and checks"),
    "dagster-webserver": ("dagster_webserver", "`ui`, and the server of `receive` and of labels"),
    "defusedxml": ("defusedxml", "suites in XML, read safely"),
    "docstring-parser": ("docstring_parser", "tools of agents from Python functions"),
    "genai-prices": ("genai_prices", "prices of models"),
    "httpx2": ("httpx2", "requests to model servers, webhooks and stores"),
    "ijson": ("ijson", "files of any size, record by record"),
    "jinja2": ("jinja2", "reports and prompts, escaped"),
    "jsonschema": ("jsonschema", "checks of tool calls against their schemas"),
    "msgspec": ("msgspec", "the rows of trajectories"),
    "numpy": ("numpy", "arithmetic on tables"),
    "openai": ("openai", "judges and agents that speak OpenAI's protocol"),
    "orjson": ("orjson", "JSON, ten times as fast as the standard library"),
    "pandas": ("pandas", "tables as data frames in the Python API"),
    "psutil": ("psutil", "which processes of `ui` live"),
    "pyarrow": ("pyarrow", "stored tables, and Parquet files as input"),
    "pydantic": ("pydantic", "settings, with errors that name the field"),
    "python-jsonpath": ("jsonpath", "paths in the conditions of `checks.yaml`"),
    "pyyaml": ("yaml", "settings and suites"),
    "referencing": ("referencing", "schemas that fetch nothing"),
    "regex": ("regex", "patterns of users, with a time limit"),
    "rich": ("rich", "progress and tables in the terminal"),
    "scikit-learn": ("sklearn", "predicted outcomes, cascades, calibrated labels, likeness of runs"),
    "scipy": ("scipy", "intervals and tests of gates"),
    "sqlalchemy": ("sqlalchemy", "the ledger of paid replies"),
    "universal-pathlib": ("upath", "homes in a folder, in S3 or in Google Cloud"),
    "watchdog": ("watchdog", "events on the page of a run as they come"),
}
"""The module of each dependency, and what the project has from it."""


def dependencies() -> list[Requirement]:
    """The dependencies of the default install."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return [Requirement(line) for line in settings["project"]["dependencies"]]


def brought_by(one: Requirement, others: Iterable[str]) -> set[str]:
    """The distributions that a requirement needs, itself included, down to dependencies that are rows themselves."""
    seen: set[tuple[str, str]] = set()
    waiting = [(_name(one.name), extra) for extra in ("", *one.extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen or name in others:
            continue
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:
            continue  # there is none for this platform
        seen.add((name, extra))
        for needed in map(Requirement, lines):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [(_name(needed.name), inner) for inner in ("", *needed.extras)]
    return {name for name, _ in seen}


def size_mb(name: str) -> float:
    """What the files of a distribution take, in megabytes. Bytecode, which only some installers write, is left out."""
    files = (Path(str(each.locate())) for each in distribution(name).files or [] if each.suffix != ".pyc")
    return sum(path.stat().st_size for path in files if path.exists()) / 1e6


def import_s(module: str) -> float:
    """CPU time of an import in a process of its own, in seconds."""
    return _process_s(f"import {module}") - _process_s("")


def _process_s(code: str) -> float:
    taken: list[float] = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(taken)


def _name(written: str) -> str:
    return re.sub(r"[-_.]+", "-", written).lower()


def main() -> None:
    """Print a row for each dependency of at least ten megabytes, and one for the others."""
    needed = {_name(each.name): each for each in dependencies()}
    brought = {name: brought_by(each, needed.keys() - {name}) for name, each in needed.items()}
    shared = Counter(name for names in brought.values() for name in names)
    sizes = {name: size_mb(name) for name in shared}
    own = {name: sum(sizes[each] for each in names if shared[each] == 1) for name, names in brought.items()}
    large = sorted((name for name in own if own[name] >= WORTH_A_ROW_MB), key=lambda name: -own[name])
    print("| dependency | MB | import, s | what it is for |\n|---|---|---|---|")
    for name in large:
        module, earns = EARNS[name]
        print(f"| `{name}` | {own[name]:.0f} | {import_s(module):.2f} | {earns} |")
    small = own.keys() - large
    slowest = max((import_s(EARNS[name][0]), name) for name in small)
    rest = sum(sizes.values()) - sum(own[name] for name in large)
    print(f"| {len(small)} others, and what several share | {rest:.0f} | {slowest[0]:.2f} at most (`{slowest[1]}`) | |")
    print(f"\n{len(sizes)} packages, {sum(sizes.values()):.0f} MB")


if __name__ == "__main__":
    main()
