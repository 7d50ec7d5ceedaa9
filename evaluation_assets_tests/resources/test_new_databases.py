"""SQLite files of a new installation: the tables that ship with the package, or Dagster's own."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from evaluation_assets.resources import new_databases
from evaluation_assets_tests.dagster_tables import dagsters_own_tables


def test_the_tables_that_ship_are_those_of_the_installed_dagster() -> None:
    remedy = "run `python -m evaluation_assets_tests.dagster_tables`"
    assert {file: new_databases.shipped_tables(file) for file in new_databases.FILES} == dagsters_own_tables(), remedy


def test_a_dagster_with_other_migrations_creates_its_own_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_databases, "migrations", lambda: "of another version")
    new_databases.create_databases(tmp_path / "own")
    monkeypatch.undo()
    new_databases.create_databases(tmp_path / "shipped")
    tables = [[_tables(tmp_path / made / file) for file in new_databases.FILES] for made in ("own", "shipped")]
    assert tables[0] == tables[1] and all(tables[0])


def _tables(file: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(file)) as database:
        return sorted(database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
