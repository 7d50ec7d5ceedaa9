"""The panel's scores of clips, categories and trajectories, as rows of their tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from evaluation_assets.core.lake import Aligned, Stored, grouped
from evaluation_assets.core.scoring.averages import Average, Leniency, average, by_subject, panel_scores

Row = dict[str, Any]
Key = tuple[Any, ...]

OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class ToolAverage:
    """The clips of one tool type: mean of each criterion, mean of these means, and how many clips were scored."""

    criteria: Mapping[str, float]
    overall: float
    clip_count: int


def tool_averages(clip_scores: Iterable[Row], column: str = "mean") -> dict[str, ToolAverage]:
    """Averages by tool type over rows of `clip_scores`; tool types without a score are left out."""
    values: dict[str, dict[str, list[float]]] = {}
    clips: dict[str, set[Key]] = {}
    for row in clip_scores:
        if row[column] is not None:
            values.setdefault(row["tool_type"], {}).setdefault(row["criterion"], []).append(row[column])
            clips.setdefault(row["tool_type"], set()).add((row["trajectory_id"], row["clip_index"]))
    averages: dict[str, ToolAverage] = {}
    for tool, criteria in values.items():
        means = {criterion: fmean(scores) for criterion, scores in criteria.items()}
        averages[tool] = ToolAverage(means, fmean(means.values()), len(clips[tool]))
    return averages


def clip_weighted_overall(averages: Mapping[str, ToolAverage]) -> float | None:
    """Mean of the tool types' overall averages, weighted by their scored clips; `None` without any."""
    weight = sum(tool.clip_count for tool in averages.values())
    return sum(tool.overall * tool.clip_count for tool in averages.values()) / weight if weight else None


def clip_scores(drop: str, clips: Stored, verdicts: Mapping[str, Stored], quorum: int) -> Iterator[Row]:
    """Rows of `clip_scores`."""
    tool_types = Aligned(clips.rows(["trajectory_id", "clip_index", "tool_type"]))
    current: tuple[str, list[Row]] = ("", [])
    for (trajectory_id, clip_index), criterion, result in _averages(
        verdicts, ["clip_index"], lambda: _keys(clips.rows(["trajectory_id", "clip_index"])), quorum
    ):
        if current[0] != trajectory_id:
            current = (trajectory_id, tool_types.at(trajectory_id))
        yield {
            "drop": drop,
            "trajectory_id": trajectory_id,
            "clip_index": clip_index,
            "tool_type": current[1][clip_index]["tool_type"],
            "criterion": criterion,
            **asdict(result),
        }


def category_assessments(drop: str, clips: Stored, verdicts: Mapping[str, Stored], quorum: int) -> Iterator[Row]:
    """Rows of `category_assessments`."""

    def categories() -> Iterator[tuple[str, dict[str, int]]]:
        for trajectory_id, rows in grouped(clips.rows(["trajectory_id", "tool_type", "is_final"])):
            counts: dict[str, int] = {}
            for row in rows:
                if not row["is_final"]:
                    counts[row["tool_type"]] = counts.get(row["tool_type"], 0) + 1
            yield trajectory_id, counts

    def order() -> Iterator[Key]:
        for trajectory_id, counts in categories():
            for category in counts:
                yield trajectory_id, category

    sizes = categories()
    current: tuple[str, dict[str, int]] = ("", {})
    for (trajectory_id, category), criterion, result in _averages(verdicts, ["subject"], order, quorum):
        while current[0] != trajectory_id:
            current = next(sizes)
        yield {
            "drop": drop,
            "trajectory_id": trajectory_id,
            "category": category,
            "criterion": criterion,
            **_core(result),
            "clip_count": current[1][category],
        }


def trajectory_scores(
    drop: str, trajectories: Stored, clip_score_rows: Iterable[Row], verdicts: Mapping[str, Stored], quorum: int
) -> Iterator[Row]:
    """Rows of `trajectory_scores`: `overall` first, then the criteria; those of the answer as `answer.<criterion>`."""
    columns = ["trajectory_id", "task_id", "final_answer"]

    def order() -> Iterator[Key]:
        for row in trajectories.rows(columns):
            yield row["trajectory_id"], "trajectory"
            if row["final_answer"]:
                yield row["trajectory_id"], "answer"

    judged = (
        {"trajectory_id": key[0], "subject": key[1], "criterion": criterion, "result": result}
        for key, criterion, result in _averages(verdicts, ["subject"], order, quorum)
    )
    by_trajectory, clips = Aligned(judged), Aligned(iter(clip_score_rows))
    for row in trajectories.rows(columns):
        place = {"drop": drop, "trajectory_id": row["trajectory_id"], "task_id": row["task_id"]}
        yield {**place, "criterion": OVERALL, **_overall(clips.at(row["trajectory_id"]), len(verdicts))}
        for score in by_trajectory.at(row["trajectory_id"]):
            prefix = "answer." if score["subject"] == "answer" else ""
            yield {**place, "criterion": prefix + score["criterion"], **_core(score["result"])}


def _overall(clip_rows: list[Row], n_judges: int) -> Row:
    """`n_scored` is the number of judges that scored any of the clips."""
    return {
        "mean": clip_weighted_overall(tool_averages(clip_rows)),
        "adjusted_mean": clip_weighted_overall(tool_averages(clip_rows, "adjusted_mean")),
        "std": None,
        "n_scored": max((row["n_scored"] for row in clip_rows), default=0),
        "n_judges": n_judges,
    }


def _averages(
    tables: Mapping[str, Stored], key: Sequence[str], order: Callable[[], Iterator[Key]], quorum: int
) -> Iterator[tuple[Key, str, Average]]:
    """Every criterion of every subject. The tables are read twice: for leniency, then for the averages."""
    columns = ["trajectory_id", *key]

    def side_by_side() -> Iterator[tuple[Key, dict[str, dict[str, float]]]]:
        rows = {judge: table.rows([*columns, "outcome", "scores"]) for judge, table in tables.items()}
        for subject, verdicts in by_subject(rows, order(), columns):
            yield subject, panel_scores(verdicts)

    leniency = Leniency(list(tables))
    if len(tables) > 1:
        for _, criteria in side_by_side():
            for criterion, scores in criteria.items():
                leniency.add(criterion, scores)
    effects: dict[str, dict[str, float]] = {}
    for subject, criteria in side_by_side():
        for criterion, scores in criteria.items():
            if criterion not in effects:
                effects[criterion] = leniency.effects(criterion)
            yield subject, criterion, average(scores, len(tables), quorum, effects[criterion])


def _keys(rows: Iterable[Row]) -> Iterator[Key]:
    return (tuple(row.values()) for row in rows)


def _core(result: Average) -> Row:
    return {
        "mean": result.mean,
        "adjusted_mean": result.adjusted_mean,
        "std": result.std,
        "n_scored": result.n_scored,
        "n_judges": result.n_judges,
    }
