"""Claims: what agents say in a run that can be checked, each with a verdict. Only detectors check them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.sections.findings.finding import Place

ClaimVerdict = Literal["supported", "not_found", "contradicted"]

VERDICTS: tuple[ClaimVerdict, ...] = ("supported", "not_found", "contradicted")
"""Gravest last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence or line of an agent, a quotation, and what the run says of it.

    `not_found`: nothing in the run supports it, and nothing contradicts it.
    """

    place: Place
    text: str
    verdict: ClaimVerdict


def distinct(claims: Iterable[Claim]) -> list[Claim]:
    """Each claim once, with the gravest verdict on it, in the order of the run."""
    by_claim: dict[tuple[Place, str], Claim] = {}
    for claim in claims:
        key = claim.place, claim.text
        by_claim[key] = max(by_claim.get(key, claim), claim, key=lambda each: VERDICTS.index(each.verdict))
    return sorted(by_claim.values(), key=lambda claim: _order(claim.place))


def _order(place: Place) -> tuple[int, int, int]:
    """Claims of an answer that is nowhere in the text stay in the order of the detectors."""
    return place.turn or 0, place.interaction or 0, -1 if place.span is None else place.span[0]
