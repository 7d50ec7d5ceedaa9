"""The GitHub Action, step by step on this machine, with a local server in place of GitHub's API."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import evaluation_assets as ea
from evaluation_assets_tests.core.report.sinks.test_github import SHA, Github
from evaluation_assets_tests.http_server import http_server
from evaluation_assets_tests.towns import TASKS, runs

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
WORKFLOW = yaml.safe_load((ROOT / "docs" / "ci" / "pull_request.yml").read_text())
SCRIPTS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
EVALUATION = ("Prepare the comment", "Evaluate", "Annotate")
HOSTILE = b"@everyone <img src=x> [link](http://evil.example)"


class Job:
    """A job of a pull request that uses the action: runs its scripts as GitHub's runner does."""

    def __init__(self, folder: Path, api_url: str) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        program = programs / "evaluation-assets"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m evaluation_assets.cli "$@"\n')
        program.chmod(0o755)
        self.output, self.summary = folder / "output", folder / "summary"
        self.environment = os.environ | {
            "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT),
            "GITHUB_API_URL": api_url,
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_SHA": SHA,
            "GITHUB_REF": "refs/pull/7/merge",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(folder / "temp"),
        }

    def run(self, inputs: dict[str, str], steps: Sequence[str] = EVALUATION) -> list[subprocess.CompletedProcess[str]]:
        """Run the scripts of steps; the default is those after the installation."""
        given = {name: about.get("default", "") for name, about in ACTION["inputs"].items()} | inputs
        done: list[subprocess.CompletedProcess[str]] = []
        for step in map(SCRIPTS.__getitem__, steps):
            own = {name: self._evaluated(text, given) for name, text in step.get("env", {}).items()}
            done.append(
                subprocess.run(
                    ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                    cwd=self.workspace,
                    env=self.environment | own,
                    capture_output=True,
                    text=True,
                    check=False,
                )
            )
        return done

    @property
    def outputs(self) -> dict[str, str]:
        lines = self.output.read_text().splitlines() if self.output.exists() else []
        return dict(line.split("=", 1) for line in lines)

    def _evaluated(self, text: str, inputs: dict[str, str]) -> str:
        known = {f"inputs.{name}": value for name, value in inputs.items()} | {"github.token": "token"}
        known |= {f"steps.evaluate.outputs.{name}": value for name, value in self.outputs.items()}
        for _ in range(2):  # the default of an input may be an expression too
            text = re.sub(r"\$\{\{ (.*?) \}\}", lambda found: known[found[1]], text)
        return text


def own_comments(store: Github) -> list[str]:
    return [each["body"] for each in store.comments if "person" not in each["body"]]


def test_a_pull_request_gets_one_comment_that_is_updated_and_fails_where_the_agent_got_worse(tmp_path: Path) -> None:
    store = Github()
    with http_server(store.answer) as url:
        job = Job(tmp_path, url)
        source, home = job.workspace / "current.jsonl", job.workspace / ".evaluation"
        inputs = {"source": "current.jsonl", "drop": "support/current"}
        source.write_bytes(runs(TASKS).replace(b"task-9", HOSTILE))
        first = job.run(inputs)
        assert [done.returncode for done in first] == [0, 0, 0], first
        assert "There is no baseline yet" in own_comments(store)[0]
        ea.load_home(home)["support/current"].promote()
        source.write_bytes(runs(1, bad=TASKS - 1).replace(b"task-9", HOSTILE))
        prepare, evaluate, annotate = job.run(inputs)
    assert (prepare.returncode, evaluate.returncode, annotate.returncode) == (0, 1, 0), evaluate.stderr
    (comment,) = own_comments(store)
    assert "fail" in comment and "success" in comment and "task" in comment
    assert "::error title=gate fail::support/current" in annotate.stdout
    assert "support/current" in job.summary.read_text().replace("\\", "")
    assert "](report" not in job.summary.read_text(), "nothing is beside the summary"
    assert re.search(r"\nThe full report is in the artifact `evaluation-\S+`\.\n$", job.summary.read_text())
    shown = comment + job.summary.read_text()
    assert "&lt;img src=x&gt;" in comment
    assert "<img" not in shown and "@everyone" not in shown and "](http://evil" not in shown
    assert (tmp_path / "temp" / "evaluation" / "support" / "current" / "report.html").exists()


