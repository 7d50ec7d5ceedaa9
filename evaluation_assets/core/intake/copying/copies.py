"""Copy the files of a drop into an installation without overwriting other files."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from upath import UPath

from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.lake.stored import publish_bytes, publish_copy
from evaluation_assets.core.text.plain_yaml import InvalidYaml, load_plain
from evaluation_assets.core.traces.formats.files.drop_files import DIRECTORY_SIDECAR, SIDECAR_SUFFIX
from evaluation_assets.core.traces.trajectories.identity import file_name


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file that is not what the drop of its name was made of. `known` is where that came from."""

    drop: str
    source: UPath
    known: str

    def __str__(self) -> str:
        return f"{self.source} would replace the drop {self.drop!r}, which is a different file: {self.known}"


def note_of(drops: UPath, key: str) -> UPath:
    """The hidden file beside a copied drop that says where it came from."""
    return (drops / key).with_name(file_name(f".{key.rsplit('/', 1)[-1]}", ".source.json"))


class Copy:
    """The files of a drop that lies outside of the drops folder, and their places in it under a key.

    Beside the copies a hidden file says where they came from, so that a file that changed is told from another file.

    Raises:
        OSError: a file cannot be read.
    """

    def __init__(self, drop: Drop, key: str, drops: UPath) -> None:
        self.key = key
        self._drop = drop
        self._drops = drops
        self._files = {self._place(file): file for file in drop.files}
        self._content = _content(self._files)
        self._source = drop.files[0] if len(drop.files) == 1 else drop.root / drop.key
        self._is_folder = any("/" in place.removeprefix(key) for place in self._files)
        self._note = note_of(drops, key)

    def _place(self, file: UPath) -> str:
        return self.key + file.path.removeprefix(self._drop.root.path).strip("/").removeprefix(self._drop.key)

    def conflict(self, taken: Drop | None) -> Conflict | None:
        """What speaks against copying over the drop that has the key: its content came from elsewhere, or by hand."""
        if taken is None or (content := self._content_of(taken)) == self._content:
            return None
        noted = self._noted()
        if noted.get("content") != content:
            return Conflict(self.key, self._source, f"added or edited by hand in {self._drops}")
        if noted.get("source") != str(self._source):
            return Conflict(self.key, self._source, f"copied from {noted.get('source')}")
        return None

    def _noted(self) -> Mapping[str, Any]:
        """Where the drop of the key came from; nothing where its note is missing or damaged."""
        try:
            noted = json.loads(self._note.read_bytes()) if self._note.exists() else {}
        except ValueError:
            return {}
        return noted if isinstance(noted, dict) else {}

    def is_made(self, taken: Drop) -> bool:
        """Whether the drop of the key has these files, and all that the sidecar says."""
        if self._content_of(taken) != self._content:
            return False
        earlier = _fields(taken.sidecar_file)
        return earlier == earlier | _fields(self._drop.sidecar_file)

    def make(self, taken: Drop | None) -> None:
        """Copy the files; what else the drop of the key held is removed, the fields of its sidecar stay."""
        if taken is None or self._content_of(taken) != self._content:
            for place, file in self._files.items():
                publish_copy(file, self._drops / place)
            for file in taken.files if taken is not None else ():
                if file.path.removeprefix(self._drops.path).strip("/") not in self._files:
                    file.unlink()
        self._copy_sidecar(None if taken is None else taken.sidecar_file)
        copied = {place: self._drops / place for place in self._files}
        note = {"source": str(self._source), "content": _content(copied)}  # the source may have changed meanwhile
        publish_bytes(self._note, json.dumps(note).encode())

    def _content_of(self, taken: Drop) -> str:
        return _content({file.path.removeprefix(self._drops.path).strip("/"): file for file in taken.files})

    def _copy_sidecar(self, before: UPath | None) -> None:
        place = self._drops / f"{self.key}{f'/{DIRECTORY_SIDECAR}' if self._is_folder else SIDECAR_SUFFIX}"
        own = self._drop.sidecar_file
        if own is None:
            if self._is_folder:
                mark_as_one(place.parent)
            return
        earlier, now = _fields(before), _fields(own)
        if earlier.keys() <= now.keys():
            publish_copy(own, place)
        else:
            publish_bytes(place, yaml.safe_dump({**earlier, **now}, sort_keys=False, allow_unicode=True).encode())


def mark_as_one(folder: UPath) -> None:
    """Make a folder below the drops folder one drop of all its files."""
    if not (folder / DIRECTORY_SIDECAR).exists():
        publish_bytes(folder / DIRECTORY_SIDECAR, b"# one drop of all files in this folder\n")


def _content(files: Mapping[str, UPath]) -> str:
    """SHA-256 over names and bytes."""
    whole = hashlib.sha256()
    for name, file in sorted(files.items()):
        with file.open("rb") as stream:
            whole.update(f"{name}\0{file.stat().st_size}\0".encode())
            while block := stream.read(1 << 20):
                whole.update(block)
    return whole.hexdigest()


def _fields(sidecar: UPath | None) -> dict[str, Any]:
    """The fields of a sidecar; none of one that is no YAML mapping, which is reported when the drop is read."""
    try:
        data = None if sidecar is None else load_plain(sidecar)
    except InvalidYaml:
        data = None
    return data if isinstance(data, dict) else {}
