"""Counts in messages, with the noun in singular or plural; lists that are cut with the count of what is left out."""

from collections.abc import Sequence


def counted(count: float, noun: str) -> str:
    """A count with its noun: `1 clip`, `2 clips`, `1,200 trajectories`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def runs_of_tasks(runs: int, tasks: int | None) -> str:
    """Runs as text: `16 runs`, or `5 runs of 4 tasks` where runs share a task; `tasks` is `None` if unknown."""
    of_runs = counted(runs, "run")
    return of_runs if tasks is None or tasks >= runs else f"{of_runs} of {counted(tasks, 'task')}"


def first_of(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """The first texts and the number of the others, as in `a, b and 3 more`."""
    left = len(texts) - most
    return between.join(texts[:most]) + (f" and {left:,} more" if left > 0 else "")


def to_a_hundredth_cent(amount: float) -> str:
    """US dollars with four decimals. What was paid is never rounded to nothing."""
    return "<$0.0001" if 0 < amount < 0.00005 else f"${amount:,.4f}"


def percent(share: float) -> str:
    """A share as it stands everywhere: `78.6%`. What is not all or nothing is never rounded to it."""
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{share:.1%}"
