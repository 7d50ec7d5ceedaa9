"""Inputs of shapes that users reported: each is read as was worked out by hand."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets_tests.core.traces.formats.public_reports import PUBLIC_REPORTS
from evaluation_assets_tests.core.traces.formats.reported import check_reading
from evaluation_assets_tests.third_party import data

FOLDER = Path(__file__).parents[3] / "fixtures" / "reported"
CASES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


@pytest.mark.parametrize("name", CASES)
def test_a_reported_shape_is_read_as_expected(name: str) -> None:
    expected = orjson.loads((FOLDER / name / "expected.json").read_bytes())
    check_reading(FOLDER / name, expected)


@pytest.mark.parametrize("name", sorted(PUBLIC_REPORTS))
def test_an_input_rebuilt_from_a_public_report_is_read_as_expected(name: str, request: pytest.FixtureRequest) -> None:
    folder, expected = data("public-reports"), PUBLIC_REPORTS[name]
    if "pending" in expected:
        request.applymarker(pytest.mark.xfail(reason=expected["pending"], strict=True))
    place, _, suite = name.partition(":")
    check_reading(folder / place, expected, suite or None)
