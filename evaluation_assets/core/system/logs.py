"""Logs whose handlers may fail without stopping the work that is logged."""

import logging
from contextlib import suppress
from typing import Any


class Log(logging.LoggerAdapter[logging.Logger]):
    """A logger that raises nothing.

    Handlers of Dagster raise where its storage and the file of the step's stderr are on a disk that is full: what was
    to be stored once there is space again was forgotten then, and the judge waited for ever.
    """

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Log a message, if it can be."""
        with suppress(Exception):
            super().log(level, msg, *args, **kwargs)


def log_of(module: str) -> Log:
    """The log of a module."""
    return Log(logging.getLogger(module))
