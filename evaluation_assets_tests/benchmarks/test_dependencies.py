"""The table of dependencies in the documentation: none is left out, and none stays that nothing imports."""

import re
from pathlib import Path

from benchmarks.dependencies import EARNS, WORTH_A_ROW_MB, brought_by, dependencies, size_mb

ROOT = Path(__file__).parents[2]
SOURCES = [path.read_text("utf-8") for path in (ROOT / "evaluation_assets").rglob("*.py")]


def test_each_dependency_is_imported_by_the_package_and_has_a_purpose() -> None:
    assert EARNS.keys() == {each.name for each in dependencies()}
    for module, _ in EARNS.values():
        assert any(re.search(rf"^\s*(?:import|from) {module}\b", source, re.MULTILINE) for source in SOURCES), module


def test_the_page_has_a_row_for_each_large_dependency() -> None:
    page = (ROOT / "docs" / "deployment.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| \d+ \| [\d.]+ \| (.+) \|$", page, re.MULTILINE))
    assert rows and rows == {name: EARNS[name][1] for name in rows}
    assert {name for name in EARNS if size_mb(name) >= WORTH_A_ROW_MB} <= rows.keys()


def test_packages_are_counted_to_the_dependency_that_needs_them() -> None:
    needed = {each.name: each for each in dependencies()}
    assert {"scikit-learn", "joblib"} <= brought_by(needed["scikit-learn"], needed.keys() - {"scikit-learn"})
    assert "scipy" not in brought_by(needed["scikit-learn"], {"scipy"})
    assert "aiohttp" in brought_by(needed["openai"], ())  # of its extra
