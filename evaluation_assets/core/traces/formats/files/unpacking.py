"""Decompress within limits: a small file must not fill the memory or run for hours."""

import io
from typing import IO, Any

import pyarrow as pa

COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

LARGEST_RECORD = 128 << 20
"""Size limit in bytes of one record or archive member. A record is parsed as a whole, into objects of up to twenty
times its size. A run with a hundred screenshots has about 50 MB."""

LARGEST_RATIO = 200
"""Maximum compression ratio. Agent logs, which are repetitive, reach 5 to 50; decompression bombs 1000 or more."""

ALWAYS_UNPACKED = 256 << 20
"""Bytes below which the ratio is not checked: small files of identical records compress as well as bombs."""


class TooLarge(OSError):
    """Content exceeds a limit. The message continues a sentence that starts with the file name."""


def check_expansion(plain: int, packed: int) -> None:
    """Check the decompressed size.

    Raises:
        TooLarge: the compression ratio is higher than that of any agent log.
    """
    if plain > ALWAYS_UNPACKED and plain > LARGEST_RATIO * packed:
        raise TooLarge(f"decompresses to more than {LARGEST_RATIO} times its size, which agent logs never do")


def unpacked(raw: IO[bytes], compression: str) -> io.RawIOBase:
    """Stream of a decompressed file; reading raises `TooLarge` when the limit is exceeded."""
    return _Unpacked(raw, compression)


def read_at_most(stream: IO[bytes], limit: int) -> bytes | None:
    """Read the remaining bytes; `None` if there are more than `limit`."""
    blocks: list[bytes] = []
    size = 0
    while block := stream.read(1 << 20):
        blocks.append(block)
        size += len(block)
        if size > limit:
            return None
    return b"".join(blocks)


class Metered:
    """A stream for a parser that rescans an unfinished string from its start with every block.

    Blocks therefore double while `count` grows; the reader resets it to 0 at every value. A string larger than the
    record limit is refused.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        """Read the next block.

        Raises:
            TooLarge: a string exceeds the record limit.
        """
        content = self._stream.read(max(size, self.count))
        self.count += len(content)
        if self.count > LARGEST_RECORD:
            raise TooLarge(f"contains a string larger than {LARGEST_RECORD >> 20} MB")
        return content


class _Unpacked(io.RawIOBase):
    def __init__(self, raw: IO[bytes], compression: str) -> None:
        super().__init__()
        self._raw = raw
        self._plain: Any = pa.CompressedInputStream(pa.PythonFile(raw, "r"), compression)
        self._given = 0

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next decompressed bytes."""
        count = self._plain.readinto(buffer)
        self._given += count
        check_expansion(self._given, self._raw.tell())
        return count
