"""Reports of the drops that agents wrote on suites."""

from dataclasses import replace
from pathlib import Path

from upath import UPath

from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.report.agents.agent_runs import report_of
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.traces.formats.readers.canonical import line_of
from evaluation_assets_tests.core.making import answer, trajectory

SUITE = Suite.model_validate({"name": "s", "cases": [{"id": "a", "message": "m"}, {"id": "b", "message": "m"}]})


def test_a_run_that_begins_with_a_long_attempt_has_a_report(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "agent.drop.yaml").write_text("format: canonical\n")
    runs = [replace(trajectory(answer("word " * words)), task_id=case) for case, words in (("a", 300_000), ("b", 1))]
    (folder / "agent.jsonl").write_bytes(b"".join(map(line_of, runs)))
    assert report_of(scan(UPath(tmp_path)).drops["s/agent"], SUITE).attempts == 2
