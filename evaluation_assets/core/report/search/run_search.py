"""Which runs of an installation have all words of a query, and meet its conditions.

Tables are read as streams, drop by drop, so that memory does not grow with the number of runs.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evaluation_assets.core.gating.drops_in_time import place_in_time
from evaluation_assets.core.gating.evaluated_drops import without_damaged
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned
from evaluation_assets.core.report.search.run_conditions import Match, Query, matches_in, outcomes_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.folded import folded, place_in
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

Tell = Callable[[str], object]

_BEFORE, _AFTER = 60, 120
"""Characters of an excerpt before and after where a word begins."""

_PLACES = 200
"""Places of each word of a text that are compared: the excerpt is from one of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A run with the place that shows why it was found; `clip_index` is `None` where that is in no clip.

    `likeness` is the cosine of its TF-IDF with that of the other run, 0..1, and `shared` the rarest words that both
    have; `None` and empty where no run was given. `outcome` is `pass` or `fail`, `None` where it is unknown.
    """

    drop: str
    trajectory_id: str
    clip_index: int | None
    excerpt: str
    likeness: float | None = None
    shared: tuple[str, ...] = ()
    outcome: Literal["pass", "fail"] | None = None


def drops_to_search(home: Installation) -> list[str]:
    """The evaluated drops, those with the newest runs first."""
    drops = home.drops_with("preprocessed_trajectories")
    return sorted(drops, key=partial(place_in_time, home), reverse=True)


def runs_with(
    home: Installation, query: Query, drops: Sequence[str], damaged: Tell, most: int | None = None
) -> Iterator[FoundRun]:
    """The runs that have all terms in their text, task, answers, messages, or ID and meet all conditions.

    At most `most`. A damaged table is reported and its drop skipped.
    """
    by_drop = without_damaged(drops, lambda drop: list(islice(_runs_with(home, query, drop), most)), damaged)
    return islice((run for own in by_drop for run in own), most)


def with_outcomes(home: Installation, runs: Sequence[FoundRun], damaged: Tell) -> list[FoundRun]:
    """The same runs, with what their test cases say of them, else with the outcome that was recorded."""
    by_drop = without_damaged(
        dict.fromkeys(run.drop for run in runs), lambda drop: (drop, outcomes_of(home, drop)), damaged
    )
    known = {(drop, run): passed for drop, own in by_drop for run, passed in own.items()}
    words: dict[bool | None, Literal["pass", "fail"] | None] = {True: "pass", False: "fail", None: None}
    return [replace(run, outcome=words[known.get((run.drop, run.trajectory_id))]) for run in runs]


def excerpt(text: str, at: int) -> str:
    """What stands around a place, on one line. A text that was cut before has ellipses of its own."""
    start, end = max(0, at - _BEFORE), at + _AFTER
    shown = " ".join(text[start:end].split())
    shown = f"…{shown.lstrip('…')}" if start else shown
    return f"{shown.rstrip('…')}…" if end < len(text) else shown


def _runs_with(home: Installation, query: Query, drop: str) -> Iterator[FoundRun]:
    """The runs of a drop. Only of runs that may have all terms the trajectory is decoded."""
    matches = matches_in(home, drop, query) if query.conditions else None
    if not query.terms and matches is not None:
        yield from _met(home, drop, matches)
        return
    terms = query.terms
    clips = Aligned(home.table(drop, "clips").rows(["trajectory_id", "clip_index", "start", "end"]))
    for batch in home.table(drop, "preprocessed_trajectories").batches(("trajectory_id", "task_id", *TREE_AND_TEXT)):
        ids, may_have = batch["trajectory_id"].to_pylist(), _may_have(batch, terms)
        if matches is not None:
            may_have &= np.array([run in matches for run in ids], bool)
        for run, row in zip(ids, _rows_of(batch, may_have), strict=True):
            own = clips.at(run)
            if row is not None and (best := _best_place(row, terms)) is not None:
                text, at = best
                yield FoundRun(
                    drop=drop,
                    trajectory_id=run,
                    clip_index=_clip_at(own, at) if text is row["text"] else None,
                    excerpt=excerpt(text, at),
                )


def _met(home: Installation, drop: str, matches: Mapping[str, Match]) -> Iterator[FoundRun]:
    """The runs that meet the conditions, each with the finding that is asked for, else with its task."""
    for row in home.table(drop, "preprocessed_trajectories").rows(["trajectory_id", "task"]):
        if (match := matches.get(row["trajectory_id"])) is not None:
            finding = match.finding
            yield FoundRun(
                drop=drop,
                trajectory_id=row["trajectory_id"],
                clip_index=None if finding is None else finding["clip_index"],
                excerpt=excerpt(row["task"] if finding is None else finding["evidence"], 0),
            )


def _rows_of(batch: pa.RecordBatch, chosen: NDArray[np.bool_]) -> Iterator[Row | None]:
    """The rows as objects, `None` for those not chosen."""
    for index, is_chosen in enumerate(chosen):
        yield batch.slice(index, 1).to_pylist()[0] if is_chosen else None


def _best_place(row: Row, terms: Sequence[str]) -> tuple[str, int] | None:
    """The text and the place with the most terms close by, the first of several; `None` if the run lacks a term."""
    texts = [row["text"], row["trajectory_id"], row["task_id"], *trajectory_of(row).own_texts]
    plain = [folded(text) for text in texts]
    if not all(any(term in text for text in plain) for term in terms):
        return None
    places = (
        (sum(term in text[max(0, at - _BEFORE) : at + _AFTER] for term in terms), -index, -at)
        for index, text in enumerate(plain)
        for term in terms
        for at in islice((found.start() for found in re.finditer(re.escape(term), text)), _PLACES)
    )
    _, index, at = max(places)
    return texts[-index], place_in(texts[-index], -at)


def _clip_at(clips: Sequence[Row], at: int) -> int | None:
    return next((clip["clip_index"] for clip in clips if clip["start"] <= at < clip["end"]), None)


def _may_have(batch: pa.RecordBatch, terms: Sequence[str]) -> NDArray[np.bool_]:
    """Which rows have each term somewhere, in texts or in the JSON of the trajectory."""
    chosen = np.ones(batch.num_rows, bool)
    for term in terms:
        written = {"trajectory": json.dumps(term, ensure_ascii=False)[1:-1]}
        columns = zip(batch.schema.names, batch.columns, strict=True)
        chosen &= np.any([_contains(column, written.get(name, term)) for name, column in columns], axis=0)
    return chosen


def _contains(column: pa.Array, term: str) -> NDArray[np.bool_]:
    options = pc.MatchSubstringOptions(term, ignore_case=True)
    contains = pc.call_function("match_substring", [column], options).to_numpy(zero_copy_only=False).copy()
    others = ~contains & ~pc.call_function("string_is_ascii", [column]).to_numpy(zero_copy_only=False)
    contains[others] = [term in folded(column[int(index)].as_py()) for index in np.flatnonzero(others)]
    return contains