def test_a_source_that_is_not_there_is_annotated_with_no_earlier_gate(tmp_path: Path) -> None:
    job = Job(tmp_path, "http://127.0.0.1:9")
    (job.workspace / "current.jsonl").write_bytes(runs(TASKS))
    inputs = {"source": "current.jsonl", "drop": "support/current"}
    assert [done.returncode for done in job.run(inputs, steps=["Evaluate"])] == [0]
    ea.load_home(job.workspace / ".evaluation")["support/current"].promote()
    job.environment["RUNNER_TEMP"] = str(tmp_path / "next job")
    evaluate, annotate = job.run(inputs | {"source": "none.jsonl"}, steps=["Evaluate", "Annotate"])
    assert (evaluate.returncode, annotate.returncode, annotate.stdout) == (2, 0, "")


def test_inputs_are_never_part_of_a_script(tmp_path: Path) -> None:
    assert not any("${{" in step["run"] for step in SCRIPTS.values())
    with http_server(Github().answer) as url:
        job = Job(tmp_path, url)
        done = job.run({"source": "$(touch ran).jsonl", "drop": 's/d"; touch ran; "', "panel": "`touch ran`"})
    assert done[1].returncode == 2
    assert not (job.workspace / "ran").exists()


def test_sinks_of_the_home_folder_stay(tmp_path: Path) -> None:
    job = Job(tmp_path, "http://127.0.0.1:9")
    sinks = job.workspace / ".evaluation" / "sinks.yaml"
    sinks.parent.mkdir()
    sinks.write_text("sinks: {}")
    assert job.run({"source": "none.jsonl", "drop": "s/d"}, steps=EVALUATION[:1])[0].returncode == 0
    assert sinks.read_text() == "sinks: {}"


def test_it_installs_the_project_that_it_is_part_of(tmp_path: Path) -> None:
    pip = tmp_path / "pip"
    pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    pip.chmod(0o755)
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(ROOT)}
    asked = subprocess.run(["bash", "-ec", SCRIPTS["Install"]["run"]], env=environment, capture_output=True, text=True)
    paths = [Path(line) for line in asked.stdout.splitlines() if line.startswith("/")]
    assert paths == [ROOT / "constraints.txt", ROOT]
    assert all(path.exists() for path in paths)


@pytest.mark.parametrize(
    ("artifact", "name"), [("", "evaluation-support-current"), ("runs on 3.12/linux", "runs-on-3.12-linux")]
)
def test_the_artifact_has_a_name_of_its_own_that_github_takes(tmp_path: Path, artifact: str, name: str) -> None:
    job = Job(tmp_path, "http://127.0.0.1:9")
    job.run({"source": "none.jsonl", "drop": "support/current", "artifact": artifact}, steps=["Evaluate"])
    assert job.outputs["artifact"] == name
    (upload,) = (step for step in ACTION["runs"]["steps"] if step.get("uses", "").startswith("actions/upload-artifact"))
    assert upload["with"]["name"] == "${{ steps.evaluate.outputs.artifact }}"


def test_packages_are_cached_by_the_list_that_is_installed(tmp_path: Path) -> None:
    job = Job(tmp_path, "http://127.0.0.1:9")
    packages = {}
    for version in ("1", "2"):
        (tmp_path / "constraints.txt").write_text(f"dagster=={version}\n")
        job.environment["GITHUB_ACTION_PATH"] = str(tmp_path)
        (done,) = job.run({}, steps=["Find the cache of pip"])
        assert done.returncode == 0, done.stderr
        packages[version] = job.outputs["packages"]
    assert Path(job.outputs["folder"]).is_absolute()
    assert packages["1"] != packages["2"]
    (cache,) = (step["with"] for step in ACTION["runs"]["steps"] if step.get("uses", "").startswith("actions/cache"))
    assert cache["path"] == "${{ steps.pip.outputs.folder }}"
    assert "${{ steps.pip.outputs.packages }}" in cache["key"]


@pytest.mark.parametrize("step", [step for step in WORKFLOW["jobs"]["evaluate"]["steps"] if "with" in step])
def test_the_workflow_gives_inputs_and_permissions_that_the_action_has(step: dict[str, Any]) -> None:
    assert step["uses"].startswith("your-team/evaluation_assets@")
    required = {name for name, about in ACTION["inputs"].items() if about.get("required")}
    assert required <= step["with"].keys() <= ACTION["inputs"].keys()
    assert WORKFLOW["permissions"] == {"contents": "read", "pull-requests": "write"}
