"""The figures that a report states, by the addresses under which `figures` recomputes them."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation_assets.core.gating.task_metrics import FINDING
from evaluation_assets.core.report.provenance.figure import Figure, Value, address
from evaluation_assets.core.report.provenance.figures import NOT_RECOMPUTED

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

_COMPARED = frozenset({"baseline", "current", "difference", "n_tasks"})
"""The figures of the gate that are means over tasks."""

_NO_FIGURES = frozenset({"lowest", "effective_judges", "change", "threshold", "share", "breaks", "subtracted"})
"""Places, settings, and comparisons of judges or with the baseline, which stand beside figures."""


def reported_figures(report: Mapping[str, Any]) -> dict[str, Value]:
    """All figures in the JSON of a report, without those of `NOT_RECOMPUTED`."""
    found: dict[str, Value] = {}
    for row in report["trajectories"]:
        at = ("trajectory", row["trajectory_id"])
        found |= {address(*at, name): row[name] for name in ("overall", "n_tool_calls", "success")}
        found |= {address(*at, "scores", criterion): value for criterion, value in row["scores"].items()}
    for row in report["worst_clips"]:
        found[address("clip", row["trajectory_id"], row["clip_index"], "score")] = row["score"]
    rest = {name: value for name, value in report.items() if name not in ("trajectories", "worst_clips")}
    found |= dict(_leaves(rest, ("drop",)))
    return found


def differences(report: Mapping[str, Any], recomputed: Mapping[str, Figure]) -> dict[str, tuple[Value, Value]]:
    """The figures that a report states otherwise than they come out now: stated and recomputed value by address.

    A number that the report states and nothing recomputes is a difference; a missing value is none.
    """
    found: dict[str, tuple[Value, Value]] = {}
    for place, stated in reported_figures(report).items():
        figure = recomputed.get(place)
        if stated != (now := None if figure is None else figure.value):
            found[place] = (stated, now)
    return found


def why_not_recomputed(at: str) -> str | None:
    """Why a figure at an address below `drop/` is not recomputed; `None` if it is."""
    parts = at.removeprefix("drop/").split("/")
    if parts[0] == "judges" and parts[2:3] == ["errors"]:
        return NOT_RECOMPUTED["judges/errors"]
    if parts[0] == "gate" and parts[2:3] and parts[2].startswith(FINDING):
        return NOT_RECOMPUTED["findings"]
    if parts[0] == "gate" and parts[1:2] == ["metrics"] and parts[-1] in _COMPARED:
        return None
    if parts[0] == "gate" and parts[1:2] not in (["fallen_tasks"], ["improved_tasks"]):
        return NOT_RECOMPUTED["gate/tests"]
    return next(
        (why for place, why in NOT_RECOMPUTED.items() if parts[: place.count("/") + 1] == place.split("/")), None
    )


def _leaves(value: Any, at: tuple[str, ...]) -> Iterator[tuple[str, Value]]:
    """The numbers below a place, and the values that are missing where a number would stand."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name in _NO_FIGURES:
                continue
            yield from _leaves(item, at if name == "statistic" else (*at, name))
    elif isinstance(value, list):
        names = _NESTED.get(at[-1]) or _KEYS.get("/".join(at[1:]), ())
        for number, item in enumerate(value):
            own = tuple(str(item[name]) for name in names) if names and isinstance(item, dict) else (str(number),)
            yield from _leaves(item, (*at, *own))
    elif not isinstance(value, str) and why_not_recomputed(place := address(*at)) is None:
        yield place, value
