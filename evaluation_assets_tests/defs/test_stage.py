"""A stage is a plain object: its function runs without Dagster, and nothing is dug out of an asset definition."""

import ast
import logging
from collections.abc import AsyncIterator, Iterator, Set
from pathlib import Path

import dagster as dg
import pytest

import evaluation_assets
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.lake.tables import CLIPS
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.defs import ingest
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.stage import Result, Stage, stage
from evaluation_assets_tests.conftest import record

PACKAGE = Path(evaluation_assets.__file__).parent
ONE, TWO = dg.AssetSpec("one"), dg.AssetSpec("two")
CHECK = dg.AssetCheckSpec("holds", asset="one")


def chosen(*keys: str, checks: Set[dg.AssetCheckKey] = frozenset(), home: str = "memory://stage") -> DropRun:
    assets = {dg.AssetKey(key) for key in keys}
    return DropRun(
        key="d", home=Installation.at(home), run_id="r", log=logging.getLogger(), assets=assets, checks=checks
    )


@stage(ONE, checks=[CHECK])
def returning(drop: DropRun) -> Result:
    return dg.MaterializeResult(metadata={"drop": drop.key})


@stage(ONE, TWO, checks=[CHECK])
def yielding(drop: DropRun) -> Iterator[Result]:
    yield dg.MaterializeResult(asset_key="two")
    yield dg.AssetCheckResult(passed=True)


@stage(ONE)
async def awaiting(drop: DropRun) -> AsyncIterator[Result]:
    yield dg.MaterializeResult()
    yield dg.MaterializeResult()


@pytest.mark.parametrize(("made", "count"), [(returning, 1), (yielding, 2), (awaiting, 2)])
def test_a_function_returns_yields_or_awaits_results(made: Stage, count: int) -> None:
    assert len(list(made.results(chosen("one")))) == count


def test_a_result_need_not_name_the_only_asset_or_check_of_its_stage() -> None:
    assert returning.key_of(dg.MaterializeResult()) == dg.AssetKey("one")
    assert yielding.key_of(dg.MaterializeResult(asset_key="two")) == dg.AssetKey("two")
    assert returning.check_of(dg.AssetCheckResult(passed=True)) == CHECK.key


def test_a_table_is_the_asset_of_its_name_or_the_only_one() -> None:
    table = Stream.of(CLIPS, ())
    clips, other = dg.AssetSpec(CLIPS.name), dg.AssetSpec("other")
    for assets, key in (((other, clips), clips.key), ((other,), other.key)):
        made = stage(*assets)(lambda _: table)
        (result,) = made.results(chosen(CLIPS.name))
        assert isinstance(result, dg.MaterializeResult)
        assert (made.key_of(result), result.value) == (key, table)


def test_a_stage_is_chosen_by_its_assets_and_one_without_assets_by_its_checks() -> None:
    only_checks = stage(checks=[CHECK])(returning.work)
    with_check = chosen(checks={CHECK.key})
    assert yielding.is_chosen(chosen("two"))
    assert not yielding.is_chosen(with_check)
    assert only_checks.is_chosen(with_check)
    assert not only_checks.is_chosen(chosen("one"))


def test_a_stage_of_the_product_runs_without_dagster(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    drop = Path(home.drops.path) / "d.jsonl"
    drop.parent.mkdir()
    drop.write_bytes(record("t", "<answer>4</answer>"))
    raw, *_ = ingest.read_drop.results(chosen("raw_trajectories", home=str(tmp_path)))
    assert isinstance(raw, dg.MaterializeResult)
    assert ingest.read_drop.key_of(raw) == dg.AssetKey("raw_trajectories")


def test_no_code_digs_the_function_out_of_a_definition() -> None:
    dug = {
        file.name
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in {"compute_fn", "decorated_fn"}
    }
    assert dug == set()
