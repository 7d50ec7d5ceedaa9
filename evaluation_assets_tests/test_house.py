"""The house stays in order: layers, code location, package contents."""

import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path

import dagster as dg
import pytest
import yaml

import evaluation_assets
from evaluation_assets import core, definitions
from evaluation_assets.core.lake.tables import TABLES
from evaluation_assets.core.models.providers.capabilities import PROVIDERS
from evaluation_assets.core.report.sinks.settings import SETTINGS as SINKS
from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.traces.formats.registry import FORMATS

ROOT = Path(__file__).parent.parent


def test_imports_point_downwards() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def rooms_of_the_core() -> list[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["name"] == "The rooms of the core")["layers"]


def test_the_core_has_rooms_only() -> None:
    assert {module.name for module in pkgutil.iter_modules(core.__path__)} == set(rooms_of_the_core())


def test_the_architecture_page_names_the_rooms_in_their_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    block = page.partition("| room | what is in it |\n|---|---|\n")[2].partition("\n\n")[0]
    assert [line.split("|")[1].strip() for line in block.splitlines()] == rooms_of_the_core()


@pytest.mark.parametrize(
    "module", sorted((ROOT / "evaluation_assets" / "core" / "models").rglob("*.py")), ids=lambda path: path.stem
)
def test_the_client_for_models_knows_no_judge(module: Path) -> None:
    assert not re.search(r"judge|panel|verdict|rubric", module.read_text("utf-8"), re.IGNORECASE)


def test_a_module_can_be_read_at_one_sitting() -> None:
    modules = sorted((ROOT / "evaluation_assets").rglob("*.py"))
    lines = {str(module.relative_to(ROOT)): len(module.read_text("utf-8").splitlines()) for module in modules}
    assert lines
    long = [f"{module}: {count}" for module, count in lines.items() if count > 400]
    assert not long, "\n".join(long)


def test_folders_of_tests_are_packages_of_the_project() -> None:
    tests = ROOT / "evaluation_assets_tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    mirrored = {
        folder
        for folder in folders
        if folder.parts and folder.parts[0] not in ("model_server", "benchmarks", "generated_pages")
    }
    assert {"api", "core", "cli", "defs", "resources", "runs"} == {folder.parts[0] for folder in mirrored}
    assert all((ROOT / "evaluation_assets" / folder / "__init__.py").exists() for folder in mirrored)
    assert all((tests / folder / "__init__.py").exists() for folder in mirrored)


def test_definitions_of_assets_hold_no_classes_but_settings() -> None:
    for module in sorted((ROOT / "evaluation_assets" / "defs").glob("*.py")):
        classes = re.findall(r"^class \w+\((.*)\):", module.read_text("utf-8"), re.MULTILINE)
        bases = {base.strip() for listed in classes for base in listed.split(",")}
        assert all(base.endswith("Config") for base in bases), module.name


def test_the_code_location_of_workspace_and_project_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = yaml.safe_load((ROOT / "workspace.yaml").read_text())
    assert workspace["load_from"][0]["python_module"]["module_name"] == definitions.__name__
    monkeypatch.setenv("EVALUATION_HOME", str(tmp_path))
    loaded = definitions.defs()
    assert isinstance(loaded, dg.Definitions)
    dg.Definitions.validate_loadable(loaded)


