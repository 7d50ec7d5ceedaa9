"""Progress output. It goes to stderr, so that results can be piped."""

import io
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

import dagster as dg
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column
from rich.text import Text

from evaluation_assets.core.judging.progress import LOG, Judged

LINE_SECONDS = 15.0
"""Seconds between progress lines if stderr is not a terminal."""

WIDE = 120
"""Minimum terminal width for a bar next to the figures."""


class RunProgress:
    """Progress of drops and of each judge's verdicts: bars on a terminal, otherwise occasional lines; none if quiet."""

    def __init__(self, *, quiet: bool) -> None:
        self._level = logging.CRITICAL + 1 if quiet else logging.WARNING
        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self._drop, self._newest = "", ""
        self._done, self._total = 0, 0
        self._judged: dict[tuple[str, str], Judged] = {}
        self._tasks: dict[tuple[str, str], TaskID] = {}
        self._warned: set[str] = set()
        self._bars = self._new_bars()
        self._whole = self._bars.add_task("", total=None, figures="")

    @contextmanager
    def over(self, drops: int) -> Iterator[None]:
        """Show progress while the drops are evaluated."""
        self._total = drops
        listener = _Each(self._count)
        ended = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(ended,), daemon=True)
        LOG.addHandler(listener)
        LOG.setLevel(logging.DEBUG)
        LOG.propagate = False
        with self._beside_steps():
            if not self._quiet and not self._console.is_terminal:
                ticker.start()
            try:
                yield
            finally:
                self._bars.stop()
                ended.set()
                if ticker.is_alive():
                    ticker.join()
                LOG.removeHandler(listener)
                LOG.setLevel(logging.NOTSET)
                LOG.propagate = True  # what a caller of the Python API logs afterwards reaches its own handlers

    def start(self, drop: str) -> None:
        """Start the progress of a drop."""
        self._drop, self._newest, self._started = drop, "", time.monotonic()
        self._judged, self._tasks = {}, {}
        self._warned.clear()
        self._bars = self._new_bars()
        self._whole = self._bars.add_task("", total=self._total, completed=self._done, figures="")
        self._show_newest("")
        self._bars.start()

    def finish(self) -> None:
        """End the progress of a drop. The bars are removed so that the outcome can be printed."""
        self._done += 1
        self._bars.stop()

    def silence(self) -> None:
        """Stop printing log lines: the run is being stopped, and errors are expected."""
        self._level = logging.CRITICAL + 1

    def loggers(self) -> dict[str, dg.LoggerDefinition]:
        """Dagster's console logger, replaced by one that feeds the bars and writes to stderr."""

        def console(init_context: dg.InitLoggerContext) -> logging.Logger:
            logger = logging.Logger("evaluation_assets")
            lines = _Each(lambda record: self._console.print(Text(lines.format(record)), soft_wrap=True))
            lines.addFilter(self._is_shown)
            lines.setFormatter(_ShortFormatter("%(levelname)s %(message)s"))
            logger.addHandler(lines)
            logger.addHandler(_Each(self._note_newest))
            return logger

        return {"console": dg.LoggerDefinition(console, description="Progress bars and warnings, on stderr.")}

    def _is_shown(self, record: logging.LogRecord) -> bool:
        """Hide Dagster's messages about steps that are skipped after a failure: the outcome names the failure.

        A judge is opened once a level, so a model that does not exist would be warned of at each; a drop says it once.
        """
        if record.levelno < self._level:
            return False
        about = getattr(record, "dagster_meta", {})
        if about and (about.get("dagster_event") is not None or record.levelno >= logging.ERROR):
            return False
        said = about.get("orig_message") or record.getMessage()
        is_new = said not in self._warned
        self._warned.add(said)
        return is_new

    def _new_bars(self) -> Progress:
        third = self._console.width // 3
        return Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, max_width=third)),
            *([BarColumn(bar_width=20)] if self._console.width >= WIDE else []),
            MofNCompleteColumn(table_column=Column(no_wrap=True, min_width=7)),
            TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=7)),
            _FiguresColumn(table_column=Column(no_wrap=True, ratio=1)),
            expand=True,
            console=self._console,
            disable=self._quiet or not self._console.is_terminal,
            transient=True,
            redirect_stdout=False,  # output of assets belongs in Dagster's compute log
            redirect_stderr=False,
        )

    @contextmanager
    def _beside_steps(self) -> Iterator[None]:
        """Print to a duplicate of stderr: while a step runs, Dagster redirects descriptor 2 to the step's log file."""
        with ExitStack() as stack:
            with suppress(OSError, io.UnsupportedOperation):  # not a file: captured by a test, or closed
                own = os.fdopen(os.dup(sys.stderr.fileno()), "w", 1, sys.stderr.encoding, "backslashreplace")
                self._console.file = stack.enter_context(own)
                stack.callback(setattr, self._console, "file", sys.stderr)
            yield

    def _note_newest(self, record: logging.LogRecord) -> None:
        """Show the newest asset and messages of the run."""
        about = getattr(record, "dagster_meta", {})
        event = about.get("dagster_event")
        if event is not None and event.is_step_materialization and event.asset_key is not None:
            self._show_newest(event.asset_key.to_user_string())
        elif event is None and record.levelno == logging.INFO:
            self._show_newest(about.get("orig_message") or "")

    def _show_newest(self, step: str) -> None:
        self._newest = step
        self._bars.update(self._whole, description=self._drop, figures=step)

    def _count(self, record: logging.LogRecord) -> None:
        """Count the verdicts of judges."""
        judged: Judged = vars(record)["judged"]
        if judged.total == 0:
            return
        key = (judged.level, judged.judge)
        self._judged[key] = judged
        if key not in self._tasks:
            label = judge_label(judged.judge, judged.level, self._console.width // 3)
            self._tasks[key] = self._bars.add_task(label, total=None, figures="")
        figures = self._figures(judged).split(", ", 1)[1]
        self._bars.update(self._tasks[key], total=judged.total, completed=judged.done, figures=figures)

    def _figures(self, judged: Judged) -> str:
        """The figures of a judge at a level, with what it has cost at all levels of the drop."""
        own = [each for each in self._judged.values() if each.judge == judged.judge and each is not judged]
        return judged.figures(own)

    def _tick(self, ended: threading.Event) -> None:
        while not ended.wait(LINE_SECONDS):
            if self._drop:
                self._console.print(Text(self._line()), soft_wrap=True)

    def _line(self) -> str:
        parts = [f"{self._drop} ({self._done + 1} of {self._total}), {time.monotonic() - self._started:.0f} s"]
        working = [each for each in self._judged.values() if each.total is None or each.done < each.total]
        parts += [f"{each.judge}: {each.level}: {self._figures(each)}" for each in working] or [self._newest]
        return "; ".join(part for part in parts if part)


def judge_label(judge: str, level: str, width: int) -> str:
    """The judge and its level in so many columns: of a long name, the middle is left out, so that the level stays."""
    room = max(width - len(f"  : {level}"), 3)
    head, tail = room // 2, (room - 1) // 2
    return f"  {judge if len(judge) <= room else f'{judge[:head]}…{judge[-tail:]}'}: {level}"


class _FiguresColumn(ProgressColumn):
    """The figures of a task, as many as fit."""

    def render(self, task: Task) -> "Figures":
        return Figures(task.fields["figures"])


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures separated by commas: what is too wide for its column is left out at the end, not cut within a figure."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown = self.text
        while cell_len(shown) > options.max_width and ", " in shown:
            shown = shown.rpartition(", ")[0]
        yield Text(shown, no_wrap=True, overflow="ellipsis")


class _Each(logging.Handler):
    """Log handler that gives each record to a function."""

    def __init__(self, take: Callable[[logging.LogRecord], object]) -> None:
        super().__init__()
        self._take = take

    def emit(self, record: logging.LogRecord) -> None:
        self._take(record)


class _ShortFormatter(logging.Formatter):
    """Formatter without the job, run ID and process that Dagster puts before each message."""

    def format(self, record: logging.LogRecord) -> str:
        message = getattr(record, "dagster_meta", {}).get("orig_message")
        return f"{record.levelname} {message}" if message else super().format(record)
