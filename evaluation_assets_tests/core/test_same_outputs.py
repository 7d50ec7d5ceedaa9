"""The comparison of what two versions of the package write."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import same_outputs


def verdicts(root: Path, reasoning: str, score: float, facts: str) -> None:
    """One table of one drop, as an installation holds it."""
    path = root / "lake" / "clip_verdicts" / "rules" / "monday.parquet"
    path.parent.mkdir(parents=True)
    row = {"scores": [{"score": score, "evidence": "line 3"}], "reasoning": reasoning, "analysis": json.dumps([score])}
    table = pa.Table.from_pylist([row])
    pq.write_table(table.replace_schema_metadata({"settings": facts}), path)


def parts_that_differ(folder: Path) -> set[str]:
    return set(same_outputs.compare(folder / "before", folder / "after"))


def test_equal_outputs_have_no_differences(tmp_path: Path) -> None:
    for version in ("before", "after"):
        verdicts(tmp_path / version, "8/10: the code ran", 0.8, "{}")
    assert parts_that_differ(tmp_path) == set()


def test_a_difference_is_named_by_its_column_and_the_keys_in_it(tmp_path: Path) -> None:
    verdicts(tmp_path / "before", "8/10: the code ran", 0.8, '{"threshold": 15}')
    verdicts(tmp_path / "after", "8/10: the code finished", 0.7, '{"threshold": 16}')
    assert parts_that_differ(tmp_path) == {
        "clip_verdicts/rules.scores.score",
        "clip_verdicts/rules.reasoning.(words)",
        "clip_verdicts/rules.analysis",
        "clip_verdicts/rules.(facts).settings.threshold",
    }


def test_a_reworded_text_with_another_number_is_not_only_reworded() -> None:
    (found,) = same_outputs.differences("reasoning", "8/10: 3 of 4 stand in it", "8/10: 2 of 4 occur in it")
    assert found.part == "reasoning.(figures)"


@pytest.mark.parametrize(
    ("before", "after"), [(1, 1.0), (0, False), ([1, 2], [1]), ({"a": None}, {"a": 0}), (None, "")]
)
def test_values_differ_by_type_length_and_null(before: object, after: object) -> None:
    assert len(list(same_outputs.differences("value", before, after))) == 1


def test_nan_is_the_same_as_nan() -> None:
    assert not list(same_outputs.differences("value", [float("nan")], [float("nan")]))


def test_a_missing_file_is_a_difference(tmp_path: Path) -> None:
    verdicts(tmp_path / "before", "8/10: the code ran", 0.8, "{}")
    (tmp_path / "after").mkdir()
    assert parts_that_differ(tmp_path) == {"clip_verdicts/rules"}


@pytest.mark.parametrize(
    ("expected", "fine"),
    [
        ("", False),
        ("*.reasoning.(words)  reworded", False),
        ("# why\n*.reasoning.(words)  reworded\nscores.mean  mended", True),
        ("*.reasoning.(words)\nscores.mean\nscores.std  never found", True),
    ],
)
def test_only_expected_differences_are_fine(expected: str, fine: bool, capsys: pytest.CaptureFixture[str]) -> None:
    found = {
        part: {"monday": same_outputs.Difference(part, "before", "after")}
        for part in ("verdicts.reasoning.(words)", "scores.mean", "scores.evaluated_at")
    }
    assert same_outputs.report(found, {"scores.evaluated_at"}, same_outputs.reasons(expected)) is fine
    printed = capsys.readouterr().out
    assert "not compared: scores.evaluated_at" in printed
    assert ("expected, but not found: scores.std" in printed) == ("scores.std" in expected)
