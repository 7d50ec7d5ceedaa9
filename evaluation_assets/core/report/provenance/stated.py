"""The figures that a report states, each with its address, formula and rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from evaluation_assets.core.report.provenance.formulas import formula_of

Value = float | int | bool | None

_KEYS: Mapping[str, tuple[str, ...]] = {
    "criteria": ("level", "criterion"),
    "tools": ("tool_type",),
    "judges": ("judge",),
    "headline/rates": ("measure",),
    "sampled": ("judge", "level"),
    "recorded_trials": ("k",),
    "tool_use/trials": ("k",),
    "tool_use/categories": ("category",),
    "tool_use/tools": ("tool",),
    "tool_use/patterns": ("failure_class",),
    "tool_use/cases": ("trajectory_id",),
    "coding/projects": ("name",),
    "coding/models": ("name",),
    "coding/sessions": ("trajectory_id",),
    "constraints/constraints": ("name",),
    "sessions/agents": ("agent_id",),
    "gate/metrics": ("metric",),
    "history": ("metric",),
}
"""What the items of a list are called by, by the place of the list."""

_NESTED: Mapping[str, tuple[str, ...]] = {"points": ("drop",)}
"""The same, by the name of a list that is inside another one."""

_NO_FIGURES = frozenset({"lowest", "effective_judges", "change", "threshold", "share", "breaks", "subtracted"})
"""Places, settings, and comparisons of judges or with the baseline, which stand beside figures."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a report: its value, the formula in words, and the rows it comes from."""

    address: str
    value: Value
    formula: str
    rows: str


def address(*parts: str | int) -> str:
    """The address of a figure; names in it are percent-encoded."""
    return "/".join(quote(str(part), safe=".=@ ") for part in parts)


def stated_figures(report: Mapping[str, Any]) -> Iterator[Figure]:
    """The figures of a drop in the JSON of its report, in its order."""
    return _with_formulas(numbers_of(report))


def scores_of(trajectory: str, scores: Mapping[str, float | None]) -> Iterator[Figure]:
    """The scores of one trajectory, by criterion and `overall`."""
    at = address("trajectory", trajectory)
    places = {name: name if name == "overall" else address("scores", name) for name in scores}
    return _with_formulas({f"{at}/{places[name]}": score for name, score in scores.items()})


def _with_formulas(numbers: Mapping[str, Value]) -> Iterator[Figure]:
    for place, value in numbers.items():
        if (formula := formula_of(place)) is not None:
            yield Figure(place, value, *formula)


def numbers_of(report: Mapping[str, Any]) -> dict[str, Value]:
    """The numbers of a drop in the JSON of its report, and the values that are missing where one would stand."""
    rest = {name: value for name, value in report.items() if name not in ("trajectories", "worst_clips")}
    return dict(_leaves(rest, ("drop",)))


def _leaves(value: Any, at: tuple[str, ...]) -> Iterator[tuple[str, Value]]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name not in _NO_FIGURES:
                yield from _leaves(item, at if name == "statistic" else (*at, name))
    elif isinstance(value, list):
        names = _NESTED.get(at[-1]) or _KEYS.get("/".join(at[1:]), ())
        for number, item in enumerate(value):
            own = tuple(str(item[name]) for name in names) if names and isinstance(item, dict) else (str(number),)
            yield from _leaves(item, (*at, *own))
    elif not isinstance(value, str):
        yield address(*at), value
