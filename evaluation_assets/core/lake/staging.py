"""Files under temporary names, which their writers hold locked until they are moved into place.

The system frees the lock of a process that is killed. So a file that nobody holds was left behind, and can be removed.
"""

import fcntl
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_NAME = re.compile(r"\..+\.[0-9a-f]{32}")
_DEVICES = (Path("/dev"), Path("/dev/fd"))
"""Here links lead to the output of this process, which may be a regular file."""


@contextmanager
def staged(path: Path) -> Iterator[IO[bytes]]:
    """A new file that is moved to `path` at the end of the block; an exception removes it.

    A pipe or a device, such as `/dev/stdout`, is written to instead of being replaced.
    """
    if is_stream(path):
        with path.open("wb") as sink:
            yield sink
        return
    staging, file = _locked(path)
    with file:
        try:
            yield file
            file.flush()
            staging.replace(path)
        except BaseException:
            staging.unlink(missing_ok=True)
            raise


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe or a device, such as `/dev/stdout`, also where that leads into a file."""
    return path.parent in _DEVICES or (path.exists() and not path.is_file())


def is_staging(path: Path) -> bool:
    """Whether a path is a temporary name of this module."""
    return _NAME.fullmatch(path.name) is not None


def remove_unfinished(folder: Path) -> int:
    """Remove the files that writers below a folder left behind when they were killed; their number."""
    return sum(
        _remove_if_left(Path(place, name))
        for place, _, names in os.walk(folder)
        for name in names
        if _NAME.fullmatch(name)
    )


def _locked(path: Path) -> tuple[Path, IO[bytes]]:
    while True:
        staging = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        file = staging.open("xb")
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return staging, file
        file.close()  # it was taken for one that was left behind before it was locked


def _remove_if_left(staging: Path) -> bool:
    try:
        with staging.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            staging.unlink()
    except OSError:  # it is being written, or gone
        return False
    return True
