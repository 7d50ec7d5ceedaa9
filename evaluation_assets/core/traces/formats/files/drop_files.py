"""The files below a drops folder, on this machine or in an object store: which could be data, and what is left out."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from upath import UPath

from evaluation_assets.core.system.regular_files import LEADS_OUT, is_local, is_plain, leads_out, why_not_of
from evaluation_assets.core.traces.formats.files.opening import COMPRESSIONS, EXTENSIONS

DIRECTORY_SIDECAR = "_drop.yaml"
SIDECAR_SUFFIX = ".drop.yaml"
SIDECARS = (DIRECTORY_SIDECAR, SIDECAR_SUFFIX)

_UNFINISHED = (".tmp", ".part", ".partial", ".crdownload")


@dataclass(frozen=True, slots=True)
class Listing:
    """Files by path; what would be read but for what it is, with the reason; and signs of change by path.

    Only object stores give signs of change with a listing.
    """

    files: list[UPath]
    left_out: list[str] = field(default_factory=list)
    marks: Mapping[str, str] = field(default_factory=dict)


def files_below(root: UPath, key: str | None = None) -> Listing:
    """The files below a folder that are data or sidecars; with `key`, only those that concern the drop of this name.

    A folder that cannot be opened, or is gone by now, holds none.
    """
    return _on_this_machine(root, key) if is_local(root) else _in_a_store(root, key)


def is_data(name: str) -> bool:
    """Whether a file of this name may hold trajectories."""
    lowered = name.lower()
    for ending in COMPRESSIONS:
        lowered = lowered.removesuffix(ending)
    return lowered.endswith(EXTENSIONS)


def is_ignored(name: str) -> bool:
    """Whether a file of this name below the drops folder is hidden, or a copy that is not finished."""
    return any(part.startswith(".") for part in name.split("/")) or name.lower().endswith(_UNFINISHED)


def relative(path: UPath, root: UPath) -> str:
    """The name of a file below a folder."""
    return path.path.removeprefix(root.path).strip("/")


def _on_this_machine(root: UPath, key: str | None) -> Listing:
    files: list[UPath] = []
    left_out: list[str] = []
    pending = [os.path.realpath(root.path)]
    prefix = len(pending[0].rstrip("/")) + 1
    while pending:
        for entry in _entries(pending.pop()):
            name = entry.path[prefix:]
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and (key is None or _meet(f"{name}/", f"{key}/")):
                    pending.append(entry.path)
            elif is_ignored(name) or not (key is None or _concerns(name, key)):
                continue
            elif is_data(entry.name) or entry.name.endswith(SIDECARS):
                path = root / name
                if is_plain(entry) or (reason := why_not_of(path, root)) is None:
                    files.append(path)
                elif os.path.lexists(path.path):
                    left_out.append(f"{name}: {reason}")
            elif (root / name).is_dir() and leads_out(root / name, root):
                left_out.append(f"{name}: {LEADS_OUT}")
    return Listing(_sorted(files), sorted(left_out))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _in_a_store(root: UPath, key: str | None) -> Listing:
    """One listing, and for a key a question for each folder that it is in."""
    root.fs.invalidate_cache()  # a process that runs for long would see what was there at its first listing
    if not root.exists():
        return Listing([])
    only: dict[str, Any] = {} if key is None else {"prefix": key}  # ignored where a store cannot search by it
    listed: dict[str, Any] = dict(root.fs.find(root.path, detail=True, **only))
    paths = [root / path.removeprefix(root.path).lstrip("/") for path in listed]
    if key is not None:
        folders = [root.joinpath(*key.split("/")[:depth]) for depth in range(key.count("/") + 1)]
        sidecars = [folder / DIRECTORY_SIDECAR for folder in folders]
        paths = [path for path in paths if _concerns(relative(path, root), key)]
        paths += [path for path in sidecars if path not in paths and path.exists()]
    # As `ukey` makes them, which looks through the whole listing for each file.
    marks = {path: hashlib.sha256(str(about).encode()).hexdigest() for path, about in listed.items()}
    return Listing(_sorted(paths), [], marks)


def _concerns(name: str, key: str) -> bool:
    """Whether a file may belong to a drop, or makes the folder that it is in another drop."""
    if name.startswith((f"{key}.", f"{key}/")):
        return True
    folder, _, last = name.rpartition("/")
    return last == DIRECTORY_SIDECAR and f"{key}/".startswith(f"{folder}/" if folder else "")


def _meet(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _sorted(paths: list[UPath]) -> list[UPath]:
    return sorted(paths, key=lambda path: path.path)
