"""Checks of the user's own: the decorator, what a check may return, and how that becomes scores."""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from evaluation_assets.core.judging.own.view import SubjectView
from evaluation_assets.core.judging.rubrics.model import METRIC_NAMES, Level


@dataclass(frozen=True, slots=True)
class Score:
    """A score with its reason: `True` or `False` for passed or failed, 0..1, or `None` where it cannot be judged.

    `criterion` names what was scored; by default the criterion of the check.
    """

    value: bool | float | None
    reason: str | None = None
    criterion: str | None = None


Checked = bool | float | Score | Sequence[Score] | None
Check = Callable[[SubjectView], Checked | Awaitable[Checked]]
AnyCheck = TypeVar("AnyCheck", bound=Callable[..., Any])

_MARK = "__evaluation_assets_check__"


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """The levels of a check, and the criterion that it scores."""

    levels: tuple[Level, ...]
    criterion: str


class InvalidResult(ValueError):
    """A check returned something that is no score; the message says what."""


def judge(
    *, level: Level | Sequence[Level] = "trajectory", criterion: str | None = None
) -> Callable[[AnyCheck], AnyCheck]:
    """Declare which level a check judges, and the name of its criterion (default: the function's name).

    Raises:
        ValueError: a level does not exist.
    """
    levels: tuple[Any, ...] = (level,) if isinstance(level, str) else tuple(level)
    if unknown := [each for each in levels if each not in get_args(Level)] or ([] if levels else ["none"]):
        raise ValueError(f"unknown level {unknown[0]!r}; choose one of: {', '.join(get_args(Level))}")

    def marked(function: AnyCheck) -> AnyCheck:
        setattr(function, _MARK, CheckSettings(levels, criterion or _name(function)))
        return function

    return marked


def settings_of(function: Callable[..., Any]) -> CheckSettings:
    """What the decorator says about a check; a plain function judges trajectories."""
    return getattr(function, _MARK, None) or CheckSettings(("trajectory",), _name(function))


def scores_of(returned: object, criterion: str) -> list[Score]:
    """What a check returned, as scores with a criterion each; values are 0..1 or `None`.

    Raises:
        InvalidResult: it is no score, a value is outside 0..1, or two scores have the same criterion.
    """
    given = list(returned) if isinstance(returned, list | tuple) else [returned]
    scores = [_score(each, criterion) for each in given]
    names = [score.criterion for score in scores]
    if not scores:
        raise InvalidResult("the check returned an empty list; return None where it cannot judge")
    if len(set(names)) < len(names):
        raise InvalidResult("the check returned two scores with the same criterion; give each its own `criterion`")
    return scores


def _score(given: object, criterion: str) -> Score:
    score = given if isinstance(given, Score) else Score(given)  # type: ignore[arg-type]  # checked below
    value: Any = score.value
    if getattr(value, "shape", None) == ():  # of numpy, or of another package of arrays
        value = value.item()
    named = score.criterion or criterion
    if named in METRIC_NAMES:
        raise InvalidResult(f"a metric has the name {named}; give the check or its score another criterion")
    if value is None or isinstance(value, bool):
        return Score(None if value is None else float(value), score.reason, named)
    if not isinstance(value, int | float):
        raise InvalidResult(
            f"the check returned {type(value).__name__}; return True, False, a number from 0 to 1, a Score, or a list "
            "of Score"
        )
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise InvalidResult(f"the check returned {value:g} for {named}, which is outside the scale of 0 to 1")
    return Score(float(value), score.reason, named)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
