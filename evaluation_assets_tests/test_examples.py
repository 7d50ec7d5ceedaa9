"""The examples for Python run: the script, the notebook cell by cell, the tests, and the code in the documentation."""

import ast
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evaluation_assets
from evaluation_assets_tests.conftest import SAMPLE
from evaluation_assets_tests.forked_commands import forked_pytest
from evaluation_assets_tests.installed_plugin import with_pytest_plugin
from evaluation_assets_tests.model_server import ModelServer

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


def run(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=os.environ | {"EVALUATION_HOME": str(folder / "home"), "PYTHONPATH": with_pytest_plugin(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_script_compares_two_files(tmp_path: Path) -> None:
    done = run(EXAMPLES / "python" / "compare.py", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tagged: 16 trajectories; partial: 1 record rejected" in done.stdout
    assert "browser_use" in done.stdout
    assert "after against before: PASS" in done.stdout


def test_the_tests_of_an_agent_pass(tmp_path: Path) -> None:
    environment = {"EVALUATION_HOME": str(tmp_path / "home"), "PYTHONPATH": with_pytest_plugin(tmp_path)}
    options = ["-p", "no:cacheprovider", "--assert", "plain"]
    done = forked_pytest([*options, str(EXAMPLES / "pytest")], os.environ | environment)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the Dagster project, which can be imported."""
    copied = shutil.copytree(EXAMPLES / "dagster_project", tmp_path / "project")
    monkeypatch.syspath_prepend(str(copied / "src"))
    yield copied
    for name in [name for name in sys.modules if name.split(".")[0] == "support_bot"]:
        del sys.modules[name]


def test_the_dagster_project_evaluates_what_its_agent_does(project: Path) -> None:
    test = runpy.run_path(str(project / "tests" / "test_project.py"))
    test["test_runs_of_the_agent_are_evaluated"]()
    assert evaluation_assets.load_home(project / ".evaluation").drops == ["agent_runs"]


def test_the_model_judge_of_the_dagster_project_is_one_line_away(project: Path, server: ModelServer) -> None:
    folder = project / "src" / "support_bot" / "defs" / "evaluation"
    settings = folder / "defs.yaml"
    settings.write_text(settings.read_text().replace("  inputs:", "  panel: panel.yaml\n  inputs:"))
    (folder / "panel.yaml").write_text(
        (folder / "panel.yaml")
        .read_text()
        .replace("gpt-5-mini", f"gpt-5-mini, base_url: {server.openai_url}, api_key_env: TEST_KEY")
    )
    test = runpy.run_path(str(project / "tests" / "test_project.py"))
    test["test_runs_of_the_agent_are_evaluated"]()
    verdicts = evaluation_assets.load_home(project / ".evaluation")["agent_runs"].verdicts
    assert {"rules", "gpt"} == set(verdicts["judge"])
    assert set(verdicts[verdicts["judge"] == "gpt"]["outcome"]) == {"scored"}


@pytest.mark.slow
def test_dg_checks_the_dagster_project(project: Path) -> None:
    checked = subprocess.run(
        [Path(sys.executable).with_name("dg"), "check", "defs"],
        cwd=project,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(project / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
    assert "All definitions loaded successfully" in checked.stdout
    assert "Warning" not in checked.stderr, "previews of Dagster are no concern of the host project"


def executed(code: str, names: dict[str, Any]) -> object:
    """The value of the last expression of a cell, as a notebook shows it."""
    tree = ast.parse(code)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "cell", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_every_cell_of_the_notebook_shows_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES / "notebook")
    monkeypatch.setenv("EVALUATION_HOME", str(tmp_path))
    cells = json.loads((EXAMPLES / "notebook" / "evaluate.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for number, cell in enumerate(code):
        shown: Any = executed(cell, names)
        assert "<table" in shown._repr_html_(), f"cell {number}"
    assert all(cell.get("outputs", []) == [] for cell in cells), "outputs are not committed"


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVALUATION_HOME", raising=False)
    (tmp_path / "runs.jsonl").write_bytes(SAMPLE.read_bytes())
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(blocks) == 5
    names: dict[str, Any] = {}
    for block in blocks:
        executed(block, names)
    assert names["home"].drops == ["branch", "main", "runs", "support/tuesday"]
    assert len(names["reading"]) == 16
