"""Dagster's SQLite files, created whole: a process that is killed leaves none that is half made."""

import os
import shutil
import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from evaluation_assets.core.system.file_locks import locked
from evaluation_assets.resources.dagster_private import DagsterSqliteStorage, migrations

FILES = ("history/runs.db", "history/runs/index.db", "schedules/schedules.db")
_NEW = ".new"
_MARKS = {"alembic_version", "secondary_indexes"}
"""Tables that Dagster fills last when it creates a file: the version of its tables, and which indexes are built."""


def create_databases(folder: Path) -> None:
    """Create the SQLite files of a Dagster folder that are missing, and those that a killed process left half made.

    Dagster creates a file in many transactions, and from then on takes it for whole because it is there. So they are
    created in a folder beside, and moved into place, by one process at a time.
    """
    new = folder / _NEW
    if not new.exists() and not _missing(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "creating.lock"):
        shutil.rmtree(new, ignore_errors=True)  # of a process that was killed
        try:
            if missing := _missing(folder):  # no other process has created them meanwhile
                _create(new)
                for file in missing:
                    _move(new / file, folder / file)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def shipped_tables(file: str) -> str:
    """The script that creates the tables of one of the `FILES`. Its first line names the migrations of its Dagster."""
    return (files("evaluation_assets.resources") / "dagster_tables" / f"{Path(file).stem}.sql").read_text("utf-8")


def _create(folder: Path) -> None:
    """Create all files: with the tables that ship with the package, if the installed Dagster has no others.

    Dagster composes each statement and waits for the disk after it, which takes longer than a small run.
    """
    scripts = {file: shipped_tables(file) for file in FILES}
    if any(script.splitlines()[0] != f"-- {migrations()}" for script in scripts.values()):
        DagsterSqliteStorage.from_local(str(folder)).dispose()
        return
    for file, script in scripts.items():
        place = folder / file
        place.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(place)) as database:
            database.execute("PRAGMA journal_mode=WAL")
            database.executescript(script)


def _missing(folder: Path) -> list[str]:
    return [file for file in FILES if not (folder / file).exists() or _is_half_made(folder / file)]


def _is_half_made(file: Path) -> bool:
    """Whether Dagster has not finished creating a file, and nothing is stored in it."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=60)) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            filled = {name for name in tables if database.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()}  # noqa: S608
    except sqlite3.Error:
        return False  # damaged, or it cannot be opened: whoever uses it says so
    return not filled >= _MARKS and not filled - _MARKS


def _move(new: Path, place: Path) -> None:
    """Move a database to its place; it is on disk before its name is."""
    with new.open("rb+") as file:
        os.fsync(file.fileno())
    place.parent.mkdir(parents=True, exist_ok=True)
    remove_side_files(place)
    new.replace(place)


def remove_side_files(database: Path) -> None:
    """Remove the files that SQLite keeps beside a database."""
    for ending in ("-wal", "-shm", "-journal"):
        database.with_name(f"{database.name}{ending}").unlink(missing_ok=True)
