"""Panel scores of clips, categories and trajectories, as table rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import tee
from statistics import fmean
from typing import Any

from evaluation_assets.core.judging.rubrics.model import Level, Ties
from evaluation_assets.core.judging.selection import ALL_ASKED, Selections
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored, grouped
from evaluation_assets.core.scoring.averages import (
    Average,
    Leniency,
    Stages,
    average,
    by_subject,
    majority,
    panel_scores,
    panel_votes,
)

Key = tuple[Any, ...]
Subject = tuple[Key, Row]
"""A subject: the key of its verdicts, and its identifying columns."""

OVERALL = "overall"

SCORING_VERSION = "3"
"""Increment when the same verdicts would give different scores."""


@dataclass(frozen=True, slots=True)
class ToolAverage:
    """The scored clips of one tool type: mean of each criterion, and the score of each clip.

    A clip's score is the mean of its scored criteria. So a criterion counts in the clips that it was scored in, and one
    that is scored in few of them weighs little.
    """

    criteria: Mapping[str, float]
    clips: Sequence[float]

    @property
    def overall(self) -> float:
        """Mean of the clips' scores."""
        return fmean(self.clips)


def tool_averages(clip_scores: Iterable[Row], column: str = "mean") -> dict[str, ToolAverage]:
    """Averages by tool type over rows of `clip_scores`; tool types without a score are omitted."""
    criteria: dict[str, dict[str, list[float]]] = {}
    clips: dict[str, dict[Key, list[float]]] = {}
    for row in clip_scores:
        if row[column] is not None:
            criteria.setdefault(row["tool_type"], {}).setdefault(row["criterion"], []).append(row[column])
            clip = (row["trajectory_id"], row["clip_index"])
            clips.setdefault(row["tool_type"], {}).setdefault(clip, []).append(row[column])
    return {
        tool: ToolAverage(
            {criterion: fmean(scores) for criterion, scores in criteria[tool].items()},
            [fmean(scores) for scores in own.values()],
        )
        for tool, own in clips.items()
    }


def mean_over_clips(averages: Mapping[str, ToolAverage]) -> float | None:
    """Mean of the scores of all scored clips, whatever their tool type; `None` without any."""
    scores = [score for tool in averages.values() for score in tool.clips]
    return fmean(scores) if scores else None


@dataclass(frozen=True, slots=True)
class PanelVerdicts:
    """What a panel said about subjects of a drop, and how it is combined.

    Attributes:
        tables: verdicts by judge.
        quorum: how many of the judges that were to be asked about a subject must have scored it.
        selections: which judges were to be asked.
        majorities: the rubrics whose scores are aggregated by majority, with their rule for ties.
        stages: of the judges of a cascade.
    """

    tables: Mapping[str, Stored]
    quorum: int
    selections: Selections = ALL_ASKED
    majorities: Mapping[str, Ties] = field(default_factory=dict)
    stages: Stages = field(default_factory=dict)

    def asked(self, level: Level, trajectory_id: str) -> tuple[int, int]:
        """How many judges were to be asked about a subject, and how many of these must have scored it."""
        judges = list(self.tables)
        asked = len(self.selections.judges(judges, level, trajectory_id))
        return asked, self.selections.quorum(judges, level, trajectory_id, self.quorum)


def clip_scores(drop: str, clips: Stored, verdicts: PanelVerdicts) -> Iterator[Row]:
    """Rows of `clip_scores`."""

    def order() -> Iterator[Subject]:
        for row in clips.rows(["trajectory_id", "clip_index", "tool_type"]):
            yield (row["trajectory_id"], row["clip_index"]), row

    for row, criterion, result in _averages(verdicts, "clip_index", order, lambda _: "clip"):
        yield {"drop": drop, **row, "criterion": criterion, **result.columns}


def category_assessments(drop: str, clips: Stored, verdicts: PanelVerdicts) -> Iterator[Row]:
    """Rows of `category_assessments`."""

    def order() -> Iterator[Subject]:
        for trajectory_id, rows in grouped(clips.rows(["trajectory_id", "tool_type", "is_final"])):
            counts: dict[str, int] = {}
            for row in rows:
                if not row["is_final"]:
                    counts[row["tool_type"]] = counts.get(row["tool_type"], 0) + 1
            most = max(counts.values(), default=0)
            for category, count in counts.items():
                yield (
                    (trajectory_id, category),
                    {
                        "trajectory_id": trajectory_id,
                        "category": category,
                        "clip_count": count,
                        "is_majority": count == most,
                    },
                )

    for place, criterion, result in _averages(verdicts, "subject", order, lambda _: "category"):
        yield {"drop": drop, **place, "criterion": criterion, **_core(result)}


