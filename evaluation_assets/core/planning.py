"""What an evaluation would do, before it does anything: records, clips, verdicts, calls, price. Nobody is asked."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evaluation_assets.core.clips.segmentation import Clip, clips_of
from evaluation_assets.core.clips.tool_types import ToolTypes
from evaluation_assets.core.drops import Drop
from evaluation_assets.core.formats.base import Rejection
from evaluation_assets.core.formats.losses import Losses
from evaluation_assets.core.formats.registry import read_trajectories
from evaluation_assets.core.judging.judge import Judge, Judgement, judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.prompts import render
from evaluation_assets.core.judging.sessions import session_chain
from evaluation_assets.core.judging.subjects import Chain, category_chain, clip_chain, trajectory_chain
from evaluation_assets.core.preprocessing.preprocess import Preprocessor, Removal, Statistics
from evaluation_assets.core.preprocessing.rules import Settings
from evaluation_assets.core.rubrics.model import Rubrics
from evaluation_assets.core.sessions.contributions import is_session
from evaluation_assets.core.trajectories.model import Trajectory

_FENCE = "untrusted-" + 20 * "0"
"""As long as a real one."""


@dataclass(slots=True)
class Calls:
    """What one model judge would ask in a drop; where it repeats itself, every sample counts.

    `clips_known` clips are in the ledger; `clips_new` are not. Categories and trajectories show the judge its own
    scores of the clips, so whether they are known is seen only when the clips are judged: `later` counts them all.
    `input_tokens` is estimated from above, at 3 bytes a token, without any cache; `at_most_usd` is what that costs with
    the longest replies.
    """

    judge: str
    clips_known: int = 0
    clips_new: int = 0
    later: int = 0
    input_tokens: int = 0
    at_most_usd: float | None = None


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


def plan(drop: Drop, settings: Settings, rubrics: Rubrics, types: ToolTypes, judges: Sequence[Judge]) -> Plan:
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
    for judge in judges:
        if isinstance(judge, ModelJudge):
            result.calls.append(asyncio.run(_rehearse(judge, drop, settings, rubrics, types)))
    return result


async def _rehearse(judge: ModelJudge, drop: Drop, settings: Settings, rubrics: Rubrics, types: ToolTypes) -> Calls:
    calls = Calls(judge.name)
    window = judge.settings.max_input_tokens

    def clip_chains() -> Iterator[Chain]:
        for trajectory, clips in _kept(drop, Preprocessor(settings), types):
            for chain in _later(trajectory, clips, rubrics):
                calls.later += len(chain.subjects) * judge.samples
                shown = sum(render(subject, [], _FENCE, window).tokens for subject in chain.subjects)
                calls.input_tokens += shown * judge.samples
            yield clip_chain(trajectory, clips, rubrics)

    with judge.rehearsed() as ready:
        async for judgements in judge_chains(ready, clip_chains()):
            earlier: dict[int, list[Judgement]] = {}
            for judgement in judgements:
                conversation = earlier.setdefault(judgement.sample, [])
                if judgement.verdict.outcome == "not_run":
                    calls.clips_new += 1
                    calls.input_tokens += render(judgement.subject, conversation, _FENCE, window).tokens
                else:
                    calls.clips_known += 1
                conversation.append(judgement)
    calls.at_most_usd = judge.dearest(calls.input_tokens, calls.clips_new + calls.later)
    return calls


def _kept(drop: Drop, preprocessor: Preprocessor, types: ToolTypes) -> Iterator[tuple[Trajectory, list[Clip]]]:
    for item in read_trajectories(drop.sources, Losses(), drop.sidecar().format):
        if isinstance(item, Rejection):
            preprocessor.statistics.unreadable[item.reason] += 1
            continue
        kept = preprocessor.process(item)
        if not isinstance(kept, Removal):
            yield kept, clips_of(kept, types)


def _later(trajectory: Trajectory, clips: list[Clip], rubrics: Rubrics) -> tuple[Chain, ...]:
    later = category_chain(trajectory, clips, rubrics), trajectory_chain(trajectory, clips, rubrics)
    return (*later, session_chain(trajectory, rubrics)) if is_session(trajectory) else later
