"""The one drop that a path stands for."""

from pathlib import Path

from evaluation_assets.api.errors import UnusableInput
from evaluation_assets.core.intake.copying.drops import inspect
from evaluation_assets.core.intake.drops import Drop

_NAMED = 5
"""Drops of a folder that an error names."""
_SHOWN = 300
"""Characters of a path that an error shows."""


def only_drop(path: Path, *, one_drop: bool) -> Drop:
    """The drop that a file or folder is.

    Raises:
        UnusableInput: there is nothing at the path, or a folder holds several drops.
        InvalidDrop: it holds nothing that can be read.
    """
    try:
        exists = path.exists()
    except OSError:  # the name is too long, as of a text that is no path
        exists = False
    if not exists:
        raise UnusableInput(f"there is no file or folder at {str(path)[:_SHOWN]}")
    drops = inspect([path], one_drop=one_drop)
    if len(drops) > 1:
        named = ", ".join(drop.key for drop in drops[:_NAMED]) + (", ..." if len(drops) > _NAMED else "")
        raise UnusableInput(
            f"{path} holds {len(drops)} drops ({named}); evaluate one file at a time, or all files as one drop with "
            "one_drop=True"
        )
    return drops[0]
