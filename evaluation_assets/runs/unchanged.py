"""Recognise drops that an evaluation would find as it left them, before Dagster and the assets are imported."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from upath import UPath

from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.panel import PYTHON, Panel
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.lake.tables import TABLES
from evaluation_assets.core.system.code_stamp import code_stamp
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.own_files import files_below
from evaluation_assets.core.system.plugins import has_plugins
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.runs.outcomes import FailedCheck, Line, RunOutcome

_NO_SETTINGS = ("drops", "lake", "reports", "dagster", "agent_runs")
"""Folders of an installation that hold what is evaluated and what comes of it."""

_NOT_READ = ("ledger.sqlite", "received.sqlite", "groups.yaml")
"""Beginnings of names of files that no evaluation takes settings from."""


@dataclass(frozen=True, slots=True)
class LastOutcome:
    """What the last evaluation of a drop told, and the lines that tell it."""

    outcome: RunOutcome
    lines: tuple[Line, ...]


Metadata = Mapping[str, Mapping[str, Any]]


class LastOutcomes:
    """What the last evaluation of each drop told, with a digest of all that it was made from.

    It is kept for drops that could not be read, and for evaluations in which every judge answered, so that a re-run
    asks again where one did not. What cannot be seen from here is evaluated every time: code of the user's own,
    installations in object stores, embeddings and sinks, which other servers take part in.
    """

    def __init__(self, home: Installation, panel: Panel, settings: Settings) -> None:
        self._home = home
        self._panel = panel
        self._settings = settings

    def of(self, drop: Drop) -> LastOutcome | None:
        """The last outcome of a drop; `None` where an evaluation could tell something else now."""
        try:
            kept = self._kept(drop)
            if kept is None or _is_rewritten(kept) or kept["content"] != drop.content_hash():
                return None
            failed = tuple(FailedCheck(**each) for each in kept["failed_checks"])
            outcome = RunOutcome(drop, kept["status"], kept["message"], failed, kept["metadata"])
            return LastOutcome(outcome, tuple(Line(**line) for line in kept["lines"]))
        except (ValueError, TypeError, LookupError, AttributeError):  # written by another version
            return None

    def was_rewritten(self, drop: Drop, content: str) -> bool:
        """Whether only the tables or report of a drop with this content hash have changed since the last evaluation.

        `--judge` writes some.
        """
        try:
            kept = self._kept(drop)
            return kept is not None and _is_rewritten(kept) and kept["content"] == content
        except (ValueError, TypeError, LookupError, AttributeError):  # written by another version
            return False

    def _kept(self, drop: Drop) -> Any:
        """What was kept of a drop; `None` where what it was made from beside the drop is another one now."""
        file = self._home.last_outcome(drop.key)
        if self._made_from is None or not file.exists():
            return None
        kept = orjson.loads(file.read_bytes())
        return kept if kept["made_from"] == self._made_from else None

    def keep(self, outcome: RunOutcome, content: str, tell: Callable[[RunOutcome], Iterable[Line]]) -> None:
        """Keep an outcome of a drop whose content was that before the run, and the lines that `tell` it again."""
        drop, file = outcome.drop, self._home.last_outcome(outcome.drop.key)
        file.unlink(missing_ok=True)
        if self._made_from is None or not _is_complete(outcome, content):
            return
        metadata = _from_ledger(outcome.metadata)
        kept = {
            "made_from": self._made_from,
            "content": content,
            "written": _stamps(self._written(drop.key)),
            "status": outcome.status,
            "message": outcome.message,
            "failed_checks": [asdict(check) for check in outcome.failed_checks],
            "metadata": metadata,
            "lines": list(tell(replace(outcome, metadata=metadata))),
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        publish_bytes(UPath(file), orjson.dumps(kept, default=str))

    @cached_property
    def _made_from(self) -> str | None:
        """A digest of everything but the drop; `None` where something of it cannot be seen."""
        home, panel = self._home, self._panel
        own_code = any(judge.provider == PYTHON or judge.evaluator is not None for judge in panel.judges)
        elsewhere = not (is_local(home.root) and is_local(home.lake))
        if elsewhere or own_code or panel.embeddings is not None or home.sinks_file.exists() or has_plugins():
            return None
        whole = hashlib.sha256(code_stamp().encode())
        variables = {name: value for name, value in os.environ.items() if name.startswith("EVALUATION_")}
        place = f"{home.root} {home.lake}"  # a copy of a home is another one
        for part in (place, panel.model_dump_json(), repr(self._settings), str(sorted(variables.items()))):
            whole.update(f"{part}\0".encode())
        for file in _settings_files(Path(home.root.path)):
            whole.update(f"{file}\0".encode())
            whole.update(hashlib.sha256(file.read_bytes()).digest())
        return whole.hexdigest()

    def _written(self, drop: str) -> Iterator[Path]:
        """The tables and files of the report of a drop."""
        home = self._home
        for name in TABLES:
            for judge in ((), *((judge.name,) for judge in self._panel.judges)):
                table = Path(home.table(drop, name, *judge).path.path)
                if table.exists():
                    yield table
        yield from (file for file in Path(home.reports(drop).path).rglob("*") if file.is_file())


def _settings_files(root: Path) -> Iterator[Path]:
    for entry in sorted(root.iterdir()):
        if entry.is_dir() and entry.name not in _NO_SETTINGS:
            yield from (Path(file.path) for file in files_below(UPath(entry)))
        elif entry.is_file() and not entry.name.startswith(_NOT_READ):
            yield entry


def _is_rewritten(kept: Any) -> bool:
    """Whether a file that the evaluation wrote is another one now."""
    return kept["written"] != _stamps(map(Path, kept["written"]))


def _stamps(files: Iterable[Path]) -> dict[str, list[int] | None]:
    """Size and times of files, `None` for one that is gone. No program can set the time of the last change."""
    stamps: dict[str, list[int] | None] = {}
    for file in files:
        try:
            about = file.stat()
            stamps[str(file)] = [about.st_size, about.st_mtime_ns, about.st_ctime_ns]
        except OSError:
            stamps[str(file)] = None
    return stamps


def _is_complete(outcome: RunOutcome, content: str) -> bool:
    """Whether a re-run could add nothing. A drop that was gone or half written may be back as it was."""
    if outcome.status == "unreadable":
        return _has_content(outcome.drop, content)
    reported = outcome.status in ("passed", "check_failed") and "evaluation_report" in outcome.metadata
    return reported and _has_all_verdicts(outcome.metadata)


def _has_content(drop: Drop, content: str) -> bool:
    try:
        return drop.content_hash() == content
    except OSError:
        return False


def _has_all_verdicts(metadata: Metadata) -> bool:
    return not any(
        figures.get("failed") or figures.get("not_run") for figures in metadata.values() if "calls" in figures
    )


def _from_ledger(metadata: Metadata) -> dict[str, dict[str, Any]]:
    """The metadata as an evaluation gives it that finds all replies in the ledger."""
    told = {asset: dict(figures) for asset, figures in metadata.items()}
    for figures in told.values():
        if figures.get("calls"):
            answered = figures["scored"] + figures["abstained"]
            figures |= {"calls": 0, "from_ledger": answered, "cost_usd": None}
            figures |= dict.fromkeys(("input_tokens", "cached_tokens", "output_tokens"), 0)
            figures |= dict.fromkeys(("uncounted_verdicts", "unpriced_verdicts"), 0)
    return told
