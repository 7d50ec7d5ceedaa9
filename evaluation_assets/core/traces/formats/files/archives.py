"""Read members of zip archives, also those compressed with Zstandard, which Python reads only since 3.14."""

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo

from evaluation_assets.core.traces.formats.files.unpacking import LARGEST_RECORD, read_at_most, unpacked

ZSTANDARD = 93
"""The compression method of Zstandard in zip archives (APPNOTE 4.4.5)."""

_LOCAL_HEADER = 30
"""Bytes of a local file header before the name and the extra field, whose lengths are its last four bytes."""


def read_member(archive: ZipFile, stream: IO[bytes], name: str) -> bytes | None:
    """Read a member of an archive that was opened from `stream`; `None` if it is larger than a record may be.

    The size that the archive declares is not trusted.

    Raises:
        BadZipFile: the member is damaged.
    """
    member = archive.getinfo(name)
    if member.compress_type != ZSTANDARD:
        with archive.open(member) as plain:
            return read_at_most(plain, LARGEST_RECORD)
    with _zstandard(stream, member) as plain:
        content = read_at_most(plain, LARGEST_RECORD)
    if content is not None and zlib.crc32(content) != member.CRC:
        raise BadZipFile(f"Bad CRC-32 for file {name!r}")
    return content


@contextmanager
def _zstandard(stream: IO[bytes], member: ZipInfo) -> Iterator[IO[bytes]]:
    stream.seek(member.header_offset)
    header = stream.read(_LOCAL_HEADER)
    if header[:4] != b"PK\x03\x04":
        raise BadZipFile(f"Bad magic number for file header of {member.filename!r}")
    if member.flag_bits & 1:
        raise RuntimeError(f"File {member.filename!r} is encrypted")
    lengths = header[26:28], header[28:30]
    stream.seek(sum(int.from_bytes(length, "little") for length in lengths), io.SEEK_CUR)
    packed = io.BytesIO(stream.read(member.compress_size))
    yield io.BufferedReader(unpacked(packed, "zstd"), 1 << 20)
