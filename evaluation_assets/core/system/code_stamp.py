"""A text that changes whenever code of an evaluation may have: of this package, of Python, of other packages."""

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]


@cache
def code_stamp() -> str:
    """Changes with the files of the package, the version of Python, and what is installed beside it."""
    whole = hashlib.sha256(sys.version.encode())
    for name in ("purelib", "platlib"):  # installing a package changes the folder
        whole.update(f"{Path(sysconfig.get_path(name)).stat().st_mtime_ns}\0".encode())
    for path, size, changed in sorted(_files(str(PACKAGE))):
        whole.update(f"{path}\0{size}\0{changed}\0".encode())
    return whole.hexdigest()


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Each file below a folder but compiled ones, with its size and time. Paths as objects took twice the time."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path)
            elif entry.is_file() and not entry.name.endswith(".pyc"):
                about = entry.stat()
                yield entry.path, about.st_size, about.st_mtime_ns
