"""What is computed of trajectories without a judge: results on a suite, constraints, the work of coding agents."""

from pathlib import Path
from typing import Any

import yaml
from upath import UPath

from evaluation_assets.core.intake.facts import DropFacts, SuiteFacts
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.lake.stored import Stored, Stream, write
from evaluation_assets.core.lake.tables import RAW_TRAJECTORIES
from evaluation_assets.core.pipeline.tool_use import measured_runs, patterns_of
from evaluation_assets.core.sections.coding_work.stream import coding_sessions
from evaluation_assets.core.sections.constraints.settings import Checks
from evaluation_assets.core.sections.constraints.stream import constraint_results
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.readers.tagged import trajectory_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.trajectory_rows import trajectory_row
from evaluation_assets_tests.core.making import record
from evaluation_assets_tests.core.stored_rows import stored

TWO_CALLS = '<search>{"q": 1}</search><result>Error: no such page</result><search>{"q": 2}</search><result>7</result>'


def trajectory(text: str, task: str = "t") -> Trajectory:
    return trajectory_of(record(task_id=task, task_description="Find the value", raw_response=text))


def raw(folder: Path, *runs: Trajectory, suite: str | None = None) -> Stored:
    facts = DropFacts(sidecar=Sidecar(suite=suite)).footer()
    return stored(folder, RAW_TRAJECTORIES, (trajectory_row("d", run) for run in runs), **facts)


def rows_of(folder: Path, stream: Stream) -> tuple[list[dict[str, Any]], dict[str, Any], Stored]:
    """The rows as they are read back, the metadata once they are written, and the table."""
    path = UPath(folder / f"{stream.table.name}.parquet")
    write(path, stream)
    table = Stored(stream.table, path)
    return list(table.rows()), dict(stream.summary()), table


def home_with(folder: Path, suite: dict[str, Any] | str) -> Installation:
    home = Installation.at(str(folder))
    (folder / "suites").mkdir()
    (folder / "suites" / "s.yaml").write_text(suite if isinstance(suite, str) else yaml.safe_dump(suite))
    return home


def test_runs_are_measured_by_their_case_and_nothing_is_left_out(tmp_path: Path) -> None:
    cases = [{"id": name, "message": "Find the value", "answer": "4"} for name in ("right", "wrong", "never_run")]
    home = home_with(tmp_path, {"cases": cases, "min_pass_rate": 0.9})
    runs = [
        trajectory("<answer>4</answer>", task="right"),
        trajectory("<answer>5</answer>", task="wrong"),
        trajectory("<answer>4</answer>", task="of no case"),
    ]
    rows, said, table = rows_of(tmp_path, measured_runs(home, "d", raw(tmp_path, *runs, suite="s"), {"s": 0.4}))
    assert said.get("note") is None
    assert {row["case_id"]: row["passed"] for row in rows} == {"right": True, "wrong": False, "never_run": None}
    assert (said["runs"], said["passed"], said["pass_rate"]) == (2, 1, 0.5)
    assert (said["first_without_run"], said["trajectories_without_case"]) == ("never_run", 1)
    facts = SuiteFacts.of(table)
    assert (facts.suite, facts.min_pass_rate, facts.without_case) == ("s", 0.4, (runs[2].id,))
    patterns, figures, _ = rows_of(tmp_path, patterns_of("d", table))
    assert [(row["failure_class"], list(row["case_ids"])) for row in patterns] == [
        (row["failure_class"], ["wrong"]) for row in patterns
    ]
    assert patterns and figures["suite"] == "s"


def test_a_drop_without_a_usable_suite_says_why(tmp_path: Path) -> None:
    home = home_with(tmp_path, "cases: [{id: 1")
    for suite, why in ((None, "names no suite"), ("other", "names 'other', which is not in suites/"), ("s", "s.yaml")):
        rows, said, table = rows_of(tmp_path, measured_runs(home, "d", raw(tmp_path, suite=suite), {}))
        assert rows == [] and why in said["note"]
        assert (SuiteFacts.of(table).problem is None) == (suite != "s")


def test_each_constraint_has_a_row_for_each_trajectory_and_counts_agree(tmp_path: Path) -> None:
    checks = Checks.model_validate(
        {
            "constraints": {
                "once": {"severity": "error", "at_most": 1, "of": {"tool": "search"}},
                "none": {"severity": "warn", "at_most": 0, "of": {"tool": "search"}},
            }
        }
    )
    drop = raw(tmp_path, trajectory(TWO_CALLS, task="two"), trajectory("<answer>4</answer>", task="idle"))
    rows, said, _ = rows_of(tmp_path, constraint_results("d", drop, checks))
    found = {(row["trajectory_id"], row["constraint"]): row["status"] for row in rows}
    assert found == {
        ("two", "once"): "failed",
        ("two", "none"): "failed",
        ("idle", "once"): "passed",
        ("idle", "none"): "passed",
    }
    assert (said["failed"], said["failed_error"], said["failed_warn"], said["passed"]) == (2, 1, 1, 2)
    rows, said, _ = rows_of(tmp_path, constraint_results("d", drop, Checks()))
    assert rows == [] and said["constraints"] == 0


def test_only_sessions_of_coding_agents_have_work(tmp_path: Path) -> None:
    rows, said, _ = rows_of(tmp_path, coding_sessions("d", raw(tmp_path, trajectory(TWO_CALLS))))
    assert rows == [] and said == {"sessions": 0, "note": "the drop has no sessions of coding agents"}
    made = trajectory(TWO_CALLS)
    stored_rows = [{**trajectory_row("d", made), "format": "codex"}, trajectory_row("d", trajectory("x", task="u"))]
    drop = stored(tmp_path, RAW_TRAJECTORIES, stored_rows)
    rows, said, _ = rows_of(tmp_path, coding_sessions("d", drop))
    assert [row["trajectory_id"] for row in rows] == [made.id]
    assert said["sessions"] == 1 and said["sessions_ending_with_tests_unknown"] in (0, 1)
