"""The dry run of an evaluation: records, clips, verdicts, calls, price. No model is called."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from evaluation_assets.core.clips.segmentation import Clip, clips_of
from evaluation_assets.core.clips.tool_types import ToolTypes
from evaluation_assets.core.drops import Drop
from evaluation_assets.core.formats.base import Rejection
from evaluation_assets.core.formats.registry import read_trajectories
from evaluation_assets.core.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.judging.canaries import CanarySettings, ask_canaries
from evaluation_assets.core.judging.judge import Judge, Judgement, judge_chains
from evaluation_assets.core.judging.panel import EMBEDDED, RECORDED
from evaluation_assets.core.judging.quotes import Quote
from evaluation_assets.core.judging.session_subjects import session_chain
from evaluation_assets.core.judging.subjects import (
    Chain,
    OwnScore,
    OwnScores,
    category_chain,
    clip_chain,
    trajectory_chain,
)
from evaluation_assets.core.preprocessing.preprocess import Preprocessor, Removal, Statistics
from evaluation_assets.core.preprocessing.rules import Settings
from evaluation_assets.core.rubrics.model import Rubrics
from evaluation_assets.core.sessions.interactions import is_session
from evaluation_assets.core.trajectories.model import Trajectory

if TYPE_CHECKING:
    from evaluation_assets.core.judging.model_judge import ModelJudge


@dataclass(frozen=True, slots=True)
class Calls:
    """What one model judge would ask in a drop, by level; where it repeats itself, every sample counts.

    Canary clips are the level `canary`.

    `known` verdicts are in the ledger, `new` ones are not. Conversations are those that will be sent: with the judge's
    own verdicts where the ledger has them, else with assumed ones. `typical_reply` are the mean output tokens of the
    model's verdicts in the ledger, `bytes_per_token` its tokenizer's on this drop, `None` where nothing tells.
    """

    judge: str
    known: Mapping[str, int]
    new: Mapping[str, int]
    quote: Quote
    typical_reply: float | None
    bytes_per_token: float | None


@dataclass(slots=True)
class Plan:
    """The work in one drop. `subjects` counts what each judge would be asked, by level."""

    drop: str
    statistics: Statistics
    tool_types: Counter[str] = field(default_factory=Counter)
    subjects: Counter[str] = field(default_factory=Counter)
    calls: list[Calls] = field(default_factory=list)

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
) -> Plan:
    """Read and preprocess a drop and count what would be judged; model judges look into their ledger.

    Raises:
        UnreadableDrop: no format fits, or a file is damaged.
        InvalidDrop: its sidecar cannot be used.
    """
    preprocessor = Preprocessor(settings)
    result = Plan(drop.key, preprocessor.statistics)
    for trajectory, clips in _kept(drop, preprocessor, types):
        result.tool_types.update(clip.tool_type for clip in clips)
        for chain in (clip_chain(trajectory, clips, rubrics), *_later(trajectory, clips, rubrics)):
            result.subjects.update(subject.level for subject in chain.subjects)
    repeats = canaries.repeats_of(drop.sidecar().suite)
    for judge in judges:
        if judge.provider not in (EMBEDDED, RECORDED):
            result.calls.append(
                asyncio.run(_dry_run(cast("ModelJudge", judge), drop, settings, rubrics, types, repeats))
            )
    return result


async def _dry_run(
    judge: "ModelJudge", drop: Drop, settings: Settings, rubrics: Rubrics, types: ToolTypes, canary_repeats: int
) -> Calls:
    from evaluation_assets.core.judging.dry_run import dry_run  # noqa: PLC0415  (SQLAlchemy and httpx: 0.3 s)

    with dry_run(judge) as ready:
        for trajectory, clips in _kept(drop, Preprocessor(settings), types):
            of_clips = await _judged(ready, clip_chain(trajectory, clips, rubrics))
            own = _own_scores(of_clips, [])
            of_categories = await _judged(ready, category_chain(trajectory, clips, rubrics, own))
            own = _own_scores(of_clips, of_categories)
            await _judged(ready, trajectory_chain(trajectory, clips, rubrics, own))
            if is_session(trajectory):
                await _judged(ready, session_chain(trajectory, rubrics))
        new = Counter(ready.new)
        if canary_repeats and any(new[level] for level in _WITH_CANARIES):
            new["canary"] = len(await ask_canaries(ready, rubrics, "dry run", canary_repeats))
        return Calls(judge.name, ready.known, new, ready.quote(), ready.typical, ready.bytes_per_token)


async def _judged(judge: Judge, chain: Chain) -> list[Judgement]:
    return [judgement async for judgements in judge_chains(judge, [chain]) for judgement in judgements]


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


def _kept(drop: Drop, preprocessor: Preprocessor, types: ToolTypes) -> Iterator[tuple[Trajectory, list[Clip]]]:
    for item in read_trajectories(drop.sources, UnmappedFields(), drop.sidecar().format):
        if isinstance(item, Rejection):
            preprocessor.statistics.unreadable[item.reason] += 1
            continue
        kept = preprocessor.process(item)
        if not isinstance(kept, Removal):
            yield kept, clips_of(kept, types)


def _later(trajectory: Trajectory, clips: list[Clip], rubrics: Rubrics) -> tuple[Chain, ...]:
    later = category_chain(trajectory, clips, rubrics), trajectory_chain(trajectory, clips, rubrics)
    return (*later, session_chain(trajectory, rubrics)) if is_session(trajectory) else later
