"""Record the first minute at a terminal as an animated picture, docs/images/first_minute.svg: `make screenshots`."""

import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from html import escape
from itertools import groupby, pairwise
from pathlib import Path
from typing import TypeAlias

import pyte

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "examples" / "drops" / "assistants.jsonl"
PICTURE = ROOT / "docs" / "images" / "first_minute.svg"
COMMANDS = (
    "evaluation-assets evaluate my-runs.jsonl",
    "evaluation-assets evaluate my-runs.jsonl",
    "evaluation-assets search timeout",
    "evaluation-assets groups list",
)
FOLDER = Path(tempfile.gettempdir()) / "agent"
"""Where the commands run: its name is in what they print."""
COLUMNS, LINES = 100, 30
WIDTH, HEIGHT = 8.4, 18
"""Size of a character in pixels at a font size of 14."""
TYPING_S, READING_S = 0.05, 6.0
"""Time a typed character takes, and the pause after the output of a command, in seconds."""
COLOURS = {
    "default": "#d8dee9",
    "red": "#ff7b72",
    "green": "#7ee787",
    "brown": "#e3b341",  # what pyte calls yellow
    "blue": "#79c0ff",
    "magenta": "#d2a8ff",
    "cyan": "#76e3ea",
}

Line: TypeAlias = tuple[tuple[str, str, bool], ...]
"""Pieces of a line: text, colour, whether bold."""


def main() -> None:
    """Type the first commands of the README beside a copy of the sample."""
    FOLDER.mkdir()
    try:
        shutil.copy(SAMPLE, FOLDER / "my-runs.jsonl")
        frames = Frames(FOLDER)
        for command in COMMANDS:
            frames.type(command)
            frames.run(command.split())
            frames.pause(READING_S)
    finally:
        shutil.rmtree(FOLDER)
    PICTURE.write_text(drawn(frames.shown, frames.seconds))


class Frames:
    """What a terminal showed, and since when."""

    def __init__(self, folder: Path) -> None:
        """A terminal whose commands run in this folder."""
        self._folder = folder
        self.seconds = 0.0
        self.shown: list[tuple[float, tuple[Line, ...]]] = []
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)

    def type(self, command: str) -> None:
        """A prompt, and the characters of a command one after the other."""
        self._feed(b"\x1b[32m$\x1b[0m ")
        self.pause(1.0)
        for character in command:
            self._feed(character.encode())
            self.pause(TYPING_S)
        self._feed(b"\r\n")

    def run(self, command: Sequence[str]) -> None:
        """The output of a command as it came, on a terminal of this size."""
        ours, its = pty.openpty()
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        terminal = os.environ | {"COLUMNS": str(COLUMNS), "LINES": str(LINES), "TERM": "xterm-256color", "PATH": path}
        with subprocess.Popen(command, cwd=self._folder, stdout=its, stderr=its, env=terminal) as process:
            os.close(its)
            before = time.monotonic()
            while True:
                readable, _, _ = select.select([ours], [], [], 0.1)
                self.seconds, before = self.seconds + time.monotonic() - before, time.monotonic()
                try:
                    given = os.read(ours, 65536) if readable else b""
                except OSError:  # the command has ended
                    break
                self._feed(given)
            process.wait()
        os.close(ours)

    def pause(self, seconds: float) -> None:
        """Leave what is shown for a while."""
        self.seconds += seconds

    def _feed(self, given: bytes) -> None:
        self._stream.feed(given)
        lines = tuple(_pieces(self._screen.buffer[row]) for row in range(LINES))
        if not self.shown or self.shown[-1][1] != lines:
            self.shown.append((self.seconds, lines))


def _pieces(row: "dict[int, pyte.screens.Char]") -> Line:
    cells = [row[column] for column in range(COLUMNS)]
    pieces = groupby(cells, key=lambda cell: (COLOURS.get(cell.fg, COLOURS["default"]), cell.bold))
    return tuple(("".join(cell.data for cell in same), *style) for style, same in pieces)


def drawn(shown: list[tuple[float, tuple[Line, ...]]], seconds: float) -> str:
    """An SVG that shows each frame for as long as the terminal did, and begins again after the last.

    Every line is drawn once for each time that it changed, and is visible meanwhile.
    """
    width, height = COLUMNS * WIDTH + 20, LINES * HEIGHT + 20
    drawing = []
    for row in range(LINES):
        changes = [(at, lines[row]) for at, lines in shown]
        changes = [changes[0], *(later for earlier, later in pairwise(changes) if later[1] != earlier[1])]
        for (since, line), (until, _) in pairwise([*changes, (seconds, ())]):
            if any(text.strip() for text, _, _ in line) and until > since:
                drawing.append(_line(line, row, since, until, seconds))
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}">',
            "<style>text{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}</style>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#161b22"/>',
            *drawing,
            "</svg>\n",
        )
    )


def _line(line: Line, row: int, since: float, until: float, seconds: float) -> str:
    pieces, column = [], 0
    for text, colour, bold in line:
        left, words = column + len(text) - len(text.lstrip()), text.strip()
        column += len(text)
        if words:
            place = f'x="{10 + left * WIDTH:g}" textLength="{len(words) * WIDTH:g}" fill="{colour}"'
            weight = ' font-weight="bold"' if bold else ""
            pieces.append(f"<tspan {place}{weight}>{escape(words)}</tspan>")
    times = f'keyTimes="0;{since / seconds:.5f};{until / seconds:.5f}" values="hidden;visible;hidden"'
    repeated = f'calcMode="discrete" dur="{seconds:.2f}s" repeatCount="indefinite"'
    shown = f'<animate attributeName="visibility" {repeated} {times}/>'
    return f'<text y="{10 + row * HEIGHT + 13:g}" visibility="hidden">{"".join(pieces)}{shown}</text>'


if __name__ == "__main__":
    main()
