"""The comparison of what two versions of the package write."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "same_outputs.py"
    spec = importlib.util.spec_from_file_location("same_outputs_benchmark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def verdicts(root: Path, reasoning: str, score: float, facts: str) -> None:
    """One table of one drop, as an installation holds it."""
    path = root / "lake" / "clip_verdicts" / "rules" / "monday.parquet"
    path.parent.mkdir(parents=True)
    row = {"scores": [{"score": score, "evidence": "line 3"}], "reasoning": reasoning, "analysis": json.dumps([score])}
    table = pa.Table.from_pylist([row])
    pq.write_table(table.replace_schema_metadata({"settings": facts}), path)


def parts_that_differ(benchmark: ModuleType, folder: Path) -> set[str]:
    return set(benchmark.compare(folder / "before", folder / "after"))


def test_equal_outputs_have_no_differences(benchmark: ModuleType, tmp_path: Path) -> None:
    for version in ("before", "after"):
        verdicts(tmp_path / version, "8/10: the code ran", 0.8, "{}")
    assert parts_that_differ(benchmark, tmp_path) == set()


def test_a_difference_is_named_by_its_column_and_the_keys_in_it(benchmark: ModuleType, tmp_path: Path) -> None:
    verdicts(tmp_path / "before", "8/10: the code ran", 0.8, '{"threshold": 15}')
    verdicts(tmp_path / "after", "8/10: the code finished", 0.7, '{"threshold": 16}')
    assert parts_that_differ(benchmark, tmp_path) == {
        "clip_verdicts/rules.scores.score",
        "clip_verdicts/rules.reasoning.(words)",
        "clip_verdicts/rules.analysis",
        "clip_verdicts/rules.(facts).settings.threshold",
    }


def test_a_reworded_text_with_another_number_is_not_only_reworded(benchmark: ModuleType) -> None:
    (found,) = benchmark.differences("reasoning", "8/10: 3 of 4 stand in it", "8/10: 2 of 4 occur in it")
    assert found.part == "reasoning.(figures)"


@pytest.mark.parametrize(
    ("before", "after"), [(1, 1.0), (0, False), ([1, 2], [1]), ({"a": None}, {"a": 0}), (None, "")]
)
def test_values_differ_by_type_length_and_null(benchmark: ModuleType, before: object, after: object) -> None:
    assert len(list(benchmark.differences("value", before, after))) == 1


def test_nan_is_the_same_as_nan(benchmark: ModuleType) -> None:
    assert not list(benchmark.differences("value", [float("nan")], [float("nan")]))


def test_a_missing_file_is_a_difference(benchmark: ModuleType, tmp_path: Path) -> None:
    verdicts(tmp_path / "before", "8/10: the code ran", 0.8, "{}")
    (tmp_path / "after").mkdir()
    assert parts_that_differ(benchmark, tmp_path) == {"clip_verdicts/rules"}


@pytest.mark.parametrize(
    ("expected", "fine"),
    [
        ("", False),
        ("*.reasoning.(words)  reworded", False),
        ("# why\n*.reasoning.(words)  reworded\nscores.mean  mended", True),
        ("*.reasoning.(words)\nscores.mean\nscores.std  never found", True),
    ],
)
def test_only_expected_differences_are_fine(
    benchmark: ModuleType, expected: str, fine: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {
        part: {"monday": benchmark.Difference(part, "before", "after")}
        for part in ("verdicts.reasoning.(words)", "scores.mean", "scores.evaluated_at")
    }
    assert benchmark.report(found, {"scores.evaluated_at"}, benchmark.reasons(expected)) is fine
    printed = capsys.readouterr().out
    assert "not compared: scores.evaluated_at" in printed
    assert ("expected, but not found: scores.std" in printed) == ("scores.std" in expected)
