"""[judging] Big drops are judged in parts, which runs on any worker take over. The tables and the report are one."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import dagster as dg

from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.pipeline.parts import Parts, announced, announcement, divide
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.evaluation_runs import free_runs
from evaluation_assets.defs.names import JUDGE_PART, PART
from evaluation_assets.defs.stage import Stage
from evaluation_assets.defs.storage_outage import retry_after_outage
from evaluation_assets.resources.asset_keys import table_path
from evaluation_assets.resources.drop_lock import claimed
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.parquet import write_table

INTERVAL_SECONDS = 10

_WAIT_SECONDS = 2.0
"""Between two looks at parts that other runs are at work on."""

_PART, _PART_OF = "evaluation/part", "evaluation/part_of"
"""Tags of a run that judges a part."""

_INGESTED = (("preprocessed_trajectories",), ("images",), ("clips",))


class PartConfig(dg.Config):
    """Which part of which drop to judge, as the run with this ID divided it."""

    drop: str
    run: str
    part: int


def judge_in_parts(levels: Sequence[Stage], drop: DropRun, clips_per_part: int) -> Parts | None:
    """Judge a drop that has more clips than a part, part by part; `None` for smaller drops, which are not judged here.

    This run judges every part that no other is at work on, so it ends where nobody helps, and a part whose run was
    killed is judged all the same. With a budget it works alone: other runs would not know what is left of it.
    """
    versions = _versions(levels)
    chosen = {key: version for key, version in versions.items() if key in drop.assets}
    read = [*_INGESTED, *(table_path(key) for key in versions if key not in chosen)]
    parts = divide(drop.home, drop.key, drop.run_id, clips_per_part, read)
    if parts is None:
        return None
    drop.log.info(f"judging {drop.key} in {parts.count} parts")
    if not drop.config.has_budget:
        parts.announce({key.to_user_string(): version for key, version in chosen.items()})
    while waiting := [number for number in parts.numbers if not parts.is_judged(number)]:
        judged = [_judge_unless_taken(levels, parts, number, drop) for number in waiting]
        if not any(judged):
            time.sleep(_WAIT_SECONDS)
    return parts


def judge_part_job(levels: Sequence[Stage]) -> dg.JobDefinition:
    """The job of a run that takes over a part of a big drop."""
    versions = {key.to_user_string(): version for key, version in _versions(levels).items()}

    @dg.op(name=PART)
    def part(context: dg.OpExecutionContext, config: PartConfig, home: HomeResource) -> None:
        said = announcement(home.home, config.drop, config.run)
        if said is None:
            context.log.info(f"all parts of {config.drop} are judged, or its run was stopped")
            return
        if any(versions.get(table) != version for table, version in said.versions.items()):
            context.log.warning(f"run {config.run} has other judges or rubrics than this one, and judges all parts")
            return
        tables = {dg.AssetKey.from_user_string(table) for table in said.versions}
        parts = Parts(home.home, said.drop, said.run, said.count)
        drop = DropRun(key=said.drop, home=home.home, run_id=context.run.run_id, log=context.log, assets=tables)
        if not _judge_unless_taken(levels, parts, config.part, drop):
            context.log.info(f"part {config.part} of {said.count} is judged, or another run is at work on it")

    @dg.job(
        name=JUDGE_PART,
        executor_def=dg.in_process_executor,
        hooks={retry_after_outage},
        description="Judge one part of a big drop for the run that evaluates it.",
    )
    def job() -> None:
        part()

    return job


@dg.sensor(
    job_name=JUDGE_PART,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Starts a run for each part of a big drop, so that free workers help the run that evaluates it.",
)
def parts_of_big_drops(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.SensorResult | dg.SkipReason:
    """Look for parts of runs that are at work, as many as there are free runs: one that waits comes too late.

    Their own run begins with the first part; the others are asked for from the last on.
    """
    free = free_runs(context.instance)
    requests: list[dg.RunRequest] = []
    for said in announced(home.home) if free > 0 else ():
        run = context.instance.get_run_by_id(said.run)
        if run is not None and not run.is_finished:
            parts = Parts(home.home, said.drop, said.run, said.count)
            helping = context.instance.get_runs(dg.RunsFilter(job_name=JUDGE_PART, tags={_PART_OF: said.run}))
            asked_for = {each.tags.get(_PART) for each in helping}
            open_parts = [number for number in parts.numbers if number > 1 and not parts.is_judged(number)]
            requests += [
                _request(parts, number) for number in reversed(open_parts) if _name(parts, number) not in asked_for
            ]
    return dg.SensorResult(requests[:free]) if requests else dg.SkipReason("no parts to judge, or no free run")


def _name(parts: Parts, number: int) -> str:
    return f"{number} of {parts.count}"


def _request(parts: Parts, number: int) -> dg.RunRequest:
    config = {"drop": parts.drop, "run": parts.run, "part": number}
    return dg.RunRequest(
        run_key=f"{parts.run}/{number}",
        run_config={"ops": {PART: {"config": config}}},
        tags={
            "evaluation/drop": parts.drop,
            _PART: _name(parts, number),
            _PART_OF: parts.run,
            "dagster/priority": "-1",  # new drops first
        },
    )


def _judge_unless_taken(levels: Sequence[Stage], parts: Parts, number: int, drop: DropRun) -> bool:
    """Judge a part, unless it is judged or another run is at work on it; whether this run did."""
    with claimed(drop.home, parts.name(number)) as is_ours:
        if not is_ours or parts.is_judged(number):
            return False
        drop.log.info(f"part {number} of {parts.count}")
        part = replace(drop, home=parts.of(number))
        for level in levels:
            if level.is_chosen(drop):
                for result in level.results(part):
                    if isinstance(result, dg.MaterializeResult) and isinstance(result.value, Stream):
                        write_table(part.home, level.key_of(result), parts.drop, result.value)
        parts.set_judged(number, drop.run_id)
    return True


def _versions(levels: Sequence[Stage]) -> Mapping[dg.AssetKey, str]:
    """The code version of every verdict table."""
    return {spec.key: spec.code_version or "" for level in levels for spec in level.assets}
