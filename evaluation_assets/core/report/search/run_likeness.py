"""Which runs are most like another one, by the TF-IDF of what they were about and what went wrong.

A run's words are those of its task, of its final answer, of the tools that it called with those that failed, and of its
findings with their evidence. Drop by drop, tables are read twice: for the rarity of words, and for the likeness.
"""

import heapq
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation_assets.core.gating.evaluated_drops import without_damaged
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned
from evaluation_assets.core.report.search.run_search import FoundRun, Tell, excerpt
from evaluation_assets.core.sections.findings.summary import SEVERITIES
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.excerpts import beginning
from evaluation_assets.core.text.unspaced import UNSPACED

_SHARED = 6
"""Words named that two runs have in common, the rarest first."""

_TELLING = 1 - log(0.8)
"""Rarity of a word that four of five runs have. One that more have, such as `the`, is not named."""

_COLUMNS = 1 << 20
"""Columns that words are hashed into; two words hardly ever share one."""

_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff"
"""Accents and vowel signs that Python does not take for letters, and the letters of Indic scripts."""

_WORD = re.compile(rf"(?<![^\W{UNSPACED}])(?!\d)[^\W{UNSPACED}](?:[^\W{UNSPACED}]|[{_MARKS}])+|[{UNSPACED}]+")
_UNSPACED = re.compile(rf"[{UNSPACED}]")

_LONGEST = 20_000
"""Characters of a run that are compared."""

_LONGEST_WORD = 40
"""Characters of a word that is named; one of encoded data may have any number."""

_BATCH = 256


@dataclass(frozen=True, slots=True)
class _Run:
    """A run as it is compared: its words, and the place and text that show best what it is."""

    drop: str
    trajectory_id: str
    text: str
    clip_index: int | None
    shown: str


def runs_like(
    home: Installation,
    run: tuple[str, str],
    drops: Sequence[str],
    most: int,
    damaged: Tell,
    among: Collection[tuple[str, str]] | None = None,
) -> list[FoundRun]:
    """The runs of `drops` that are most like a run, given as drop and ID; the most alike first, without itself.

    `among` are the runs to choose from, `None` all. A damaged table is reported and its drop skipped.

    Raises:
        LookupError: there is no such run.
    """
    wanted = next((each for each in _runs(home, run[0]) if each.trajectory_id == run[1]), None)
    if wanted is None:
        raise LookupError(run[1])
    corpus = _Corpus(home)
    rarity = corpus.rarity(drops, damaged)
    (own,) = _weights(corpus.counts([wanted]), rarity).toarray()

    def is_chosen(likeness: float, each: _Run) -> bool:
        at = (each.drop, each.trajectory_id)
        return likeness > 0 and at != run and (among is None or at in among)

    def nearest_in(drop: str) -> list[tuple[float, _Run]]:
        likenesses = ((_weights(counts, rarity) @ own, runs) for runs, counts in corpus.batches(drop))
        pairs = (pair for values, runs in likenesses for pair in zip(values.tolist(), runs, strict=True))
        return _nearest(most, (pair for pair in pairs if is_chosen(*pair)))

    nearest = _nearest(most, chain.from_iterable(without_damaged(drops, nearest_in, lambda _: None)))
    return [
        FoundRun(
            drop=each.drop,
            trajectory_id=each.trajectory_id,
            clip_index=each.clip_index,
            excerpt=each.shown,
            likeness=likeness,
            shared=corpus.shared(wanted, each, rarity),
        )
        for likeness, each in nearest
    ]


def _nearest(most: int, pairs: Iterable[tuple[float, _Run]]) -> list[tuple[float, _Run]]:
    return heapq.nlargest(most, pairs, key=lambda pair: pair[0])


