"""The dry run of an evaluation: records, clips, verdicts, calls, price. No model is called."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evaluation_assets.core.intake.clips.segmentation import Clip, clips_of
from evaluation_assets.core.intake.clips.tool_types import ToolTypes
from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.intake.preprocessing.preprocess import Preprocessor, Removal, Statistics
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.asking import dry_run_of, model_of
from evaluation_assets.core.judging.canaries import CanarySettings, ask_canaries
from evaluation_assets.core.judging.judge import Judge, Judgement, judge_chains
from evaluation_assets.core.judging.panel import WITHOUT_MODEL
from evaluation_assets.core.judging.quotes import Question, Quote, in_batches, in_total
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.selection import EVERY_LEVEL, Preset, Selection
from evaluation_assets.core.judging.session_subjects import session_chain
from evaluation_assets.core.judging.subjects import (
    Chain,
    OwnScore,
    OwnScores,
    category_chain,
    clip_chain,
    trajectory_chain,
    with_images,
)
from evaluation_assets.core.models.providers.capabilities import capabilities_of
from evaluation_assets.core.pipeline.drawing import Drawing, drawn
from evaluation_assets.core.sections.sessions.interactions import is_session
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.images import Image
from evaluation_assets.core.traces.trajectories.model import Trajectory

if TYPE_CHECKING:
    from evaluation_assets.core.judging.dry_run import DryRun
    from evaluation_assets.core.judging.model_judge import ModelJudge

PRESETS: tuple[Preset, ...] = ("quick", "standard", "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What one model judge would ask in a drop, by level; where it repeats itself, every sample counts.

    Canary clips are the level `canary`.

    `known` verdicts are in the ledger, `new` ones are not. Conversations are those that will be sent: with the judge's
    own verdicts where the ledger has them, else with assumed ones. `quote` prices the new ones, `by_level` those of
    each level. `batched` is the quote with the levels in batches that can be; `None` where the provider has none, or
    `quote` is that already (`is_batched`). `typical_reply` are the mean output tokens of the model's verdicts in the
    ledger, `bytes_per_token` its tokenizer's, `None` where nothing tells. With `first_calls_only` a verdict may take
    more calls than the one that is counted. `presets` holds what the judge would ask with each requested preset.
    """

    judge: str
    known: Mapping[str, int]
    new: Mapping[str, int]
    quote: Quote
    by_level: Mapping[str, Quote]
    typical_reply: float | None
    bytes_per_token: float | None
    batched: Quote | None = None
    is_batched: bool = False
    first_calls_only: bool = False
    presets: Mapping[Preset, "Calls"] = field(default_factory=dict)


@dataclass(slots=True)
class Plan:
    """The work in one drop. `subjects` counts what could be judged, by level; `drawn` says which runs it has."""

    drop: str
    statistics: Statistics
    tool_types: Counter[str] = field(default_factory=Counter)
    subjects: Counter[str] = field(default_factory=Counter)
    calls: list[Calls] = field(default_factory=list)
    drawn: str | None = None

    @property
    def clips(self) -> int:
        """Number of clips."""
        return self.tool_types.total()


_WITH_CANARIES = ("clip", "trajectory", "answer")
"""Levels at which a new verdict has the canary clips of a suite's drop asked too."""


def plan(
    drop: Drop,
    settings: Settings,
    rubrics: Rubrics,
    types: ToolTypes,
    judges: Sequence[Judge],
    canaries: CanarySettings,
    presets: Collection[Preset] = (),
    suite: str | None = None,
    step: Callable[[], object] = lambda: None,
) -> Plan:
    """Read and preprocess a drop and count what would be judged; model judges look into their ledger.

    Args:
        drop: What would be evaluated.
        settings: How it would be preprocessed.
        rubrics: What would be asked.
        types: Of the tools.
        judges: The panel.
        canaries: Whether canary clips are asked.
        presets: Which presets are priced besides what the panel chooses.
        suite: The suite that the drop would be evaluated against, if its sidecar names none.
        step: What is called for each run that was looked up.

    Raises:
        UnreadableDrop: no format fits, or a file is damaged.
        InvalidDrop: its sidecar cannot be used.
        InvalidEvaluator: a metric of another package cannot be used.
    """
    preprocessor = Preprocessor(settings)
    result = Plan(drop.key, preprocessor.statistics)
    sidecar = drop.sidecar()
    drawing = Drawing.of(drop, sidecar)
    repeats = canaries.repeats_of(suite or sidecar.suite)

    async def ask() -> None:
        with ExitStack() as opened:
            asked = [
                _JudgePlan(judge, presets, opened, repeats, rubrics)
                for judge in judges
                if judge.provider not in WITHOUT_MODEL
            ]
            unmapped = UnmappedFields()
            for trajectory, clips in _kept(drop, sidecar.format, unmapped, drawing, preprocessor, types):
                images = list(unmapped.images.marked_in(trajectory.texts))
                result.tool_types.update(clip.tool_type for clip in clips)
                for chain in (clip_chain(trajectory, clips, rubrics), *_later(trajectory, clips, rubrics)):
                    result.subjects.update(subject.level for subject in chain.subjects)
                for judge in asked:
                    await judge.ask(trajectory, clips, images)
                step()
            result.calls += [await judge.calls() for judge in asked]

    asyncio.run(ask())
    taken = preprocessor.statistics.kept + preprocessor.statistics.removed.total()
    result.drawn = drawn(sidecar, drawing.not_taken, taken)
    return result


