"""The claims of a final answer: asked of a judge of the whole run, and read from its reply.

A claim is a quotation of the answer. What supports or contradicts it is a quotation of the results or of the user;
without one, the claim does not count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.judging.fences import neutral
from evaluation_assets.core.sections.findings.claim import VERDICTS, ClaimVerdict
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.well_formed import well_formed
from evaluation_assets.core.traces.trajectories.model import Trajectory

CLAIMS_VERSION = "2"
"""Increment when the request for claims changes, or how replies to it are read."""

CLAIMS = "claims"
"""Field of a reply with the list."""

CLAIMS_TOKENS = 400
"""Output tokens that are assumed for it."""

_MOST = 20

_UNCUT = ("[0-9]", "[A-Za-z]")
"""What a quotation does not cut: the digits of a number, the letters of a word."""

_RULE = f"""
The object also has "claims": a list of what the final answer states as fact, at most {_MOST}, the most important ones
first. Each has "claim": words of the answer, copied exactly; "verdict": "supported" if a result or a message of the
user says the same, "contradicted" if one says otherwise, "not_found" if none does; and "quote": the words that show it,
copied exactly from that result or message, or null for "not_found". The answer itself shows nothing."""

CLAIMS_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "claim": {"type": "string"},
            "verdict": {"type": "string", "enum": list(VERDICTS)},
            "quote": {"type": ["string", "null"]},
        },
        "required": ["claim", "verdict", "quote"],
        "additionalProperties": False,
    },
}
"""The JSON Schema of the list."""


@dataclass(frozen=True, slots=True)
class AnswerClaim:
    """A quotation of the final answer, and what the run says of it; `quote` shows it, `None` if nothing does."""

    claim: str
    verdict: ClaimVerdict
    quote: str | None


def well_formed_claim(claim: AnswerClaim) -> AnswerClaim:
    """The claim as tables can hold it."""
    quote = None if claim.quote is None else well_formed(claim.quote)
    return AnswerClaim(well_formed(claim.claim), claim.verdict, quote)


def with_claims_rule(rules: str, *, with_claims: bool) -> str:
    """The rules, with what is said about claims where they are asked for."""
    return f"{rules}{_RULE}" if with_claims else rules


def with_claims_schema(schema: dict[str, Any], *, with_claims: bool) -> dict[str, Any]:
    """The schema of a reply, with claims where they are asked for."""
    if not with_claims:
        return schema
    return {
        **schema,
        "properties": {**schema["properties"], CLAIMS: CLAIMS_SCHEMA},
        "required": [*schema["required"], CLAIMS],
    }


def read_claims(value: Any, trajectory: Trajectory) -> tuple[tuple[AnswerClaim, ...] | None, tuple[str, ...]]:
    """The claims in a reply on a run, and notes on what does not count; `None` if the reply has no list of claims.

    An entry counts if its claim stands in the answer, and its quotation in a result or in what the user wrote. Spaces
    do not matter. Of entries with the same claim the first counts. A slip in a list that gives no score is not worth a
    second call.
    """
    if not isinstance(value, list):
        return None, ("The reply has no list of claims.",)
    answer, shown = _Text("\n".join(_answer(trajectory))), _Text("\n".join(_evidence(trajectory)))
    entries = [entry for entry in map(_entry, value[:_MOST]) if entry is not None]
    quoted = [entry for entry in entries if _is_quoted(entry, answer, shown)]
    distinct: dict[str, AnswerClaim] = {}
    for entry in quoted:
        distinct.setdefault(_plain(entry.claim), entry)
    ignored = (
        (len(value[:_MOST]) - len(entries), "not of the form that was asked for"),
        (len(entries) - len(quoted), "whose quotations do not stand in the run"),
        (len(quoted) - len(distinct), "listed before"),
        (len(value[_MOST:]), f"after the first {_MOST}"),
    )
    notes = tuple(f"Ignored: {counted(count, 'claim')} {why}." for count, why in ignored if count)
    return tuple(distinct.values()), notes


class _Text:
    """A text, and as judges are shown it, in which quotations are looked for."""

    def __init__(self, text: str) -> None:
        self._forms = {_plain(text), _plain(neutral(text))}

    def has(self, quotation: str) -> bool:
        """Whether the quotation stands in the text, and neither begins nor ends within a number or a word."""
        plain = _plain(quotation)
        if not plain or not any(plain in form for form in self._forms):
            return False
        whole = re.compile(f"{_uncut(plain[0], '<')}{re.escape(plain)}{_uncut(plain[-1], '')}")
        return any(whole.search(form) for form in self._forms)


def _uncut(edge: str, behind: str) -> str:
    """A pattern that refuses more digits, or letters, on the other side of the edge of a quotation.

    Only Latin letters: other scripts may write words without spaces.
    """
    for kind in _UNCUT:
        if re.match(kind, edge):
            return f"(?{behind}!{kind})"
    return ""


def _entry(given: Any) -> AnswerClaim | None:
    """The claim that an entry states, if it has the form that was asked for."""
    if not isinstance(given, dict):
        return None
    claim, verdict, quote = (given.get(name) for name in ("claim", "verdict", "quote"))
    if not isinstance(claim, str):
        return None
    if verdict == "not_found":
        return AnswerClaim(claim, "not_found", None)
    if verdict not in ("supported", "contradicted") or not isinstance(quote, str):
        return None
    return AnswerClaim(claim, verdict, quote)


def _is_quoted(entry: AnswerClaim, answer: _Text, shown: _Text) -> bool:
    return answer.has(entry.claim) and (entry.quote is None or shown.has(entry.quote))


def _answer(trajectory: Trajectory) -> Iterator[str]:
    """The final answer as it is recorded, and as the last message has it: formats may shorten it."""
    yield trajectory.final_answer or ""
    messages = [step.message for step in trajectory.steps if step.message is not None]
    yield trajectory.piece(messages[-1] if messages else None)


def _evidence(trajectory: Trajectory) -> Iterator[str]:
    """What a claim can be shown by: the task, what users wrote, and the results of calls."""
    yield trajectory.task
    for turn in trajectory.turns:
        yield turn.user_message or ""
    for step in trajectory.calls:
        if step.result is not None:
            yield trajectory.piece(step.result.content)


def _plain(text: str) -> str:
    return " ".join(text.split())
