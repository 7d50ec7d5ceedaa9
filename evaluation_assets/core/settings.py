"""`gate.yaml`: every section belongs to the layer that it configures; here the file is put together and read."""

import yaml
from pydantic import ValidationError
from upath import UPath

from evaluation_assets.core.automation import NightlyRunSettings, NotificationSettings, ScheduleSettings
from evaluation_assets.core.configuration import Section, faults, yaml_fault
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.human_review.settings import ReviewSettings
from evaluation_assets.core.judging.canaries import CanarySettings


class InvalidSettings(ValueError):
    """A gate.yaml that cannot be used; the message names file and field."""


class Settings(Section):
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
