"""What a model of outcomes is shown of a run: figures, what it said last, and what it did. Never its outcome."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import log1p
from zlib import crc32

import numpy as np

from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.evidence.effects import ends_run, may_change_state
from evaluation_assets.core.sections.sessions.reactions import is_refusal
from evaluation_assets.core.suites.effects import hands_over
from evaluation_assets.core.traces.trajectories.model import Trajectory

BUCKETS = 4096
"""Word n-grams are hashed into so many."""

_MOST_WORDS = 400
_MOST_CALLS = 400

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""A word; in Chinese, Japanese and Korean a character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is known of one run. Sets of texts are sorted arrays of hashes.

    `ngrams` are the words and pairs of words of what the agents said last, `answer` the words alone, `changes` the
    calls that may have changed state, `calls` all calls.
    """

    task_id: str
    figures: Mapping[str, float]
    ngrams: np.ndarray
    answer: np.ndarray
    changes: np.ndarray
    calls: np.ndarray
    claims_success: bool


def traits_of(trajectory: Trajectory, findings: Iterable[tuple[str, str]]) -> Traits:
    """The traits of a run, given kind and severity of each of its findings."""
    course = Course(trajectory)
    steps, calls, messages = course.steps, course.calls, course.messages
    last = trajectory.final_answer or (messages[-1].text if messages else "")
    named = Counter(name for kind, severity in findings for name in (f"finding {kind}", f"severity {severity}"))
    counts = {
        "steps": len(steps),
        "calls": len(calls),
        "turns": len(trajectory.turns),
        "messages": len(messages),
        "failed_calls": sum(not placed.step.has_succeeded for placed in calls if placed.step.result is not None),
        "tools": len({placed.call.name for placed in calls}),
        "changing_calls": sum(may_change_state(placed.call) for placed in calls),
        "ending_calls": sum(ends_run(placed.call) for placed in calls),
        "characters": len(trajectory.text),
        "characters_said": sum(len(message.text) for message in messages),
        "characters_said_last": len(last),
        "characters_of_users": sum(len(turn.user_message or "") for turn in trajectory.turns),
        "characters_thought": sum(
            placed.step.thought[1] - placed.step.thought[0] for placed in steps if placed.step.thought
        ),
        "characters_of_results": sum(len(placed.result) for placed in calls),
        **named,
    }
    words = [word.lower() for word in _WORD.findall(last)[:_MOST_WORDS]]
    written = [(placed, f"{placed.call.name} {_arguments(trajectory, placed)}") for placed in calls[:_MOST_CALLS]]
    is_handed_over = bool(steps) and steps[-1].step.call is not None and hands_over(steps[-1].call.name)
    return Traits(
        task_id=trajectory.task_id,
        figures={name: log1p(count) for name, count in counts.items()},
        ngrams=hashes([*words, *(f"{one} {two}" for one, two in pairwise(words))], BUCKETS),
        answer=hashes(words),
        changes=hashes(text for placed, text in written if may_change_state(placed.call)),
        calls=hashes(text for _, text in written),
        claims_success=bool(last.strip())
        and not is_refusal(last)
        and not is_handed_over
        and not {"finding cut_off", "finding missing_answer"} & named.keys(),
    )


def hashes(texts: Iterable[str], buckets: int = 1 << 32) -> np.ndarray:
    """The hashes of texts, sorted, each once. The same on every machine."""
    buckets_of = {crc32(text.encode("utf-8", "surrogatepass")) % buckets for text in texts}
    return np.array(sorted(buckets_of), np.uint32)


def _arguments(trajectory: Trajectory, placed: PlacedStep) -> str:
    """The arguments of a call in one spelling."""
    arguments = trajectory.arguments(placed.call)
    if arguments is None:
        return trajectory.piece(placed.call.raw)
    return json.dumps(arguments, sort_keys=True, default=str)
