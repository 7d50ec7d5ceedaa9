"""Write the kept records to numbered files."""

import math
import re
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

from upath import UPath

from evaluation_assets.core.traces.trajectories.identity import file_name

Item = TypeVar("Item")


def numbered_files(items: Iterable[Item], stem: str, size: int, total: int) -> Iterator[tuple[str, Iterator[Item]]]:
    """File names `<stem>NN.jsonl` with `size` items each, the last with the rest.

    NN has two digits, more where `total` items need more files. Take each file's items before the next file.

    Raises:
        ValueError: `size` is below 1.
    """
    if size < 1:
        raise ValueError(f"a file holds at least one record, not {size}")
    digits = max(2, len(str(math.ceil(total / size))))
    iterator = iter(items)
    for number, first in enumerate(iterator, 1):
        yield file_name(stem, f"{number:0{digits}d}.jsonl"), _with_first(first, iterator, size)


def remove_earlier(folder: UPath, stem: str, written: Collection[str]) -> None:
    """Remove the numbered files of a stem that are not among those just written; other files stay."""
    for path in list(folder.iterdir()) if folder.exists() else ():
        if path.name not in written and _is_numbered(path.name, stem):
            path.unlink()


def _is_numbered(name: str, stem: str) -> bool:
    """Whether `numbered_files` would call a file of the stem so; the stem may end in digits itself."""
    match = re.search(r"[0-9]{2,}\.jsonl$", name)
    return match is not None and any(name == file_name(stem, name[at:]) for at in range(match.start(), len(name) - 7))


def _with_first(first: Item, rest: Iterator[Item], size: int) -> Iterator[Item]:
    yield first
    for _, item in zip(range(size - 1), rest, strict=False):
        yield item
