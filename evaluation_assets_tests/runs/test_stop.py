"""Signals that stop a command, received where it hurts."""

import logging
import signal
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import QueuePool

from evaluation_assets.core.system.stop_signals import Interrupted
from evaluation_assets.runs.stop import Stop


@pytest.fixture(autouse=True)
def pool_log() -> Iterator[None]:
    yield
    logging.getLogger("sqlalchemy.pool").setLevel(logging.NOTSET)


def test_ctrl_c_while_a_connection_is_given_back_prints_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    engine = sa.create_engine("sqlite://", poolclass=QueuePool)
    event.listen(engine.pool, "reset", lambda *_: signal.raise_signal(signal.SIGINT))
    with Stop(), pytest.raises(Interrupted), engine.connect() as connection:
        connection.execute(sa.text("select 1"))
    assert [record for record in caplog.records if record.name.startswith("sqlalchemy")] == []
