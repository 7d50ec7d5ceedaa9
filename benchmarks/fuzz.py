"""Damaged records through everything that reads what others wrote, to find what should have been refused.

    python -m benchmarks.fuzz [--records 1000000] [--seed 0] [--minutes 60] [FILE_OR_FOLDER ...]

Seeds are the fixtures of all formats, the samples of the repository, and the files given. A record is damaged one to
four times: values replaced by strange ones, fields removed, renamed and moved, bytes changed, cut and repeated.
Readers, preprocessing, clips, the parser of replies and the parsers of test suites have to keep their promises: no
exception but those they declare, clips that tile the text, counts that add up, bounded time. Prints how many records
passed and each broken promise with the seed that repeats it. Exit status: 1 if a promise was broken.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import orjson
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.intake.preprocessing.preprocess import Preprocessor, Removal
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.replies import InvalidReply, read_reply
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.models.redaction.redactor import Redactor
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.suites.formats.registry import load_suite
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.traces.formats.base import DropFile, Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.trajectory_rows import trajectory_of, trajectory_row

ROOT = Path(__file__).parents[1]
LONGEST_S = 10.0
"""CPU time that one damaged record may take."""

_DEEP: Any = "x"
for _ in range(300):
    _DEEP = [_DEEP]
STRANGE: Sequence[Any] = (
    None, True, 0, -1, 1.5, 1e300, 2**53, 2**63 - 1, "", " ", "x", "null", "{}", "\x00", "\u202e", "<think>",
    "</think>", "<result>", "9" * 400, [], [[]], [None], {}, {"x": None}, {"type": "text"}, [{"role": 1}], _DEEP,
    "=1+1", "::error::x", "[x](javascript:x)", "../../x", "a" * 20_000, "9999-99-99", "{", {"$ref": "#"},
)  # fmt: skip
RUBRIC = load_rubrics().choose("trajectory")
REPLY = orjson.dumps(
    {
        "reasoning": "because",
        "scores": [{"criterion": criterion.key, "score": 5} for criterion in RUBRIC.criteria],
        "summary": "done",
    }
)
ALL = Redaction(email=True, telephone=True, payment_cards=True)


class BrokenPromise(AssertionError):
    """What was found does not hold."""


@dataclass
class Findings:
    """What was tried, and which promises were broken."""

    records: Counter[str] = field(default_factory=Counter)
    broken: dict[str, str] = field(default_factory=dict)
    slowest_s: float = 0.0

    @property
    def total(self) -> int:
        return self.records.total()


def damaged(data: bytes, random: Random) -> bytes:
    """The bytes after one to four changes; of JSON mostly changes of values."""
    for _ in range(random.randint(1, 4)):
        data = _with_other_value(data, random) if random.random() < 0.7 else _with_other_bytes(data, random)
    return data


def _with_other_value(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    whole = len(lines) > 1 and not lines[0].rstrip().endswith((b"}", b"]"))
    number = 0 if whole or not lines else random.randrange(len(lines))
    try:
        value = orjson.loads(data if whole or not lines else lines[number])
    except orjson.JSONDecodeError:
        return _with_other_bytes(data, random)
    places = list(_places(value))
    if not places:
        return json.dumps(random.choice(STRANGE)).encode()  # orjson does not write what is this deep
    holder, key = random.choice(places)
    action = random.randrange(5)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, dict):
        holder[random.choice(("", "id", "content", "role", "type", "x" * 200))] = holder.pop(key)
    elif action == 2:
        other, place = random.choice(places)
        holder[key] = deepcopy(other[place]) if place in other or isinstance(other, list) else None
    elif action == 3 and isinstance(holder, list):
        holder[key:key] = [deepcopy(holder[key])] * random.choice((1, 2, 20))
    else:
        holder[key] = deepcopy(random.choice(STRANGE))
    try:
        changed = orjson.dumps(value)
    except TypeError:  # deeper than orjson writes
        return data
    return changed if whole else b"".join([*lines[:number], changed, b"\n", *lines[number + 1 :]])


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    pending = [value]
    while pending:
        current = pending.pop()
        keys = list(current) if isinstance(current, dict) else range(len(current)) if isinstance(current, list) else ()
        for key in keys:
            yield current, key
            pending.append(current[key])


def _with_other_bytes(data: bytes, random: Random) -> bytes:
    start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    action = random.randrange(5)
    if action == 0:
        return data[:start]
    if action == 1:
        return data[:start] + random.randbytes(random.randint(1, 8)) + data[start:]
    if action == 2:
        return data[:start] + data[min(end, start + 40) :]
    if action == 3:
        return data[:start] + data[start : min(end, start + 2000)] * 3 + data[end:]
    token = random.choice((b"<think>", b"</result>", b"\x00", b"\xff", b"]]>", b"&x;", b"*a", b"- ", b'"', b"{", b"}"))
    return data[:start] + token + data[start:]


def try_drop(path: Path) -> int:
    """Read a file as a drop, to the clips; the number of its records.

    Raises:
        BrokenPromise: counts do not add up, clips do not tile, or a reader failed in a way that it does not declare.
    """
    process = Preprocessor(Settings(on_violation="remove"))
    items = kept = 0
    try:
        for item in read_trajectories([DropFile(UPath(path), path.name)], UnmappedFields()):
            items += 1
            if isinstance(item, Rejection):
                if item.reason == "reader_failed":
                    raise BrokenPromise(f"reader failed: {item.detail}")
                process.statistics.unreadable[item.reason] += 1
                continue
            row = trajectory_row("drop", item)
            if trajectory_of(row) != item:
                raise BrokenPromise(f"{item.format}: a stored trajectory is another one")
            judged = process.process(item)
            if isinstance(judged, Removal):
                continue
            kept += 1
            clips = clips_of(judged)
            if "".join(clip.content for clip in clips) != judged.text:
                raise BrokenPromise(f"{item.format}: clips do not tile the text")
            Redactor(ALL)(judged.text)
    except UnreadableDrop:
        pass
    if process.statistics.total != items or process.statistics.kept != kept:
        raise BrokenPromise(f"{items} records, but {process.statistics.total} are accounted for")
    return max(1, items)


def try_suite(path: Path) -> int:
    """Read a file as a test suite."""
    try:
        return max(1, len(load_suite(UPath(path)).suite.cases))
    except InvalidSuite:
        return 1


def try_reply(path: Path) -> int:
    """Read a file as a model's reply; each score of a valid one is in its range."""
    try:
        found = read_reply(path.read_bytes().decode("utf-8", "replace"), RUBRIC.criteria, RUBRIC.scale)
    except InvalidReply:
        return 1
    if set(found.scores) != {criterion.key for criterion in RUBRIC.criteria}:
        raise BrokenPromise("a reply is valid without all criteria")
    if any(score is not None and not 0 <= score <= 1 for score in found.scores.values()):
        raise BrokenPromise("a score is out of range")
    return 1


