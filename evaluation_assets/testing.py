"""Evaluations in tests: a gate that blocks fails the test, and the failure says what regressed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evaluation_assets.api.comparison import Comparison
from evaluation_assets.api.errors import EvaluationError
from evaluation_assets.api.evaluating import evaluate
from evaluation_assets.api.home import StoredResult
from evaluation_assets.api.records import Source, is_path
from evaluation_assets.api.result import Result
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.text.plain_text import for_terminal

Returned = TypeVar("Returned")

_GATE = "regression_gate"


@dataclass(frozen=True, slots=True, repr=False)
class GatedResult(Result):
    """A result in a test: `gate` fails the test if the gate blocks."""

    def gate(self, baseline: "StoredResult | str | Path | None" = None) -> Comparison:
        """Compare this drop with a baseline, named as in `StoredResult.gate`, and fail the test if the gate blocks.

        The test fails too if there is no such baseline, or if a blocking check failed, so that there is too little to
        compare.
        """
        __tracebackhide__ = True
        incomplete = [each for each in self.failed_checks if each.blocks and each.name != _GATE]
        if incomplete:
            named = "; ".join(f"{each.name}: {each.description or 'failed'}" for each in incomplete)
            said = for_terminal(f"{self.drop} was not evaluated completely: {named}\nreport: {self.report}")
            pytest.fail(said, pytrace=False)
        found = _or_fail(lambda: Result.gate(self, baseline))
        if found.blocks:
            pytest.fail(found.summary(), pytrace=False)
        return found


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The fixture `evaluation`. A file is evaluated once in a test session.

    Paths of files and panels are relative to `root`.
    """

    root: Path
    home: Path | None
    panel: Path | None
    _known: dict[str, GatedResult] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(
        self,
        source: Source,
        *,
        panel: str | Path | Mapping[str, Any] | Panel | None = None,
        home: str | Path | None = None,
        **options: Any,
    ) -> GatedResult:
        """Evaluate a file of trajectories, or records, as `evaluate` does; `options` are its other arguments.

        The test fails if the file cannot be evaluated.
        """
        __tracebackhide__ = True
        path = self.root / source if is_path(source) else None
        if isinstance(panel, str | Path):
            panel = self.root / panel
        chosen = {"home": home or self.home, "panel": panel or self.panel, **options}
        key = repr((path, path and _stamp(path), chosen))
        if path is None or key not in self._known:
            found = _or_fail(lambda: evaluate(path or source, **chosen))
            self._known[key] = GatedResult(**{each.name: getattr(found, each.name) for each in fields(found)})
        return self._known[key]


def _stamp(path: Path) -> tuple[int, int] | None:
    return (path.stat().st_mtime_ns, path.stat().st_size) if path.is_file() else None


def _or_fail(work: Callable[[], Returned]) -> Returned:
    __tracebackhide__ = True
    try:
        return work()
    except EvaluationError as problem:
        said = for_terminal(f"{type(problem).__name__}: {problem}")
    pytest.fail(said, pytrace=False)
