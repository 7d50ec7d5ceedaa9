"""[sinks] Scores sent to trace stores, pull requests and webhooks; labels collected from there."""

from collections.abc import Iterator, Mapping

import dagster as dg

from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.pipeline.settings import Settings
from evaluation_assets.core.report.drop_report import drop_report
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.sinks.annotations import collect_labels
from evaluation_assets.core.report.sinks.delivering import Consignment, Tally, delivered
from evaluation_assets.core.report.sinks.drop_outcome import drop_outcome
from evaluation_assets.core.report.sinks.http import SendError
from evaluation_assets.core.report.sinks.opening import MissingKey, is_annotated, open_annotated
from evaluation_assets.core.report.sinks.settings import ScoreSinkSettings, SinkSettings
from evaluation_assets.core.report.sinks.sink import DropOutcome
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import COLLECTED_LABELS, DELIVERED, DELIVERIES
from evaluation_assets.defs.partitions import check_of_drops
from evaluation_assets.defs.per_judge import LEVELS, judge_keys
from evaluation_assets.defs.reports import REPORTED
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.stage import Result, Stage, stage
from evaluation_assets.resources.asset_keys import owned_key
from evaluation_assets.resources.installation import HomeResource


def delivery_assets(sinks: Mapping[str, SinkSettings], scorers: Scorers, settings: Settings) -> list[Stage]:
    """The deliveries of each sink."""
    return [_deliveries(name, sink, scorers, settings) for name, sink in sinks.items()]


def collecting_assets(sinks: Mapping[str, SinkSettings]) -> list[dg.AssetsDefinition]:
    """The labels of each sink that people annotate traces in."""
    return [_collected(name, sink) for name, sink in stores_of(sinks).items()]


def stores_of(sinks: Mapping[str, SinkSettings]) -> dict[str, ScoreSinkSettings]:
    """The sinks that labels are collected from."""
    return {name: sink for name, sink in sinks.items() if is_annotated(sink)}


def _deliveries(name: str, sink: SinkSettings, scorers: Scorers, settings: Settings) -> Stage:
    key = owned_key(DELIVERIES, name)

    # The report's blocking checks would keep a regression from the pull request, so that what the report and the gate
    # are made of is upstream, and not the report.
    @stage(
        dg.AssetSpec(
            key,
            group_name=groups.SINKS,
            deps=[*map(dg.AssetKey, REPORTED), *judge_keys(LEVELS, scorers.judges)],
            kinds={sink.type},
            description=f"What was sent to the sink {name} ({sink.type}: {sink.place}), and with what result.",
        ),
        checks=[check_of_drops(DELIVERED, asset=key, description="The sink has taken everything it was sent.")],
    )
    def deliveries(drop: DropRun) -> Iterator[Result]:
        """Send what is new, has changed or failed. A sink that is down fails a check, not the run."""
        tally = Tally()

        def outcome() -> DropOutcome:
            own = DropTables.of(drop.home, drop.key, scorers.judges)
            return drop_outcome(
                drop_report(drop.home, drop.key, own, scorers, settings),
                drop.home.public_report_address(drop.key),
            )

        consignment = Consignment(drop.home, drop.key, name, sink, [judge.name for judge in scorers.judges], outcome)
        rows = consignment.deliver(tally)
        yield Stream.of(tables.DELIVERIES, rows, lambda: {"deliveries": str(tally)})
        yield check_result(delivered(tally), DELIVERED)

    return deliveries


def _collected(name: str, sink: ScoreSinkSettings) -> dg.AssetsDefinition:
    @dg.asset(
        key=owned_key(COLLECTED_LABELS, name),
        group_name=groups.GATE,
        deps=["preprocessed_trajectories"],  # no scores: labels decide which judges have a say in them
        kinds={sink.type},
        description=f"What people said about traces in {name}, as labels: labels/{name}.jsonl.",
    )
    def collected_labels(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult:
        """A store that is down leaves the labels as they were collected the last time."""
        try:
            with open_annotated(sink) as store:
                count = collect_labels(home.home, name, sink, store)
        except (SendError, MissingKey) as problem:
            context.log.warning(f"{name}: no labels collected: {problem}")
            return dg.MaterializeResult(metadata={"problem": str(problem)})
        return dg.MaterializeResult(metadata={"labels": count})

    return collected_labels
