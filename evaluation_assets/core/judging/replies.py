"""Parse and validate the replies of a model. An invalid reply gives no score."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.judging.answer_claims import CLAIMS
from evaluation_assets.core.judging.rubrics.model import Criterion, Scale
from evaluation_assets.core.judging.verdicts import FailureKind, Verdict, outcome_of
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.text.exact_json import is_number
from evaluation_assets.core.text.well_formed import well_formed
from evaluation_assets.core.traces.trajectories.model import json_object, json_objects

_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_FENCE = re.compile(r"\A```[a-z]*\s*(.*?)\s*```\Z", re.DOTALL | re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(
    r"\A\s*(?:<(?:think|thinking|thought|reasoning|seed:think)>|\[THINK\]|◁think▷|<\|channel\|>analysis)", re.IGNORECASE
)
THOUGHT_ENDS = re.compile(
    r"</(?:think|thinking|thought|reasoning|seed:think)>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>",
    re.IGNORECASE,
)
_MOST_ENDS = 50
"""Ends of thinking that are tried, from the last: a verdict may quote them, and each attempt reads the rest."""


_LONGEST_NOTE = 200

_REMARKS = ("strengths", "weaknesses", "verdict")
"""What judges of answers often add: texts, or lists of texts. Nobody asks for it."""

_LONGEST_REMARK = 2000


class InvalidReply(ValueError):
    """A reply that is no verdict. The message says what is wrong, for the judge to put it right."""

    def __init__(self, kind: FailureKind, problem: str) -> None:
        super().__init__(problem)
        self.kind: FailureKind = kind


def read_reply(
    text: str,
    criteria: Sequence[Criterion],
    scale: Scale,
    *,
    with_probability: bool = False,
    with_remarks: bool = False,
) -> Verdict:
    """The verdict in a reply; `with_remarks`, what it says besides on strengths and weaknesses is in the notes.

    Code fences, prose around the JSON and trailing commas are forgiven; what is said is not. The schema names the
    criteria of the whole conversation, because providers cache it: scores of others than those asked for are ignored.

    Raises:
        InvalidReply: no JSON object, a criterion is missing, a score is not on the scale.
    """
    data = evaluation_object(text)
    scores = read_scores(data.get("scores"), criteria, scale)
    probabilities = read_probabilities(data.get("scores"), criteria) if with_probability else None
    reasoning, summary = data.get("reasoning"), data.get("summary")
    if not isinstance(reasoning, str) or not isinstance(summary, str):
        raise InvalidReply("invalid_json", "reasoning and summary must be texts.")
    notes = (*(_remarks_in(data) if with_remarks else ()), *notes_on(data.get("scores"), criteria))
    return Verdict(
        outcome=outcome_of(scores),
        scores=scores,
        summary=" ".join(summary.split()),
        reasoning=reasoning.strip(),
        probabilities=probabilities,
        notes=notes,
    )


def _remarks_in(data: Mapping[str, Any]) -> Iterator[str]:
    for name in _REMARKS:
        given = data.get(name)
        said = [
            " ".join(each.split()) for each in (given if isinstance(given, list) else [given]) if isinstance(each, str)
        ]
        if any(said):
            yield f"{name.capitalize()}: {'; '.join(filter(None, said))[:_LONGEST_REMARK]}"


def read_scores(value: Any, criteria: Sequence[Criterion], scale: Scale) -> dict[str, float | None]:
    """The scores of these criteria, 0..1 or `None`, from the list or object in a reply.

    Raises:
        InvalidReply: a criterion is missing, or a score is not on the scale.
    """
    given = _scores(value)
    asked = [criterion.key for criterion in criteria]
    if missing := [key for key in asked if key not in given]:
        raise InvalidReply("missing_criterion", f"no score for {', '.join(missing)}.")
    return {key: _share(key, given[key], scale) for key in asked}


def notes_on(value: Any, criteria: Sequence[Criterion]) -> tuple[str, ...]:
    """What a reader should know of the scores in a reply: which of them were not asked for."""
    asked = {criterion.key for criterion in criteria}
    return ignored(key for key in _scores(value) if key not in asked)


def ignored(keys: Iterable[str]) -> tuple[str, ...]:
    """A note on what was answered without a question; none without such an answer."""
    more = ", ".join(keys)
    return (f"Ignored, because not asked for: {more[:_LONGEST_NOTE]}.",) if more else ()


def read_probabilities(value: Any, criteria: Sequence[Criterion]) -> dict[str, float | None]:
    """The probabilities of these criteria, 0..1, from the list in a reply; `None` where the judge gave none.

    Raises:
        InvalidReply: a criterion has no probability, or one that is not between 0 and 100 percent.
    """
    entries = value if isinstance(value, list) else []
    given = {str(entry.get("criterion")): entry for entry in entries if isinstance(entry, dict)}
    asked = [criterion.key for criterion in criteria]
    if missing := [key for key in asked if "probability" not in given.get(key, {})]:
        raise InvalidReply("missing_criterion", f"no probability for {', '.join(missing)}.")
    return {key: _probability(key, given[key]["probability"]) for key in asked}


def scored_criteria(text: str) -> frozenset[str]:
    """The criteria that a reply scores, those of the answer as `answer.<key>`, and `claims` if it has them.

    Of an invalid reply there are none.
    """
    try:
        data = evaluation_object(text)
        own, of_answer = (_scores(data.get(part, [])) for part in ("scores", "answer_scores"))
    except InvalidReply:
        return frozenset()
    claims = [CLAIMS] if own and CLAIMS in data else []
    return frozenset((*own, *(f"answer.{key}" for key in of_answer), *claims))


def said_in(reply: Reply) -> str:
    """The text of a reply; where there is none, reasoning that is one JSON object and nothing else.

    Some servers put the whole reply there if the model does not end its thinking. JSON within reasoning is a draft.
    """
    if reply.text.strip() or reply.thought is None:
        return reply.text
    thought = _after_thinking(reply.thought).strip()
    fenced = _FENCE.match(thought)
    whole = fenced[1] if fenced else thought
    return whole if json_object(whole) is not None else reply.text


def refuse_unfinished(reply: Reply) -> None:
    """Raise `InvalidReply` for a reply that was cut or refused, that broke off, or that is empty."""
    if reply.finish == "length":
        raise InvalidReply("truncated", "the reply was cut at the limit of output tokens; raise max_output_tokens.")
    if reply.finish == "refusal":
        raise InvalidReply("refusal", "the model refused.")
    if reply.finish == "content_filter":
        raise InvalidReply("content_filter", "the provider's content filter stopped the reply.")
    if reply.finish == "error":
        raise InvalidReply("server", "the endpoint reported an error in the middle of the reply.")
    if not said_in(reply).strip():
        only = "" if reply.thought is None else ": the model returned only its reasoning"
        raise InvalidReply("invalid_json", f"the reply was empty{only}.")


def evaluation_object(text: str) -> Mapping[str, Any]:
    """The only object with scores in a reply, ignoring surrounding text.

    A reply may hold a draft, or quote what an agent wrote to steer the judge: of several that differ none is believed.
    """
    said = _after_thinking(text)
    for attempt in (said, _TRAILING_COMMA.sub("", said)):
        objects = list(_verdicts_in(attempt))
        if any(other != objects[0] for other in objects[1:]):
            raise InvalidReply(
                "invalid_json", "the reply holds several evaluations that differ; give only the final one."
            )
        if objects:
            return objects[0]
    raise InvalidReply("invalid_json", "the reply is not a JSON object with scores.")


def _verdicts_in(text: str) -> Iterator[Mapping[str, Any]]:
    """The objects with scores in a text.

    Raises:
        InvalidReply: one gives two values to the same key; parsers take the last one.
    """
    repeated: list[str] = []

    def pairs(given: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(given)
        # NaN differs from itself; it is no number of a scale and refused as such.
        repeated.extend(key for key, value in given if made[key] is not value and made[key] != value)
        return made

    for data in json_objects(text, json.JSONDecoder(object_pairs_hook=pairs)):
        if (verdict := _verdict_in(data)) is not None:
            if repeated:
                raise InvalidReply(
                    "invalid_json", f"it gives two values to {well_formed(repeated[0])[:_LONGEST_NOTE]!r}."
                )
            yield verdict
        repeated.clear()


def _after_thinking(text: str) -> str:
    """The reply without the thinking before it, which may hold drafts.

    Chat templates may begin the thinking themselves, so that only its end is there. A verdict may quote such an end:
    only one that has a verdict after it counts, unless the text begins with thinking.
    """
    if json_object(text) is not None:
        return text
    ends = [found.end() for found in THOUGHT_ENDS.finditer(text)]
    for end in reversed(ends[-_MOST_ENDS:]):
        if any(_verdict_in(data) is not None for data in json_objects(_TRAILING_COMMA.sub("", text[end:]))):
            return text[end:]
    if _THOUGHT_BEGINS.match(text):
        return text[ends[0] :] if ends else ""
    return text


def _verdict_in(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The object with scores: the object itself, or the one it wraps, as calls of a tool do."""
    if "scores" in data:
        return data
    wrapped = [value for value in data.values() if isinstance(value, dict) and "scores" in value]
    return wrapped[0] if len(wrapped) == 1 else None


