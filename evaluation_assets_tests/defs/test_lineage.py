"""The lineage that people see: no edge that others imply, nothing cut off, columns on every table."""

from pathlib import Path

import dagster as dg
import pytest

from evaluation_assets.core.judging.panel import Panel, panel_of
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.tables import TABLES
from evaluation_assets.core.pipeline.settings import InvalidSettings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.lineage import readable
from evaluation_assets.defs.per_judge import LEVELS, judge_key
from evaluation_assets_tests.conftest import Workspace, materialization, record, workspace

JUDGES = ("one", "two")


@dg.asset
def verdicts() -> None:
    """The first."""


@dg.asset(deps=[verdicts])
def scores() -> None:
    """Made of verdicts."""


@dg.asset(deps=[scores, verdicts])
def report() -> None:
    """Reads both."""


@dg.asset(deps=[verdicts])
def page(scores: int) -> None:
    """Takes scores as an argument."""


def parents(assets: list[dg.AssetsDefinition]) -> dict[str, set[str]]:
    return {
        spec.key.to_user_string(): {dep.asset_key.to_user_string() for dep in spec.deps}
        for asset in assets
        for spec in asset.specs
    }


def test_an_edge_that_others_imply_is_left_out_but_of_arguments() -> None:
    assert parents(readable([verdicts, scores, report, page])) == {
        "verdicts": set(),
        "scores": {"verdicts"},
        "report": {"scores"},
        "page": {"scores", "verdicts"},
    }


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> dg.Definitions:
    home = Installation.at(str(tmp_path_factory.mktemp("home")))
    panel = panel_of({"judges": [{"name": name, "provider": "rules"} for name in JUDGES]}, "test")
    return build_definitions(home, panel)


def test_the_report_depends_on_every_table_that_it_reads(assembled: dg.Definitions) -> None:
    parents = assembled.resolve_asset_graph().get(dg.AssetKey("evaluation_report")).parent_keys
    read = {"raw_trajectories", "clips", "clip_scores", "trajectory_scores", "session_analyses", "task_metrics"}
    assert {dg.AssetKey(name) for name in read} <= parents
    assert {judge_key(table, judge) for table in LEVELS for judge in JUDGES} <= parents


def test_a_tag_selects_the_verdicts_of_one_judge_at_all_levels(assembled: dg.Definitions) -> None:
    graph = assembled.resolve_asset_graph()
    for judge in JUDGES:
        chosen = dg.AssetSelection.from_string(f"tag:judge={judge}").resolve(graph)
        assert {key.path[0] for key in chosen} >= {table.name for table in LEVELS}
        assert {key.path[1] for key in chosen} == {f"{judge}_{key.path[0]}" for key in chosen}


def test_every_table_has_its_columns_with_their_meaning(assembled: dg.Definitions) -> None:
    specs = assembled.resolve_all_asset_specs()
    shown = {spec.key.path[0]: spec.metadata.get("dagster/column_schema") for spec in specs}
    known = {name: TABLES[name] for name in shown if name in TABLES}
    assert len(known) > 20
    for name, table in known.items():
        schema = shown[name]
        assert isinstance(schema, dg.TableSchema)
        assert [(column.name, column.description) for column in schema.columns] == [
            (column.name, column.meaning) for column in table.columns
        ]


def test_columns_of_scores_lead_to_those_of_verdicts(installation: Workspace) -> None:
    installation.drop("d", record())
    result = installation.run("d")
    shown = materialization(result, "trajectory_scores").metadata["dagster/column_lineage"].value
    assert isinstance(shown, dg.TableColumnLineage)
    verdicts = judge_key(tables.TRAJECTORY_VERDICTS, "rules")
    of_means = shown.deps_by_column["mean"]
    assert {(dep.asset_key, dep.column_name) for dep in of_means} == {
        (verdicts, "scores"),
        (dg.AssetKey("clip_scores"), "mean"),
    }
    parents = installation.definitions.resolve_asset_graph().get(dg.AssetKey("trajectory_scores")).parent_keys
    assert verdicts in parents
    for key, column in {(dep.asset_key, dep.column_name) for deps in shown.deps_by_column.values() for dep in deps}:
        assert column in [each.name for each in TABLES[key.path[0]].columns]


def test_every_asset_leads_to_its_own_code_and_has_the_owners_of_the_installation(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    home.gate_file.write_text("lineage: {owners: [team:evals, ada@example.com]}")
    for spec in build_definitions(home, Panel()).resolve_all_asset_specs():
        assert list(spec.owners) == ["team:evals", "ada@example.com"]
        (source,) = spec.metadata["dagster/code_references"].code_references
        assert Path(source.file_path).parent.name == "defs"
        assert Path(source.file_path).name != "drop_step.py"
        assert Path(source.file_path).read_text().splitlines()[source.line_number - 1].lstrip().startswith("@")


def test_an_owner_that_nobody_could_be_is_refused(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    home.gate_file.write_text("lineage: {owners: [evals]}")
    with pytest.raises(InvalidSettings, match=r"lineage\.owners"):
        build_definitions(home, Panel())


@pytest.mark.filterwarnings("error::dagster.BetaWarning", "error::dagster.PreviewWarning")
def test_previews_of_dagster_are_no_concern_of_those_who_evaluate(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    """Workers of a deployment logged two warnings for each asset and run."""
    installation = workspace(tmp_path / "home", instance)
    installation.drop("d", record())
    assert installation.run("d").success
