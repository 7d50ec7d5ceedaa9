"""A text that changes whenever code of an evaluation may have: of this package, of Python, of other packages."""

import hashlib
import sys
import sysconfig
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]


@cache
def code_stamp() -> str:
    """Changes with the files of the package, the version of Python, and what is installed beside it."""
    whole = hashlib.sha256(sys.version.encode())
    for name in ("purelib", "platlib"):  # installing a package changes the folder
        whole.update(f"{Path(sysconfig.get_path(name)).stat().st_mtime_ns}\0".encode())
    for file in sorted(PACKAGE.rglob("*")):
        if file.suffix != ".pyc" and file.is_file():
            about = file.stat()
            whole.update(f"{file.relative_to(PACKAGE)}\0{about.st_size}\0{about.st_mtime_ns}\0".encode())
    return whole.hexdigest()
