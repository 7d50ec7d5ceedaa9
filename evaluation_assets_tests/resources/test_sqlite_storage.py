import sqlite3
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.resources.new_databases import create_databases
from evaluation_assets.resources.sqlite_storage import OpenEventLog, open_instance

RUN = "60a00177-7c61-485c-b1a6-e54b7cb25ca7"


@dg.op
def nothing() -> None:
    pass


@dg.job
def does_nothing() -> None:
    nothing()


def test_what_open_connections_store_is_there_for_dagster_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with open_instance(tmp_path) as instance:
        assert isinstance(instance.event_log_storage, OpenEventLog)
        runs = [does_nothing.execute_in_process(instance=instance).run_id for _ in range(6)]
        events = [len(instance.all_logs(run)) for run in runs]
    assert len(set(events)) == 1 and events[0] > 0
    with dg.DagsterInstance.get() as other:
        assert {run.run_id for run in other.get_runs()} == set(runs)
        assert [len(other.all_logs(run)) for run in runs] == events


def test_every_process_of_a_new_installation_keeps_its_connections_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    monkeypatch.setenv("DAGSTER_HOME", str(home.dagster))
    with dg.DagsterInstance.get() as of_the_daemon:
        assert isinstance(of_the_daemon.event_log_storage, OpenEventLog)
        run = does_nothing.execute_in_process(instance=of_the_daemon).run_id
    with open_instance(Path(str(home.dagster))) as instance:
        assert [each.run_id for each in instance.get_runs()] == [run]


def test_a_storage_of_the_installation_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    (tmp_path / "dagster.yaml").write_text(f"storage: {{sqlite: {{base_dir: {tmp_path / 'elsewhere'}}}}}\n")
    with open_instance(tmp_path) as instance:
        assert not isinstance(instance.event_log_storage, OpenEventLog)
    assert (tmp_path / "elsewhere").is_dir()


def tables_of(file: Path) -> tuple[set[tuple[str, str]], list[str]]:
    """The tables and indexes of a file with their columns, and the version that Dagster reads from it."""
    with closing(sqlite3.connect(file)) as database:
        made = set(database.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
        return made, [version for (version,) in database.execute("SELECT version_num FROM alembic_version")]


def test_the_file_of_a_run_has_the_tables_that_dagster_gives_it(tmp_path: Path) -> None:
    for folder in ("ours", "theirs"):
        (tmp_path / folder).mkdir()
    with open_instance(tmp_path / "ours") as instance:
        ours = does_nothing.execute_in_process(instance=instance).run_id
    with dg.DagsterInstance.local_temp(str(tmp_path / "theirs")) as instance:
        theirs = does_nothing.execute_in_process(instance=instance).run_id
    ours, theirs = (tmp_path / "ours/history/runs" / f"{ours}.db", tmp_path / "theirs/history/runs" / f"{theirs}.db")
    assert tables_of(ours) == tables_of(theirs)
    with closing(sqlite3.connect(ours)) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("left", ["", "CREATE TABLE kvs (key TEXT)"])
def test_the_file_of_a_run_whose_creation_was_killed_is_completed(tmp_path: Path, left: str) -> None:
    with open_instance(tmp_path) as instance:
        storage = instance.event_log_storage
        assert isinstance(storage, OpenEventLog)
        with closing(sqlite3.connect(storage.path_for_shard(RUN))) as database:
            database.executescript(left)
        does_nothing.execute_in_process(instance=instance, run_id=RUN)
        assert len(instance.all_logs(RUN)) > 0


def test_what_a_process_left_that_was_killed_after_its_last_move_is_removed(tmp_path: Path) -> None:
    create_databases(tmp_path)
    (tmp_path / ".new" / "history").mkdir(parents=True)
    create_databases(tmp_path)
    assert not (tmp_path / ".new").exists()
