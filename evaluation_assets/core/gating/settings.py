"""The section `gate` of gate.yaml: what gates, and how surely."""

from typing import Literal

from pydantic import Field

from evaluation_assets.core.configuration import Section, Share

GateVerdict = Literal["pass", "warn", "fail", "inconclusive", "incomparable"]


class GateSettings(Section):
    """How a drop is compared with its baseline.

    `metrics` are the metrics that gate; without it `success` and `pass_rate` where they exist, and `overall` where a
    model judge is on the panel. `delta` is the largest tolerated decrease, in score units; `relative_delta` that of
    cost and latency, as a share. A run passes where no decrease is found and one of `max_undetected` (for cost and
    latency `relative_max_undetected`) would have been, with the probability `power`. `tolerance` belongs to the rule
    of that name. `fallen_drop` lists a task that fell or rose this much in every trial.
    A run fails where more than `max_missing` of the baseline's tasks are missing from it; 1 allows partial runs. A
    metric that more than `max_unpaired` of its tasks have on one side only is inconclusive. `task_family` is a regular
    expression; what it finds in a task's id names the family whose tasks are correlated. `floors` are limits of
    metrics, with or without a baseline: least values, and for cost and latency largest ones. `min_pass_rates` are the
    shares of runs that have to pass, by suite; they go before the suite's own. `blocks` are the verdicts that fail a
    run.
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
