"""What somebody may have meant by a name that is not known."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

_MOST = 3
"""Names that are offered of those that hold the unknown one."""

_LEAST_ALIKE = 0.65
"""Share of letters in common, as difflib counts; with its own 0.6, `temprature` would be taken for `structured`."""


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """The shortest of the names that hold `name`; if none does, the one that is spelled most alike, if any is alike."""
    names = list(known)
    holding = sorted((each for each in names if len(name) > 1 and name.lower() in each.lower()), key=len)
    return holding[:_MOST] or get_close_matches(name, names, n=1, cutoff=_LEAST_ALIKE)


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean 'airline/v1'?` if a known name is near, else `otherwise`."""
    near = near_names(name, known)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else otherwise


def no_judge(name: str, known: Collection[str]) -> str:
    """What to say of a judge that a panel does not have."""
    listed = f"choose one of: {', '.join(known)}"
    return f"no judge {name!r} in the panel; {did_you_mean(name, known, listed)}"
