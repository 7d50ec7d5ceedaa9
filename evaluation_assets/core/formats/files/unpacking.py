"""Compressed bytes as plain ones, within limits: a small file must not fill the memory or run for hours."""

import io
from typing import IO, Any

import pyarrow as pa

COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

LARGEST_RECORD = 128 << 20
"""Bytes of one record or one member of an archive. A record is in memory as a whole, as objects up to twenty times its
size. A run with a hundred screenshots has about 50 MB."""

LARGEST_RATIO = 200
"""Plain bytes for one compressed byte. Logs of agents, which repeat themselves, reach 5 to 50; a bomb 1000 and more."""

ALWAYS_UNPACKED = 256 << 20
"""Plain bytes up to which the ratio does not matter: small files of equal records compress as well as bombs."""


class TooLarge(OSError):
    """Content beyond a limit; the message goes on after the name of the file."""


def check_expansion(plain: int, packed: int) -> None:
    """Refuse what unpacks to too much.

    Raises:
        TooLarge: there are more plain bytes than any log would have for so many compressed ones.
    """
    if plain > ALWAYS_UNPACKED and plain > LARGEST_RATIO * packed:
        raise TooLarge(f"unpacks to more than {LARGEST_RATIO} times its size, which no log of agents does")


def unpacked(raw: IO[bytes], compression: str) -> io.RawIOBase:
    """The plain bytes of a compressed file; reading raises `TooLarge` where they become too many."""
    return _Unpacked(raw, compression)


def read_at_most(stream: IO[bytes], limit: int) -> bytes | None:
    """All bytes that are left; `None` where there are more than `limit`."""
    blocks: list[bytes] = []
    size = 0
    while block := stream.read(1 << 20):
        blocks.append(block)
        size += len(block)
        if size > limit:
            return None
    return b"".join(blocks)


class Metered:
    """A stream for a parser that begins a text anew with every block it is given, until it has the end of it.

    So blocks double while `count`, which the reader sets to 0 at every value, grows. Beyond a record it is refused.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes.

        Raises:
            TooLarge: they are too many.
        """
        content = self._stream.read(max(size, self.count))
        self.count += len(content)
        if self.count > LARGEST_RECORD:
            raise TooLarge(f"holds a text of more than {LARGEST_RECORD >> 20} MB")
        return content


class _Unpacked(io.RawIOBase):
    def __init__(self, raw: IO[bytes], compression: str) -> None:
        super().__init__()
        self._raw = raw
        self._plain: Any = pa.CompressedInputStream(pa.PythonFile(raw, "r"), compression)
        self._given = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next plain bytes."""
        count = self._plain.readinto(buffer)
        self._given += count
        check_expansion(self._given, self._raw.tell())
        return count
