"""Functions of the user's own, which settings name as `module:function`.

Files of settings are trusted like code: what they name is imported and run. Files that arrive with drops never name
code.
"""

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from evaluation_assets.core.text.user_error import UserError


class InvalidFunction(UserError, ValueError):
    """A function that cannot be used; the message names it and says what to change."""


@dataclass(frozen=True, slots=True)
class OwnFunction:
    """A function with the `file` that defines it, and the digest of that file: 16 hexadecimal digits of SHA-256."""

    name: str
    function: Callable[..., Any]
    file: str
    digest: str


def own_function(name: str, folder: Path | None) -> OwnFunction:
    """The function that `module:function` names.

    The module is a file in `folder`, or else an installed module. A file is read again after each change. `folder`
    is added to the end of `sys.path`, so that the file can import its neighbours.

    Raises:
        InvalidFunction: there is no such module or function, or the module cannot be imported.
    """
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise InvalidFunction(f"function {name!r}: write module:function, for instance my_checks:no_refund_without_id")
    try:
        module = _module(module_name, folder)
    except Exception as problem:  # a module may raise anything while it is imported
        if isinstance(problem, ModuleNotFoundError) and problem.name == module_name:
            place = "" if folder is None else f" in {folder}, and none is installed"
            raise InvalidFunction(f"function {name!r}: there is no module {module_name}{place}") from None
        told = f"{type(problem).__name__}: {str(problem)[:300]}"
        raise InvalidFunction(f"function {name!r}: module {module_name} cannot be imported ({told})") from problem
    function = getattr(module, attribute, None)
    if not callable(function):
        raise InvalidFunction(f"function {name!r}: module {module_name} has no function {attribute}")
    return defined(name, function, module)


def defined(name: str, function: Callable[..., Any], module: ModuleType | None = None) -> OwnFunction:
    """A function with the file that it is defined in, or else that of `module`.

    Raises:
        InvalidFunction: its source cannot be found.
    """
    # An object that is called like a function has the source of its type.
    places = (_source_file(each) for each in (inspect.unwrap(function), type(function), module))
    file = next((file for file in places if file is not None), None)
    if file is None or not Path(file).is_file():
        raise InvalidFunction(f"function {name!r}: its source file cannot be found, so that changes would go unnoticed")
    return OwnFunction(name, function, file, hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16])


def _source_file(code: object) -> str | None:
    try:
        return inspect.getsourcefile(code)  # pyright: ignore[reportArgumentType]  (it raises for what it does not take)
    except TypeError:
        return None


def _module(name: str, folder: Path | None) -> ModuleType:
    file = None if folder is None else _file(name, folder)
    if file is None:
        return importlib.import_module(name)
    if (place := str(file.parents[name.count(".") + (file.name == "__init__.py")])) not in sys.path:
        sys.path.append(place)
    # Under a name of its own: folders may have modules of the same name, and a changed file is imported anew.
    content = hashlib.sha256(str(file).encode() + b"\0" + file.read_bytes()).hexdigest()[:16]
    alias = f"_own_{content}_{name.replace('.', '_')}"
    if alias in sys.modules:
        return sys.modules[alias]
    is_package = file.name == "__init__.py"
    spec = importlib.util.spec_from_file_location(
        alias, file, submodule_search_locations=[str(file.parent)] if is_package else None
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[alias]
        raise
    return module


def _file(name: str, folder: Path) -> Path | None:
    base = folder.resolve().joinpath(*name.split("."))
    return next((file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()), None)
