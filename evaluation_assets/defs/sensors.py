"""The sensor that evaluates new and changed drops."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict

import dagster as dg

from evaluation_assets.core.drops import Seen, changes, scan
from evaluation_assets.defs.freshness import evaluated_content, run_config_of
from evaluation_assets.defs.jobs import EVALUATE
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

MAX_RUNS_PER_TICK = 25
"""More drops than this wait for the next tick: a tick has 60 seconds, and hashes what it asks to be run."""

INTERVAL_SECONDS = 10

_PREFIX = "evaluation_assets/drop/"

_CHUNK = 200
"""Keys in one statement: databases limit the parameters of a statement, SQLite the depth of an expression."""


@dg.sensor(
    job_name=EVALUATE,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Evaluates new and changed files in the drops folder once they have stopped changing.",
)
def new_drops(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.SensorResult | dg.SkipReason:
    """Look at the drops folder.

    Dagster stores the cursor with every tick, so it holds only the drops that the last tick asked to be run, and is
    written into the instance's storage by the next one. Runs that a tick did not get to launch are asked for again:
    the cursor is kept only when all were launched.

    Dagster remembers run keys for ever, so the key counts how often a drop changed: content that comes back is
    evaluated again.
    """
    found = scan(home.home.drops)
    for problem in found.problems:
        context.log.warning(problem)
    memory = SeenDrops(context.instance)
    memory.write({key: Seen(**value) for key, value in json.loads(context.cursor or "{}").items()})
    seen = memory.read(found.drops)
    look = changes(seen, found.drops, MAX_RUNS_PER_TICK)
    to_score = {
        drop.key: after
        for drop, after in look.to_score
        if after.generation > 1 or evaluated_content(context.instance, drop.key) != after.content
    }
    memory.write({key: now for key, now in look.seen.items() if key not in to_score and now != seen.get(key)})
    cursor = json.dumps({key: asdict(after) for key, after in to_score.items()}, sort_keys=True)
    if not to_score:
        context.update_cursor(cursor)
        waiting = f"; {len(look.unsettled)} still changing, checked again at the next tick" if look.unsettled else ""
        return dg.SkipReason(f"{len(found.drops)} drops, none new or changed{waiting}")
    return dg.SensorResult(
        dynamic_partitions_requests=[DROPS.build_add_request(list(to_score))],
        run_requests=[
            dg.RunRequest(
                run_key=f"{key}#{after.generation}@{after.content[:16]}",
                partition_key=key,
                run_config=run_config_of(context.instance, key),
                tags={"evaluation/content": after.content[:16]},
            )
            for key, after in to_score.items()
        ],
        cursor=cursor,
    )


class SeenDrops:
    """What the sensor remembers of each drop, in the key-value storage of the Dagster instance."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._storage = instance.daemon_cursor_storage

    def read(self, drops: Iterable[str]) -> dict[str, Seen]:
        """What is known of these drops."""
        names = {_PREFIX + drop for drop in drops}
        return {key.removeprefix(_PREFIX): Seen(**json.loads(value)) for key, value in self._values(names).items()}

    def write(self, seen: Mapping[str, Seen]) -> None:
        """Remember these drops. Dagster's storage updates keys or inserts them, but not both in one call."""
        values = {_PREFIX + drop: json.dumps(asdict(now), sort_keys=True) for drop, now in seen.items()}
        known = self._values(values).keys()
        for part in (values.keys() & known, values.keys() - known):
            for names in _chunks(sorted(part)):
                self._storage.set_cursor_values({name: values[name] for name in names})

    def _values(self, names: Iterable[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for some in _chunks(sorted(names)):
            found |= self._storage.get_cursor_values(set(some))
        return found


def _chunks(names: list[str]) -> Iterable[list[str]]:
    return (names[start : start + _CHUNK] for start in range(0, len(names), _CHUNK))
