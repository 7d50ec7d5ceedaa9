"""The table of dependencies in the documentation: none is left out, and none stays that nothing imports."""

import ast
import re
import tomllib
from collections.abc import Mapping, Set
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

from benchmarks.dependencies import EARNS, WORTH_A_ROW_MB, brought_by, dependencies, size_mb

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "evaluation_assets"
NOT_OF_USERS = {"dev", "docs"}


def imports() -> dict[str, set[str]]:
    """What each module of the package imports, at its top or in a function."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        own = found.setdefault(module, set())
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                own |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                own |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return found


def packages_of_extras() -> set[str]:
    """The packages that extras install and the default install does not."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    lines = [line for name, some in extras.items() if name not in NOT_OF_USERS for line in some]
    names = {Requirement(line).name for line in lines} - EARNS.keys()
    installed = {package for package, owners in packages_distributions().items() if names & set(owners)}
    return installed | {name.replace("-", "_") for name in names}


def of_default(imported: Mapping[str, Set[str]], extras: Set[str]) -> set[str]:
    """The packages that modules import which work without an extra: not those that are imported only by its modules."""
    importers: dict[str, set[str]] = {module: set() for module in imported}
    for module, names in imported.items():
        for name in names & imported.keys():
            importers[name].add(module)
    of_extras = {module for module, names in imported.items() if any(name.split(".")[0] in extras for name in names)}
    while more := {module for module, by in importers.items() if by and by <= of_extras} - of_extras:
        of_extras |= more
    return {name.split(".")[0] for module in imported.keys() - of_extras for name in imported[module]}


def test_each_dependency_is_imported_by_the_package_and_has_a_purpose() -> None:
    assert EARNS.keys() == {each.name for each in dependencies()}
    packages = of_default(imports(), packages_of_extras())
    assert {module for module, _ in EARNS.values()} <= packages


def test_what_only_modules_of_an_extra_import_is_no_dependency_of_the_default_install() -> None:
    imported = {
        "ours": {"click", "ours.tools"},
        "ours.tools": {"httpx2", "mcp.client"},
        "ours.tools_settings": {"defusedxml.sax"},
        "ours.command": {"rich.table"},
    }
    imported["ours.tools"].add("ours.tools_settings")
    assert of_default(imported, {"mcp"}) == {"click", "ours", "rich"}
    imported["ours.command"].add("ours.tools_settings")
    assert of_default(imported, {"mcp"}) == {"click", "defusedxml", "ours", "rich"}
    assert {"mcp", "mlflow", "opentelemetry", "deepeval", "google"} <= packages_of_extras()


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
