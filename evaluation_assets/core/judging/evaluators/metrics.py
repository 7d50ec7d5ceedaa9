"""The metrics of other packages, by the modules that adapt them."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol, cast

from evaluation_assets.core.judging.evaluators.asked_model import ChatModel
from evaluation_assets.core.judging.evaluators.case import Case
from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator, installed_version
from evaluation_assets.core.judging.evaluators.settings import EvaluatorSettings
from evaluation_assets.core.judging.own.checks import Score


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric that is ready to be called.

    `score` gives a case a number from 0 to 1, or a value of `None` with a reason where the case lacks what the metric
    needs. With `lower_is_better`, 0 is the best.
    """

    score: Callable[[Case, ChatModel], Coroutine[Any, Any, Score]]
    lower_is_better: bool = False


class Adapter(Protocol):
    """A module of `adapters`."""

    def metric(self, name: str, arguments: Mapping[str, Any]) -> Metric:
        """The metric of this name.

        Raises:
            InvalidEvaluator: there is none, or it does not take the arguments.
        """
        ...


def metric_of(settings: EvaluatorSettings) -> Metric:
    """The metric that settings name; its package is imported.

    Raises:
        InvalidEvaluator: the package is not installed or cannot be imported, it has no such metric, or the metric does
            not take the arguments.
    """
    version = installed_version(settings.package)
    try:
        adapter = import_module(f"evaluation_assets.core.judging.evaluators.adapters.{settings.package}")
    except ImportError as problem:
        raise InvalidEvaluator(f"{settings.package} {version} cannot be used: {problem}") from problem
    metric = cast("Adapter", adapter).metric(settings.metric, settings.arguments)
    if settings.lower_is_better is None:
        return metric
    return replace(metric, lower_is_better=settings.lower_is_better)
