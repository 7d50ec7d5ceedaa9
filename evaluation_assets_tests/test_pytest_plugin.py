"""The pytest plugin in the project of a user, who has this package installed."""

import json
import os
import subprocess
import sys

import pytest

from evaluation_assets_tests.forked_commands import forked_pytest
from evaluation_assets_tests.installed_plugin import with_pytest_plugin
from evaluation_assets_tests.model_judging import drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, rule
from evaluation_assets_tests.towns import TASKS, runs

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project in an environment that has the entry point of pyproject.toml, installed or not."""
    monkeypatch.setenv("PYTHONPATH", with_pytest_plugin(pytester.path))
    for name in ("EVALUATION_HOME", "EVALUATION_PANEL", "PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return project.runpytest_subprocess("-p", "no:cacheprovider", "-W", "error", *arguments)


def run_forked(*arguments: str) -> pytest.RunResult:
    """Run pytest in a process that has imported the product, so that its assertions cannot be rewritten."""
    options = ("-p", "no:cacheprovider", "-W", "error", "--assert", "plain")
    done = forked_pytest([*options, *arguments], dict(os.environ))
    return pytest.RunResult(done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), 0)


def test_a_test_fails_where_the_agent_got_worse(project: pytest.Pytester) -> None:
    (project.path / "main.jsonl").write_bytes(runs(TASKS))
    (project.path / "same.jsonl").write_bytes(runs(TASKS))
    (project.path / "worse.jsonl").write_bytes(runs(1, bad=TASKS - 1))
    project.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="module", autouse=True)
        def main(evaluation):
            return evaluation("main.jsonl")

        def test_same(evaluation):
            result = evaluation("same.jsonl")
            assert result.gate(baseline="main").verdict == "pass"
            assert result.passed and len(result.clips) == 24
            assert evaluation("same.jsonl") is result

        def test_worse(evaluation):
            evaluation("worse.jsonl").gate(baseline="main")

        def test_unknown(evaluation):
            evaluation("same.jsonl").gate(baseline="mian")

        def test_missing(evaluation):
            evaluation("none.jsonl")
        """
    )
    done = run(project)
    done.assert_outcomes(passed=1, failed=3)
    done.stdout.fnmatch_lines_random(
        [
            "worse against main: FAIL on 12 runs",
            "*success -0.917 on 12 tasks*",
            "*tasks that fell (11)*",
            "    task-1: success 1.00 -> 0.00*",
            f"  report: {project.path}/.evaluation/reports/worse/report.html",
            "UnknownName: there is no baseline 'mian'; promoted baselines: none; evaluated drops: main, same, worse",
            "UnusableInput: there is no file or folder at *none.jsonl",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*testing.py*")


def test_options_and_settings_name_home_and_panel(project: pytest.Pytester) -> None:
    (project.path / "runs.jsonl").write_bytes(runs(1))
    (project.path / "panel.yaml").write_text("judges: [{name: strict, provider: rules}]")
    project.makepyfile(
        """
        def test_judges(evaluation):
            assert set(evaluation("runs.jsonl").verdicts["judge"]) == {"strict"}
        """
    )
    project.makeini("[pytest]\nevaluation_home = by_setting\nevaluation_panel = none.yaml\n")
    run_forked("--evaluation-panel", "panel.yaml").assert_outcomes(passed=1)
    assert (project.path / "by_setting" / "reports" / "runs" / "report.html").exists()


def test_an_incomplete_evaluation_is_no_passed_gate(project: pytest.Pytester, server: ModelServer) -> None:
    (project.path / "main.jsonl").write_bytes(drop_of(2))
    (project.path / "panel.json").write_text(json.dumps({"judges": [judge(server)]}))
    project.makepyfile(
        """
        def test_judged(evaluation):
            evaluation("main.jsonl", panel="panel.json", budget=1.0).gate(baseline="main")
        """
    )
    server.script([rule("wrong_key")])
    done = run_forked()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["main was not evaluated completely: enough_scored: *", "report: */main/report.html"])


def test_a_project_that_does_not_use_it_does_not_notice_it(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import sys

        def test_imports():
            assert "evaluation_assets.pytest_plugin" in sys.modules
            assert not {"dagster", "pandas", "evaluation_assets.api", "evaluation_assets.testing"} & set(sys.modules)
        """
    )
    run(project).assert_outcomes(passed=1)
    shown = run(project, "--help").stdout.str()
    assert "--evaluation-home=PATH" in shown and "--evaluation-panel=PATH" in shown


def test_the_plugin_imports_only_pytest_and_the_package() -> None:
    script = (
        "import sys, pytest\nbefore = set(sys.modules)\nimport evaluation_assets.pytest_plugin\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["evaluation_assets", "evaluation_assets.pytest_plugin"]
