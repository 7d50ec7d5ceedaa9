"""Counts in messages, with the noun in singular or plural."""


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 clip`, `2 clips`, `1,200 trajectories`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"
