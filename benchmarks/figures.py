"""Figures of benchmarks: rows of a table to read, and JSON to compare."""

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Row:
    """A line of the table: a figure per round, and what it has to be."""

    what: str
    goal: str
    reached: Callable[[float], bool]
    figures: list[float]
    note: str = ""
    parts: dict[str, list[float]] = field(default_factory=dict)
    """What the figures are made of, for comparisons."""

    def __str__(self) -> str:
        middle, low, high = statistics.median(self.figures), min(self.figures), max(self.figures)
        spread = f"({low:.3g} to {high:.3g})" if len(self.figures) > 1 else ""
        verdict = "yes" if self.reached(middle) else "NO"
        return f"{self.what:<58}{self.goal:>9}{middle:>9.3g}  {spread:<18}{verdict:<5}{self.note}"


def print_heading() -> None:
    print(f"{'':<58}{'goal':>9}{'median':>9}  {'range':<18}{'held':<5}")


def write_json(path: Path, rows: Sequence[Row]) -> None:
    """The figures of each row and their parts, round by round: `benchmarks.compare` divides those of two commits."""
    figures = {name: values for row in rows for name, values in [(row.what, row.figures), *row.parts.items()]}
    path.write_text(json.dumps(figures, indent=1), "utf-8")
