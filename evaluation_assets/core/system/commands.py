"""Commands for a terminal that messages name, whole, so that they can be copied."""

import re
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

NAME = "evaluation-assets"


def program() -> str:
    """What a shell calls this installation by: its name if that is on the path, else the path of its file."""
    own = Path(sys.executable).with_name(NAME)
    named = shutil.which(NAME)
    if not own.exists() or (named is not None and own.samefile(named)):
        return NAME
    return str(own.relative_to(Path.cwd()) if own.is_relative_to(Path.cwd()) else own)


def installing(extra: str) -> str:
    """The command that installs the packages of an extra for this Python.

    They are named themselves: a package index may have another package of our name, or none.
    """
    try:
        known = requires(NAME) or []
    except PackageNotFoundError:
        known = []
    marked = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
    packages = [text.partition(";")[0].strip() for text in known if marked.search(text)]
    return shlex.join([sys.executable, "-m", "pip", "install", *(packages or [f".[{extra}]"])])
