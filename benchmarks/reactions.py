"""How often a user's reaction to a bad response is seen, without a model or with embeddings.

    python benchmarks/reactions.py [DATA] [--as-is [--without-cues]] [--base-url URL --model NAME [--key-variable NAME]]

DATA is a folder of EURTAD: `erroneous` (dialogues with an error of the system and the user's reaction, labelled by
people) and `non_erroneous_dev` (dialogues without one); default: the folder that the tests use. URL is an endpoint of
embeddings that speaks OpenAI's protocol. Every rate is printed with its counts and its 95% interval (Wilson).

The cues were written with these dialogues in view. So a cue counts in a fifth of the dialogues only where the other
four fifths bear it out: there it marks errors, and these more often than other messages. The thresholds for embeddings
in a fifth are those with the best F1 in the other four. `--as-is` takes all cues and the product's thresholds, for
dialogues that nobody had in view.
"""

import argparse
import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.scoring.intervals import wilson
from evaluation_assets.core.sections.sessions.embedding_similarity import EmbeddingSettings, opened_measure
from evaluation_assets.core.sections.sessions.examples import DISSATISFIED, Resemblance, resemblances
from evaluation_assets.core.sections.sessions.reactions import cues, reaction, reaction_by_likeness
from evaluation_assets.core.sections.sessions.similarity import RE_ASK_COSINE, LexicalSimilarity, Similarity

Flags = NDArray[np.bool_]
FOLDS = 5
REACTING = (
    "Ask for Clarification",
    "Make Aware With Correction",
    "Make Aware Without Correction",
    "Repeat or Rephrase",
)
RE_ASK = [number / 100 for number in range(98, 49, -2)]
DISSATISFIED_BY = [number / 100 for number in range(40, 3, -2)]
"""Thresholds that are tried: settings `re_ask` and `dissatisfied`. Of equally good ones the highest is taken.
The same message again always counts."""


@dataclass(frozen=True)
class Reply:
    """A user's message after a response. `label` is the reaction that people saw, `None` without an error."""

    dialogue: str
    fold: int
    label: str | None
    message: str
    text: str
    likeness: float
    resemblance: Resemblance | None = None

    def raises_alarm(self, measure: Similarity) -> bool:
        """Whether the product sees a correction, incomprehension, a complaint or a re-ask."""
        found = reaction(self.message, self.text, self.likeness, measure, self.resemblance)
        return found.is_dissatisfied or found.kind == "re_ask"


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as ledger:
        settings = (
            None
            if options.model is None
            else EmbeddingSettings(model=options.model, base_url=options.base_url, api_key_env=options.key_variable)
        )
        with opened_measure(settings, f"sqlite:///{ledger}/ledger.db", "benchmark", Budget()) as (measure, _):
            replies = list(replies_in(options.data, measure))
            if options.as_is:
                seen = _seen if options.without_cues else Reply.raises_alarm
                found = [(reply, seen(reply, measure)) for reply in replies]
            else:
                found = out_of_fold(replies, measure)
            print(f"Reactions to errors (EURTAD), by {measure.name}, {'as is' if options.as_is else 'out of fold'}:")
            report(found)


def report(found: Sequence[tuple[Reply, bool]]) -> None:
    """How many reactions are found by kind, and how many alarms are false."""
    for label in sorted({reply.label for reply, _ in found if reply.label is not None}):
        print(f"  {label:32} {_rate(alarm for reply, alarm in found if reply.label == label)}")
    print(f"  {'all but Ignore and Continue':32} {_rate(alarm for reply, alarm in found if reply.label in REACTING)}")
    quiet: dict[str, list[bool]] = {}
    for reply, alarm in found:
        if reply.label is None:
            quiet.setdefault(reply.dialogue, []).append(alarm)
    print("False alarms in dialogues without an error:")
    print(f"  {'messages':32} {_rate(chain.from_iterable(quiet.values()))}")
    print(f"  {'dialogues with any':32} {_rate(map(any, quiet.values()))}")


def out_of_fold(replies: Sequence[Reply], measure: Similarity) -> list[tuple[Reply, bool]]:
    """Every reply, and whether it raises an alarm by the cues and thresholds that the other folds bear out."""
    patterns = [re.compile(cue, re.IGNORECASE) for kind in DISSATISFIED for cue in cues(kind)]
    marked = {reply: [at for at, cue in enumerate(patterns) if cue.search(reply.text)] for reply in replies}
    by_thresholds = _alarms_by_thresholds(replies, measure)
    folds = np.array([reply.fold for reply in replies])
    reacting = np.array([reply.label in REACTING for reply in replies])
    found = np.zeros(len(replies), bool)
    for fold in range(FOLDS):
        # Among the other folds too no dialogue bears out its own cues: thresholds would rest on cues that fit too well.
        usable = [_borne_out(marked, {fold, own}) for own in range(FOLDS)]
        by_cue = np.array([not usable[reply.fold].isdisjoint(marked[reply]) for reply in replies])
        others = folds != fold
        chosen = max(by_thresholds, key=lambda each: _f1((by_cue | by_thresholds[each])[others], reacting[others]))
        found |= (by_cue | by_thresholds[chosen]) & (folds == fold)
        if len(by_thresholds) > 1:
            print(f"Thresholds for fold {fold}: re_ask {chosen[0]:.2f}, dissatisfied {chosen[1]:.2f}")
    return list(zip(replies, map(bool, found), strict=True))