def trajectory_scores(
    drop: str, trajectories: Stored, clip_score_rows: Iterable[Row], verdicts: PanelVerdicts
) -> Iterator[Row]:
    """Rows of `trajectory_scores`: `overall` first, then the criteria; those of the answer as `answer.<criterion>`."""
    columns = ["trajectory_id", "task_id", "final_answer"]

    def order() -> Iterator[Subject]:
        for row in trajectories.rows(columns):
            for subject in ("trajectory", "answer") if row["final_answer"] else ("trajectory",):
                yield (row["trajectory_id"], subject), {"trajectory_id": row["trajectory_id"], "subject": subject}

    judged = (
        {**place, "criterion": criterion, "result": result}
        for place, criterion, result in _averages(verdicts, "subject", order, lambda place: place["subject"])
    )
    by_trajectory, clips = Aligned(judged), Aligned(iter(clip_score_rows))
    for row in trajectories.rows(columns):
        place = {"drop": drop, "trajectory_id": row["trajectory_id"], "task_id": row["task_id"]}
        yield {
            **place,
            "criterion": OVERALL,
            **_overall(clips.at(row["trajectory_id"]), verdicts.asked("clip", row["trajectory_id"])[0]),
        }
        for score in by_trajectory.at(row["trajectory_id"]):
            prefix = "answer." if score["subject"] == "answer" else ""
            yield {**place, "criterion": prefix + score["criterion"], **_core(score["result"])}


def _overall(clip_rows: list[Row], n_judges: int) -> Row:
    """`n_scored` is the number of judges that scored any of the clips."""
    return {
        "mean": mean_over_clips(tool_averages(clip_rows)),
        "adjusted_mean": mean_over_clips(tool_averages(clip_rows, "adjusted_mean")),
        "std": None,
        "n_scored": max((row["n_scored"] for row in clip_rows), default=0),
        "n_judges": n_judges,
    }


def _averages(
    panel: PanelVerdicts, key: str, order: Callable[[], Iterator[Subject]], level_of: Callable[[Row], Level]
) -> Iterator[tuple[Row, str, Average]]:
    """Average every criterion of every subject, or take the majority of its verdicts, as its rubric says.

    Subjects without verdicts have no rows.

    The tables are read twice: once for leniency, once for the averages.
    """
    columns = ["trajectory_id", key]

    def side_by_side() -> Iterator[tuple[Row, Ties | None, dict[str, dict[str, float]]]]:
        rows = {judge: table.rows([*columns, "rubric", "outcome", "scores"]) for judge, table in panel.tables.items()}
        places, subjects = tee(order())
        rows_of = by_subject(rows, (subject for subject, _ in subjects), columns)
        for (_, place), (_, verdicts) in zip(places, rows_of, strict=True):
            ties = _ties(verdicts, panel.majorities)
            yield place, ties, panel_scores(verdicts) if ties is None else panel_votes(verdicts, ties)

    leniency = Leniency(list(panel.tables))
    if len(panel.tables) > 1:
        for _, ties, criteria in side_by_side():
            for criterion, scores in criteria.items() if ties is None else ():
                leniency.add(criterion, scores)
    effects: dict[str, dict[str, float]] = {}
    for place, ties, criteria in side_by_side():
        n_judges, quorum = panel.asked(level_of(place), place["trajectory_id"])
        for criterion, scores in criteria.items():
            if ties is not None:
                yield place, criterion, majority(scores, n_judges, quorum, ties, panel.stages)
                continue
            if criterion not in effects:
                effects[criterion] = leniency.effects(criterion)
            yield place, criterion, average(scores, n_judges, quorum, effects[criterion], panel.stages)


def _ties(verdicts: Mapping[str, Sequence[Row]], majorities: Mapping[str, Ties]) -> Ties | None:
    """The rule for ties of a subject's rubric; `None` if its scores are averaged."""
    for rows in verdicts.values():
        for row in rows:
            if row["rubric"] in majorities:
                return majorities[row["rubric"]]
    return None


def _core(result: Average) -> Row:
    return {
        "mean": result.mean,
        "adjusted_mean": result.adjusted_mean,
        "std": result.std,
        "n_scored": result.n_scored,
        "n_judges": result.n_judges,
    }
