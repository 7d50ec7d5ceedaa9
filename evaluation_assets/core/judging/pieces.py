"""Render a subject for the conversation with a judge.

Outside of the fence are our own words, numbers and criteria only. All that a trajectory holds, names and ids included,
is neutralised and stands inside.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat

from evaluation_assets.core.intake.clips.segmentation import Clip
from evaluation_assets.core.judging.fences import Show, fenced, neutral
from evaluation_assets.core.judging.subjects import OwnScore, Subject
from evaluation_assets.core.judging.windows import MARK_BYTES, cut_in_the_middle, fair_limits, size

_LEAST_SHOWN = 400
"""Bytes of a clip that are worth showing among many others; below that whole clips are left out."""

_LONGEST_NAME = 100
"""Characters of a name."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A subject as it stands in the conversation: the turn, its bytes, those of the clips, and those of them shown."""

    text: str
    size: int
    length: int
    shown: int


@dataclass(frozen=True)
class Part:
    """A text in its fence, with our own words before and after it. `label` says inside of the fence what it is.

    `is_subject` tells what is judged from what is shown beside it.
    """

    before: str
    text: str | None = None
    label: str = ""
    after: str = ""
    is_subject: bool = False

    def rendered(self, fence: str) -> str:
        """The part as it is shown."""
        inside = None if self.text is None else fenced(f"{self.label}\n{self.text}" if self.label else self.text, fence)
        return "\n".join(each for each in (self.before, inside, self.after) if each)

    def overhead(self, fence: str) -> int:
        """Bytes of all but the text, with the line break behind the part."""
        return size(replace(self, text=self.text and "").rendered(fence)) + 1

    @cached_property
    def size(self) -> int:
        """Bytes of the text."""
        return size(self.text or "")

    def cut(self, limit: int) -> "Part":
        """The part with so many bytes of its text."""
        return (
            self if self.text is None or self.size <= limit else replace(self, text=cut_in_the_middle(self.text, limit))
        )


def task_part(subject: Subject, show: Show = neutral) -> Part:
    """The task, whole."""
    if subject.is_task_in_contents:
        return Part("The task is one, in other words for each run: each holds its own user's words.")
    return Part("The task the agent was given:", show(subject.trajectory.task))


