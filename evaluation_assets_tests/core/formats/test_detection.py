"""Every format recognises its own files, and no other format takes them first."""

from pathlib import Path

import pytest
from upath import UPath

from evaluation_assets.core.formats.records import sample_of
from evaluation_assets.core.formats.registry import FORMATS
from evaluation_assets_tests.core.formats.mutations import FIXTURES

_NOT_RUNS = {"report.json", "results.json"}
_FILES = [path for path in sorted(FIXTURES.rglob("*")) if path.is_file() and path.name not in _NOT_RUNS]


@pytest.mark.parametrize("file", _FILES, ids=lambda file: str(file.relative_to(FIXTURES)))
def test_a_file_is_recognised_by_its_own_format_alone(file: Path) -> None:
    sample = sample_of(UPath(file))
    own = file.relative_to(FIXTURES).parts[0]
    assert [name for name, known in FORMATS.items() if known.detect(sample)] == [own]