class _Pass:
    """One judge's dry run with one selection."""

    def __init__(self, judge: "ModelJudge", ready: "DryRun", selection: Selection) -> None:
        self.ready = ready
        self.selection = selection
        self._is_batched = judge.in_batches
        can_batch = capabilities_of(judge.provider, judge.model).has_batches
        self._has_batches = can_batch and not selection.sees_images

    async def ask(
        self, trajectory: Trajectory, clips: Sequence[Clip], images: Sequence[Image], rubrics: Rubrics
    ) -> None:
        """Everything that would be asked about a trajectory, from the lowest level up."""
        if not self.selection.has(trajectory.id):
            return
        images = images if self.selection.sees_images else ()
        of_clips = await self._judged(clip_chain(trajectory, clips, rubrics), images)
        own = _own_scores(of_clips, [])
        of_categories = await self._judged(category_chain(trajectory, clips, rubrics, own), images)
        own = _own_scores(of_clips, of_categories)
        await self._judged(trajectory_chain(trajectory, clips, rubrics, own), images)
        if is_session(trajectory):
            await self._judged(session_chain(trajectory, rubrics), images)

    async def _judged(self, chain: Chain, images: Sequence[Image]) -> list[Judgement]:
        chosen = self.selection.chain(with_images(chain, images))
        if chosen is None:
            return []
        return [judgement async for some in judge_chains(self.ready, [chosen]) for judgement in some]

    def calls(self, selection: Selection, canaries: Sequence[Question]) -> Calls:
        """What is asked at the levels of a selection that this one includes."""
        ready, levels = self.ready, selection.levels
        questions = [each for each in self.ready.questions if each.level in levels]
        if any(each.level in _WITH_CANARIES for each in questions):
            questions += canaries
        quotes = ready.priced(questions)
        batched = in_batches(quotes)
        return Calls(
            judge=ready.name,
            known={level: count for level, count in ready.known.items() if level in levels},
            new={level: quote.expected.calls for level, quote in quotes.items()},
            quote=batched if self._is_batched else in_total(quotes.values()),
            batched=batched if self._has_batches and not self._is_batched else None,
            is_batched=self._is_batched,
            by_level=quotes,
            typical_reply=ready.lengths.typical,
            bytes_per_token=next((ready.bytes_per_token(level) for level in quotes), None),
        )


class _JudgePlan:
    """The dry runs of one judge: of its own selection, and of presets. Presets that ask the same share one.

    Presets and canary clips are about rubrics, which metrics of other packages do not ask.
    """

    def __init__(
        self, judge: Judge, presets: Collection[Preset], opened: ExitStack, repeats: int, rubrics: Rubrics
    ) -> None:
        model = model_of(judge)
        assert model is not None, "judges without a model have no plan"
        self._is_metric = model is not judge
        presets, repeats = ((), 0) if self._is_metric else (presets, repeats)
        self._own = judge.selection
        self._wanted = {preset: self._like_own(Selection.of(None, preset, self._own.share)) for preset in presets}
        self._rubrics = rubrics
        self._repeats = repeats
        self._canaries = opened.enter_context(dry_run_of(judge, model)) if repeats else None
        full = self._like_own(Selection.of(None, "full", self._own.share))
        needed = [self._own, *self._wanted.values()]
        chosen = dict.fromkeys(full if _is_part(each, full) and presets else each for each in needed)
        self._passes = [_Pass(model, opened.enter_context(dry_run_of(judge, model)), each) for each in chosen]

    def _like_own(self, selection: Selection) -> Selection:
        return replace(selection, sees_images=self._own.sees_images)

    async def ask(self, trajectory: Trajectory, clips: Sequence[Clip], images: Sequence[Image]) -> None:
        """Everything about a trajectory, in every dry run."""
        for each in self._passes:
            await each.ask(trajectory, clips, images, self._rubrics)

    async def calls(self) -> Calls:
        """What was asked for."""
        canaries: list[Question] = []
        if self._canaries is not None:
            await ask_canaries(self._canaries, self._rubrics, "dry run", self._repeats)
            canaries = [replace(each, level="canary") for each in self._canaries.questions]
        own = self._of(self._own, canaries)
        if self._is_metric:
            return replace(own, batched=None, first_calls_only=True)
        return replace(own, presets={preset: self._of(each, canaries) for preset, each in self._wanted.items()})

    def _of(self, selection: Selection, canaries: Sequence[Question]) -> Calls:
        asked = next((each for each in self._passes if each.selection == selection), None)
        asked = asked or next(each for each in self._passes if _is_part(selection, each.selection))
        return asked.calls(selection, canaries)