def test_an_installation_with_everything_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The web server loads all jobs at once, which a run does not."""
    monkeypatch.setenv("EVALUATION_HOME", str(tmp_path))
    shutil.copytree(ROOT / "examples" / "agents", tmp_path / "agents")
    judges = [{"name": "rules", "provider": "rules"}, {"name": "haiku", "provider": "anthropic", "repeats": 2}]
    (tmp_path / "panel.yaml").write_text(yaml.safe_dump({"judges": judges}))
    loaded = definitions.defs()
    assert isinstance(loaded, dg.Definitions)
    dg.Definitions.validate_loadable(loaded)
    assert loaded.resolve_job_def("run_agents")


def test_no_judge_can_have_a_name_that_dagster_refuses() -> None:
    from dagster._core.definitions.utils import DISALLOWED_NAMES

    from evaluation_assets.core.models.endpoints import RESERVED_NAMES

    assert {name for name in DISALLOWED_NAMES if name.islower()} <= RESERVED_NAMES


def test_the_lineage_is_the_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATION_HOME", str(tmp_path))
    loaded = definitions.defs()
    assert isinstance(loaded, dg.Definitions)
    graph = loaded.resolve_asset_graph()

    def parents(*key: str) -> set[str]:
        return {parent.to_user_string() for parent in graph.get(dg.AssetKey(list(key))).parent_keys}

    assert parents("raw_trajectories") == set()
    assert parents("clips") == {"preprocessed_trajectories"}
    assert parents("clip_verdicts", "rules_clip_verdicts") == {"clips"}
    assert parents("clip_scores") == {"clip_verdicts/rules_clip_verdicts"}
    assert parents("category_verdicts", "rules_category_verdicts") == {"clip_verdicts/rules_clip_verdicts"}
    assert parents("trajectory_verdicts", "rules_trajectory_verdicts") == {"category_verdicts/rules_category_verdicts"}
    assert parents("tool_use_results") == {"raw_trajectories"}
    assert parents("failure_patterns") == {"tool_use_results"}
    assert parents("coding_work") == {"raw_trajectories"}
    assert parents("constraint_results") == {"raw_trajectories"}
    assert parents("predicted_outcomes") == {"findings"}
    assert parents("session_verdicts", "rules_session_verdicts") == {"preprocessed_trajectories"}
    assert parents("session_analyses") == {"session_verdicts/rules_session_verdicts"}
    assert {"session_analyses", "coding_work", "constraint_results"} <= parents("findings")
    assert "findings" in parents("task_metrics")
    assert "predicted_outcomes" in parents("review_queue")
    assert parents("score_history") == {"task_metrics"}
    assert parents("process_scores") == parents("findings")
    assert "coding_work" in parents("process_scores")
    assert "process_scores" in parents("review_queue")
    assert {"raw_trajectories", "clip_scores", "failure_patterns", "score_history"} <= parents("evaluation_report")
    group_of = {key: graph.get(key).group_name or "" for key in graph.get_all_asset_keys()}
    assert set(group_of.values()) == {
        "1_read_runs",
        "2_score_clips",
        "3_score_tools",
        "4_score_runs",
        "5_find_failures",
        "6_compare",
        "7_report",
        "8_all_drops",
    }
    for key, group in group_of.items():
        assert all(group_of[parent] <= group for parent in graph.get(key).parent_keys), f"{key} reads a later group"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("formats", FORMATS),
        ("judging", PROVIDERS),
        ("sinks", SINKS),
        ("findings", [kind for detector in DETECTORS for kind in detector.kinds]),
    ],
)
def test_a_page_names_everything_of_its_kind(page: str, names: Collection[str]) -> None:
    written = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    assert names
    missing = [name for name in names if f"`{name}`" not in written]
    assert not missing, f"describe in docs/{page}.md: {', '.join(missing)}"


@pytest.mark.parametrize(
    ("page", "module"),
    [
        ("tables", "evaluation_assets_tests.generated_pages.tables"),
        ("rubrics", "evaluation_assets_tests.generated_pages.rubrics"),
        ("api", "evaluation_assets_tests.generated_pages.python_api"),
        ("cli", "evaluation_assets_tests.generated_pages.commands"),
        ("configuration", "evaluation_assets_tests.generated_pages.settings"),
    ],
)
def test_a_generated_page_is_what_its_command_writes(page: str, module: str) -> None:
    written = subprocess.run([sys.executable, "-m", module], cwd=ROOT, capture_output=True, check=True).stdout
    assert (ROOT / "docs" / f"{page}.md").read_bytes() == written, "run `make docs`"


def test_the_reference_of_the_api_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    missing = [name for name in evaluation_assets.__all__ if f"### {name}\n" not in page.replace("### class ", "### ")]
    assert not missing


def test_a_meaning_of_a_column_stays_in_its_cell() -> None:
    columns = [(name, column) for name, table in TABLES.items() for column in table.columns]
    assert columns
    assert [(name, column.name) for name, column in columns if not column.meaning.endswith(".")] == []
    assert [(name, column.name) for name, column in columns if set("|\n") & set(column.meaning)] == []
