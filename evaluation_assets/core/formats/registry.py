"""The formats that are read, and how one is chosen: by content, or by name where the drop says so."""

from collections.abc import Iterator, Sequence

from upath import UPath

from evaluation_assets.core.formats import tagged
from evaluation_assets.core.formats.base import Format, Record, Rejection, Sample, UnreadableDrop
from evaluation_assets.core.formats.records import first_records, read_records
from evaluation_assets.core.trajectories.identity import TrialCounter
from evaluation_assets.core.trajectories.model import Trajectory

FORMATS: dict[str, Format] = {
    module.NAME: Format(module.NAME, module.DESCRIPTION, module.DETECTION, module.detect, module.read)
    for module in (tagged,)
}


def format_of(files: Sequence[UPath], name: str | None = None) -> Format:
    """The format of a drop's files.

    Raises:
        UnreadableDrop: no format recognises them, or there is none of that name.
    """
    if name is not None:
        if name not in FORMATS:
            raise UnreadableDrop(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
        return FORMATS[name]
    for path in files:
        sample = Sample(first_records(path))
        for candidate in FORMATS.values():
            if candidate.detect(sample):
                return candidate
    listed = "; ".join(f"{known.name}: {known.detection}" for known in FORMATS.values())
    names = ", ".join(path.name for path in files)
    raise UnreadableDrop(f"no format recognises {names}. The formats that are read: {listed}")


def read_trajectories(
    files: Sequence[tuple[UPath, str]], format_name: str | None = None
) -> Iterator[Trajectory | Rejection]:
    """Every record of a drop's files, in order, as a trajectory with an id of its own or as a rejection.

    `files` are paths with the names they go by in rejections.

    Raises:
        UnreadableDrop: at once, when no format fits; while reading, when a file is damaged.
    """
    chosen = format_of([path for path, _ in files], format_name)
    return _read(files, chosen)


def _read(files: Sequence[tuple[UPath, str]], chosen: Format) -> Iterator[Trajectory | Rejection]:
    trials = TrialCounter()
    for path, source in files:
        records: Iterator[Record | Rejection] = read_records(path, source)
        for item in chosen.read(records):
            yield item if isinstance(item, Rejection) else trials.numbered(item)
