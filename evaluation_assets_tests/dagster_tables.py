"""The tables of Dagster's SQLite files, as scripts that ship with the package.

    python -m evaluation_assets_tests.dagster_tables

writes them again, for the installed Dagster; a test says when that is needed.
"""

import re
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from evaluation_assets.resources import new_databases
from evaluation_assets.resources.dagster_private import DagsterSqliteStorage, migrations

_TIME = re.compile(r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?'")


def dagsters_own_tables() -> dict[str, str]:
    """The script for each file of an installation, as the installed Dagster creates it."""
    with tempfile.TemporaryDirectory() as folder:
        DagsterSqliteStorage.from_local(folder).dispose()
        return {file: _script(Path(folder) / file) for file in new_databases.FILES}


def _script(file: Path) -> str:
    """A dump, with the indexes in the order of their names: that of Dagster changes."""
    with closing(sqlite3.connect(file)) as database:
        statements = sorted(database.iterdump(), key=lambda one: one if " INDEX " in one else "")
    begin_to_commit = [one for one in statements if one != "COMMIT;"] + ["COMMIT;\n"]
    return _TIME.sub("CURRENT_TIMESTAMP", "\n".join([f"-- {migrations()}", *begin_to_commit]))


if __name__ == "__main__":
    folder = Path(new_databases.__file__).parent / "dagster_tables"
    folder.mkdir(exist_ok=True)
    for file, script in dagsters_own_tables().items():
        (folder / f"{Path(file).stem}.sql").write_text(script, "utf-8")
