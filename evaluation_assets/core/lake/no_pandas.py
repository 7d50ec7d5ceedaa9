"""Writing tables without waiting for pandas."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import pyarrow as pa


class _NoPandas(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module is missing if it is pandas; other finders are asked for all others."""
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname, name=fullname)
        return None


def write_without_pandas() -> None:
    """Let PyArrow make its first column without pandas: it imports it, 0.2 s and 40 MB, to tell lists from its series.

    It asks only once. What needs pandas imports it as ever, and `to_pandas` works. For processes of which this project
    writes the tables: until `to_pandas` or the like, a series that PyArrow is given is a mere sequence.
    """
    if "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([], pa.null())
    finally:
        sys.meta_path.remove(finder)
