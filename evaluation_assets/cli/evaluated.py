"""What commands on evaluated drops share."""

from collections.abc import Iterable
from typing import NoReturn

from evaluation_assets.cli.output import refuse
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import first_of
from evaluation_assets.core.text.meant import did_you_mean

_NAMED = 10
"""Maximum number of drops named in a message."""


def check_evaluated(home: Installation, drop: str, table: str = "task_metrics") -> None:
    """Exit with status 2 if a drop has no such table, and name the drops that are meant or have it."""
    if not home.table(drop, table).exists:
        known = home.drops_with(table)
        listed = f"evaluated drops: {first_of(known, _NAMED) or 'none'}"
        refuse(f"{drop} has not been evaluated; {did_you_mean(drop, known, listed)}")


def refuse_without_drops(home: Installation) -> NoReturn:
    """Exit with status 2, as no drop has been evaluated."""
    refuse(f"no drop has been evaluated in {home.root}. Evaluate one: {home.command('evaluate', 'FILE')}")


def refuse_without_report(home: Installation, drop: str, known: Iterable[str]) -> NoReturn:
    """Exit with status 2, as a drop has no report; `known` drops have one."""
    hint = did_you_mean(drop, known, f"evaluate it first: {home.command('evaluate', 'FILE')}")
    refuse(f"{drop!r} has no report in {home.root / 'reports'}; {hint}")
