"""Which files on this machine are read: regular ones, and in a folder only what lies in it.

Folders of runs come from strangers. A link in one may lead to the keys of the user, and a pipe keeps its reader
waiting for ever.
"""

import os
import stat
from pathlib import Path

from upath import UPath

_OF_THE_SYSTEM = ("/proc/", "/sys/")
"""Regular by their kind, but windows into the machine; `/proc/self/environ` holds its secrets."""

LEADS_OUT = "it is a link that leads out of the folder"


def is_local(path: UPath) -> bool:
    """Whether a path is one of this machine, where there are links and pipes."""
    return path.protocol in ("", "file", "local")


def is_of_the_system(path: str) -> bool:
    """Whether a path leads into `/proc` or `/sys`, where nobody creates files, whatever their modes allow."""
    return path.startswith(_OF_THE_SYSTEM)


def why_not_regular(path: UPath) -> str | None:
    """Why a file is not read, wherever it lies; `None` where it can be."""
    real = os.path.realpath(path.path)
    if is_of_the_system(real):
        return "it is a system file"
    try:
        return None if stat.S_ISREG(Path(real).stat().st_mode) else "it is not a regular file"
    except FileNotFoundError:
        return "it is a broken link" if Path(path.path).is_symlink() else "it is no longer there"
    except OSError as problem:
        return str(problem.strerror)


def is_inside(path: UPath, folder: UPath) -> bool:
    """Whether a path is a folder or below it."""
    return f"{path.path}/".startswith(f"{folder.path}/")


def leads_out(path: UPath, folder: UPath) -> bool:
    """Whether something in a folder lies elsewhere, by a link."""
    top = os.path.realpath(folder.path)
    return os.path.commonpath([top, os.path.realpath(path.path)]) != top


def why_not_of(path: UPath, folder: UPath) -> str | None:
    """Why a file in a folder is not read; `None` where it can be. Links that stay inside can."""
    return LEADS_OUT if leads_out(path, folder) else why_not_regular(path)


def is_plain(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder that was reached without links is a regular file itself, which needs no more looks.

    Links and files of the system may be readable too: `why_not_of` tells.
    """
    return entry.is_file(follow_symlinks=False) and not is_of_the_system(entry.path)
