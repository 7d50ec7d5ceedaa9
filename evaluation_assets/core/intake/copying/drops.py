"""Bring drops into an installation: `evaluate FILE` copies them to where the UI and the sensor find them again."""

from collections.abc import Callable, Sequence
from pathlib import Path

import yaml
from upath import UPath

from evaluation_assets.core.intake.copying.copies import Conflict, Copy, mark_as_one
from evaluation_assets.core.intake.drops import (
    DIRECTORY_SIDECAR,
    SIDECAR_SUFFIX,
    Drop,
    InvalidDrop,
    Scan,
    as_one,
    find,
    not_read,
    one_file,
    scan,
    why_empty,
    why_unusable,
)
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_inside, is_local
from evaluation_assets.core.text.plain_yaml import load_plain

Say = Callable[[str], object]

_ANOTHER = "choose another with --as NAME, in Python with name=NAME"


def take_in(
    home: Installation,
    inputs: Sequence[Path | UPath],
    *,
    one_drop: bool,
    name: str | None = None,
    may_replace: Callable[[Conflict], bool] = lambda _: False,
    why_unreadable: Callable[[Drop], str | None] = lambda _: None,
    say: Say = lambda _: None,
) -> list[Drop]:
    """Copy the inputs below `drops/`, unless they are there already, and give the drops they are.

    A file's drop is named by its stem, or as `named` says; files below a directory by their path in it. With
    `one_drop`, a directory is one drop of all its files. A file that changed since it was copied is copied again. Where
    another file has the name, `may_replace` decides. What is `why_unreadable` is not copied. `say` is told of files in
    a directory that are left out.

    Raises:
        InvalidDrop: an input holds nothing that can be read, or its name is taken.
    """
    for path in inputs:
        if one_drop and path.is_dir() and is_inside(_place(path), home.drops):
            mark_as_one(_place(path))
    inspected = inspect(inputs, one_drop=one_drop, say=say)
    known = scan(home.drops)
    _check_names([key for key, _ in _keys(known, inspected, name)], name)
    keys: list[str] = []
    copies: list[Copy] = []
    for drop, (key, is_there) in zip(inspected, _keys(known, inspected, name), strict=True):
        try:
            problem = None if is_there else why_unreadable(drop)
            copies += [] if is_there or problem else [Copy(drop, key, home.drops)]
        except OSError as failed:
            problem = f"{failed.filename}: {failed.strerror}"
        if problem is not None:
            if len(inspected) == 1:
                raise InvalidDrop(problem)
            say(f"skipped: {problem}")
            continue
        keys.append(key)
    if not keys:
        raise InvalidDrop("none of the files can be read")
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice and len({path.resolve() for path in inputs}) == len(inputs):
        raise InvalidDrop(f"two inputs have the same drop name {twice[0]!r}; rename one, or evaluate their folder")
    for conflict in filter(None, (each.conflict(known.drops.get(each.key)) for each in copies)):
        if not may_replace(conflict):
            raise InvalidDrop(f"{conflict}. Keep both with --as NAME, or replace the drop with --replace.")
    for each in copies:
        each.make(known.drops.get(each.key))
    now = scan(home.drops)
    missing = [key for key in keys if key not in now.drops]
    if missing:
        raise InvalidDrop(f"{', '.join(missing)}: {' '.join(now.problems)}")
    return [now.drops[key] for key in dict.fromkeys(keys)]


def _check_names(keys: Sequence[str], name: str | None) -> None:
    if name is not None and not name.endswith("/") and len(keys) != 1:
        remedy = f"--as {name}/ puts them into one suite, --one-drop (in Python one_drop=True) makes one drop of them"
        raise InvalidDrop(f"the name {name!r} can be that of one drop, not of {len(keys)}; {remedy}")
    for key in keys:
        if (reason := why_unusable(key)) is not None:
            raise InvalidDrop(f"{key!r}: {reason}; {_ANOTHER}")
    if name is not None and name.startswith("-"):
        raise InvalidDrop(f"{name!r}: commands would take a name that starts with '-' for an option; {_ANOTHER}")


