"""Registry of supported formats, and the choice of one by content or by name."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from evaluation_assets.core.system.plugins import READERS, plugged_formats
from evaluation_assets.core.traces.formats.base import (
    DropFile,
    Format,
    Record,
    RecordWatch,
    Rejection,
    Sample,
    UnreadableDrop,
)
from evaluation_assets.core.traces.formats.envelopes.action_steps import ACTION_STEPS
from evaluation_assets.core.traces.formats.files.pages import are_wrapped, confirm_pages, page_in
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import OTHER_FORMAT, sample_of, with_first_record
from evaluation_assets.core.traces.formats.isolation import reader_failed
from evaluation_assets.core.traces.formats.mixed_records import WHOLE_DOCUMENTS, MixedRecords
from evaluation_assets.core.traces.formats.nested_messages import NestedMessages
from evaluation_assets.core.traces.formats.readers import canonical, dialogue, react
from evaluation_assets.core.traces.formats.readers.own_spans import OWN_SPANS
from evaluation_assets.core.traces.formats.repeated_runs import RepeatedRuns
from evaluation_assets.core.traces.formats.run_folders import RunFolders
from evaluation_assets.core.traces.formats.shipped import SPECIFIC, format_of_reader
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.unrecognised import WHOLE, why_unrecognised
from evaluation_assets.core.traces.trajectories.identity import TrialCounter
from evaluation_assets.core.traces.trajectories.model import Trajectory

_NOT_IN_PAGES = WHOLE_DOCUMENTS | {"nested_messages", "action_steps", "react", "dialogue"}
"""Formats of documents, and those of an own form, which may say something of their runs above them."""

_LOOKED_AT = 20
"""Number of recognised files after which the format of a drop is decided."""

_MOST_BROKEN = 100
"""Maximum number of records of a drop on which its reader may fail; it restarts after each."""


def _else(known: Format) -> Format:
    """A format of what no specific format recognises, also where it is named: such files are read as if by mistake."""
    return replace(known, detect=lambda sample: known.detect(sample) and not _is_specific(sample))


def _is_specific(sample: Sample) -> bool:
    """Whether another format recognises a file; a text with a conversation in it may look like a record."""
    return dialogue.detect(sample) or _first_of(SPECIFIC.values(), sample) is not None


def _first_of(formats: Collection[Format], sample: Sample) -> Format | None:
    """The first format that recognises a file, or else the records of the page that it is."""
    whole = next((each for each in formats if each.detect(sample)), None)
    page = page_in(sample) if whole is None else None
    return whole if page is None else next((each for each in formats if _is_of_records(each, *page)), None)


def _is_in(formats: Collection[Format], sample: Sample) -> bool:
    return _first_of(formats, sample) is not None


def _looked_at(formats: Collection[Format], file: DropFile) -> tuple[Sample, Format | None]:
    """What detection sees of a file, and the first format that recognises it.

    Raises:
        UnreadableDrop: the file is damaged there.
    """
    beginning = sample_of(file)
    if (first := _first_of(formats, beginning)) is not None:
        return beginning, first
    sample = with_first_record(file, beginning)
    return sample, _first_of(formats, sample)


def _is_of_records(known: Format, path: str, records: Sample) -> bool:
    """Whether a format recognises the records of a page."""
    unfit = WHOLE_DOCUMENTS if are_wrapped(path) else _NOT_IN_PAGES
    return known.name not in unfit and known.detect(records)


_SHIPPED = SPECIFIC | {
    known.name: known
    for known in (
        _else(OWN_SPANS.format()),
        _else(NestedMessages(SPECIFIC, ACTION_STEPS).format()),
        _else(ACTION_STEPS.format()),
        format_of_reader(react),
        format_of_reader(dialogue),
    )
}

FORMATS: dict[str, Format] = {**plugged_formats(READERS, frozenset(_SHIPPED), Format), **_SHIPPED}
"""In the order in which they are asked whether a file is theirs: readers of installed packages come first."""


def format_of(files: Sequence[DropFile], name: str | None = None) -> Format:
    """Detect the format of a drop: the most specific one among the formats of its first files.

    Raises:
        UnreadableDrop: no format recognises the files, or there is no format of the given name.
    """
    if name is not None:
        if name not in FORMATS:
            raise UnreadableDrop(f"unknown format {name!r}; choose one of {', '.join(FORMATS)}")
        return FORMATS[name]
    ranks = list(FORMATS)
    damaged: list[UnreadableDrop] = []
    strange: list[tuple[DropFile, Sample]] = []
    recognised = islice(_recognised(files, damaged, strange), _LOOKED_AT)
    best = min(recognised, key=lambda known: ranks.index(known.name), default=None)
    if best is not None:
        return best
    if damaged:
        raise damaged[0]
    for file in (file for file, sample in strange if len(sample.text) >= WHOLE):
        _check_first_record(file)
    raise UnreadableDrop(why_unrecognised(strange))


def _page_of(file: DropFile, chosen: Format) -> str:
    """The path of the records of a file that the chosen format recognises only as a page of them."""
    try:
        sample, _ = _looked_at([chosen], file)
    except UnreadableDrop:
        return ""
    page = None if chosen.detect(sample) else page_in(sample)
    return "" if page is None or not _is_of_records(chosen, *page) else page[0]


def looks_like(chosen: Format, files: Sequence[DropFile]) -> bool:
    """Whether a file of a drop is recognised by a format; a format can be given by name."""
    for file in files:
        try:
            if _looked_at([chosen], file)[1] is not None:
                return True
        except UnreadableDrop:
            continue
    return False


def _check_first_record(file: DropFile) -> None:
    """Refuse a file that is not recognised because its first record exceeds a limit."""
    first = next(read_records(file), None)
    if isinstance(first, Rejection) and first.reason == "too_large":
        raise UnreadableDrop(
            f"{file.source} line {first.line}: {first.detail}. Split it into smaller records, or remove it."
        )


def _recognised(
    files: Sequence[DropFile], damaged: list[UnreadableDrop], strange: list[tuple[DropFile, Sample]]
) -> Iterator[Format]:
    """The formats of the recognised files. Other files are added to `damaged` and `strange`."""
    for file in files:
        try:
            sample, first = _looked_at(FORMATS.values(), file)
        except UnreadableDrop as problem:
            damaged.append(problem)
            continue
        if first is not None:
            yield first
        elif len(strange) < _LOOKED_AT:
            strange.append((file, sample))


def read_trajectories(
    files: Sequence[DropFile], unmapped: UnmappedFields, format_name: str | None = None
) -> Iterator[Trajectory | Rejection]:
    """Yield every record of a drop's files, in order, as a trajectory with a unique id or as a rejection.

    Unmapped fields are counted in `unmapped`.

    Raises:
        UnreadableDrop: immediately if no format fits; while reading if a file is damaged.
    """
    return read_by(format_of(files, format_name), files, unmapped, is_forced=format_name is not None)


def _with_format(rejection: Rejection, files: Sequence[DropFile]) -> Rejection:
    """A rejected file of another known format, with the name of that format and what to do."""
    file = next((file for file in files if file.source == rejection.source), None)
    if file is None or not rejection.detail.startswith(OTHER_FORMAT):
        return rejection
    _, own = _looked_at(FORMATS.values(), file)
    if own is None:
        return rejection
    detail = f"{rejection.detail}, but in {own.name}; evaluate such files as a drop of their own"
    return replace(rejection, detail=detail)


def read_by(
    chosen: Format,
    files: Sequence[DropFile],
    unmapped: UnmappedFields,
    on_record: Callable[[Record], object] = lambda _: None,
    *,
    is_forced: bool = False,
) -> Iterator[Trajectory | Rejection]:
    """Like `read_trajectories`, with the reader of one format. `on_record` is called with each record it is given.

    Conversations in the form of other formats are read after the others, unless the format `is_forced`.
    """
    with MixedRecords(chosen, {} if is_forced else FORMATS) as mixed:
        images = None if chosen.name == canonical.NAME else unmapped.images  # it has spans into its texts
        last: dict[str, int] = {}

        def note(record: Record) -> None:
            last[record.source] = max(record.line, last.get(record.source, 0))
            on_record(record)

        watch = RecordWatch(note, mixed.takes, images)
        trials, known, told = TrialCounter(), RepeatedRuns(), 0
        said: list[Rejection] = []
        folders = RunFolders(files, chosen.name, partial(_is_in, [chosen]), partial(_is_in, FORMATS.values()))
        watched = [replace(file, watch=watch, page=_page_of(file, chosen)) for file in folders.runs]
        paged = [file for file in watched if file.page]
        while True:
            counted = UnmappedFields()
            try:
                completed = chosen.read(watched, counted)
                if folders.say_something:
                    completed = folders.completed(completed, counted, chosen.read)
                for item in islice(completed, told, None):
                    told += 1
                    if isinstance(item, Rejection) and mixed.takes_back(item):
                        continue
                    if isinstance(item, Rejection) and item in watch.broken:
                        said.append(item)
                    if isinstance(item, Rejection) or not known.has(item, names_itself=watch.names_itself(item.source)):
                        yield _with_format(item, watched) if isinstance(item, Rejection) else trials.numbered(item)
                break
            except (UnreadableDrop, OSError):
                raise
            except Exception as problem:
                # The reader failed between records, e.g. while grouping them; see `attempted` for failures inside one.
                if len(watch.broken) >= _MOST_BROKEN or not watch.reject_last(reader_failed(problem)):
                    raise UnreadableDrop(_broken(problem, chosen, files)) from problem
        yield from (each for each in watch.broken if each not in said)  # records of a side table
        for item in mixed.read(counted, unmapped.images):
            yield item if isinstance(item, Rejection) else trials.numbered(item)
        counted.note("repeated_record", "records", len(watch.repeated))
        known.note_in(counted)
        if not told and not watch.broken:
            yield from (Rejection(file.source, 1, "no_trajectory_text", "the file has no runs", "") for file in files)
        for source, _, line in watch.repeated:
            last[source] = max(line, last.get(source, 0))
        confirm_pages(counted.stated, paged, sum(last.get(file.source, 0) for file in paged))
        unmapped.update(counted)


def _broken(problem: Exception, chosen: Format, files: Sequence[DropFile]) -> str:
    names, told = ", ".join(file.source for file in files)[:500], f"{type(problem).__name__}: {str(problem)[:300]}"
    return f"the reader of {chosen.name} failed on {names}: {told}. Please report this with the file."
