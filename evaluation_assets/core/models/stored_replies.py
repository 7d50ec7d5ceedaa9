"""Replies as the bytes that the ledger holds."""

import pyarrow as pa

from evaluation_assets.core.models.json_text import dumped, loads
from evaluation_assets.core.models.messages import Finish, Reply, ToolUse
from evaluation_assets.core.models.usage import reported

_LARGEST = 256 * 2**20
"""Bytes of a stored reply; what says that it is longer is damaged."""


def packed(reply: Reply) -> bytes:
    """A reply, compressed."""
    content = dumped(reply)
    return len(content).to_bytes(4, "little") + pa.compress(content, codec="zstd", asbytes=True)


def unpacked(stored: bytes) -> Reply:
    """The reply that `packed` was given.

    Raises:
        Exception: it is damaged; what is raised depends on where.
    """
    size = int.from_bytes(stored[:4], "little")
    if size > _LARGEST:
        raise ValueError("a reply is not that long")
    text = pa.decompress(stored[4:], decompressed_size=size, codec="zstd", asbytes=True)
    content = loads(text)
    finish: Finish = content["finish"]
    usage, problem = reported(content["usage"])
    return Reply(
        text=content["text"],
        finish=finish,
        usage=usage,
        thought=content.get("thought"),
        calls=tuple(ToolUse(**call) for call in content.get("calls", ())),
        wire=content.get("wire"),
        served_model=content.get("served_model"),
        usage_problem=content.get("usage_problem") or problem,
    )
