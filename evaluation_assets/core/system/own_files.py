"""Files that the owner of an installation keeps in its folders: rubrics, labels, suites."""

import os

from upath import UPath

from evaluation_assets.core.system.regular_files import is_local


def files_below(folder: UPath) -> list[UPath]:
    """All files below a folder that exists, by path.

    Links to folders are followed, unlike in drops, which come from strangers; each folder is read once.
    """
    if is_local(folder):
        paths = [UPath(place) / name for place, names in _folders(folder.path) for name in names]
    else:
        paths = list(folder.rglob("*"))
    return sorted((path for path in paths if path.is_file()), key=lambda path: path.path)


def _folders(top: str) -> list[tuple[str, list[str]]]:
    """Each folder with the names of its files."""
    by_place: dict[str, tuple[str, list[str]]] = {}
    for place, folders, names in os.walk(top, followlinks=True):
        real = os.path.realpath(place)
        if real in by_place:
            folders.clear()
        else:
            by_place[real] = (place, names)
    return list(by_place.values())
