"""Dagster's storage: the events of all runs in one file, seen as they come, beside runs that Dagster gave a file."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.resources.new_databases import create_databases
from evaluation_assets.resources.sqlite_storage import OpenEventLog, remove_event_log

RUN = "60a00177-7c61-485c-b1a6-e54b7cb25ca7"


@dg.op
def speaks(context: dg.OpExecutionContext) -> None:
    context.log.info("good morning")


@dg.job
def one_step() -> None:
    speaks()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Dagster folder of a new installation, which is that of this process."""
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    monkeypatch.setenv("DAGSTER_HOME", str(home.dagster))
    return home.dagster


@contextmanager
def opened() -> Iterator[dg.DagsterInstance]:
    """As a command, the webserver and the daemon open it."""
    with dg.DagsterInstance.get() as instance:
        assert isinstance(instance.event_log_storage, OpenEventLog)
        yield instance


def messages(instance: dg.DagsterInstance, run: str) -> list[str]:
    return [entry.user_message for entry in instance.all_logs(run)]


def test_what_one_process_stores_is_there_for_others_in_one_file(home: Path) -> None:
    with opened() as instance, opened() as other:
        runs = [one_step.execute_in_process(instance=instance).run_id for _ in range(3)]
        assert {run.run_id for run in other.get_runs()} == set(runs)
        events = [messages(other, run) for run in runs]
    assert [each.count("good morning") for each in events] == [1, 1, 1]
    assert [file.name for file in (home / "history" / "runs").glob("*.db")] == ["index.db"]


def test_a_run_that_dagster_gave_a_file_is_read_and_deleted_with_it(home: Path) -> None:
    settings = (home / "dagster.yaml").read_bytes()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    with dg.DagsterInstance.get() as before:
        one_step.execute_in_process(instance=before, run_id=RUN)
        expected = messages(before, RUN)
    (home / "dagster.yaml").write_bytes(settings)
    with opened() as instance:
        assert messages(instance, RUN) == expected
        instance.report_engine_event("the worker is back", instance.get_run_by_id(RUN))
        assert len(messages(instance, RUN)) == len(expected) + 1
        new = one_step.execute_in_process(instance=instance).run_id
        instance.delete_run(RUN)
        remove_event_log(instance, RUN)
        assert messages(instance, RUN) == [] and "good morning" in messages(instance, new)
    assert [file.name for file in (home / "history" / "runs").glob("*.db")] == ["index.db"]


def test_events_of_a_run_are_seen_as_they_come(home: Path) -> None:
    """What a page of the UI shows of a run that is under way; the connection that writes stays open."""
    came = threading.Event()

    def see(entry: dg.EventLogEntry, _: str) -> None:
        if entry.user_message == "good morning":
            came.set()

    with opened() as page, opened() as instance:
        page.watch_event_logs(RUN, None, see)
        one_step.execute_in_process(instance=instance, run_id=RUN)
        assert came.wait(20)
        page.end_watch_event_logs(RUN, see)


def test_what_a_process_left_that_was_killed_after_its_last_move_is_removed(tmp_path: Path) -> None:
    create_databases(tmp_path)
    (tmp_path / ".new" / "history").mkdir(parents=True)
    create_databases(tmp_path)
    assert not (tmp_path / ".new").exists()
