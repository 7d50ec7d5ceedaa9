"""Images of a drop. A mark stands for each in the texts, such as `[image: image/png, 34 kB, 0f3c5e7a9b1d2468]`."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LARGEST = 3_750_000
"""Bytes of the largest image that is kept: 5 MB of base64, the limit of model providers."""

_MOST_HELD = 64_000_000
"""Characters of base64 that are held while a drop is read."""

_MARK = re.compile(r"\[image: image/[a-z]{3,4}, [0-9.,]{1,9} (?:bytes|kB|MB), ([0-9a-f]{16})\]")


@dataclass(frozen=True, slots=True)
class Image:
    """An image whose first bytes are those of its kind: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.

    `digest` is what its mark names it by. Width and height are pixels, as its header states them. `data` is base64, as
    sources, browsers and model providers have it.
    """

    digest: str
    media_type: str
    width: int
    height: int
    data: str


class Images:
    """The images that were read last. Readers that give a trajectory only after the whole file may lose the first."""

    def __init__(self) -> None:
        self._held: dict[str, Image] = {}
        self._size = 0

    def add(self, image: Image) -> None:
        """Hold an image, and let go of those that were read first where there are too many."""
        known = self._held.pop(image.digest, None)
        self._held[image.digest] = image
        self._size += len(image.data) if known is None else 0
        while self._size > _MOST_HELD:
            self._size -= len(self._held.pop(next(iter(self._held))).data)

    def marked_in(self, texts: Iterable[str]) -> Iterator[Image]:
        """The images that texts have marks of, in the order of their marks, each once."""
        if self._held:
            yield from (self._held[digest] for digest in marks(texts) if digest in self._held)


def is_mark(text: str) -> bool:
    """Whether a text is the mark of an image, and nothing else."""
    return _MARK.fullmatch(text) is not None


def marks(texts: Iterable[str]) -> list[str]:
    """The digests in the marks of texts, in their order, each once."""
    return list(dict.fromkeys(match[1] for text in texts for match in _MARK.finditer(text)))
