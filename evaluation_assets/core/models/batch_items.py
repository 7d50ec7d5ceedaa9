"""Which questions are in which batch: stored before it is waited for, so that no process submits them again."""

import time
from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa

from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.ledger_tables import BATCH_ITEMS
from evaluation_assets.core.system.chunks import chunks

_AT_ONCE = 500


class BatchItems:
    """The questions of the batches that are under way, in the ledger's database. A stored reply takes its question out.

    Raises:
        LedgerError: it cannot be read or written; every method may raise it.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, batch: str, keys: Iterable[str]) -> None:
        """Store what was submitted."""
        now = time.time()
        rows = [{"key": key, "batch": batch, "submitted_at": now} for key in keys]
        with self._ledger.transaction() as connection:
            connection.execute(sa.insert(BATCH_ITEMS), rows)

    def any(self) -> bool:
        """Whether any question is in a batch that is under way."""
        with self._ledger.transaction() as connection:
            return connection.execute(sa.select(BATCH_ITEMS.c.key).limit(1)).first() is not None

    def under_way(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The batches of those questions that are in one."""
        batch_of: dict[str, str] = {}
        with self._ledger.transaction() as connection:
            for some in chunks(keys, _AT_ONCE):
                asked = sa.select(BATCH_ITEMS).where(BATCH_ITEMS.c.key.in_(some))
                batch_of |= {row.key: row.batch for row in connection.execute(asked)}
        return batch_of

    def of(self, batch: str) -> frozenset[str]:
        """The questions of a batch that are not answered yet."""
        with self._ledger.transaction() as connection:
            return frozenset(
                connection.execute(sa.select(BATCH_ITEMS.c.key).where(BATCH_ITEMS.c.batch == batch)).scalars()
            )

    def forget(self, batch: str, keys: Iterable[str]) -> None:
        """Take questions out that got no reply."""
        gone = [{"gone": key} for key in keys]
        if gone:
            of_batch = sa.and_(BATCH_ITEMS.c.key == sa.bindparam("gone"), BATCH_ITEMS.c.batch == batch)
            with self._ledger.transaction() as connection:
                connection.execute(sa.delete(BATCH_ITEMS).where(of_batch), gone)
