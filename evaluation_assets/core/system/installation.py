"""Paths of an installation."""

import hashlib
import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from upath import UPath

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import TABLES
from evaluation_assets.core.system.commands import program
from evaluation_assets.core.system.configuration import InvalidConfiguration
from evaluation_assets.core.system.file_locks import locked
from evaluation_assets.core.system.regular_files import is_local, is_of_the_system
from evaluation_assets.core.text.report_addresses import ReportAddress

_DEFAULT = ".evaluation"

_READ_IN_ADDRESSES = re.compile(r"\?|%[0-9A-Fa-f]{2}")
"""What SQLAlchemy does not take as it stands in the address of an SQLite file: parameters, and escaped characters."""


class UnusableHome(InvalidConfiguration):
    """A folder of an installation cannot be used; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The folder of an installation: drops, lake, reports, panel, Dagster's own files.

    `root` and `lake` may be any universal_pathlib URL. What has to be a local file (Dagster's own storage, the SQLite
    ledger) then lies in `.evaluation` of the working directory.
    """

    root: UPath
    lake: UPath

    @classmethod
    def at(cls, url: str, lake_url: str | None = None) -> Self:
        """The installation at a path or URL.

        Raises:
            UnusableHome: there is no such kind of URL.
        """
        if not url:
            raise UnusableHome("its path is empty")
        try:
            root = UPath(url)
            if is_local(root):
                root = UPath(os.path.realpath(root.path))
            lake = UPath(lake_url) if lake_url else root / "lake"
        except (ImportError, ValueError) as problem:
            raise UnusableHome(str(problem)) from problem
        return cls(root, lake)

    @classmethod
    def from_environment(cls, url: str | None = None) -> Self:
        """As `at`; `EVALUATION_HOME` is the default, else `.evaluation`, and `EVALUATION_LAKE_URL` names the lake."""
        home = os.environ.get("EVALUATION_HOME") or _DEFAULT if url is None else url
        return cls.at(home, os.environ.get("EVALUATION_LAKE_URL"))

    def command(self, *words: str) -> str:
        """A command of evaluation-assets for this installation, quoted for a shell."""
        return shlex.join([program(), *words, "--home", str(self.root)])

    def check(self) -> None:
        """Check that its folders can be read or created. Nothing is created.

        Raises:
            UnusableHome: one cannot.
        """
        if any(re.search("[\ud800-\udfff]", str(place)) for place in (self.local_folder, self.root, self.lake)):
            raise UnusableHome(f"{self.root} is not UTF-8, which the names of databases have to be")
        if changed := _READ_IN_ADDRESSES.search(str(self.local_folder)):
            at_fault = f"{self.local_folder} has {changed[0]} in its path"
            raise UnusableHome(f"{at_fault}, which addresses of databases cannot have")
        apart = [] if self.lake == self.root / "lake" else [self.lake]
        for folder in (UPath(self.local_folder), self.root, *apart):
            if (problem := _problem_of(folder)) is not None:
                raise UnusableHome(problem)

    @property
    def drops(self) -> UPath:
        """Where people put files of trajectories."""
        return self.root / "drops"

    @property
    def suites(self) -> UPath:
        """Files of cases, named as drops name their suite."""
        return self.root / "suites"

    @property
    def agents(self) -> UPath:
        """Files of agents that can be run on the suites."""
        return self.root / "agents"

    @property
    def unfinished_runs(self) -> Path:
        """Where runs of agents keep what they have done so far."""
        return self.local_folder / "agent_runs"

    @property
    def panel_file(self) -> UPath:
        """The judges in use."""
        return UPath(os.environ.get("EVALUATION_PANEL") or self.root / "panel.yaml")

    @property
    def cascade_file(self) -> UPath:
        """Which verdicts the stages of the panel's cascade accept."""
        return self.root / "cascade.json"

    def measured_file(self, judge: str) -> UPath:
        """What `panel align` and `panel attack` measured of a judge, for its card."""
        return self.root / "judges" / f"{judge}.json"

    @property
    def tool_types(self) -> UPath:
        """The installation's own tool types."""
        return self.root / "tool_types.yaml"

    @property
    def rubrics(self) -> UPath:
        """The installation's own rubrics."""
        return self.root / "rubrics"

    @property
    def gate_file(self) -> UPath:
        """What gates, how surely, and when things run."""
        return self.root / "gate.yaml"

    @property
    def checks_file(self) -> UPath:
        """The constraints on trajectories."""
        return self.root / "checks.yaml"

    @property
    def groups_file(self) -> UPath:
        """What people said about failure groups."""
        return self.root / "groups.yaml"

    @property
    def sinks_file(self) -> UPath:
        """Where scores are sent."""
        return self.root / "sinks.yaml"

    @property
    def sources_file(self) -> UPath:
        """Where traces are fetched from."""
        return self.root / "sources.yaml"

    @property
    def baselines(self) -> UPath:
        """The accepted scores of each suite."""
        return self.root / "baselines"

    @property
    def bridges(self) -> UPath:
        """What links the scores of each suite over a change of judges."""
        return self.root / "bridges"

    @property
    def labels(self) -> UPath:
        """Where people put labels."""
        return self.root / "labels"

    @property
    def ledger_url(self) -> str:
        """The database of paid replies: `EVALUATION_LEDGER_URL`, else SQLite in the home folder."""
        return os.environ.get("EVALUATION_LEDGER_URL") or f"sqlite:///{self.local_folder / 'ledger.sqlite'}"

    @property
    def has_ledger(self) -> bool:
        """Whether there is a ledger to look into."""
        return "EVALUATION_LEDGER_URL" in os.environ or (self.local_folder / "ledger.sqlite").exists()

    @property
    def received(self) -> Path:
        """The spool of the receiver, an SQLite file."""
        return self.local_folder / "received.sqlite"

    @property
    def dagster(self) -> Path:
        """DAGSTER_HOME."""
        return self.local_folder / "dagster"

    def last_outcome(self, drop: str) -> Path:
        """What the last evaluation of a drop told."""
        return self.dagster / "outcomes" / f"{hashlib.sha256(drop.encode()).hexdigest()}.json"

    @contextmanager
    def edits(self, file: UPath) -> Iterator[None]:
        """Let one process of this machine at a time read, change and write a file that people and commands edit."""
        locks = self.dagster / "locks"
        make_folder(locks)
        with locked(locks / file.name):
            yield

    @property
    def local_folder(self) -> Path:
        """The home folder, or where files are kept that have to be on this machine."""
        return Path(self.root.path) if is_local(self.root) else Path(_DEFAULT).resolve()

    def make(self) -> None:
        """Make the local folder where it is missing. Only its owner can enter it, which protects all that is in it.

        In a folder that is there, the databases become readable only by its owner, and by its group if that may write.

        Raises:
            UnusableHome: it cannot be created.
        """
        make_folder(self.local_folder, mode=0o700)
        is_shared = self.local_folder.stat().st_mode & stat.S_IWGRP
        for file in self.local_folder.glob("*.sqlite*"):  # the ledger and the spool, which hold prompts and traces
            with suppress(OSError):  # of another user
                mode = file.lstat().st_mode
                if stat.S_ISREG(mode):
                    file.chmod(stat.S_IMODE(mode) & (0o660 if is_shared else 0o600))

    @property
    def is_readable_by_others(self) -> bool:
        """Whether other users of this machine can enter the local folder."""
        return os.name == "posix" and bool(self.local_folder.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH))

    def reports(self, name: str) -> UPath:
        """The report files of a drop, by its key, or of a suite."""
        return self.root / "reports" / name

    @property
    def served_reports(self) -> Path:
        """Holds the URL at which `ui` serves the reports, while it runs."""
        return self.dagster / "reports_url"

    @property
    def public_reports_url(self) -> str | None:
        """The URL at which others read the folder of reports: `EVALUATION_REPORTS_URL`."""
        return os.environ.get("EVALUATION_REPORTS_URL", "").rstrip("/") or None

    @property
    def reports_url(self) -> str | None:
        """The URL of the folder of reports: the public one, else that of `ui` while it runs."""
        if self.public_reports_url is not None or not self.served_reports.exists():
            return self.public_reports_url
        return self.served_reports.read_text("utf-8")

    def report_address(self, drop: str) -> ReportAddress:
        """Where the report of a drop is opened on this machine."""
        return ReportAddress.of(self.reports_url, drop)

    def public_report_address(self, drop: str) -> ReportAddress:
        """Where the report of a drop is opened by others: a URL only if one is configured."""
        return ReportAddress.of(self.public_reports_url, drop)

    def table(self, drop: str, *path: str) -> Stored:
        """A table of a drop: the table's name, then the judge where there is one file a judge."""
        return Stored(TABLES[path[0]], self.lake.joinpath(*path) / f"{drop}.parquet")

    def whole_table(self, name: str) -> Stored:
        """A table over all drops."""
        return Stored(TABLES[name], self.lake / f"{name}.parquet")

    def suite_names(self) -> list[str]:
        """The names of the files of suites, sorted. An object store has no folder of them before the first."""
        return sorted({path.stem for path in self.suites.iterdir()}) if self.suites.exists() else []

    def drops_with(self, table: str) -> list[str]:
        """The drops that have a table, sorted by key."""
        folder = self.lake / table
        if not folder.exists():
            return []
        keys = (path.path.removeprefix(folder.path).strip("/") for path in folder.rglob("*.parquet"))
        return sorted(key.removesuffix(".parquet") for key in keys if not key.rsplit("/", 1)[-1].startswith("."))

    def judges_of(self, drop: str) -> list[str]:
        """Names of the judges that have verdicts on the clips of a drop."""
        folder = self.lake / "clip_verdicts"
        if not folder.exists():
            return []
        return sorted(path.name for path in folder.iterdir() if self.table(drop, "clip_verdicts", path.name).exists)


