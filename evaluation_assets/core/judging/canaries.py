"""Canary clips: fixed clips that a model judge scores, to detect that the judge has changed."""

import asyncio
from collections.abc import Iterable, Mapping
from functools import cache
from statistics import fmean
from typing import Any

import orjson
from pydantic import Field

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import Judge, Judgement
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.subjects import Subject, clip_chain
from evaluation_assets.core.system.configuration import Section
from evaluation_assets.core.text.shipped_yaml import shipped_yaml
from evaluation_assets.core.traces.formats.base import Record
from evaluation_assets.core.traces.formats.readers.tagged import trajectory_of
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import Trajectory

MIN_ANSWERED = 0.5
"""Share of the canaries a judge has to have scored for it to be known whether it changed."""


class CanarySettings(Section):
    """Canary clips, which tell a changed judge from a changed agent.

    When verdicts on a drop that belongs to a suite are paid for, their model judge is asked about twelve short clips
    too.

    Attributes:
        enabled: Whether canary clips are used.
        repeats: Verdicts on each clip, 1 to 10. More detect smaller changes.
    """

    enabled: bool = True
    repeats: int = Field(default=1, ge=1, le=10)

    def repeats_of(self, suite: str | None) -> int:
        """How often each canary clip is asked about with a drop of this suite; 0 without a suite."""
        return self.repeats if self.enabled and suite is not None else 0


@cache
def canaries() -> tuple[Trajectory, ...]:
    """The canary clips, each a trajectory of one clip; its id holds the version of the set."""
    about = shipped_yaml("evaluation_assets.core.judging", "canaries.yaml")
    return tuple(
        trajectory_of(
            _record(task_id=f"{clip['id']}@{about['version']}", task_description=clip["task"], text=clip["text"])
        )
        for clip in about["clips"]
    )


def _record(*, task_id: str, task_description: str, text: str) -> Record:
    fields = {"task_id": task_id, "task_description": task_description, "raw_response": text}
    return Record("canaries.yaml", 1, fields, orjson.dumps(fields))


def canary_subjects(rubrics: Rubrics) -> list[Subject]:
    """One subject for each canary."""
    return [clip_chain(canary, clips_of(canary), rubrics).subjects[0] for canary in canaries()]


async def ask_canaries(judge: Judge, rubrics: Rubrics, occasion: str, repeats: int) -> list[Judgement]:
    """The verdicts of an opened judge, paid for on every occasion: an earlier reply would say nothing about today."""
    first = int(digest("canaries", occasion)[:8], 16)

    async def asked(subject: Subject, repeat: int) -> Judgement:
        return Judgement(subject, await judge.judge(subject, [], first + repeat), repeat)

    return await asyncio.gather(
        *(asked(subject, repeat) for subject in canary_subjects(rubrics) for repeat in range(repeats))
    )


def occasion_of(verdicts: Iterable[Mapping[str, Any]]) -> str | None:
    """When a judge's verdicts on a drop were paid for, named by those newly answered; `None` where there are none.

    Without new answers the verdicts are of an earlier day, about which today's canaries would say nothing.
    """
    new = {row["ledger_key"] for row in verdicts if row["ledger_key"] and not row["from_ledger"]}
    return digest("occasion", *sorted(new)) if new else None


def canary_scores(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[float]]:
    """By canary, the mean over criteria of each verdict that scored, from rows of `canary_verdicts`."""
    by_clip: dict[str, list[float]] = {}
    for row in rows:
        scores = [score for score in dict(row["scores"] or {}).values() if score is not None]
        if scores:
            by_clip.setdefault(row["trajectory_id"], []).append(fmean(sorted(scores)))
    return by_clip


def canaries_asked(rows: Iterable[Mapping[str, Any]]) -> int:
    """About how many canaries a judge was asked, whatever came back, from rows of `canary_verdicts`."""
    return len({row["trajectory_id"] for row in rows})
