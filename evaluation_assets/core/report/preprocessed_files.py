"""Write the kept records of a drop to files: one complete file, and numbered parts of it."""

from dataclasses import dataclass

from upath import UPath

from evaluation_assets.core.intake.preprocessing.split import numbered_files, remove_earlier
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.report.files import write_json_lines
from evaluation_assets.core.report.results import preprocessed_records
from evaluation_assets.core.traces.trajectories.identity import file_name


@dataclass(frozen=True, slots=True)
class PreprocessedFiles:
    """The files written: the complete file, its number of records, and the names of the numbered files."""

    path: UPath
    records: int
    split: tuple[str, ...]


def write_preprocessed_files(folder: UPath, drop: str, preprocessed: Stored, split_size: int) -> PreprocessedFiles:
    """Write `<name>_preprocessed.jsonl`, and `pre<name>/<name>NN.jsonl` if a split size is given.

    Numbered files left over from an earlier run are removed.
    """
    name = drop.rsplit("/", 1)[-1]
    path = folder / file_name(name, "_preprocessed.jsonl")
    count = write_json_lines(path, preprocessed_records(preprocessed))
    split: list[str] = []
    if split_size:
        for file, part in numbered_files(preprocessed_records(preprocessed), name, split_size, count):
            write_json_lines(folder / f"pre{name}" / file, part)
            split.append(file)
    remove_earlier(folder / f"pre{name}", name, split)
    return PreprocessedFiles(path, count, tuple(split))
