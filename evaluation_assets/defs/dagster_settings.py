"""The settings of gate.yaml that only Dagster can check."""

import dagster as dg
from upath import UPath

from evaluation_assets.core.pipeline.settings import InvalidSettings, Settings


def check_for_dagster(settings: Settings, file: UPath) -> None:
    """Check that Dagster takes the schedules and owners that a file sets.

    Raises:
        InvalidSettings: it refuses one; the message names file and field.
    """
    for field, cron in settings.schedules.model_dump().items():
        try:
            dg.ScheduleDefinition(name=field, cron_schedule=cron, job_name=field)
        except dg.DagsterInvalidDefinitionError:
            needed = "it needs five fields that fit each other: minute, hour, day, month, weekday"
            raise InvalidSettings(f"{file}: schedules.{field}: not a cron expression; {needed}") from None
    for position, owner in enumerate(settings.lineage.owners):
        try:
            dg.AssetSpec("owned", owners=[owner])
        except dg.DagsterInvalidDefinitionError:
            allowed = "an owner is an e-mail address, or a team as `team:name`"
            raise InvalidSettings(f"{file}: lineage.owners[{position}]: {allowed}") from None
