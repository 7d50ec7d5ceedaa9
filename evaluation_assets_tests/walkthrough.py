"""Follow a page of the documentation as a reader would: save its files, run its commands, compare what they print.

A block with `title="NAME"` is a file to save. A block `console` has commands (`$ ...`), each followed by what it
prints. `...` stands for any text; on a line of its own, for any lines. A command has to succeed unless `$ echo $?`
follows and shows another exit status.
"""

import contextlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation_assets_tests.forked_commands import forked_command

ROOT = Path(__file__).parent.parent

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_STATUS = "echo $?"
_SHELL = frozenset("|&;<>$`*?~(){}\n")
"""Characters that mean something to a shell, but quotes."""


@dataclass(frozen=True)
class File:
    """A file that the reader saves."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command that the reader types, what the page says it prints, and its exit status."""

    line: str
    shown: str
    status: int


def steps(page: str) -> Iterator[File | Command]:
    """The files and commands of a page, in order."""
    for kind, title, text in _BLOCK.findall(page):
        if title:
            yield File(title, text)
        elif kind == "console":
            yield from _commands(text)


def _commands(block: str) -> Iterator[Command]:
    typed = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    entries = [entry.partition("\n")[::2] for entry in typed]
    for (line, shown), (following, status) in zip(entries, [*entries[1:], ("", "")], strict=True):
        if line != _STATUS:
            yield Command(line, shown, int(status) if following == _STATUS else 0)


def is_shown(printed: str, shown: str) -> bool:
    """Whether a command printed what the page shows. It takes no longer where it did not."""
    lines, expected = printed.rstrip("\n").split("\n"), shown.rstrip("\n").split("\n")
    ends = {0}  # how many of the lines the expected ones so far may be
    for line in expected:
        if line == "...":
            ends = set(range(min(ends), len(lines) + 1)) if ends else ends
        else:
            pattern = re.compile(re.escape(line).replace(r"\.\.\.", ".*"))
            ends = {end + 1 for end in ends if end < len(lines) and pattern.fullmatch(lines[end])}
    return len(lines) in ends


def follow(page: Path, folder: Path) -> int:
    """Do in `folder` what a page says; the number of commands that were run.

    Raises:
        AssertionError: a command ended with another exit status or printed something else than the page shows.
    """
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("EVALUATION_HOME", None)
    ran = 0
    for step in steps(page.read_text("utf-8")):
        if isinstance(step, File):
            path = folder / step.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, "utf-8")
            continue
        done = _ran(step.line, folder, environment)
        assert done.returncode == step.status, f"{step.line}\n{done.stdout}{done.stderr}"
        assert is_shown(done.stdout, step.shown), f"{step.line}\nprinted:\n{done.stdout}\nthe page shows:\n{step.shown}"
        ran += 1
    return ran


def _ran(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line. A command of ours that needs no shell is forked, which saves its imports."""
    program, _, given = line.partition(" ")
    if program == "evaluation-assets" and _SHELL.isdisjoint(given):
        with contextlib.chdir(folder):
            return forked_command(shlex.split(given), environment)
    environment = environment | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
