"""Evaluate AI agents from files of their trajectories.

    import evaluation_assets as ea

    result = ea.evaluate("runs.jsonl")
    result.verdicts, result.gate(baseline="main"), result.report

Names are imported when they are used, so that importing the package takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation_assets.api.comparing import compare
    from evaluation_assets.api.comparison import Comparison, TaskChange
    from evaluation_assets.api.errors import (
        EvaluationError,
        GateFailed,
        QuoteTooHigh,
        RunFailed,
        UnknownName,
        UnusableInput,
    )
    from evaluation_assets.api.evaluating import evaluate
    from evaluation_assets.api.home import Home, StoredResult, load_home
    from evaluation_assets.api.reading import Reading, read
    from evaluation_assets.api.result import BudgetSpent, Result
    from evaluation_assets.component import EvaluationComponent
    from evaluation_assets.core.judging.panel import Panel
    from evaluation_assets.core.traces.formats.base import Rejection
    from evaluation_assets.core.traces.trajectories.model import Trajectory

__all__ = [
    "BudgetSpent",
    "Comparison",
    "EvaluationComponent",
    "EvaluationError",
    "GateFailed",
    "Home",
    "Panel",
    "QuoteTooHigh",
    "Reading",
    "Rejection",
    "Result",
    "RunFailed",
    "StoredResult",
    "TaskChange",
    "Trajectory",
    "UnknownName",
    "UnusableInput",
    "compare",
    "evaluate",
    "load_home",
    "read",
]

_MODULES = {
    "api.comparing": ("compare",),
    "api.comparison": ("Comparison", "TaskChange"),
    "api.errors": (
        "EvaluationError",
        "GateFailed",
        "QuoteTooHigh",
        "RunFailed",
        "UnknownName",
        "UnusableInput",
    ),
    "api.evaluating": ("evaluate",),
    "api.home": ("Home", "StoredResult", "load_home"),
    "api.reading": ("Reading", "read"),
    "api.result": ("BudgetSpent", "Result"),
    "component": ("EvaluationComponent",),
    "core.traces.formats.base": ("Rejection",),
    "core.judging.panel": ("Panel",),
    "core.traces.trajectories.model": ("Trajectory",),
}
"""Where each public name is defined."""

if not TYPE_CHECKING:  # a type checker would take every name for one of the package

    def __getattr__(name: str) -> Any:
        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
