"""All files that an installation has of one drop, and their deletion."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from upath import UPath

from evaluation_assets.core.intake.copying.copies import note_of
from evaluation_assets.core.intake.drops import Drop, scan, why_unusable
from evaluation_assets.core.lake.tables import TABLES, Table
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local


@dataclass(frozen=True, slots=True)
class FilesOfDrop:
    """The files that an installation has of a drop: trajectories with their sidecar, tables, and reports."""

    home: Installation
    drop: str
    trajectories: tuple[UPath, ...]
    tables: tuple[UPath, ...]
    reports: tuple[UPath, ...]

    def __bool__(self) -> bool:
        return any((self.trajectories, self.tables, self.reports))

    def delete(self) -> None:
        """Delete them, and folders that become empty. Trajectories go first: no sensor evaluates the drop again.

        What the last evaluation told, which is no result by itself, goes with them.
        """
        for file in (*self.trajectories, *self.tables, *self.reports):
            file.unlink(missing_ok=True)
            if is_local(file):
                _remove_empty(Path(file.path).parent, Path(self.home.root.path))
        self.home.last_outcome(self.drop).unlink(missing_ok=True)


def files_of(home: Installation, drops: Iterable[str]) -> list[FilesOfDrop]:
    """All files of drops, whether they were evaluated or not, and whether their own files are still there or not."""
    lying, known = scan(home.drops).drops, known_drops(home)
    reports = home.root / "reports"
    of_reports = [file for file in reports.rglob("*") if file.is_file()] if reports.exists() else []
    return [
        FilesOfDrop(
            home,
            drop,
            tuple(_trajectories(home, drop, lying.get(drop))),
            tuple(file for table in TABLES.values() if not table.whole for file in _tables(home, drop, table)),
            tuple(_reports(home, drop, of_reports, known)),
        )
        if why_unusable(drop) is None
        else FilesOfDrop(home, drop, (), (), ())  # such as a path that leads elsewhere
        for drop in drops
    ]


def known_drops(home: Installation) -> set[str]:
    """The drops that have a file or tables."""
    return {*scan(home.drops).drops, *home.drops_with("raw_trajectories")}


def _trajectories(home: Installation, drop: str, found: Drop | None) -> Iterator[UPath]:
    if found is not None:
        yield from found.files
        yield from [found.sidecar_file] if found.sidecar_file else []
    note = note_of(home.drops, drop)
    yield from [note] if note.exists() else []


def _tables(home: Installation, drop: str, table: Table) -> Iterator[UPath]:
    folder = home.lake / table.name
    if not folder.exists():
        return
    parts = [(each.name,) for each in folder.iterdir()] if table.per_judge or table.per_sink else [()]
    for part in parts:
        file = home.table(drop, table.name, *part).path
        yield from [file] if file.exists() else []


def _reports(home: Installation, drop: str, files: Iterable[UPath], known: Iterable[str]) -> Iterator[UPath]:
    """Its report, and pages that compare another drop with it. Reports of others may lie in the folder of its own."""
    own, against = f"{home.reports(drop).path}/", f"/against/{drop.replace('/', '_')}/"
    others = tuple(f"{home.reports(each).path}/" for each in known if each.startswith(f"{drop}/"))
    for file in files:
        is_own = file.path.startswith(own) and not file.path.startswith(others)
        if is_own or against in file.path:
            yield file


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove folders that are empty, up to those of the installation itself."""
    while folder.is_relative_to(root) and folder.parent != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
