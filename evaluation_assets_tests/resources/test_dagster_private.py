"""What Dagster keeps private: one module has all of it, and the installed version still has what it names."""

import ast
import importlib
import inspect
from pathlib import Path

import dagster as dg
import pytest

import evaluation_assets

PACKAGE = Path(evaluation_assets.__file__).parent
GATHERED = PACKAGE / "resources" / "dagster_private.py"
MEMBERS = (
    ("dagster._core.storage.event_log.sqlite.sqlite_event_log", "SqliteEventLogStorage", "_connect"),
    ("dagster._core.storage.event_log.sqlite.sqlite_event_log", "SqliteEventLogStorage", "_initdb"),
    ("dagster._core.storage.event_log.sqlite.sqlite_event_log", "SqliteEventLogStorage", "conn_string_for_shard"),
    ("dagster._core.storage.event_log.sqlite.sqlite_event_log", "SqliteEventLogStorage", "path_for_shard"),
    ("dagster._core.storage.event_log.sqlite.sqlite_event_log", "SqliteEventLogStorage", "has_table"),
    ("dagster._core.storage.runs.sqlite.sqlite_run_storage", "SqliteRunStorage", "connect"),
    ("dagster._core.storage.sqlite_storage", "DagsterSqliteStorage", "from_local"),
    ("dagster._cli.dev", "open_ipc_subprocess", ""),
    ("dagster_webserver.cli", "create_app_from_workspace_process_context", ""),
)
"""What is overridden or replaced."""


def private_names(file: Path) -> list[tuple[str, str]]:
    """Modules and names that a file imports from below a private module of Dagster."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
    return [(module, name) for module, name in found if is_private(module)]


def is_private(module: str) -> bool:
    top, *below = module.split(".")
    return top.startswith("dagster") and (top == "dagster_shared" or any(each.startswith("_") for each in below))


def test_one_module_imports_what_dagster_keeps_private() -> None:
    others = {str(file.relative_to(PACKAGE)): private_names(file) for file in PACKAGE.rglob("*.py") if file != GATHERED}
    assert {file: names for file, names in others.items() if names} == {}
    assert private_names(GATHERED)


@pytest.mark.parametrize(
    ("module", "name", "member"), [*((module, name, "") for module, name in private_names(GATHERED)), *MEMBERS]
)
def test_this_version_of_dagster_has_it(module: str, name: str, member: str) -> None:
    gone = (
        f"Dagster {dg.__version__} has no {module}.{name} {member}: it is a new version, and the product may be right"
    )
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        pytest.fail(gone)
    assert not member or hasattr(found, member), gone


def test_this_version_of_dagster_logs_the_message_that_is_hidden() -> None:
    module = importlib.import_module("dagster._core.execution.plan.compute")
    private = importlib.import_module("evaluation_assets.resources.dagster_private")
    said = "".join(inspect.getsource(module).replace('f"', "").replace('"', "").split())
    assert "".join(private.CHECKS_MISSED.split()) in said, f"Dagster {dg.__version__} words the message differently"
