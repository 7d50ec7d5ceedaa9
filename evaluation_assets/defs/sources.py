"""The sensors that fetch traces from sources into drops: one a source, each with its own cursor."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial

import dagster as dg

from evaluation_assets.core.intake.sources.collection import Source, collect, from_cursor, to_cursor
from evaluation_assets.core.intake.sources.opening import open_store
from evaluation_assets.core.intake.sources.settings import SourceSettings
from evaluation_assets.defs.cursors import remembered
from evaluation_assets.resources.installation import HomeResource


def source_sensors(sources: Mapping[str, SourceSettings]) -> list[dg.SensorDefinition]:
    """A sensor for each source."""
    return [_sensor(Source(name, settings)) for name, settings in sources.items()]


def _sensor(source: Source) -> dg.SensorDefinition:
    @dg.sensor(
        name=f"source_{source.name}",
        minimum_interval_seconds=source.settings.every_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Fetches traces into drops/{source.name}: {source.settings.type}, {source.settings.place}.",
    )
    def fetch(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.SkipReason:
        """Make drops of the traces that ended. The sensor `new_drops` evaluates them."""
        now = datetime.now(UTC)
        begin = remembered(context, partial(from_cursor, settings=source.settings, now=now))
        look = collect(source, open_store(source.settings, home.home), home.home.drops, begin, now)
        context.update_cursor(to_cursor(look))
        return dg.SkipReason(str(look))

    return fetch
