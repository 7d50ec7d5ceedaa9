"""The sections `gate` and `headline` of gate.yaml: gating metrics, margins, error rates; what a report counts."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Literal

import regex
from pydantic import Field, field_validator

from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.system.configuration import Section, Share

GateVerdict = Literal["pass", "warn", "fail", "inconclusive", "incomparable"]


_UNBOUNDED = ("cost_usd", "latency_s")
"""Metrics that are no shares."""


def check_value(metric: str, value: float) -> None:
    """Check that a metric can have a value.

    Raises:
        ValueError: it cannot; the message says which it can have.
    """
    if not (isfinite(value) and value >= 0):
        raise ValueError(f"{metric} is {value}; it has to be a number, not negative")
    if value > 1 and metric not in _UNBOUNDED:
        raise ValueError(f"{metric} is {value}; it has to be from 0 to 1")


class HeadlineSettings(Section):
    """What the headline of a report counts. Process quality stands beside it.

    Attributes:
        by: `outcome` (success as the source recorded it), `suite` (cases that passed), `criterion` (runs that reach
            `threshold` on a criterion), or `overall` (the score). Default: the first of these that the drop has.
        criterion: The criterion of whole trajectories that measures correctness; `answer.<key>` for one of the answer.
        threshold: A run is correct from this score of the criterion on.
    """

    by: Literal["outcome", "suite", "criterion", "overall"] | None = None
    criterion: str = "answer_correctness"
    threshold: Share = 0.5


class GateSettings(Section):
    """How a drop is compared with its baseline.

    Attributes:
        rule: `paired` tests, or a fixed `tolerance`.
        metrics: The gating metrics. Default: `success` and `pass_rate` if they exist, and `overall` if a model judge
            scored clips. `finding.<kind>` is the share of runs with such a finding.
        delta: Largest tolerated decrease, in score units.
        relative_delta: Largest tolerated relative increase of cost and latency.
        tolerance: Largest tolerated decrease of the mean under the rule `tolerance`, in score units.
        alpha: Significance level of the tests.
        power: Probability with which a decrease of `max_undetected` must be detectable for a run to pass.
        min_tasks: Number of tasks; a metric with fewer is inconclusive.
        max_undetected: Decrease that must be detectable, in score units.
        relative_max_undetected: The same for cost and latency, as a relative increase.
        fallen_drop: Tasks that fell or rose by at least this much in every trial are listed.
        max_missing: A run fails if a larger share of the baseline's tasks is missing; 1 allows partial runs.
        max_unpaired: A metric that has not fallen for certain is inconclusive if a larger share of its tasks has it in
            one run only, and an outcome if the share of runs without it is larger by more than this.
        task_family: Regular expression. Its match in a task ID names the family; tasks of a family are correlated.
        floors: Lower limits of metrics, and upper limits of cost, latency and findings, with or without a baseline.
        min_pass_rates: Required pass rates by suite; they override those of the suite files.
        blocks: The verdicts that fail a run.
    """

    rule: Literal["paired", "tolerance"] = "paired"
    metrics: tuple[str, ...] | None = None
    delta: float = Field(default=0.05, gt=0, le=1)
    relative_delta: float = Field(default=0.10, gt=0)
    tolerance: float = Field(default=0.05, ge=0, le=1)
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    power: float = Field(default=0.8, gt=0.5, lt=1)
    min_tasks: int = Field(default=8, ge=2)
    max_undetected: float = Field(default=0.25, gt=0, le=1)
    relative_max_undetected: float = Field(default=0.5, gt=0)
    fallen_drop: float = Field(default=0.3, gt=0, le=1)
    max_missing: Share = 0.05
    max_unpaired: Share = 0.1
    task_family: str | None = None
    floors: dict[str, float] = Field(default={})
    min_pass_rates: dict[str, Share] = Field(default={})
    blocks: tuple[GateVerdict, ...] = ("fail",)

    @field_validator("task_family")
    @classmethod
    def _is_an_expression(cls, task_family: str | None) -> str | None:
        try:
            regex.compile(task_family or "")
        except regex.error as problem:
            raise ValueError(f"not a regular expression: {problem}") from None
        return task_family

    @field_validator("floors")
    @classmethod
    def _are_limits(cls, floors: dict[str, float]) -> dict[str, float]:
        for name, limit in floors.items():
            check_value(name, limit)
        return floors

    @field_validator("metrics", "floors")
    @classmethod
    def _knows_findings(cls, named: Mapping[str, float] | tuple[str, ...] | None) -> Any:
        for kind in (name.removeprefix("finding.") for name in named or () if name.startswith("finding.")):
            if kind not in kinds():
                raise ValueError(f"no kind of finding is called {kind}; choose one of: {', '.join(kinds())}")
        return named
