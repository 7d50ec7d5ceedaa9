"""Progress of a session: failures and recoveries, ignored results, stretches without new text."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from evaluation_assets.core.sections.sessions.interactions import SessionInteraction, interactions_of
from evaluation_assets.core.sections.sessions.repetition import Repetition, brings_news
from evaluation_assets.core.suites.refusals import is_refusal
from evaluation_assets.core.text.pattern_sets import PatternSet
from evaluation_assets.core.traces.trajectories.model import Span, Step, Trajectory
from evaluation_assets.core.traces.trajectories.words import takes_from, words, words_of_pieces

Signal = Literal["optimal", "recovery", "regression", "stall", "circular"]

STALL = 3
"""Number of consecutive interactions without new text that make a stall."""

NEWS = 0.1
"""Minimum share of new words of an interaction with new text."""

_FEWEST_WORDS = 8
"""Minimum new words of a result: with fewer, its use may leave no trace in the text, or they are what a runner of code
says around a value."""

_LEAST_NEW = 0.2
"""Minimum share of new words of a result: with less, it only confirms what is known."""

_FIELD = re.compile(r"[\"']([A-Za-z_]{4,40})[\"']\s*:")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PHRASE = 5
"""Words in a row that a text has by chance of no other."""

_LONGEST_RESULT = 20_000
_READ = 1500
"""Maximum characters of a text in which words for a failure are looked for."""

_EFFECTS = re.compile(r"(?:^|_)(?:write|edit|editor|replace|insert|save|send|delete|remove)(?:_|$)", re.IGNORECASE)
"""Tools that are called for their side effect: their result need not be mentioned."""

_NOTICED = PatternSet(
    [
        r"\b(?:mistake|wrong|incorrect|error|errors|fail\w*|invalid|not (?:found|available|work\w*)|unable"
        r"|could ?n[o']t|instead|retry|try(?:ing)? again|unfortunately|sorry|apolog\w+|issue|problem)\b",
        r"错误|失败|不对|重新|修正|抱歉|エラー|失敗|lỗi|fehler|erreur|error al|erro\b",
    ],
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ErrorPoint:
    """A failed call and its consequences.

    `noticed`: later text mentions the failure, or the call was changed. `recovered_at`: `order` of the interaction in
    which the same tool succeeded again.
    """

    interaction: SessionInteraction
    step: int
    tool: str
    error: str
    noticed: bool
    recovered_at: int | None


@dataclass(frozen=True, slots=True)
class IgnoredResult:
    """A result that was never used; `step` is its position in the interaction."""

    interaction: SessionInteraction
    step: int
    tool: str
    new_words: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a session.

    `stalls` are runs of interactions without new text. `regressions` are the `order`s of interactions in which a tool
    that had worked failed at least twice in a row. `efficiency` is the share of steps that were not wasted (failed,
    repeated, ignored). `graceful_stop`: the last message says that the task was not done; `None` unless a failure was
    never overcome.
    """

    errors: tuple[ErrorPoint, ...]
    ignored: tuple[IgnoredResult, ...]
    stalls: tuple[tuple[int, ...], ...]
    regressions: tuple[int, ...]
    efficiency: float | None
    signal: Signal | None
    graceful_stop: bool | None

    @property
    def awareness(self) -> float | None:
        """Share of failures that were noticed; `None` if there were none."""
        return sum(error.noticed for error in self.errors) / len(self.errors) if self.errors else None

    @property
    def correction(self) -> float | None:
        """Share of noticed failures after which the tool succeeded; `None` if none was noticed."""
        noticed = [error for error in self.errors if error.noticed]
        return sum(error.recovered_at is not None for error in noticed) / len(noticed) if noticed else None


