"""What queries can ask of runs is read run by run: a big drop is never in memory."""

import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
from evaluation_assets.core.pipeline.drop_groups import DropGroups
from evaluation_assets.core.pipeline.failure_groups import EvaluatedRuns, FindingsOfRuns
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.viewer.run_facts import RunFacts, run_facts
from evaluation_assets.core.sections.failure_groups.grouping import UNEXPLAINED, GroupKey, assigned
from evaluation_assets.core.sections.failure_groups.trends import DropCount
from evaluation_assets.core.system.installation import Installation

RUNS, EVIDENCE = 1000, "word " * 400


@pytest.fixture
def tables(tmp_path: Path) -> DropTables:
    """A drop of which every second run has two findings, with 2 MB of evidence in all, and the others failed."""
    tables = DropTables.of(Installation.at(str(tmp_path)), "d", [])
    runs = [{"trajectory_id": f"run {number}", "task_id": "t"} for number in range(RUNS)]
    kinds = ("ignored_error", "repeated_call")
    found = [{**run, "kind": kind, "severity": "LOW", "evidence": EVIDENCE} for run in runs[::2] for kind in kinds]
    store(tables.raw, ({**run, "success": False} for run in runs))
    store(tables.findings, found)
    return tables


def store(stored: Stored, rows: Iterable[dict[str, Any]]) -> None:
    every = dict.fromkeys(stored.table.schema.names)
    write(stored.path, Stream(stored.table, batched(({**every, **row} for row in rows), stored.table)))


def findings_of(tables: DropTables) -> FindingsOfRuns:
    numbers = range(RUNS)
    tasks, failed = {f"run {number}": "t" for number in numbers}, {f"run {number}": False for number in numbers}
    runs = EvaluatedRuns(drop="d", suite=None, agent=None, version="", tasks=tasks, successes=failed)
    return FindingsOfRuns(runs, tables.findings, tables.raw)


def peak_of(work: Callable[[], object]) -> int:
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_the_facts_of_a_big_drop_are_streamed(tables: DropTables) -> None:
    assert peak_of(lambda: [facts.trajectory_id for facts in run_facts(tables)]) < len(EVIDENCE) * RUNS / 2


def test_the_findings_of_a_big_drop_are_grouped_as_a_stream(tables: DropTables) -> None:
    assert peak_of(lambda: [None for _ in assigned(findings_of(tables), (), {})]) < len(EVIDENCE) * RUNS / 2


def test_facts_are_those_of_their_run(tables: DropTables) -> None:
    keys = [GroupKey("ignored_error"), GroupKey("repeated_call")]
    unexplained = GroupKey(UNEXPLAINED)
    groups = DropGroups(
        findings=findings_of(tables),
        keys=keys * (RUNS // 2),
        unexplained={f"run {number}": unexplained.id for number in range(1, RUNS, 2)},
        ids={key: key.id for key in (*keys, unexplained)},
        trends={key: [DropCount("d", None, None, "", RUNS, RUNS // 2)] for key in (*keys, unexplained)},
        states=dict.fromkeys((*keys, unexplained), "open"),
        names={},
    )
    facts = {each.trajectory_id: each for each in run_facts(tables, groups)}
    assert facts["run 4"].groups == [key.id for key in keys]
    assert [row["kind"] for row in facts["run 4"].findings] == ["ignored_error", "repeated_call"]
    assert [row["alike"].others for row in facts["run 4"].findings] == [RUNS // 2 - 1] * 2
    assert facts["run 5"] == RunFacts("run 5", groups=[unexplained.id], findings=[], constraints=[])
