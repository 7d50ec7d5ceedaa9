"""`export`, on a drop that was evaluated."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from evaluation_assets.cli.main import main
from evaluation_assets_tests.conftest import Workspace, call, record
from evaluation_assets_tests.core.traces.formats.reading import trajectories

TEXT = call("six times seven", "42") + "<answer>42</answer>"


def export(home: Workspace, format_name: str, output: Path, drop: str = "runs") -> Result:
    return CliRunner().invoke(
        main, ["export", drop, "--format", format_name, "--output", str(output), "--home", str(home.home.root)]
    )


def evaluated(installation: Workspace) -> Workspace:
    installation.drop("runs", record("a", TEXT) + record("b", TEXT.replace("42", "43")))
    assert installation.run("runs").success
    return installation


def test_trajectories_come_out_as_atif_and_are_read_again(installation: Workspace, tmp_path: Path) -> None:
    done = export(evaluated(installation), "atif", tmp_path / "out.jsonl")
    assert (done.exit_code, done.output) == (0, f"{tmp_path / 'out.jsonl'}: 2 trajectories\n")
    runs = trajectories(tmp_path / "out.jsonl")
    assert [(run.task_id, run.final_answer, len(run.calls)) for run in runs] == [("a", "42", 1), ("b", "43", 1)]


def test_trajectories_come_out_as_messages(installation: Workspace, tmp_path: Path) -> None:
    assert export(evaluated(installation), "openai_messages", tmp_path / "out.jsonl").exit_code == 0
    first, _ = (orjson.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines())
    assert [message["role"] for message in first["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_scores_come_out_as_events_of_opentelemetry(installation: Workspace, tmp_path: Path) -> None:
    assert export(evaluated(installation), "otel_evaluations", tmp_path / "out.jsonl").exit_code == 0
    documents = [orjson.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    records = [document["resourceLogs"][0]["scopeLogs"][0]["logRecords"] for document in documents]
    tables = ("clip_scores", "category_assessments", "trajectory_scores")
    stored = [row for name in tables for row in installation.rows("runs", name) if row["mean"] is not None]
    assert len(records) == 2
    assert sum(map(len, records)) == len(stored)


def test_a_link_stays_and_what_it_leads_to_is_written(installation: Workspace, tmp_path: Path) -> None:
    link, file = tmp_path / "latest.jsonl", tmp_path / "runs.jsonl"
    file.write_text("old")
    link.symlink_to(file.name)
    assert export(evaluated(installation), "atif", link).exit_code == 0
    assert link.is_symlink() and file.read_text() != "old"


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_what_is_exported_to_stdout_is_not_overwritten(installation: Workspace, tmp_path: Path, output: str) -> None:
    home = Path(evaluated(installation).home.root.path)
    options = ["runs", "--format", "openai_messages", "--output", output, "--home", str(home)]
    with (tmp_path / "out.jsonl").open("wb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "evaluation_assets.cli", "export", *options],
            stdout=file,
            stderr=subprocess.PIPE,
            check=True,
        )
    assert [run.task_id for run in trajectories(tmp_path / "out.jsonl")] == ["a", "b"]
    assert done.stderr == b"/dev/stdout: 2 trajectories\n"


def test_a_drop_that_was_not_evaluated_cannot_be_exported(installation: Workspace, tmp_path: Path) -> None:
    done = export(installation, "atif", tmp_path / "out.jsonl")
    assert done.exit_code == 2
    assert "Evaluate it first" in done.output
    assert not (tmp_path / "out.jsonl").exists()
