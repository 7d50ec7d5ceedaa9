"""`gate.yaml`: every section belongs to the layer that it configures; here the file is put together and read."""

from upath import UPath

from evaluation_assets.core.gating.settings import GateSettings, HeadlineSettings
from evaluation_assets.core.intake.triggers.old_runs import RetentionSettings
from evaluation_assets.core.judging.canaries import CanarySettings
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.core.system.automation import (
    BigDropSettings,
    LineageSettings,
    NightlyRunSettings,
    NotificationSettings,
    ScheduleSettings,
    SensorSettings,
)
from evaluation_assets.core.system.configuration import InvalidConfiguration, Section, read_settings


class InvalidSettings(InvalidConfiguration):
    """A gate.yaml that cannot be used; the message names file and field."""


class Settings(Section):
    """All of `gate.yaml`.

    Attributes:
        gate: How a drop is compared with its baseline.
        headline: What the headline of a report counts.
        canaries: Clips that detect changed judges.
        review: What people review, and what their labels decide.
        schedules: When schedules run.
        sensors: What sensors may spend.
        retention: How long Dagster remembers runs.
        nightly_suites: How agents are run on suites at night.
        notifications: Where failures, regressions and failure groups are posted.
        lineage: What the UI shows of every asset.
        big_drops: How big drops are divided among runs.
    """

    gate: GateSettings = GateSettings()
    headline: HeadlineSettings = HeadlineSettings()
    canaries: CanarySettings = CanarySettings()
    review: ReviewSettings = ReviewSettings()
    schedules: ScheduleSettings = ScheduleSettings()
    sensors: SensorSettings = SensorSettings()
    retention: RetentionSettings = RetentionSettings()
    nightly_suites: NightlyRunSettings = NightlyRunSettings()
    notifications: NotificationSettings = NotificationSettings()
    lineage: LineageSettings = LineageSettings()
    big_drops: BigDropSettings = BigDropSettings()


def load_settings(file: UPath) -> Settings:
    """The settings in a file; the defaults where there is none.

    Raises:
        InvalidSettings: no YAML, an unknown field or a value out of range.
    """
    return read_settings(file, Settings, InvalidSettings) if file.exists() else Settings()
