"""Plugins: what installed packages add to the project by entry points, without a fork.

A plugin that cannot be loaded is left out with a warning that names its package; everything else goes on.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from evaluation_assets.core.system.own_code import InvalidFunction, OwnFunction, defined
from evaluation_assets.core.text.user_error import UserError

READERS = "evaluation_assets.readers"
JUDGES = "evaluation_assets.judges"
SUITES = "evaluation_assets.suites"
SINKS = "evaluation_assets.sinks"

Loaded = TypeVar("Loaded")
Seen = TypeVar("Seen")


class InvalidPlugin(UserError, ValueError):
    """A plugin that is asked for by its name and cannot be used; the message names its package."""


class BrokenPlugin(UserWarning):
    """A plugin that is left out."""


def has_plugins() -> bool:
    """Whether a package has registered anything."""
    return any(_registered().values())


def plugin(group: str, name: str) -> OwnFunction:
    """The function that a package has registered under a name.

    Raises:
        InvalidPlugin: there is none of this name, or it cannot be loaded.
    """
    known = {entry.name: entry for entry in _registered()[group]}
    if name not in known:
        listed = ", ".join(known) or "none"
        raise InvalidPlugin(
            f"no installed package registers {name!r} in {group}: write module:function, or one of: {listed}"
        )
    entry = known[name]
    try:
        function = entry.load()
        if not callable(function):
            raise InvalidPlugin(f"{_place(entry)} is not a function")
        loaded = defined(name, function)
    except InvalidPlugin:
        raise
    except InvalidFunction as problem:
        raise InvalidPlugin(f"{_place(entry)}: {problem}") from problem
    except Exception as problem:  # a package may raise anything while it is imported
        raise InvalidPlugin(f"{_place(entry)} cannot be loaded ({_told(problem)})") from problem
    return loaded


def plugins(group: str, taken: frozenset[str], build: Callable[[str, object], Loaded]) -> dict[str, Loaded]:
    """All plugins of a group by name, as `build` makes them of the name and the loaded object.

    A plugin that cannot be loaded, that `build` raises for, or whose name is `taken` is left out with a warning.
    """
    by_name: dict[str, Loaded] = {}
    for entry in _registered()[group]:
        if entry.name in taken or entry.name in by_name:
            _warn(entry, f"the name {entry.name!r} is taken")
            continue
        try:
            by_name[entry.name] = build(entry.name, entry.load())
        except Exception as problem:  # noqa: BLE001  # a package may raise anything while it is imported
            _warn(entry, _told(problem))
    return by_name


def of_module(kind: Callable[..., Loaded], module: Any, name: str) -> Loaded:
    """The format in a module with `DESCRIPTION`, `DETECTION`, `detect` and `read`."""
    return kind(name, module.DESCRIPTION, module.DETECTION, module.detect, module.read)


def plugged_formats(group: str, taken: frozenset[str], kind: type[Loaded]) -> dict[str, Loaded]:
    """The formats that packages register, each a `kind` or a module as those of this project, by name.

    One whose `detect` raises recognises nothing.
    """

    def build(name: str, loaded: Any) -> Loaded:
        module: Any = loaded if isinstance(loaded, kind) else of_module(kind, loaded, name)
        return replace(module, name=name, detect=_guarded(group, name, module.detect))

    return plugins(group, taken, build)


def _guarded(group: str, name: str, detect: Callable[[Seen], bool]) -> Callable[[Seen], bool]:
    """A plugin's `detect` that recognises nothing, with a warning, where the plugin's own raises."""

    def detects(seen: Seen) -> bool:
        try:
            return bool(detect(seen))
        except Exception as problem:  # noqa: BLE001  # one package must not keep files from all other readers
            entry = next(entry for entry in _registered()[group] if entry.name == name)
            warnings.warn(f"{_place(entry)} failed to look at a file: {_told(problem)}", BrokenPlugin, stacklevel=2)
            return False

    return detects


@cache
def _registered() -> dict[str, list[EntryPoint]]:
    """The entry points by group; always in the same order, so that the first of a name is always the same."""
    every = entry_points()  # this looks at each installed package
    return {
        group: sorted(every.select(group=group), key=lambda entry: (entry.name, entry.value))
        for group in (READERS, JUDGES, SUITES, SINKS)
    }


def _warn(entry: EntryPoint, why: str) -> None:
    warnings.warn(f"{_place(entry)} is left out: {why}", BrokenPlugin, stacklevel=3)


def _place(entry: EntryPoint) -> str:
    package = "an unknown package" if entry.dist is None else f"package {entry.dist.name} {entry.dist.version}"
    return f"plugin {entry.name!r} of {package} ({entry.group}, {entry.value})"


def _told(problem: Exception) -> str:
    return f"{type(problem).__name__}: {str(problem)[:300]}"