def piece_of(subject: Subject, fence: str, room: int, task: Part | None, show: Show = neutral) -> Piece:
    """The turn that asks for a verdict on a subject, in not more than `room` bytes; `task` stands before it."""
    criteria = ", ".join(criterion.key for criterion in subject.criteria)
    asked = f'{heading(subject)} Judge it by the rubric "{subject.rubric.name}". Criteria: {criteria}'
    if subject.answer is not None:
        of_answer = ", ".join(criterion.key for criterion in subject.answer_criteria)
        asked += f'. Judge its final answer by the rubric "{subject.answer.name}". Criteria of the answer: {of_answer}'
    contents = list(_contents(subject, show))
    around = [*([task] if task else []), Part(asked), *_behind(subject, show)]
    kept, left_out = _kept(contents, fence, room - _least(around, fence, room // 4))
    half = (len(kept) + 1) // 2
    gap = [Part(f"{left_out} pieces are left out here.")] if left_out else []
    parts = [*([task] if task else []), Part(asked), *kept[:half], *gap, *kept[half:], *_behind(subject, show)]
    limits = _limits(parts, room - sum(part.overhead(fence) for part in parts), task_is_cut=not subject.is_alone)
    text = "\n".join(part.cut(limit).rendered(fence) for part, limit in zip(parts, limits, strict=True))
    shown = sum(min(part.size, limit) for part, limit in zip(parts, limits, strict=True) if part.is_subject)
    return Piece(text, size(text), sum(part.size for part in contents), shown)


def heading(subject: Subject) -> str:
    """What the subject is, in our words and numbers."""
    if subject.heading:
        return subject.heading
    if subject.level == "clip":
        clip = subject.focus[0]
        return "The end of the work." if clip.is_final else f"Piece {clip.index + 1}, a tool call."
    if subject.level == "category":
        return f"All {len(subject.focus)} calls of one tool type together, in order."
    return "The whole work, from beginning to end." if subject.level == "trajectory" else "The final answer alone."


def _contents(subject: Subject, show: Show) -> Iterator[Part]:
    """What is judged. Clips that are judged together have their number in front and the judge's own scores behind."""
    if subject.contents:
        titled = zip(subject.titles or repeat(""), subject.contents, strict=False)
        yield from (Part(title, content(show), is_subject=True) for title, content in titled)
    elif subject.level == "answer":
        yield Part("", show(subject.trajectory.final_answer or ""), is_subject=True)
    elif subject.level == "clip":
        clip = subject.focus[0]
        yield Part("", show(clip.content), _tool_type(clip, show), is_subject=True)
    else:
        for clip in subject.focus:
            name = f"Piece {clip.index + 1}"
            own = _own_scores(name.lower(), subject.own.clips.get(clip.index))
            yield Part(f"{name}:", show(clip.content), _tool_type(clip, show), own, is_subject=True)


def _behind(subject: Subject, show: Show) -> Iterator[Part]:
    """The judge's own scores of each category, named by its first piece, and the reference answer."""
    first = {clip.tool_type: clip.index + 1 for clip in reversed(subject.clips)}
    for category, given in subject.own.categories.items():
        if category in first:
            yield Part(_own_scores(f"all calls of the tool type of piece {first[category]} together", given))
    if subject.level in ("trajectory", "answer", "session") and (reference := subject.trajectory.reference_answer):
        yield Part("The reference answer:", show(reference))


def _tool_type(clip: Clip, show: Show) -> str:
    return "" if clip.is_final else f"[tool type: {' '.join(show(clip.tool_type).split())[:_LONGEST_NAME]}]"


def _own_scores(of: str, given: OwnScore | None) -> str:
    if given is None:
        return ""
    scores = ", ".join(f"{key} {'null' if score is None else score}" for key, score in given.points.items())
    return f"Your scores of {of}, {given.scale}: {scores}."


def _least(parts: Sequence[Part], fence: str, most: int) -> int:
    """The least that parts take when their texts are cut to `most` bytes."""
    return sum(part.overhead(fence) + min(part.size, most + MARK_BYTES) for part in parts)


def _limits(parts: Sequence[Part], room: int, *, task_is_cut: bool) -> list[int]:
    """How many bytes of each part's text are shown.

    What stands beside the subject has a quarter of the room each, and more where the subject does not need it. A task
    that `task_is_cut` has its size from the chain, so that it is the same wherever it stands.
    """
    limits = [part.size for part in parts]
    judged = [index for index, part in enumerate(parts) if part.is_subject]
    beside = [index for index, part in enumerate(parts) if not part.is_subject and part.size]
    left = room - sum(limits)
    for index in beside[1:] if task_is_cut else beside:
        needed = parts[index].size
        most = max(room // 4, needed + left) - MARK_BYTES
        if left < 0 and needed > most:
            limits[index] = max(most, 1)
            left += needed - limits[index] - MARK_BYTES
    shared = room - sum(min(limits[index] + MARK_BYTES, parts[index].size) for index in beside)
    for index, limit in zip(judged, fair_limits([parts[index].size for index in judged], shared), strict=True):
        limits[index] = limit
    return limits


def _kept(parts: list[Part], fence: str, room: int) -> tuple[list[Part], int]:
    """The parts that are worth showing in a room, from both ends, and how many are left out between them."""
    if len(parts) < 3 or _least(parts, fence, _LEAST_SHOWN) <= room:
        return parts, 0
    room -= MARK_BYTES  # the line that says so
    heads: list[Part] = []
    tails: list[Part] = []
    for number in range(len(parts)):
        at_head = number % 2 == 0
        part = parts[number // 2] if at_head else parts[-1 - number // 2]
        room -= _least([part], fence, _LEAST_SHOWN)
        if room < 0 and heads:
            break
        (heads if at_head else tails).append(part)
    return [*heads, *reversed(tails)], len(parts) - len(heads) - len(tails)