def progress_of(trajectory: Trajectory, repeated: Sequence[Repetition]) -> Progress:
    """Progress of a session, given its repetitions."""
    parts = interactions_of(trajectory)
    places = _places(parts)
    errors, ignored = _errors(places), _ignored(trajectory, places)
    stalls, regressions = _stalls(trajectory, parts), _regressions(places)
    again = sum(
        len(repetition.places) - 1 for repetition in repeated if repetition.kind in ("same_call", "same_message")
    )
    wasted = len(errors) + len(ignored) + again
    return Progress(
        errors=errors,
        ignored=ignored,
        stalls=stalls,
        regressions=regressions,
        efficiency=max(0.0, 1 - wasted / len(places)) if places else None,
        signal=_signal(repeated, stalls, regressions, errors) if places else None,
        graceful_stop=_graceful_stop(parts, errors),
    )


def error_points(parts: Sequence[SessionInteraction]) -> tuple[ErrorPoint, ...]:
    """The failures of a session in order, without the rest of its progress, for which all of its words are read."""
    return _errors(_places(parts))


_Place = tuple[SessionInteraction, int, Step]


def _places(parts: Sequence[SessionInteraction]) -> list[_Place]:
    return [(part, number, step) for part in parts for number, step in enumerate(part.steps)]


def _signal(
    repeated: Sequence[Repetition],
    stalls: Sequence[tuple[int, ...]],
    regressions: Sequence[int],
    errors: Sequence[ErrorPoint],
) -> Signal:
    """The most severe finding; `recovery` if failures were followed by success, `optimal` if there were none."""
    if any(repetition.is_loop for repetition in repeated):
        return "circular"
    if stalls:
        return "stall"
    open_errors = [error for error in errors if error.recovered_at is None]
    if regressions and open_errors:
        return "regression"
    return "recovery" if errors and not open_errors else "regression" if open_errors else "optimal"


def _graceful_stop(parts: Sequence[SessionInteraction], errors: Sequence[ErrorPoint]) -> bool | None:
    """Whether an agent that could not go on said so in the end."""
    if all(error.recovered_at is not None for error in errors):
        return None
    return is_refusal(parts[-1].messages)


def _errors(places: Sequence[_Place]) -> tuple[ErrorPoint, ...]:
    """Failures in order. The places are gone through from the end, where it is known what followed."""
    errors: list[ErrorPoint] = []
    worked: dict[tuple[str | None, str] | None, int] = {}
    following = ""
    for part, number, step in reversed(places):
        tool = _tool(step)
        if step.call is not None and step.result is not None and step.result.error is not None:
            noticed = _NOTICED.matches(following[:_READ]) or takes_from(following, *_call_and_result(part, step))
            errors.append(ErrorPoint(part, number, step.call.name, step.result.error, noticed, worked.get(tool)))
        if _worked(step):
            worked[tool] = part.order
        following = _written(part.trajectory, step) or (following if step.call is None else "")
    return tuple(reversed(errors))


def _call_and_result(part: SessionInteraction, step: Step) -> tuple[str, str]:
    piece = part.trajectory.piece
    return piece(step.call.raw if step.call else None), piece(step.result.content if step.result else None)


def _written(trajectory: Trajectory, step: Step) -> str:
    """What an agent wrote in a step, beside its call."""
    return "\n".join(trajectory.piece(span) for span in (step.thought, step.message) if span)


def _worked(step: Step) -> bool:
    return step.call is not None and step.has_succeeded


def _tool(step: Step) -> tuple[str | None, str] | None:
    return None if step.call is None else (step.call.server, step.call.name)


