"""What commands on evaluated drops share."""

from collections.abc import Collection, Iterable
from typing import NoReturn

from evaluation_assets.cli.output import refuse, warn
from evaluation_assets.core.intake.drops import Drop, InvalidDrop, find
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.core.text.counted import counted, first_of
from evaluation_assets.core.text.meant import did_you_mean

_NAMED = 10
"""Maximum number of drops named in a message."""


def check_evaluated(home: Installation, drop: str, table: str = "task_metrics") -> None:
    """Exit with status 2 if a drop has no such table, and name those that are meant or have it; warn of a change."""
    if not home.table(drop, table).exists:
        known = home.drops_with(table)
        listed = f"evaluated drops: {first_of(known, _NAMED) or 'none'}"
        refuse(f"{drop or repr(drop)} has not been evaluated; {did_you_mean(drop, known, listed)}")
    _warn_if_changed(home, drop)


def has_changed(home: Installation, drop: Drop) -> bool:
    """Whether the content of a drop is another one than was evaluated last."""
    from evaluation_assets.core.intake.facts import DropFacts  # noqa: PLC0415  (`evaluate` starts without it)

    table = home.table(drop.key, "raw_trajectories")
    return not table.exists or DropFacts.of(table).content != drop.content_hash()


def warn_of_misspelled(drops: Iterable[Drop]) -> None:
    """Warn of fields of sidecars that are nearly named as a known one: other fields have no meaning here."""
    for drop in drops:
        for name, meant in drop.sidecar().misspelled.items():
            warn(f"{drop.key}: its sidecar has the unknown field {name!r}; did you mean {meant!r}?")


def _warn_if_changed(home: Installation, key: str) -> None:
    """Warn that the results of a drop are of a content that is gone. Of one in an object store, that is not known."""
    if not is_local(home.root):
        return
    try:
        drop = find(home.drops, key)
    except InvalidDrop:  # the drop itself may be gone
        return
    if has_changed(home, drop):
        warn(f"{key} has changed, this is what it was before. Evaluate it: {home.command('evaluate', key)}")


def warn_without_findings(home: Installation) -> None:
    """Warn of evaluated drops whose findings are gone, or were never made: groups and their states lack these."""
    if without := sorted({*home.drops_with("task_metrics")} - {*home.drops_with("findings")}):
        again = home.command("evaluate", "--all")
        warn(f"{counted(len(without), 'drop')} without findings: {first_of(without, _NAMED)}. Evaluate again: {again}")


def refuse_without_drops(home: Installation) -> NoReturn:
    """Exit with status 2, as no drop has been evaluated."""
    refuse(f"no drop has been evaluated in {home.root}. Evaluate one: {home.command('evaluate', 'FILE')}")


def check_run(home: Installation, drop: str, run: str, known: Collection[str]) -> None:
    """Exit with status 2 if a drop has no such run; `known` are those that it has."""
    if run not in known:
        if not known:
            refuse(f"{drop!r} has no runs: none of its records could be read and kept. Its report says why")
        failed = home.command("search", "outcome:fail", "--drop", drop)
        every = f"it has {len(known)}: {first_of(list(known), _NAMED)}. Those that failed: {failed}"
        refuse(f"{drop!r} has no run {run!r}; {did_you_mean(run, known, every)}")


def refuse_without_report(home: Installation, drop: str, known: Iterable[str]) -> NoReturn:
    """Exit with status 2, as a drop has no report; `known` drops have one."""
    hint = did_you_mean(drop, known, f"evaluate it first: {home.command('evaluate', 'FILE')}")
    refuse(f"{drop!r} has no report in {home.root / 'reports'}; {hint}")
