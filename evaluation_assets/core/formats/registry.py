"""The formats that are read, and how one is chosen: by content, or by name where the drop says so."""

from collections.abc import Iterator, Sequence
from itertools import islice

from evaluation_assets.core.formats.base import DropFile, Format, Rejection, Sample, UnreadableDrop
from evaluation_assets.core.formats.losses import Losses
from evaluation_assets.core.formats.readers import (
    agent_session,
    anthropic_messages,
    atif,
    canonical,
    claude_code,
    dialogue,
    inspect_ai,
    jaeger,
    langchain,
    mini_swe_agent,
    openai_messages,
    openai_responses,
    openhands,
    openinference,
    otlp,
    swe_agent,
    tagged,
    tau2_bench,
    tau_bench,
    who_and_when,
)
from evaluation_assets.core.formats.records import read_records, sample_of
from evaluation_assets.core.formats.unrecognised import WHOLE, why_unrecognised
from evaluation_assets.core.trajectories.identity import TrialCounter
from evaluation_assets.core.trajectories.model import Trajectory

_LOOKED_AT = 20
"""Files of a drop that were recognised, before its format is clear."""

FORMATS: dict[str, Format] = {
    module.NAME: Format(module.NAME, module.DESCRIPTION, module.DETECTION, module.detect, module.read)
    for module in (
        canonical,
        tagged,
        agent_session,
        claude_code,
        openhands,
        swe_agent,
        mini_swe_agent,
        atif,
        inspect_ai,
        otlp,
        openinference,
        jaeger,
        tau_bench,
        tau2_bench,
        langchain,
        openai_responses,
        who_and_when,
        anthropic_messages,
        openai_messages,
        dialogue,
    )
}


def format_of(files: Sequence[DropFile], name: str | None = None) -> Format:
    """The format of a drop's files: of those that its first files are recognised as, the most specific.

    Raises:
        UnreadableDrop: no format recognises them, since they are damaged or strange; or there is none of that name.
    """
    if name is not None:
        if name not in FORMATS:
            raise UnreadableDrop(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
        return FORMATS[name]
    ranks = list(FORMATS)
    damaged: list[UnreadableDrop] = []
    strange: list[tuple[DropFile, Sample]] = []
    recognised = islice(_recognised(files, damaged, strange), _LOOKED_AT)
    found = min(recognised, key=lambda known: ranks.index(known.name), default=None)
    if found is not None:
        return found
    if damaged:
        raise damaged[0]
    for file in (file for file, sample in strange if len(sample.text) >= WHOLE):
        _check_first_record(file)
    raise UnreadableDrop(why_unrecognised(strange))


def _check_first_record(file: DropFile) -> None:
    """Refuse a file that is not recognised because its first record is beyond a limit."""
    first = next(read_records(file.path, file.source), None)
    if isinstance(first, Rejection) and first.reason == "too_large":
        raise UnreadableDrop(
            f"{file.source} line {first.line}: {first.detail}. Split it into smaller records, or remove it."
        )


def _recognised(
    files: Sequence[DropFile], damaged: list[UnreadableDrop], strange: list[tuple[DropFile, Sample]]
) -> Iterator[Format]:
    """The formats of those files that have one. The others are added to `damaged` and `strange`."""
    for file in files:
        try:
            sample = sample_of(file)
        except UnreadableDrop as problem:
            damaged.append(problem)
            continue
        found = next((known for known in FORMATS.values() if known.detect(sample)), None)
        if found is not None:
            yield found
        elif len(strange) < _LOOKED_AT:
            strange.append((file, sample))


def read_trajectories(
    files: Sequence[DropFile], losses: Losses, format_name: str | None = None
) -> Iterator[Trajectory | Rejection]:
    """Every record of a drop's files, in order, as a trajectory with an id of its own or as a rejection.

    What could not be represented is counted in `losses`.

    Raises:
        UnreadableDrop: at once, when no format fits; while reading, when a file is damaged.
    """
    return _read(files, losses, format_of(files, format_name))


def _read(files: Sequence[DropFile], losses: Losses, chosen: Format) -> Iterator[Trajectory | Rejection]:
    trials = TrialCounter()
    try:
        for item in chosen.read(files, losses):
            yield item if isinstance(item, Rejection) else trials.numbered(item)
    except (UnreadableDrop, OSError):
        raise
    except Exception as problem:  # outside of any one record, see `usable`: what came before it is no whole drop
        names = ", ".join(file.source for file in files)[:500]
        raise UnreadableDrop(
            f"the reader of {chosen.name} failed on {names}: {type(problem).__name__}: {str(problem)[:300]}. "
            "Please report this with the file."
        ) from problem