class _Corpus:
    """The words of runs, counted in a fixed number of columns, so that no vocabulary grows with the runs."""

    def __init__(self, home: Installation) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415  (others need not wait a second)

        self._home = home
        self._hashing = HashingVectorizer(
            n_features=_COLUMNS,
            alternate_sign=False,
            norm=None,  # pyright: ignore[reportArgumentType]  (its annotations lack `None`)
            analyzer=_words,  # pyright: ignore[reportArgumentType]  (its annotations lack functions)
        )

    def counts(self, runs: Sequence[_Run]) -> Any:
        """Sparse counts of words: runs by columns."""
        return self._hashing.transform([each.text for each in runs])

    def batches(self, drop: str) -> Iterator[tuple[list[_Run], Any]]:
        """The runs of a drop with their counts, a few at a time."""
        for batch in chunks(_runs(self._home, drop), _BATCH):
            yield batch, self.counts(batch)

    def rarity(self, drops: Sequence[str], damaged: Tell) -> NDArray[np.float64]:
        """The smoothed inverse document frequency of each column."""
        occurring = np.zeros(_COLUMNS)

        def count(drop: str) -> int:
            read = 0
            for runs, counts in self.batches(drop):
                np.add.at(occurring, counts.indices, 1)
                read += len(runs)
            return read

        total = sum(without_damaged(drops, count, damaged))
        return np.log((1 + total) / (1 + occurring)) + 1

    def shared(self, run: _Run, other: _Run, rarity: NDArray[np.float64]) -> tuple[str, ...]:
        """The rarest words that both runs have, none that most runs have."""
        both = sorted({*_words(run.text)} & {*_words(other.text)})
        if not both:
            return ()
        columns: Any = self._hashing.transform(both)
        telling = [(-rare, word) for rare, word in zip(columns @ rarity, both, strict=True) if rare > _TELLING]
        return tuple(beginning(word, _LONGEST_WORD) for _, word in sorted(telling)[:_SHARED])


def _weights(counts: Any, rarity: NDArray[np.float64]) -> Any:
    """Sparse TF-IDF with sublinear counts; rows have length 1."""
    from sklearn.preprocessing import normalize  # noqa: PLC0415  (see above)

    counts.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    return normalize(counts, copy=False)


def _runs(home: Installation, drop: str) -> Iterator[_Run]:
    rows = home.table(drop, "findings").rows(["trajectory_id", "kind", "severity", "clip_index", "evidence"])
    findings: dict[str, list[Row]] = by_key((row["trajectory_id"], row) for row in rows)
    clips = Aligned(home.table(drop, "clips").rows(["trajectory_id", "tool_name", "call_status"]))
    for row in home.table(drop, "preprocessed_trajectories").rows(["trajectory_id", "task", "final_answer"]):
        own = sorted(findings.get(row["trajectory_id"], []), key=lambda each: SEVERITIES.index(each["severity"]))
        calls = [(clip["tool_name"] or "", clip["call_status"]) for clip in clips.at(row["trajectory_id"])]
        yield _Run(
            drop=drop,
            trajectory_id=row["trajectory_id"],
            text="\n".join([*_texts(row, own, calls)])[:_LONGEST],
            clip_index=own[0]["clip_index"] if own else None,
            shown=excerpt(own[0]["evidence"] if own else row["task"], 0),
        )


def _words(text: str) -> list[str]:
    """The words of a text as often as it has them, and pairs of neighbours in scripts without spaces."""
    found = _WORD.findall(text.lower())
    if _UNSPACED.search(text) is None:
        return found
    return [part for word in found for part in (_pairs(word) if _UNSPACED.match(word) else [word])]


def _pairs(word: str) -> list[str]:
    return ["".join(pair) for pair in pairwise(word)] if len(word) > 1 else [word]


def _texts(row: Row, findings: Sequence[Row], calls: Collection[tuple[str, str]]) -> Iterator[str]:
    for finding in findings:
        yield f"{finding['kind']} {finding['evidence']}"
    for tool, status in calls:
        yield f"{tool} {tool}_failed" if status == "error" else tool
    yield from (row["task"], row["final_answer"] or "")
