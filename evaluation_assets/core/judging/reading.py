"""Count which replies of a model can be used, and stop asking one that gives no such reply."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

from evaluation_assets.core.judging.replies import InvalidReply
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.errors import UnusableKind
from evaluation_assets.core.models.ledger import Entry

_UNUSABLE: tuple[UnusableKind, ...] = get_args(UnusableKind)


@contextmanager
def reading(entry: Entry, client: Client) -> Iterator[None]:
    """Read a reply in a block that raises `InvalidReply` if it cannot be used. What an earlier run paid is no sign."""
    try:
        yield
    except InvalidReply as problem:
        if entry.run == client.run and problem.kind in _UNUSABLE:
            client.replies.add(problem.kind, str(problem))
            if (stopped := client.replies.stopped) is not None:
                client.stop(stopped)
        raise
    client.replies.used()
