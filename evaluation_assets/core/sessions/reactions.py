"""Reactions: what a user's next message says about the response. Cues can confirm that it was bad, never exclude it."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml

from evaluation_assets.core.sessions.examples import DISSATISFIED, Dissatisfaction, Resemblance
from evaluation_assets.core.sessions.handoffs import particulars
from evaluation_assets.core.sessions.similarity import Similarity
from evaluation_assets.core.suites import refusals

ReactionKind = Dissatisfaction | Literal["re_ask", "thanks", "none"]
_READ = 1000


@cache
def cues(kind: str) -> tuple[str, ...]:
    """The cues of a kind in every language, each a regular expression."""
    document = files("evaluation_assets.core.sessions").joinpath("cues.yaml").read_text("utf-8")
    by_language: dict[str, list[str]] = yaml.safe_load(document)[kind]
    return tuple(cue for found in by_language.values() for cue in found)


@cache
def _cues(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{cue})" for cue in cues(kind)), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reaction:
    """How a user took a response, and the words that show it. `similarity` is that with the message before."""

    kind: ReactionKind
    cue: str | None = None
    similarity: float | None = None

    @property
    def is_dissatisfied(self) -> bool:
        """Whether the user corrects, complains, or cannot make sense of the response."""
        return self.kind in DISSATISFIED


def reaction(
    message: str, following: str, cosine: float | None, measure: Similarity, resemblance: Resemblance | None = None
) -> Reaction:
    """What `following`, the user's next message, says about the response to `message`: by cues, else by likeness."""
    for kind in DISSATISFIED:
        if (found := _cues(kind).search(following[:_READ])) is not None:
            return Reaction(kind, found.group().strip(), cosine)
    return reaction_by_likeness(message, following, cosine, measure, resemblance)


def reaction_by_likeness(
    message: str, following: str, cosine: float | None, measure: Similarity, resemblance: Resemblance | None
) -> Reaction:
    """What `following` says about the response to `message` where it holds no cue of dissatisfaction.

    `resemblance` is what `following` is like among the examples of dissatisfaction. A message that `measure` finds
    alike asks the same again, unless it names other particulars (another order number is another question), asks for
    more, or only says thanks.
    """
    if (thanked := _cues("thanks").search(following[:_READ])) is not None:
        return Reaction("thanks", thanked.group().strip(), cosine)
    if resemblance is not None and measure.is_dissatisfied(resemblance.margin):
        return Reaction(resemblance.kind, resemblance.sentence[:120], cosine)
    if cosine is not None and measure.re_asks(message, following, cosine) and asks_the_same(message, following):
        return Reaction("re_ask", following[:120].strip(), cosine)
    return Reaction("none", None, cosine)


def asks_the_same(message: str, following: str) -> bool:
    """Whether nothing says that it is another question: no new particulars, and no words such as "another"."""
    return particulars(following) <= particulars(message) and _cues("going_on").search(following[:_READ]) is None


def is_refusal(response: str) -> bool:
    """Whether a response declines to do what was asked, in English or by a cue of another language."""
    return refusals.is_refusal(response) or _cues("refusal").search(response[:_READ]) is not None
