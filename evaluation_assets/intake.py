"""Bring files into an installation: `evaluate FILE` copies them to where the UI and the sensor find them again."""

import json
import shutil
from collections.abc import Callable
from importlib.resources import files as resources
from pathlib import Path
from typing import IO

import yaml
from upath import UPath

from evaluation_assets.core.agents.settings import AgentSettings, load_agent
from evaluation_assets.core.drops import (
    DIRECTORY_SIDECAR,
    NO_DATA,
    SIDECAR_SUFFIX,
    Drop,
    InvalidDrop,
    Scan,
    as_one,
    find,
    scan,
)
from evaluation_assets.core.home import Home
from evaluation_assets.core.lake import publish
from evaluation_assets.core.plain_yaml import load_plain
from evaluation_assets.core.tool_use.suite_formats.registry import LoadedSuite, as_document, find_suite, load_suite
from evaluation_assets.core.tool_use.suites import InvalidSuite

Say = Callable[[str], object]


def prepare(home: Home) -> None:
    """Make the folders of an installation and give Dagster its settings; what is there stays as it is."""
    kept = (home.drops, home.suites, home.agents, home.lake, home.root / "reports", home.root / "baselines")
    for folder in (*kept, home.dagster):
        folder.mkdir(parents=True, exist_ok=True)
    settings = home.dagster / "dagster.yaml"
    if not settings.exists():
        settings.write_text((resources("evaluation_assets") / "dagster.yaml").read_text("utf-8"))


def take_in(home: Home, inputs: list[Path], *, one_drop: bool, say: Say = lambda _: None) -> list[Drop]:
    """Copy the inputs below `drops/`, unless they are there already, and give the drops they are.

    A file's drop is named by its stem; files below a directory by their path in it. With `one_drop`, a directory is
    one drop of all its files. `say` is told of files in a directory that are left out, because of their names.

    Raises:
        InvalidDrop: an input holds nothing that can be read, or its name is taken.
    """
    keys: list[str] = []
    names = [path.resolve() for path in inputs]
    for path in inputs:
        source = UPath(path.resolve())
        inside = _inside(source, home.drops)
        if path.is_dir() and one_drop:
            keys += [_copy_directory(source, home)]
        elif path.is_dir():
            found = _readable(scan(source), path, say)
            keys += [_key_inside(drop, home) for drop in found] if inside else _copy_drops(found, home)
        else:
            found = _readable(_scan_file(source), path, say)
            keys += [_key_inside(drop, home) for drop in found] if inside else _copy_drops(found, home)
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice and len(set(names)) == len(names):
        raise InvalidDrop(f"two inputs would both be the drop {twice[0]!r}; rename one, or evaluate their folder")
    known = scan(home.drops)
    missing = [key for key in keys if key not in known.drops]
    if missing:
        raise InvalidDrop(f"{', '.join(missing)}: {' '.join(known.problems)}")
    return [known.drops[key] for key in dict.fromkeys(keys)]


def take_in_suite(home: Home, path: Path) -> LoadedSuite:
    """Copy a suite below `suites/`, unless it is there already.

    A suite of one file is copied as it is; one of several (a folder, or answers beside the questions) is written as one
    file in this project's own form. The suite is named by the file or folder.

    Raises:
        InvalidSuite: the suite cannot be used, or another file has its name.
    """
    source = UPath(path.resolve())
    loaded = load_suite(source)
    if _inside(source, home.suites):
        return loaded
    is_whole = len(loaded.files) == 1 and not source.is_dir()
    target = home.suites / f"{source.stem}{source.suffix if is_whole else '.json'}"
    taken = find_suite(home.suites, source.stem)
    if taken is not None and taken != target:
        raise InvalidSuite(f"{path}: {taken} has its name; remove that, or rename one of them")
    if is_whole:
        _copy(source, target)
    else:
        document = json.dumps(as_document(loaded.suite), ensure_ascii=False, indent=1).encode()
        _write(target, document)
    return loaded


