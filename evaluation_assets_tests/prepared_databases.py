"""Dagster's SQLite files of new homes, which Dagster makes once a process: its migrations take 0.3 s of CPU."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from evaluation_assets.resources import new_databases
from evaluation_assets.resources.dagster_private import DagsterSqliteStorage


class _Prepared(DagsterSqliteStorage):
    """A storage whose files are copies of those that Dagster has made, where it makes new ones."""

    @classmethod
    def from_local(cls, base_dir: str, inst_data: object = None) -> "_Prepared":
        for file, content in made().items():
            place = Path(base_dir, file)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return cls.__new__(cls)

    def dispose(self) -> None:
        """Close nothing: it has no connections."""


@cache
def made() -> dict[str, bytes]:
    """The files of a new home, by their place in it."""
    folder = Path(tempfile.mkdtemp())
    try:
        DagsterSqliteStorage.from_local(str(folder)).dispose()
        return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.db")}
    finally:
        shutil.rmtree(folder)


def use_prepared_databases() -> None:
    """Make the files of new homes from prepared ones, in this process and in those forked from it."""
    new_databases.DagsterSqliteStorage = _Prepared
