"""The output of steps, kept beside their runs. The processes that copy it end with the step, and not by Ctrl-C."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from evaluation_assets.resources.dagster_private import CapturedLogContext, LocalComputeLogManager


class CapturedOutput(LocalComputeLogManager):
    """Dagster's own, whose processes a terminal would interrupt with the command: each then prints a traceback."""

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Mapping[str, Any]) -> Self:
        """Keep the output where Dagster does by default, in `storage` of the folder."""
        return cls(str(Path(config_value["base_dir"]) / "storage"), inst_data=inst_data)

    @contextmanager
    def capture_logs(self, log_key: Sequence[str]) -> Iterator[CapturedLogContext]:
        """Copy what a step prints."""
        with ExitStack() as entered:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what is started now inherits it
            try:
                context = entered.enter_context(super().capture_logs(log_key))
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            yield context