def _alarms_by_thresholds(replies: Sequence[Reply], measure: Similarity) -> dict[tuple[float, float], Flags]:
    """Which replies raise an alarm without cues, at every pair of thresholds; without embeddings there are none."""
    if not measure.can_exclude:
        return {(RE_ASK_COSINE, 1.0): np.array([_seen(reply, measure) for reply in replies])}
    re_ask = {at: np.array([_seen(reply, _Thresholds(at, 1.0)) for reply in replies]) for at in RE_ASK}
    dissatisfied = {at: np.array([_seen(reply, _Thresholds(1.1, at)) for reply in replies]) for at in DISSATISFIED_BY}
    return {(one, other): re_ask[one] | dissatisfied[other] for one, other in product(re_ask, dissatisfied)}


def _seen(reply: Reply, measure: Similarity) -> bool:
    found = reaction_by_likeness(reply.message, reply.text, reply.likeness, measure, reply.resemblance)
    return found.is_dissatisfied or found.kind == "re_ask"


@dataclass(frozen=True)
class _Thresholds(LexicalSimilarity):
    """A measure for replies whose likeness is known."""

    re_ask: float
    dissatisfied: float

    def re_asks(self, message: str, following: str, cosine: float) -> bool:
        return cosine >= self.re_ask

    def is_dissatisfied(self, margin: float) -> bool:
        return margin >= self.dissatisfied


def _f1(alarms: Flags, reacting: Flags) -> float:
    return 2 * int((alarms & reacting).sum()) / int(alarms.sum() + reacting.sum())


def _borne_out(marked: dict[Reply, list[int]], held_out: AbstractSet[int]) -> frozenset[int]:
    """Cues that mark reactions to errors outside some folds, and a larger share of these than of other messages."""
    reacting: list[int] = []
    others: list[int] = []
    counts = [0, 0]
    for reply, found in marked.items():
        if reply.fold not in held_out:
            reacts = reply.label in REACTING
            counts[reacts] += 1
            (reacting if reacts else others).extend(found)
    return frozenset(cue for cue in reacting if reacting.count(cue) * counts[False] > others.count(cue) * counts[True])


def replies_in(folder: Path, measure: Similarity) -> Iterator[Reply]:
    """Of a dialogue with an error the reaction to it, of one without all messages but the first."""
    for kind in ("erroneous", "non_erroneous_dev"):
        for path in sorted((folder / kind).glob("*.json")):
            record = orjson.loads(path.read_bytes())
            said = _user_messages(record["context"])
            label = record["user_reaction_type"] if kind == "erroneous" else None
            messages = [*said, record["user_reaction"].strip()] if label is not None else said
            matrix = measure.matrix(messages)
            resembling = resemblances(messages, measure)
            # Copies of a dialogue with another error stay together: they begin alike.
            fold = int(hashlib.sha256(" ".join(said[:2]).encode()).hexdigest(), 16) % FOLDS
            first = len(messages) - 1 if label is not None else 1
            for at in range(first, len(messages)):
                likeness = float(matrix[at - 1, at])
                yield Reply(path.stem, fold, label, messages[at - 1], messages[at], likeness, resembling[at])


def _user_messages(context: str) -> list[str]:
    said = re.findall(r"<(user|system)>(.*?)(?=<user>|<system>|$)", context, re.DOTALL)
    return [text.strip() for role, text in said if role == "user" and text.strip()]


def _rate(hits: Iterable[bool]) -> str:
    listed = list(hits)
    k, n = sum(listed), len(listed)
    low, high = wilson(k, n)
    return f"{k:4} of {n:4} = {k / n:6.1%}  [{low:.1%}, {high:.1%}]"


def _options() -> argparse.Namespace:
    beside = Path(__file__).parents[2] / "shared" / "data" / "eurtad"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=beside)
    parser.add_argument("--as-is", action="store_true", help="all cues, the product's thresholds")
    parser.add_argument("--without-cues", action="store_true", help="with --as-is: by likeness alone")
    parser.add_argument("--model", help="compare by embeddings of this model")
    parser.add_argument("--base-url", default="http://localhost:8080/v1", help="where the model is served")
    parser.add_argument("--key-variable", help="variable that holds the endpoint's key")
    return parser.parse_args()


if __name__ == "__main__":
    main()
