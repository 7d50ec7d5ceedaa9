"""How far a run of many drops has come: if its process is killed, only the rest has to be evaluated."""

import json
from dataclasses import asdict, dataclass, replace

import dagster as dg


@dataclass(frozen=True, slots=True)
class DropsDone:
    """The drops that a run has evaluated, and the one that it is at."""

    finished: tuple[str, ...] = ()
    current: str | None = None

    def at(self, drop: str) -> "DropsDone":
        """The run begins a drop."""
        return replace(self, current=drop)

    def with_finished(self, drop: str) -> "DropsDone":
        """The run has evaluated a drop. One that failed is none: a run that takes over says again why."""
        return DropsDone((*self.finished, drop))


def drops_done(instance: dg.DagsterInstance, run_id: str) -> DropsDone:
    """What a run had done when it was last heard of; nothing for a run of one drop."""
    key = _key(run_id)
    value = instance.daemon_cursor_storage.get_cursor_values({key}).get(key)
    if value is None:
        return DropsDone()
    data = json.loads(value)
    return DropsDone(tuple(data["finished"]), data["current"])


def keep_drops_done(instance: dg.DagsterInstance, run_id: str, done: DropsDone) -> None:
    """Keep what a run has done, for a run that takes over."""
    instance.daemon_cursor_storage.set_cursor_values({_key(run_id): json.dumps(asdict(done))})


def _key(run_id: str) -> str:
    return f"evaluation_assets/drops_done/{run_id}"
