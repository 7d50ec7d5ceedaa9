"""`evaluate`, `plan` and `explain` with a metric of another package on the panel."""

import json
from pathlib import Path

import pytest
import yaml

from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import KEY, command
from evaluation_assets_tests.model_server import ModelServer, rule

RUNS = [
    {"task_id": "A3", "reference_answer": "There are 3.", "task_description": "How many?", "final": "3 of A3."},
    {"task_id": "A4", "task_description": "How many?", "final": "None."},
]


@pytest.fixture
def evaluated(tmp_path: Path, server: ModelServer) -> Path:
    """A drop, and a home with a panel of two metrics."""
    home = tmp_path / "home"
    home.mkdir()
    lines = [{**run, "raw_response": f"<answer>{run['final']}</answer>"} for run in RUNS]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    model = {"provider": "openai_compatible", "model": "m", "base_url": server.openai_url, "api_key_env": "TEST_KEY"}
    judges = [
        {"name": "facts", **model, "price": {"input": 1, "output": 2}, "evaluator": evaluator("Factuality")},
        {"name": "edits", "provider": "python", "evaluator": evaluator("Levenshtein")},
    ]
    (home / "panel.yaml").write_text(yaml.safe_dump({"judges": judges}))
    server.script([rule("text", text='{"reasons": "It says more.", "choice": "B"}')])
    return home


def evaluator(metric: str) -> dict[str, str]:
    return {"package": "autoevals", "metric": metric}


def test_metrics_of_another_package_are_judges(evaluated: Path, server: ModelServer) -> None:
    runs = evaluated.parent / "runs.jsonl"
    planned = command("plan", runs, home=evaluated, TEST_KEY=KEY).stdout
    assert "judge facts        1 new calls (trajectory 1), 0 in the ledger" in planned
    assert "one call per verdict is priced; a metric that makes several costs more" in planned
    assert "judge edits        no model calls, no cost" in planned

    done = command("evaluate", runs, "--yes", "--quiet", home=evaluated, TEST_KEY=KEY)
    assert done.returncode == 0, done.stderr
    at = Installation.at(str(evaluated))
    verdicts = {
        (row["judge"], row["trajectory_id"]): (row["outcome"], row["model"], dict(row["scores"]))
        for judge in ("facts", "edits")
        for row in at.table("runs", "trajectory_verdicts", judge).rows()
    }
    factuality, levenshtein = "autoevals:Factuality m", "autoevals:Levenshtein"
    assert verdicts["facts", "A3"] == ("scored", factuality, {"autoevals_factuality": 0.6})
    assert verdicts["facts", "A4"] == ("abstained", factuality, {"autoevals_factuality": None})
    assert verdicts["edits", "A3"][:2] == ("scored", levenshtein)
    means = {row["criterion"]: row["mean"] for row in at.table("runs", "trajectory_scores").rows() if row["n_scored"]}
    assert means["autoevals_factuality"] == 0.6
    assert len(server.requests()) == 1
    assert "0 new calls, 1 in the ledger" in command("plan", runs, home=evaluated, TEST_KEY=KEY).stdout

    shown = command("explain", "runs", "A3", "autoevals_factuality", "--full", home=evaluated, TEST_KEY=KEY).stdout
    assert "[Expert]: There are 3." in shown
    assert '"choice":"B"' in shown.replace(" ", "")


def test_a_metric_that_does_not_exist_is_refused_before_anything_is_asked(evaluated: Path, server: ModelServer) -> None:
    panel = evaluated / "panel.yaml"
    panel.write_text(panel.read_text().replace("Factuality", "Factualty"))
    for verb in ("evaluate", "plan"):
        done = command(verb, evaluated.parent / "runs.jsonl", home=evaluated, TEST_KEY=KEY)
        assert done.returncode != 0
        assert "judge facts: autoevals has no metric Factualty; did you mean 'Factuality'?" in done.stderr
    assert server.requests() == []
