"""The runs of all reports, for the search in the list of reports: what the reports themselves show of them."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

from upath import UPath

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.report.viewer.page import read_index
from evaluation_assets.core.traces.trajectories.model import JsonObject

MAX_RUNS = 20_000
"""Runs that can be searched in the page, of the reports written last; `evaluation-assets search` searches all."""

_COLUMNS = ("id", "task_id", "task", "success", "passed", "score", "errors", "tools", "agents", "models", "flags")
_READ = {*_COLUMNS, "words"}


def listed_runs(
    reports: UPath, addresses: Mapping[str, str], sizes: Mapping[str, int], members: Iterable[Row]
) -> JsonObject:
    """The runs of reports, column by column, each with the number of its drop; and how many reports are left out.

    Args:
        reports: the folder of all reports.
        addresses: the page of each drop's report below it, the last written first.
        sizes: the runs of each report; one that has too many is not read.
        members: rows of `grouped_findings`, for the failure groups of each run.
    """
    groups = _groups(members)
    columns: dict[str, list[object]] = {name: [] for name in ("drop", *_COLUMNS, "findings", "groups")}
    drops = list(addresses)
    searched = 0
    for number, (drop, address) in enumerate(addresses.items()):
        if len(columns["id"]) + sizes[drop] > MAX_RUNS:
            continue
        index = read_index(reports / unquote(address))
        rows = [] if index is None else index["rows"]
        if index is None or not all(row.keys() >= _READ for row in rows):  # of another version
            continue
        searched += 1
        for row in rows:
            for name in _COLUMNS:
                columns[name].append(row[name])
            columns["drop"].append(number)
            columns["findings"].append(row["words"].get("finding", []))
            columns["groups"].append(groups.get((drop, row["id"]), []))
    return {
        "drops": drops,
        "addresses": list(addresses.values()),
        "columns": columns,
        "left_out": len(drops) - searched,
    }


def _groups(members: Iterable[Row]) -> dict[tuple[str, str], Sequence[str]]:
    by_run: dict[tuple[str, str], dict[str, None]] = {}
    for row in members:
        by_run.setdefault((row["drop"], row["trajectory_id"]), {})[row["group_id"]] = None
    return {run: list(groups) for run, groups in by_run.items()}