def taken_in(home: Installation, inputs: list[Path], *, one_drop: bool, name: str | None = None) -> list[Drop] | None:
    """The drops that `take_in` would give, where it has nothing to copy, to ask or to say; `None` where it has."""
    said: list[str] = []
    known = scan(home.drops)
    drops: list[Drop] = []
    try:
        inspected = inspect(inputs, one_drop=one_drop, say=said.append)
        for drop, (key, is_there) in zip(inspected, _keys(known, inspected, name), strict=True):
            taken = known.drops.get(key)
            if taken is None or (not is_there and not Copy(drop, key, home.drops).is_made(taken)):
                return None
            drops.append(taken)
    except (InvalidDrop, OSError):
        return None
    return None if said or len({drop.key for drop in drops}) < len(drops) else drops


def keys_in(home: Installation, drops: Sequence[Drop], name: str | None) -> list[str]:
    """The keys that `take_in` would give the drops."""
    return [key for key, _ in _keys(scan(home.drops), drops, name)]


def _keys(known: Scan, drops: Sequence[Drop], name: str | None) -> list[tuple[str, bool]]:
    """The key of each drop in the installation, and whether it lies there already and is not to be renamed."""
    there = {file.path: key for key, drop in known.drops.items() for file in drop.files} if name is None else {}
    inside = [there.get(drop.files[0].path) for drop in drops]
    return [
        (key or named(_own(drop.key, known), name), key is not None) for key, drop in zip(inside, drops, strict=True)
    ]


def _own(key: str, known: Scan) -> str:
    """The name of a drop without hyphens in front, as folders of coding agents have them: commands take such a name for
    an option. A drop that has it already keeps it.
    """
    return key if key in known.drops else key.lstrip("-") or key


def named(own: str, name: str | None) -> str:
    """The key of a drop that is to have a name: its own with a name that ends in a slash before it, or the name."""
    if name is None:
        return own
    return f"{name}{own}" if name.endswith("/") else name


def annotate(home: Installation, drop: Drop, *, suite: str | None = None, format_name: str | None = None) -> Drop:
    """Note what is given of suite and format in the drop's sidecar; its other fields stay.

    Raises:
        InvalidDrop: the sidecar is no YAML mapping.
    """
    given = {"format": format_name, "suite": suite}
    fields = {name: value for name, value in given.items() if value is not None}
    if not fields or (drop.sidecar_file is not None and fields.items() <= drop.sidecar().model_dump().items()):
        return drop
    place = drop.sidecar_file or home.drops / f"{drop.key}{SIDECAR_SUFFIX}"
    before = load_plain(place) if drop.sidecar_file is not None else None
    publish_bytes(place, yaml.safe_dump({**(before or {}), **fields}, sort_keys=False, allow_unicode=True).encode())
    return find(home.drops, drop.key)


def inspect(inputs: Sequence[Path | UPath], *, one_drop: bool = False, say: Say = lambda _: None) -> list[Drop]:
    """The drops that inputs would be, where they lie; nothing is copied.

    Raises:
        InvalidDrop: an input holds nothing that can be read.
    """
    drops: list[Drop] = []
    for path in inputs:
        source = _place(path)
        if not path.is_dir():
            drops.append(one_file(source))
        elif one_drop or (source / DIRECTORY_SIDECAR).exists():
            drops.append(as_one(source))
        else:
            drops += _readable(scan(source), path, say)
        if path.is_dir() and (names := not_read(source)) is not None:
            say(f"skipped: {names}")
    for problem in (problem for drop in drops for problem in drop.left_out):
        say(f"skipped: {problem}")
    return drops


def _place(path: Path | UPath) -> UPath:
    """Where an input lies, under its own name also where it is a link."""
    if isinstance(path, UPath) and not is_local(path):
        return path
    return UPath(path.resolve() if path.name in ("", "..") else path.parent.resolve() / path.name)


def _readable(scan: Scan, path: Path | UPath, say: Say) -> list[Drop]:
    if not scan.drops:
        reasons = "; ".join(scan.problems) or f"it {why_empty(UPath(path))}"
        raise InvalidDrop(f"{path}: {reasons}")
    for problem in scan.problems:
        say(f"skipped: {problem}")
    return list(scan.drops.values())
