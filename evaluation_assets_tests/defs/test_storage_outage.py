"""A run whose step could not store an event in Dagster's storage is retried; other failed steps are not."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from sqlalchemy.exc import OperationalError

from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.resources.drop_lock import claimed
from evaluation_assets_tests.conftest import Workspace, record

pytestmark = pytest.mark.slow

AWAY = "server closed the connection unexpectedly"


class InterruptedEventLog(SqliteEventLogStorage):
    """An event log whose server is away when the first table has been written."""

    was_away = False

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> "InterruptedEventLog":
        return cls(inst_data=inst_data, **config_value)

    def store_event(self, event: dg.EventLogEntry) -> None:
        of_dagster = event.dagster_event
        if not InterruptedEventLog.was_away and of_dagster is not None and of_dagster.is_step_materialization:
            InterruptedEventLog.was_away = True
            raise OperationalError("SELECT 1", {}, ConnectionError(AWAY))
        super().store_event(event)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Workspace]:
    home = Installation.at(str(tmp_path / "home"))
    InterruptedEventLog.was_away = False
    overrides = {
        "run_retries": {"enabled": True, "max_retries": 1, "retry_on_asset_or_op_failure": False},
        "event_log_storage": {
            "module": __name__,
            "class": InterruptedEventLog.__name__,
            "config": {"base_dir": str(tmp_path / "events")},
        },
    }
    (tmp_path / "dagster").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster"), overrides=overrides) as instance:
        yield Workspace(home, build_definitions(home, Panel()), instance)


def is_retried(kept: Workspace, result: dg.ExecuteInProcessResult) -> bool:
    assert not result.success
    run = kept.instance.get_run_by_id(result.run_id)
    assert run is not None
    return run.tags["dagster/will_retry"] == "true"


def test_a_run_that_could_not_store_an_event_is_retried_and_then_succeeds(kept: Workspace) -> None:
    kept.drop("a", record("one"))
    assert is_retried(kept, kept.run("a"))
    assert kept.run("a").success
    assert len(kept.rows("a", "clip_verdicts", "rules")) > 0


def test_a_run_that_could_not_store_an_event_leaves_its_drop_to_the_next(kept: Workspace) -> None:
    """Also in a process that goes on, before the garbage collector finds what Dagster abandoned."""
    kept.drop("a", record("one"))
    gc.disable()
    try:
        assert not kept.run("a").success
        with claimed(kept.home, "a") as is_ours:
            assert is_ours
    finally:
        gc.enable()


def test_a_run_that_failed_for_another_reason_is_not_retried(kept: Workspace) -> None:
    InterruptedEventLog.was_away = True
    kept.drop("a", b"no trajectory at all")
    assert not is_retried(kept, kept.run("a"))
