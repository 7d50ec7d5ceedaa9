"""What killed processes leave behind: half-written files, parts of big drops, heartbeats."""

from pathlib import Path

import dagster as dg

from evaluation_assets.core.lake.staging import remove_unfinished
from evaluation_assets.core.pipeline.parts import divided_by, remove_parts_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.resources.heartbeat import beating_runs, forget_heartbeats


def remove_leftovers(instance: dg.DagsterInstance, home: Installation) -> int:
    """Remove what killed processes left behind; the number of files, runs with parts and heartbeats.

    Nothing of a process or run that is at work is touched: writers hold their files locked, and their runs have not
    ended.
    """
    folders = {Path(folder.path) for folder in (home.root, home.lake) if is_local(folder)} | {home.dagster}
    removed = sum(remove_unfinished(folder) for folder in folders)
    ended = [run for run in divided_by(home) if _has_ended(instance, run)]
    for run in ended:
        remove_parts_of(home, run)
    silent = [run for run in beating_runs(instance) if _has_ended(instance, run)]
    forget_heartbeats(instance, silent)
    return removed + len(ended) + len(silent)


def _has_ended(instance: dg.DagsterInstance, run_id: str) -> bool:
    run = instance.get_run_by_id(run_id)
    return run is None or run.is_finished