def take_in_agent(home: Home, path: Path) -> AgentSettings:
    """Copy an agent's file below `agents/` under the agent's name, unless it is there already.

    Raises:
        InvalidAgent: the agent cannot be used.
    """
    source = UPath(path.resolve())
    agent = load_agent(source)
    if not _inside(source, home.agents):
        _copy(source, home.agents / f"{agent.name}.yaml")
    return agent


def annotate(home: Home, drop: Drop, **fields: str) -> Drop:
    """Note fields in the drop's sidecar, e.g. its suite or its format; the other fields of the sidecar stay.

    Raises:
        InvalidDrop: the sidecar is no YAML mapping.
    """
    known = drop.sidecar().model_dump()
    if all(known[name] == value for name, value in fields.items()) and drop.sidecar_file is not None:
        return drop
    place = drop.sidecar_file or home.drops / f"{drop.key}{SIDECAR_SUFFIX}"
    before = load_plain(place) if drop.sidecar_file is not None else None
    _write(place, yaml.safe_dump({**(before or {}), **fields}, sort_keys=False, allow_unicode=True).encode())
    return find(home.drops, drop.key)


def inspect(inputs: list[Path], *, one_drop: bool = False, say: Say = lambda _: None) -> list[Drop]:
    """The drops that inputs would be, where they lie; nothing is copied.

    Raises:
        InvalidDrop: an input holds nothing that can be read.
    """
    drops: list[Drop] = []
    for path in inputs:
        source = UPath(path.resolve())
        if one_drop and path.is_dir():
            drops.append(as_one(source))
        else:
            drops += _readable(scan(source) if path.is_dir() else _scan_file(source), path, say)
    return drops


def _scan_file(path: UPath) -> Scan:
    around = scan(path.parent)
    return Scan({key: drop for key, drop in around.drops.items() if path in drop.files}, around.problems)


def _readable(found: Scan, path: Path, say: Say) -> list[Drop]:
    if not found.drops:
        reasons = " ".join(found.problems) or f"it {NO_DATA}"
        raise InvalidDrop(f"{path}: {reasons}")
    for problem in found.problems:
        say(f"left out: {problem}")
    return list(found.drops.values())


def _inside(path: UPath, folder: UPath) -> bool:
    return f"{path.path}/".startswith(f"{folder.path}/")


def _key_inside(drop: Drop, home: Home) -> str:
    prefix = drop.root.path.removeprefix(home.drops.path).strip("/")
    return f"{prefix}/{drop.key}".strip("/")


def _copy_drops(drops: list[Drop], home: Home) -> list[str]:
    known = scan(home.drops).drops
    for drop in drops:
        places = {path: home.drops / path.path.removeprefix(drop.root.path).strip("/") for path in drop.files}
        taken = known.get(drop.key)
        if taken is not None and {path.path for path in taken.files} != {place.path for place in places.values()}:
            raise InvalidDrop(
                f"{drop.files[0].name}: {taken.files[0]} is already the drop {drop.key!r}; rename one of them"
            )
        for path, place in places.items():
            _copy(path, place)
        if drop.sidecar_file is not None:
            _copy(drop.sidecar_file, home.drops / drop.sidecar_file.path.removeprefix(drop.root.path).strip("/"))
    return [drop.key for drop in drops]


def _copy_directory(source: UPath, home: Home) -> str:
    target = home.drops / source.name
    if not _inside(source, home.drops):
        for path in source.rglob("*"):
            if path.is_file():
                _copy(path, target / path.path.removeprefix(source.path).strip("/"))
    if not (target / DIRECTORY_SIDECAR).exists():
        (target / DIRECTORY_SIDECAR).write_text("# one drop of all files in this folder\n")
    return source.name


def _copy(source: UPath, target: UPath) -> None:
    with source.open("rb") as stream:
        publish(target, lambda sink: shutil.copyfileobj(stream, sink, 1 << 20))


def _write(target: UPath, document: bytes) -> None:
    def pour(sink: IO[bytes]) -> None:
        sink.write(document)

    publish(target, pour)