def make_folder(folder: Path | UPath, mode: int = 0o777) -> None:
    """Create a folder of an installation where it is missing.

    Raises:
        UnusableHome: it cannot be created.
    """
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except Exception as problem:  # each store has errors of its own: no credentials, no route, no bucket
        raise UnusableHome(f"{folder} cannot be created: {_said(problem)}") from problem


def _problem_of(folder: UPath) -> str | None:
    """Why a folder cannot be read, or why there is none and none can be created."""
    return _problem_here(Path(folder.path)) if is_local(folder) else _problem_there(folder)


def _problem_here(folder: Path) -> str | None:
    for path in (folder, *folder.parents):
        try:
            if not stat.S_ISDIR(path.stat().st_mode):
                return f"{path} is not a folder"
            if path == folder:
                next(path.iterdir(), None)
            elif is_of_the_system(str(folder)) or not os.access(path, os.W_OK | os.X_OK):
                return f"{folder} cannot be created: {path} is not writable"
            return None
        except (FileNotFoundError, NotADirectoryError):
            continue  # the first parent that is there decides
        except OSError as problem:
            return f"{path}: {problem.strerror}"
    return None


def _problem_there(folder: UPath) -> str | None:
    try:
        folder.exists()
    except Exception as problem:  # noqa: BLE001  # see above
        return f"{folder}: {_said(problem)}"
    return None


def _said(problem: Exception) -> str:
    said = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
    return " ".join(said.split()) or type(problem).__name__
