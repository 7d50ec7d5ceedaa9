"""`gate.yaml`: what gates, how surely, what people review, and when things run."""

from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from upath import UPath

from evaluation_assets.core.configuration import VariableName, faults, yaml_fault

GateVerdict = Literal["pass", "warn", "fail", "inconclusive", "incomparable"]


class InvalidSettings(ValueError):
    """A gate.yaml that cannot be used; the message names file and field."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


Share = Annotated[float, Field(ge=0, le=1)]


def _five_fields(cron: str) -> str:
    if len(cron.split()) != 5:
        raise ValueError("five fields are needed: minute, hour, day, month, weekday")
    return cron


Cron = Annotated[str, AfterValidator(_five_fields)]


class GateSettings(_Section):
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
    floors: dict[str, float] = {}
    min_pass_rates: dict[str, Share] = {}
    blocks: tuple[GateVerdict, ...] = ("fail",)


class CanarySettings(_Section):
    """Canary clips, which tell a changed judge from a changed agent.

    When verdicts on a drop that belongs to a suite are paid for, their model judge is asked about twelve short clips
    too, `repeats` times. More repeats measure a judge's own noise, and find smaller changes.
    """

    enabled: bool = True
    repeats: int = Field(default=1, ge=1, le=10)


class ReviewSettings(_Section):
    """What people look at, and what their labels decide.

    A trajectory passes a judge at `pass_score`. Reviewed are scores below it, up to `near` above it, judges whose
    scores spread by `disagreement` or more, and `random_share` of the others. A judge with at least `min_labels`
    labels and a kappa below `min_kappa` is kept out of gates.
    """

    pass_score: Share = 0.6
    near: Share = 0.05
    disagreement: Share = 0.2
    random_share: Share = 0.2
    min_kappa: float = Field(default=0.6, ge=-1, le=1)
    min_labels: int = Field(default=30, ge=2)


class ScheduleSettings(_Section):
    """When things run, as cron.

    Agents on suites, stale drops, then what is known over all drops; weekly every suite's newest drop.
    """

    suites: Cron = "0 22 * * *"
    nightly: Cron = "0 2 * * *"
    overview: Cron = "0 5 * * *"
    weekly: Cron = "0 3 * * 0"


class NightlyRunSettings(_Section):
    """How agents are run on suites at night.

    `budget_usd` is what all agents together may spend on one suite; `null` is no limit. Models are asked anew; without
    `fresh` only what was never asked is.
    """

    trials: int = Field(default=1, ge=1)
    budget_usd: float | None = Field(default=10.0, ge=0)
    fresh: bool = True


class NotificationSettings(_Section):
    """Where failures and regressions are sent: the variable that holds the URL, which is a secret and in no file."""

    url_env: VariableName = "EVALUATION_NOTIFY_URL"


class Settings(_Section):
    """All of `gate.yaml`."""

    gate: GateSettings = GateSettings()
    canaries: CanarySettings = CanarySettings()
    review: ReviewSettings = ReviewSettings()
    schedules: ScheduleSettings = ScheduleSettings()
    nightly_suites: NightlyRunSettings = NightlyRunSettings()
    notifications: NotificationSettings = NotificationSettings()


def load_settings(file: UPath) -> Settings:
    """The settings in a file; the defaults where there is none.

    Raises:
        InvalidSettings: no YAML, an unknown field or a value out of range.
    """
    if not file.exists():
        return Settings()
    try:
        return Settings.model_validate(yaml.safe_load(file.read_text("utf-8")) or {})
    except yaml.YAMLError as problem:
        raise InvalidSettings(f"{file}: {yaml_fault(problem)}") from None
    except UnicodeDecodeError as problem:
        raise InvalidSettings(f"{file}: {problem.reason}: it has to be UTF-8") from None
    except ValidationError as problem:
        raise InvalidSettings(f"{file}: {faults(problem, Settings)}") from None