def _is_part(selection: Selection, whole: Selection) -> bool:
    """Whether all questions of a selection are asked, word for word, with one that has every level.

    Prompts show a judge its own verdicts of the levels below.
    """
    if selection.is_quick or selection.share != whole.share or whole.levels != frozenset(EVERY_LEVEL):
        return False
    clips, categories = "clip" in selection.levels, "category" in selection.levels
    whole_run = not selection.levels.isdisjoint({"trajectory", "answer"})
    return (clips or not categories) and (categories or not whole_run)


def total_of(plans: Sequence[Plan]) -> list[Calls]:
    """What each judge would ask in several drops together."""
    by_judge: dict[str, list[Calls]] = {}
    for each in plans:
        for calls in each.calls:
            by_judge.setdefault(calls.judge, []).append(calls)
    return [_sum(quote) for quote in by_judge.values()]


def _sum(calls: Sequence[Calls]) -> Calls:
    quotes: dict[str, list[Quote]] = {}
    for each in calls:
        for level, quote in each.by_level.items():
            quotes.setdefault(level, []).append(quote)
    return Calls(
        judge=calls[0].judge,
        known=sum((Counter(each.known) for each in calls), Counter()),
        new=sum((Counter(each.new) for each in calls), Counter()),
        quote=in_total(each.quote for each in calls),
        by_level={level: in_total(quote) for level, quote in quotes.items()},
        batched=None if calls[0].batched is None else in_total(each.batched for each in calls if each.batched),
        is_batched=calls[0].is_batched,
        first_calls_only=calls[0].first_calls_only,
        typical_reply=calls[0].typical_reply,
        bytes_per_token=calls[0].bytes_per_token,
        presets={preset: _sum([each.presets[preset] for each in calls]) for preset in calls[0].presets},
    )


def _own_scores(of_clips: Sequence[Judgement], of_categories: Sequence[Judgement]) -> dict[int, OwnScores]:
    """What a judge is shown of its own scores at the levels below, by sample, as the run will show it."""
    return OwnScores.by_sample(
        ((each.sample, int(each.subject.name), _own_score(each)) for each in _scored(of_clips)),
        ((each.sample, each.subject.name, _own_score(each)) for each in _scored(of_categories)),
    )


def _scored(judgements: Sequence[Judgement]) -> Iterator[Judgement]:
    return (judgement for judgement in judgements if judgement.verdict.outcome == "scored")


def _own_score(judgement: Judgement) -> OwnScore:
    return OwnScore.of(judgement.verdict.scores, judgement.subject.rubric.scale)


def _kept(
    drop: Drop,
    format_name: str | None,
    unmapped: UnmappedFields,
    drawing: Drawing,
    preprocessor: Preprocessor,
    types: ToolTypes,
) -> Iterator[tuple[Trajectory, list[Clip]]]:
    for item in read_trajectories(drop.sources, unmapped, format_name):
        if isinstance(item, Rejection):
            preprocessor.statistics.unreadable[item.reason] += 1
            continue
        if not drawing.takes(item):
            continue
        kept = preprocessor.process(item)
        if not isinstance(kept, Removal):
            yield kept, clips_of(kept, types)


def _later(trajectory: Trajectory, clips: list[Clip], rubrics: Rubrics) -> tuple[Chain, ...]:
    later = category_chain(trajectory, clips, rubrics), trajectory_chain(trajectory, clips, rubrics)
    return (*later, session_chain(trajectory, rubrics)) if is_session(trajectory) else later
