"""Runs that share a task are counted in the same words wherever they are counted."""

import json
from pathlib import Path

from evaluation_assets_tests.conftest import command

SHARED = "5 runs of 4 tasks"


def test_one_wording_everywhere(tmp_path: Path) -> None:
    runs = [
        {
            "task_id": task,
            "task_description": f"How high is mountain {task}?",
            "raw_response": "<search_tool><find>x</find></search_tool><result>y</result><answer>y</answer>",
            "success": True,
        }
        for task in ("a", "a", "b", "c", "d")
    ]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, runs)))
    home = tmp_path / "home"
    done = command("evaluate", tmp_path / "runs.jsonl", "--quiet", "--verbose", home=home)
    assert f"success 5 of {SHARED} (100.0%, 95% CI " in done.stdout
    assert f"process score 1.000 over {SHARED}" in done.stdout
    reports = home / "reports"
    assert f"**Success 5 of {SHARED} (" in (reports / "runs" / "report.md").read_text()
    page = (reports / "runs" / "report.html").read_text()
    assert f">success 5 of {SHARED} (" in page and f'Mean over <a href="#/runs">{SHARED}</a>' in page
    command("overview", home=home)
    assert f'<td class="n">{SHARED}</td>' in (reports / "index.html").read_text()
    assert command("baseline", "promote", "runs", "--reason", "first", home=home).returncode == 0
    gate = command("gate", "runs", home=home)
    assert gate.stdout.startswith("runs against runs: ") and f" on {SHARED}\n" in gate.stdout, gate
