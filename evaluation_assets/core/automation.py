"""The sections of gate.yaml about what happens by itself and for whom: schedules, nightly agents, notices, owners."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from evaluation_assets.core.configuration import Section, VariableName


def _five_fields(cron: str) -> str:
    if len(cron.split()) != 5:
        raise ValueError("five fields are needed: minute, hour, day, month, weekday")
    return cron


Cron = Annotated[str, AfterValidator(_five_fields)]


class ScheduleSettings(Section):
    """When things run, as cron.

    Agents on suites, stale drops, then what is known over all drops; weekly every suite's newest drop.
    """

    suites: Cron = "0 22 * * *"
    nightly: Cron = "0 2 * * *"
    overview: Cron = "0 5 * * *"
    weekly: Cron = "0 3 * * 0"


class NightlyRunSettings(Section):
    """How agents are run on suites at night.

    `budget_usd` is what all agents together may spend on one suite; `null` is no limit. With `fresh`,
    models are called again; without it, replies in the ledger are used.
    """

    trials: int = Field(default=1, ge=1)
    budget_usd: float | None = Field(default=10.0, ge=0)
    fresh: bool = True


class NotificationSettings(Section):
    """Where failures and regressions are sent: the variable that holds the URL, which is a secret and in no file."""

    url_env: VariableName = "EVALUATION_NOTIFY_URL"


def _owner(name: str) -> str:
    if not re.fullmatch(r"team:\w+|[^@\s]+@[^@\s]+", name):
        raise ValueError("an owner is an e-mail address, or a team as `team:name`")
    return name


class LineageSettings(Section):
    """What Dagster's UI shows of every asset: its `owners`, e-mail addresses or teams (`team:evals`)."""

    owners: tuple[Annotated[str, AfterValidator(_owner)], ...] = ()
