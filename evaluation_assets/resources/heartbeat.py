"""Heartbeats of runs, to distinguish a run whose process was killed from a long one."""

import json
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import dagster as dg
import sqlalchemy as sa

from evaluation_assets.core.system.cancellation import forget_stop, stop_thread
from evaluation_assets.core.system.processes import Process
from evaluation_assets.resources.dagster_private import KeyValueStoreTable, SqlRunStorage

BEAT_SECONDS = 20.0

_PREFIX = "evaluation_assets/heartbeat/"

_ENDED_BY_OTHERS = {dg.DagsterRunStatus.CANCELING, dg.DagsterRunStatus.CANCELED, dg.DagsterRunStatus.FAILURE}

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last sign of life of a run: its process, and how often it has beaten."""

    process: Process
    beat: int


def heartbeat_of(instance: dg.DagsterInstance, run_id: str) -> Heartbeat | None:
    """The last heartbeat of a run; `None` when it has not begun to work."""
    key = _key(run_id)
    value = instance.daemon_cursor_storage.get_cursor_values({key}).get(key)
    if value is None:
        return None
    data = json.loads(value)
    return Heartbeat(Process.from_dict(data["process"]), data["beat"])


@contextmanager
def beating(instance: dg.DagsterInstance, run_id: str, seconds: float = BEAT_SECONDS) -> Iterator[None]:
    """Beat while the block runs, and stop the block when the run has been ended from outside.

    Whoever ends a run sends its process a signal, which a broker may not deliver, or the process may lose: the run
    would go on, and spend. An ephemeral instance has nobody who could look or end it.
    """
    if instance.is_ephemeral:
        yield
        return
    process, worker = Process.current().to_dict(), threading.current_thread()
    ended, told = threading.Event(), threading.Event()

    def write(beat: int) -> None:
        value = json.dumps({"process": process, "beat": beat})
        instance.daemon_cursor_storage.set_cursor_values({_key(run_id): value})

    def beat() -> None:
        count = 0
        while not ended.wait(seconds):
            count += 1
            try:
                write(count)
                run = instance.get_run_by_id(run_id)
                if run is not None and run.status in _ENDED_BY_OTHERS and not ended.is_set():
                    _LOG.warning("run %s: stops, because it is %s", run_id, run.status.value.lower())
                    told.set()
                    stop_thread(worker)
            except Exception:  # noqa: BLE001  # the storage may be busy or away for a while; the run goes on
                _LOG.warning("run %s: heartbeat not written", run_id, exc_info=True)

    write(0)
    thread = threading.Thread(target=beat, name="run heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if told.is_set():
            forget_stop(worker)  # a worker runs other runs afterwards


def beating_runs(instance: dg.DagsterInstance) -> list[str]:
    """IDs of the runs whose heartbeats are stored, those that have ended too."""
    storage = instance.run_storage
    if not isinstance(storage, SqlRunStorage):
        return []
    column = KeyValueStoreTable.c.key
    with storage.connect() as connection:
        keys = connection.execute(sa.select(column).where(column.startswith(_PREFIX, autoescape=True))).scalars()
        return [key.removeprefix(_PREFIX) for key in keys]


def forget_heartbeats(instance: dg.DagsterInstance, runs: Sequence[str]) -> None:
    """Delete the heartbeats of runs that have ended. Dagster's own interface can only overwrite them."""
    storage = instance.run_storage
    if isinstance(storage, SqlRunStorage):
        with storage.connect() as connection:
            for run in runs:
                connection.execute(KeyValueStoreTable.delete().where(KeyValueStoreTable.c.key == _key(run)))


def _key(run_id: str) -> str:
    return f"{_PREFIX}{run_id}"
