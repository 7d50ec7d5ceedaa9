"""What a run is doing, for people in front of a terminal; on stderr, so that results can be piped."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dagster as dg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

CONSOLE = Console(stderr=True, highlight=False)


class RunProgress:
    """Counts the steps of each drop's run; draws bars only on a terminal, and nothing when quiet."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._level = logging.DEBUG if verbose else logging.WARNING
        self._quiet = quiet
        self._drop = ""
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=CONSOLE,
            disable=quiet or not sys.stderr.isatty(),
        )
        self._task = self._bars.add_task("", total=None)

    @contextmanager
    def over(self, drops: int) -> Iterator[None]:
        """Draw while drops are evaluated."""
        self._bars.update(self._task, total=drops, completed=0)
        with self._bars:
            yield

    def start(self, drop: str) -> None:
        """A drop's run begins."""
        self._drop = drop
        self._show_step("")

    def _show_step(self, step: str) -> None:
        self._bars.update(self._task, description=f"{self._drop} {step}")

    def finish(self) -> None:
        """A drop's run has ended."""
        self._bars.advance(self._task)

    def loggers(self) -> dict[str, dg.LoggerDefinition]:
        """Dagster's console logger, replaced by one that feeds the bars and writes to stderr."""

        def console(init_context: dg.InitLoggerContext) -> logging.Logger:
            logger = logging.Logger("evaluation_assets")
            lines = logging.StreamHandler(sys.stderr)
            lines.setLevel(logging.CRITICAL if self._quiet else self._level)
            lines.setFormatter(_ShortFormatter("%(levelname)s %(message)s"))
            logger.addHandler(lines)
            logger.addHandler(_Steps(self._show_step))
            return logger

        return {"console": dg.LoggerDefinition(console, description="Progress bars and warnings, on stderr.")}


class _Steps(logging.Handler):
    """Tells which step begins, and what it says while it runs."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        about = getattr(record, "dagster_meta", {})
        event = about.get("dagster_event")
        if event is not None and event.is_step_start:
            self._show(event.step_key)
        elif event is None and record.levelno == logging.INFO:
            self._show(about.get("orig_message") or "")


class _ShortFormatter(logging.Formatter):
    """Dagster's lines begin with job, run id and process; the message itself is enough."""

    def format(self, record: logging.LogRecord) -> str:
        message = getattr(record, "dagster_meta", {}).get("orig_message")
        return f"{record.levelname} {message}" if message else super().format(record)
