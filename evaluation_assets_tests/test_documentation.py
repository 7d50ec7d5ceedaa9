"""Lines of the documentation that users copy: which tables a query reads, and what the workflow installs."""

import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import dagster as dg
import pytest
import yaml
from packaging.requirements import Requirement
from upath import UPath

from evaluation_assets.cli.ui import ui
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs import groups

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GLOBS = [
    (page.name, pattern)
    for page in PAGES
    for pattern in re.findall(r"'\.evaluation/(lake/[^']*\*[^']*)'", page.read_text())
]


def test_the_readme_and_the_documentation_stay_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 90
    assert sum(len(page.read_text("utf-8").split()) for page in (ROOT / "docs").glob("*.md")) <= 60_000


def test_the_readme_names_commands_that_can_be_typed() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    indented = [line.split("#")[0].split() for line in text.splitlines() if re.match(r" {4,7}\S", line)]
    programs = [words[0] for words in indented if words]
    assert {"make", ".", "evaluation-assets"} <= set(programs) and programs.index(".") < programs.index(
        "evaluation-assets"
    )
    gate = [words[1] for words in indented if words[0] == "evaluation-assets"][-3:]
    assert gate == ["baseline", "evaluate", "gate"]
    assert not re.search(r"`(groups list|baseline promote|gate) ?[A-Z]*`,? ?(then|See)", text)


def test_make_help_lists_the_targets() -> None:
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    helped = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert [line.split()[0] for line in listed.splitlines()] == helped
    assert "for contributors" in next(line for line in listed.splitlines() if line.startswith("test "))


def test_make_says_what_it_downloads_before_it_starts() -> None:
    steps = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "--always-make", "demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    said = [steps.index(each) for each in ("200 MB to download", "-m venv", "uv pip install", "first start takes")]
    assert said == sorted(said) and "quiet=--quiet" in steps


def test_queries_are_documented() -> None:
    assert len(GLOBS) >= 4


@pytest.mark.parametrize(("page", "pattern"), GLOBS)
def test_a_documented_query_reads_drops_of_suites_too(tmp_path: Path, page: str, pattern: str) -> None:
    table = tmp_path / pattern.split("*")[0]
    for drop in ("alone", "suite/one", "team/suite/two"):
        path = table / f"{drop}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = {path.relative_to(table).with_suffix("").as_posix() for path in tmp_path.glob(pattern)}
    assert found == {"alone", "suite/one", "team/suite/two"}, page


def installed_by_the_workflow(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the workflow's installing step with a pip that only says what it was asked for."""
    pip = folder / "pip"
    pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    pip.chmod(0o755)
    steps = yaml.safe_load((ROOT / "docs" / "ci" / "evaluation.yml").read_text())["jobs"]["gate"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("run", "").startswith("pip ")]
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-ec", script], env=environment | {"PATH": path}, capture_output=True, text=True, check=False
    )


def test_the_workflow_installs_this_project_from_where_it_is(tmp_path: Path) -> None:
    address = "git+https://git.example.com/team/evaluation_assets@v1"
    command, asked = installed_by_the_workflow(tmp_path, EVALUATION_ASSETS=address).stdout.splitlines()
    wanted = Requirement(asked)
    name = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"]
    assert (command, wanted.name.replace("-", "_"), wanted.url) == ("install", name.replace("-", "_"), address)


def test_the_workflow_asks_for_the_address_where_it_is_not_set(tmp_path: Path) -> None:
    done = installed_by_the_workflow(tmp_path)
    assert done.returncode != 0
    assert "set the variable EVALUATION_ASSETS" in done.stderr
    assert done.stdout == ""


def test_the_scope_of_rate_limits_is_documented() -> None:
    assert "**Rate limits belong to the endpoint.**" in (ROOT / "docs" / "judging.md").read_text("utf-8")


SHOWN = re.findall(r"`([a-z_/]+\.py)::(\w+)`", (ROOT / "docs" / "operations.md").read_text())


def test_faults_are_shown_by_tests() -> None:
    assert len(SHOWN) > 30


@pytest.mark.parametrize(("file", "name"), SHOWN)
def test_each_test_that_shows_a_fault_is_there(file: str, name: str) -> None:
    assert f"\ndef {name}(" in (ROOT / "evaluation_assets_tests" / file).read_text()


WELCOME = [ROOT / "CONTRIBUTING.md", ROOT / "AGENTS.md", ROOT / "docs" / "releasing.md"]


@pytest.mark.parametrize("page", WELCOME, ids=lambda page: page.name)
def test_contributors_are_pointed_to_files_that_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:core|defs|runs|cli|evaluation_assets|evaluation_assets_tests|docs)/[\w./]*)", page.read_text()
    )
    assert len(named) > 2
    assert [path for path in named if not any((ROOT / top / path).exists() for top in ("", "evaluation_assets"))] == []


@pytest.mark.parametrize("page", WELCOME, ids=lambda page: page.name)
def test_contributors_are_told_targets_of_make_that_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lines = re.findall(r"^    (?:.*&& )?make ([a-z -]+)", page.read_text(), re.MULTILINE)
    named = {target for line in lines for target in re.split(r"  | &&", line)[0].split()}
    assert named | set(re.findall(r"`make ([a-z-]+)`", page.read_text())) <= targets


def test_make_starts_the_ui_on_the_port_that_it_is_given() -> None:
    asked = ["make", "--dry-run", "--no-print-directory", "ui", "PORT=4123", "HOME_DIR=/elsewhere"]
    shown = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    given = ui.make_context("ui", shlex.split(shown.splitlines()[-1])[2:]).params
    assert (given["port"], given["home_url"]) == (4123, "/elsewhere")


def test_commits_that_serve_as_examples_exist() -> None:
    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)

    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("the history is not here")
    commits = re.findall(r"`git show ([0-9a-f]{7})`", WELCOME[0].read_text())
    assert commits
    assert [commit for commit in commits if git("cat-file", "-e", f"{commit}^{{commit}}").returncode] == []


def test_the_workflow_runs_what_must_pass_before_a_change_lands() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert {"push", "pull_request"} <= set(workflow[True])  # YAML 1.1 reads the key `on` as true
    job = workflow["jobs"]["run"]
    assert [step["run"] for step in job["steps"] if "run" in step][-1] == ".ci/run"
    supported = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest, *newer = job["strategy"]["matrix"]["python"]
    assert supported["requires-python"] == f">={oldest}"
    assert all(f"Programming Language :: Python :: {version}" in supported["classifiers"] for version in newer)
    assert newer


def test_the_page_on_the_architecture_has_each_asset_in_the_group_that_the_ui_shows_it_in(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    lines = re.findall(r"^    (\d_\w+) +(.*(?:\n {21}.*)*)", page, re.MULTILINE)
    told = {group: set(re.findall(r"\w+", text)) for group, text in lines}
    home = Installation(UPath(tmp_path), UPath(tmp_path / "lake"))
    assets = [
        asset for asset in build_definitions(home, Panel()).assets or () if isinstance(asset, dg.AssetsDefinition)
    ]
    shown = {(spec.group_name, spec.key.path[0]) for asset in assets for spec in asset.specs}
    assert [(group, name) for group, name in sorted(shown) if name not in told[str(group)]] == []
    assert sorted(told) == sorted(group for group in vars(groups).values() if re.match(r"\d_", str(group)))