@dataclass(frozen=True)
class Seed:
    """A whole file, and what reads it."""

    name: str
    data: bytes
    kind: str
    suffix: str


TRIED: dict[str, Callable[[Path], int]] = {"drop": try_drop, "suite": try_suite, "reply": try_reply}


def seeds(more: Sequence[Path] = (), largest: int = 60_000) -> list[Seed]:
    """The files of the repository, and of other places, that are damaged. Larger ones are left out."""
    folders = {
        ROOT / "evaluation_assets_tests" / "fixtures" / "formats": "drop",
        ROOT / "examples" / "drops": "drop",
        ROOT / "examples" / "sessions": "drop",
        ROOT / "examples" / "suites": "suite",
        **dict.fromkeys(more, "drop"),
    }
    found = [Seed("reply", REPLY, "reply", ".json")]
    for folder, kind in folders.items():
        files = [folder] if folder.is_file() else sorted(folder.rglob("*"))
        found += [
            Seed(path.name, path.read_bytes(), kind, path.suffix)
            for path in files
            if path.is_file() and 0 < path.stat().st_size <= largest
        ]
    return found


def fuzz(chosen: Sequence[Seed], records: int, seed: int, until: float = float("inf")) -> Findings:
    """Try damaged files until so many records were read, or until a time of the monotonic clock."""
    found = Findings()
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        while found.total < records and time.monotonic() < until:
            case = f"{seed}/{number}"
            random = Random(case)
            own = chosen[random.randrange(len(chosen))]
            path = Path(folder) / f"fuzzed{own.suffix}"
            path.write_bytes(damaged(own.data, random))
            began = time.process_time()
            try:
                found.records[own.kind] += TRIED[own.kind](path)
            except Exception as problem:  # noqa: BLE001  # this is what is looked for
                found.records[own.kind] += 1
                what = f"{own.kind} {own.name}: {type(problem).__name__}: {str(problem)[:300]}"
                found.broken.setdefault(what, case)
            took = time.process_time() - began
            found.slowest_s = max(found.slowest_s, took)
            if took > LONGEST_S:
                found.broken.setdefault(f"{own.kind} {own.name}: took {took:.1f} s", case)
            number += 1
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("files", nargs="*", type=Path)
    own = parser.parse_args(arguments)
    began = time.monotonic()
    found = fuzz(seeds(own.files), own.records, own.seed, began + 60 * own.minutes)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kinds = ", ".join(f"{count:,} of {kind}s" for kind, count in found.records.items())
    print(f"{found.total:,} records ({kinds}) in {time.monotonic() - began:.0f} s, at most {memory:.0f} MB,")
    print(f"slowest file {found.slowest_s:.2f} s CPU; {len(found.broken)} promises broken")
    for what, case in found.broken.items():
        print(f"- {what} (case {case})")
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())
