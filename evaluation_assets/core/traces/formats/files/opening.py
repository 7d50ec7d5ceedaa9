"""Open the files of a drop, plain or compressed, as UTF-8 without a byte order mark; errors for damaged files."""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from upath import UPath

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.formats.files.printed_spans import PrintedSpans, has_printed_spans
from evaluation_assets.core.traces.formats.files.unpacking import (
    COMPRESSION_MAGIC,
    LARGEST_RECORD,
    TooLarge,
    read_at_most,
    unpacked,
)

COMPRESSIONS = (".gz", ".zst")
EXTENSIONS = (".jsonl", ".ndjson", ".json", ".parquet", ".traj", ".eval", ".txt", ".log")
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@contextmanager
def opened(path: UPath) -> Iterator[io.BufferedReader]:
    """Open a file and decompress it; UTF-16 after a byte order mark, which PowerShell writes, becomes UTF-8.

    Of what a program printed with its spans, there are only these.
    """
    with path.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        compression = next((name for start, name in COMPRESSION_MAGIC.items() if magic.startswith(start)), None)
        stream: Any = raw if compression is None else unpacked(raw, compression)
        opened = io.BufferedReader(stream, 1 << 20)
        beginning = opened.peek(4)[:4]
        if beginning.startswith(codecs.BOM_UTF8):
            opened.read(len(codecs.BOM_UTF8))
        elif (encoding := _UTF_16.get(beginning[:2])) and beginning != codecs.BOM_UTF32_LE:
            opened.read(len(codecs.BOM_UTF16))
            stream = _InUtf8(opened, encoding)
            opened = io.BufferedReader(stream, 1 << 20)
        if has_printed_spans(opened.peek(1 << 16)):
            stream = PrintedSpans(opened)
            opened = io.BufferedReader(stream, 1 << 20)
        yield opened


def offset_in(stream: io.BufferedReader) -> int | None:
    """The position of an opened stream in its file; `None` if the file is compressed."""
    return stream.tell() if stream.seekable() else None


def read_text(path: UPath, source: str) -> str:
    """Read a whole file as text; bytes that are not UTF-8 become escapes.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    try:
        with opened(path) as stream:
            content = read_at_most(stream, LARGEST_RECORD)
            if content is None:
                raise TooLarge(f"is a text larger than {LARGEST_RECORD >> 20} MB")
            return content.decode("utf-8", "backslashreplace")
    except (EOFError, OSError, pa.ArrowException) as problem:
        raise damaged(source, problem) from problem


def damaged(source: str, problem: Exception) -> UnreadableDrop:
    """The error for a file that cannot be read any further."""
    if isinstance(problem, TooLarge):
        return UnreadableDrop(f"{source} {problem}. Split it into smaller records, or remove it.")
    return UnreadableDrop(f"{source} is damaged: {problem}. Copy it again, or remove it.")


class _InUtf8(io.RawIOBase):
    """The text of a stream in UTF-8; what is not in its encoding becomes U+FFFD."""

    def __init__(self, raw: io.BufferedReader, encoding: str) -> None:
        super().__init__()
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._text = b""

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes of the text."""
        block = b"begin"
        while block and not self._text:
            block = self._raw.read(1 << 16)
            self._text = self._decoder.decode(block, final=not block).encode()
        given, self._text = self._text[: len(buffer)], self._text[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)