def _ignored(trajectory: Trajectory, places: Sequence[_Place]) -> tuple[IgnoredResult, ...]:
    """Results whose new words never occur in later text. Results without later text are skipped.

    Where an agent looks through several results of one tool for the right one, the others are not ignored. Nor is one
    of which the next text names a field or has a phrase, whose words were known before.
    """
    piece = trajectory.piece
    seen: set[str] = set(words(trajectory.task))
    new: list[frozenset[str]] = []
    fewest: list[float] = []
    written: list[frozenset[str]] = []
    for part, _, step in places:
        raw = step.call.raw if step.call else None
        own = words(piece(step.thought)) | words(piece(raw)) | words(piece(step.message))
        written.append(own)
        asked = trajectory.turns[part.turn].user_message
        seen |= own
        seen |= words(asked) if asked else frozenset()
        returned = words(piece(step.result.content)) if step.result else frozenset[str]()
        new.append(returned - seen)
        fewest.append(max(_FEWEST_WORDS, _LEAST_NEW * len(returned)))
        seen |= returned
    later: set[str] = set(words(trajectory.final_answer or ""))
    is_followed = bool(trajectory.final_answer)
    next_text = trajectory.final_answer or ""
    ignored: list[IgnoredResult] = []
    used: set[tuple[int, str]] = set()
    for index, (part, number, step) in reversed(list(enumerate(places))):
        if is_followed and _worked(step) and step.call is not None and len(new[index]) >= fewest[index]:
            name = step.call.name
            if not later.isdisjoint(new[index]):
                used.add((part.turn, name))
            elif _EFFECTS.search(name) is None and not _takes_up(next_text, step, piece):
                ignored.append(IgnoredResult(part, number, name, len(new[index])))
        later |= written[index]
        next_text = f"{piece(step.thought)} {piece(step.message)}".strip() or next_text
        is_followed = is_followed or bool(written[index])
    return tuple(each for each in reversed(ignored) if (each.interaction.turn, each.tool) not in used)


def _takes_up(text: str, step: Step, piece: Callable[[Span | None], str]) -> bool:
    """Whether a text names a field of a result, or has several words of it in a row."""
    result = piece(step.result.content)[:_LONGEST_RESULT] if step.result else ""
    text = text[:_LONGEST_RESULT].casefold()
    said = set(_WORD.findall(text))
    if any(not said.isdisjoint(name.casefold().split("_")) for name in _FIELD.findall(result)):
        return True
    phrases = {*_phrases(result.casefold())}
    return any(phrase in phrases for phrase in _phrases(text))


def _phrases(text: str) -> Iterator[tuple[str, ...]]:
    words_in_order = _WORD.findall(text)
    return zip(*(words_in_order[at:] for at in range(_PHRASE)), strict=False)


def _stalls(trajectory: Trajectory, parts: Sequence[SessionInteraction]) -> tuple[tuple[int, ...], ...]:
    """Runs of interactions within a turn without new words and without new results."""
    seen: set[str] = set(words(trajectory.task))
    still: list[tuple[int, int, bool]] = []
    turn = -1
    for part in parts:
        if part.turn != turn:
            turn = part.turn
            seen |= words(trajectory.turns[turn].user_message or "")
        own = _own_words(part)
        still.append((part.order, part.turn, bool(own) and not brings_news(own, seen, NEWS)))
        seen |= own
    runs = (tuple(order for order, _, _ in run) for (_, is_still), run in groupby(still, lambda at: at[1:]) if is_still)
    return tuple(run for run in runs if len(run) >= STALL)


def _own_words(part: SessionInteraction) -> frozenset[str]:
    """Words that the agent wrote in an interaction, and that its calls returned."""
    piece = part.trajectory.piece
    written = [piece(span) for step in part.steps for span in (step.thought, step.call.raw if step.call else None)]
    returned = [piece(step.result.content) for step in part.steps if step.result]
    return words_of_pieces(part.written, [*written, part.messages]) | words_of_pieces(part.results, returned)


def _regressions(places: Sequence[_Place]) -> tuple[int, ...]:
    """Interactions in which a tool that had worked fails twice in a row."""
    worked: set[tuple[str | None, str] | None] = set()
    failing: dict[tuple[str | None, str] | None, int] = {}
    regressions: list[int] = []
    for part, _, step in places:
        if step.call is None or step.result is None:
            continue
        tool = _tool(step)
        if step.result.error is None:
            worked.add(tool)
            failing[tool] = 0
            continue
        failing[tool] = failing.get(tool, 0) + 1
        if tool in worked and failing[tool] == 2:
            regressions.append(part.order)
    return tuple(regressions)