def _scores(value: Any) -> dict[str, Any]:
    """A list of {criterion, score}, or an object of criterion to score, which unconstrained models prefer."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not all(isinstance(entry, dict) and "score" in entry for entry in value):
        raise InvalidReply("invalid_json", "scores must be a list of objects with criterion and score.")
    keys = [str(entry.get("criterion")) for entry in value]
    if len(set(keys)) < len(keys):
        raise InvalidReply("invalid_json", "a criterion is scored twice.")
    return {key: entry["score"] for key, entry in zip(keys, value, strict=True)}


def _probability(key: str, percent: Any) -> float | None:
    if percent is None:
        return None
    if not is_number(percent):
        raise InvalidReply("invalid_json", f"the probability of {key} is no number.")
    if not 0 <= percent <= 100 or 0 < percent < 1:
        raise InvalidReply("out_of_range", f"the probability of {key} is not a whole number from 0 to 100 percent.")
    return percent / 100


def _share(key: str, value: Any, scale: Scale) -> float | None:
    if value is None:
        return None
    if not is_number(value):
        raise InvalidReply("invalid_json", f"the score of {key} is no number.")
    if not scale.continuous:
        _refuse_fraction(key, value, scale)
    if not scale.min <= value <= scale.max:
        raise InvalidReply("out_of_range", f"the score of {key} is not between {scale.min} and {scale.max}.")
    return scale.to_share(value)


def _refuse_fraction(key: str, value: float, scale: Scale) -> None:
    if isinstance(value, float) and not value.is_integer():
        asked = f"a whole number from {scale.min} to {scale.max}"
        raise InvalidReply("out_of_range", f"the score of {key} is {value:g}; it has to be {asked}, or null.")
    if isinstance(value, float) and value == 1 < scale.max:
        problem = f"the score of {key} is 1.0; give a whole number from {scale.min} to {scale.max} without a point."
        raise InvalidReply("out_of_range", problem)  # full marks of a judge that scores from 0 to 1
