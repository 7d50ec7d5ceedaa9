"""Subjects: what is judged, with everything a judge may see.

A clip, the clips of one category, a trajectory, its answer; and of a session an interaction, a turn, or all of it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from evaluation_assets.core.intake.clips.segmentation import Clip
from evaluation_assets.core.judging.fences import Show
from evaluation_assets.core.judging.rubrics.model import Criterion, Level, Need, Rubric, Rubrics, Scale
from evaluation_assets.core.sections.sessions.interactions import SessionInteraction
from evaluation_assets.core.suites.calls import FAILED
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.traces.trajectories.images import Image
from evaluation_assets.core.traces.trajectories.model import Trajectory

Content = Callable[[Show], str]
"""A text of a subject, given how untrusted text is shown: what is cut from a text is shown first and cut then."""


def whole(text: str) -> Content:
    """A text as it is."""
    return lambda show: show(text)


@dataclass(frozen=True, slots=True)
class OwnScore:
    """What a judge gave by criterion: `points` on the rubric's `scale`, `None` where it left the criterion open."""

    points: Mapping[str, float | None]
    scale: Scale

    @classmethod
    def of(cls, scores: Mapping[str, float | None], scale: Scale) -> Self:
        """The points that a verdict's scores of 0..1 were given as."""
        return cls({key: None if share is None else scale.to_points(share) for key, share in scores.items()}, scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnScores:
    """What one judge gave at the levels below, in one sample: by clip index, and by category.

    Judges are independent: no judge sees the verdicts of others or their mean.
    """

    clips: Mapping[int, OwnScore] = field(default_factory=dict)
    categories: Mapping[str, OwnScore] = field(default_factory=dict)

    @classmethod
    def by_sample(
        cls, clips: Iterable[tuple[int, int, OwnScore]], categories: Iterable[tuple[int, str, OwnScore]]
    ) -> dict[int, Self]:
        """One judge's scores of one trajectory: each with its sample and its clip's index, or its category."""
        of_clips: dict[int, dict[int, OwnScore]] = {}
        of_categories: dict[int, dict[str, OwnScore]] = {}
        for sample, index, score in clips:
            of_clips.setdefault(sample, {})[index] = score
        for sample, category, score in categories:
            of_categories.setdefault(sample, {})[category] = score
        return {
            sample: cls(clips=of_clips.get(sample, {}), categories=of_categories.get(sample, {}))
            for sample in sorted({*of_clips, *of_categories})
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Subject:
    """One thing to judge. It equals only itself.

    `name` is the clip's index, the category, or the level itself. `focus` are the clips that are judged, `clips` all
    of the trajectory; `chain_rubrics` are those of all subjects of the chain. `own` is what the judge itself gave at
    the levels below. `later` is how many subjects follow it in its chain; it `is_alone` where none of
    them, nor one before it, is of its level.

    What is judged of a session has no clips: its `contents` are shown under a `heading`, and it is the interaction
    `part` or the turn with the number `turn`. Each of the contents may have a title of ours in front of its fence.
    Where `is_task_in_contents`, each of them has the task in words of its own, and the task is shown nowhere else.
    `there_is` says what criteria may ask about.

    A trajectory that `is_quick` is judged in one call, which also names the clips that went wrong, and judges the final
    answer by the rubric `answer` if there is an answer. `asks_probability` asks with each score how likely it is that
    a person would let the subject pass, and `asks_claims` what the final answer states and what shows it. `images` are
    those of the trajectory, for a judge that is sent images.
    """

    level: Level
    name: str
    rubric: Rubric
    trajectory: Trajectory
    clips: Sequence[Clip] = ()
    focus: Sequence[Clip] = ()
    chain_rubrics: Sequence[Rubric] = ()
    own: OwnScores = field(default_factory=OwnScores)
    later: int = 0
    is_alone: bool = False
    there_is: frozenset[Need] = frozenset()
    heading: str = ""
    contents: Sequence[Content] = ()
    titles: Sequence[str] = ()
    is_task_in_contents: bool = False
    part: SessionInteraction | None = None
    turn: int | None = None
    is_quick: bool = False
    answer: Rubric | None = None
    asks_probability: bool = False
    asks_claims: bool = False
    images: Sequence[Image] = ()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria that can be asked of this subject."""
        reference: frozenset[Need] = frozenset({"reference_answer"})
        has_reference = self.trajectory.reference_answer is not None
        return self.rubric.criteria_for(self.there_is | reference if has_reference else self.there_is)

    @property
    def asked(self) -> tuple[str, ...]:
        """Keys of all criteria that are asked for, those of an answer in the same call as `answer.<key>`."""
        of_answer = (f"answer.{criterion.key}" for criterion in self.answer_criteria)
        return (*(criterion.key for criterion in self.criteria), *of_answer)

    @property
    def unscored(self) -> dict[str, None]:
        """The criteria without a score: a verdict that failed leaves the subject among those that were asked about."""
        return dict.fromkeys(criterion.key for criterion in self.criteria)

    @property
    def answer_criteria(self) -> tuple[Criterion, ...]:
        """The criteria of the final answer that are asked for in the same call."""
        return () if self.answer is None else replace(self, rubric=self.answer).criteria


@dataclass(frozen=True, slots=True)
class Chain:
    """The subjects of one trajectory, in the order they are judged.

    `own` is what the judge gave at the levels below, by sample: each sample is a conversation of its own.
    """

    trajectory: Trajectory
    subjects: tuple[Subject, ...]
    own: Mapping[int, OwnScores] = field(default_factory=dict)

    def of_sample(self, sample: int) -> tuple[Subject, ...]:
        """The subjects as one sample of the judge sees them."""
        own = self.own.get(sample)
        return self.subjects if own is None else tuple(replace(subject, own=own) for subject in self.subjects)


_NOTHING: Mapping[int, OwnScores] = {}


def clip_chain(trajectory: Trajectory, clips: Sequence[Clip], rubrics: Rubrics) -> Chain:
    """Every clip by the rubric of its tool type."""
    chosen = [rubrics.choose("clip", clip.tool_type) for clip in clips]
    distinct = _distinct(chosen)
    return chain_of(
        trajectory,
        (
            Subject(
                level="clip",
                name=str(clip.index),
                rubric=rubric,
                trajectory=trajectory,
                clips=clips,
                focus=(clip,),
                chain_rubrics=distinct,
            )
            for clip, rubric in zip(clips, chosen, strict=True)
        ),
    )


def category_chain(
    trajectory: Trajectory, clips: Sequence[Clip], rubrics: Rubrics, own: Mapping[int, OwnScores] = _NOTHING
) -> Chain:
    """Every tool type that was called, in order of its first call."""
    categories = by_key((clip.tool_type, clip) for clip in clips if not clip.is_final)
    chosen = {category: rubrics.choose("category", category) for category in categories}
    return chain_of(
        trajectory,
        (
            Subject(
                level="category",
                name=category,
                rubric=chosen[category],
                trajectory=trajectory,
                clips=clips,
                focus=focus,
                chain_rubrics=_distinct(chosen.values()),
            )
            for category, focus in categories.items()
        ),
        own,
    )


def trajectory_chain(
    trajectory: Trajectory, clips: Sequence[Clip], rubrics: Rubrics, own: Mapping[int, OwnScores] = _NOTHING
) -> Chain:
    """The trajectory as a whole, and its final answer where it has one.

    A run that the infrastructure ended has neither: how far it came says nothing about what the agent can do.
    """
    levels: tuple[Level, ...] = ("trajectory", "answer") if trajectory.final_answer else ("trajectory",)
    if FAILED in trajectory.flags:
        levels = ()
    chosen = {level: rubrics.choose(level) for level in levels}
    return chain_of(
        trajectory,
        (
            Subject(
                level=level,
                name=level,
                rubric=chosen[level],
                trajectory=trajectory,
                clips=clips,
                focus=clips,
                chain_rubrics=(chosen[level],),
            )
            for level in levels
        ),
        own,
    )


def in_one_call(chain: Chain) -> Chain:
    """The chain of a whole trajectory and its answer as one subject, which one call judges."""
    whole = next(subject for subject in chain.subjects if subject.level == "trajectory")
    answer = next((subject.rubric for subject in chain.subjects if subject.level == "answer"), None)
    rubrics = (whole.rubric,) if answer is None else (whole.rubric, answer)
    return chain_of(chain.trajectory, [replace(whole, is_quick=True, answer=answer, chain_rubrics=rubrics)])


def with_probability(chain: Chain) -> Chain:
    """The chain whose subjects also ask for probabilities."""
    return replace(chain, subjects=tuple(replace(subject, asks_probability=True) for subject in chain.subjects))


def with_claims(chain: Chain) -> Chain:
    """The chain whose subject that is the whole trajectory also asks for the claims of the final answer."""
    if not chain.trajectory.final_answer:
        return chain
    asked = (replace(subject, asks_claims=subject.level == "trajectory") for subject in chain.subjects)
    return replace(chain, subjects=tuple(asked))


def with_images(chain: Chain, images: Sequence[Image]) -> Chain:
    """The chain with the images of its trajectory."""
    return replace(chain, subjects=tuple(replace(subject, images=images) for subject in chain.subjects))


def chain_of(trajectory: Trajectory, subjects: Iterable[Subject], own: Mapping[int, OwnScores] = _NOTHING) -> Chain:
    """Subjects in order, each knowing how many are behind it and whether it is the only one of its level."""
    ordered = list(subjects)
    last = len(ordered) - 1
    levels = Counter(subject.level for subject in ordered)
    return Chain(
        trajectory,
        tuple(
            replace(subject, later=last - at, is_alone=levels[subject.level] == 1) for at, subject in enumerate(ordered)
        ),
        own,
    )


def _distinct(rubrics: Iterable[Rubric]) -> tuple[Rubric, ...]:
    """Each rubric once, by name: the order does not depend on which tool was called first."""
    return tuple(rubric for _, rubric in sorted({rubric.name: rubric for rubric in rubrics}.items()))
