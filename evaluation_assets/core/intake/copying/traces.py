"""Make a drop of the traces of a store, e.g. of the sessions that a coding agent keeps on this machine."""

from collections.abc import Iterable

import orjson
import yaml
from upath import UPath

from evaluation_assets.core.intake.drops import Drop, InvalidDrop, find, scan, why_unusable
from evaluation_assets.core.intake.sources.store import Trace
from evaluation_assets.core.lake.stored import publish_bytes, publish_copy
from evaluation_assets.core.traces.formats.files.drop_files import DIRECTORY_SIDECAR
from evaluation_assets.core.traces.trajectories.identity import file_name


def take_in_traces(drops: UPath, name: str, format_name: str, traces: Iterable[Trace]) -> Drop | None:
    """Replace the content of a drop by traces; `None`, and no change, if there are none.

    A drop made here is a folder with a hidden file that says so. Fields that people added to its sidecar stay.

    Raises:
        InvalidDrop: the drop of the name was not made of traces, or the name cannot be used.
        StoreError: the store gives no traces.
    """
    if (reason := why_unusable(name)) is not None:
        raise InvalidDrop(f"{name!r}: {reason}")
    mark = (drops / name).with_name(file_name(f".{name.rsplit('/', 1)[-1]}", ".traces"))
    taken = scan(drops).drops.get(name)
    if taken is not None and not mark.exists():
        raise InvalidDrop(f"the drop {name!r} exists and is not made of sessions; choose another name with --as NAME")
    written: set[str] = set()
    for trace in traces:
        if not written:
            _prepare(drops / name, mark, format_name)
        written |= _write(drops / name, trace)
    if not written:
        return None
    for path in (drops / name).rglob("*"):
        place = path.path.removeprefix((drops / name).path).strip("/")
        if path.is_file() and place not in written and place != DIRECTORY_SIDECAR:
            path.unlink()
    return find(drops, name)


def _prepare(folder: UPath, mark: UPath, format_name: str) -> None:
    """Mark a folder as a drop of traces before the first file appears in it."""
    publish_bytes(mark, b"made of traces\n")
    if not (folder / DIRECTORY_SIDECAR).exists():
        publish_bytes(folder / DIRECTORY_SIDECAR, yaml.safe_dump({"format": format_name}).encode())


def _write(folder: UPath, trace: Trace) -> set[str]:
    """Write a trace; give the names of its files."""
    if trace.record is not None:
        name = file_name(trace.id.replace("/", "_"), ".json")
        publish_bytes(folder / name, orjson.dumps(trace.record))
        return {name}
    for name, path in trace.files:
        publish_copy(path, folder / name)
    return {name for name, _ in trace.files}
