"""Scores of a drop from any pattern of outcomes, against averages made the simple way."""

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.intake.clips.clip_rows import clip_row
from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
from evaluation_assets.core.lake.tables import TABLES
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.results import result_records
from evaluation_assets.core.report.summary import summarise
from evaluation_assets.core.scoring import panel_scores
from evaluation_assets.core.traces.trajectories.trajectory_rows import trajectory_row
from evaluation_assets_tests.core.making import answer, call, result, trajectory

Row = dict[str, Any]
OUTCOMES = ("scored", "scored", "abstained", "failed", "not_run")
TOOLS = ("microsandbox", "browser_use")

verdicts = st.tuples(st.sampled_from(OUTCOMES), st.lists(st.none() | st.integers(0, 10), min_size=2, max_size=2))
judges = st.dictionaries(st.sampled_from(["one", "two", "three"]), st.integers(1, 2), min_size=1)
"""Judges with their number of samples."""

trajectories = st.lists(st.tuples(st.lists(st.sampled_from(TOOLS), max_size=3), st.booleans()), min_size=1, max_size=4)
"""The tools each trajectory calls, and whether it has an answer."""


class Drop:
    """A drop of made-up trajectories, and what made-up judges say about them."""

    def __init__(self, folder: Path, shapes: list[tuple[list[str], bool]], panel: dict[str, int], data: Any) -> None:
        self.lake = UPath(folder)
        self.panel = panel
        self.runs = [self._run(number, tools, answered) for number, (tools, answered) in enumerate(shapes)]
        self.clips = [(run.id, clip) for run in self.runs for clip in clips_of(run)]
        categories = dict.fromkeys((key, clip.tool_type) for key, clip in self.clips if not clip.is_final)
        levels: list[tuple[str, str]] = []
        for run in self.runs:
            levels += [(run.id, "trajectory"), *([(run.id, "answer")] if run.final_answer else [])]
        self.subjects: dict[str, list[tuple[str, Any]]] = {
            "clip": [(key, clip.index) for key, clip in self.clips],
            "category": list(categories),
            "trajectory": levels,
        }
        self.said = {
            (level, judge): [
                self._verdict(level, place, judge, sample, *data.draw(verdicts))
                for place in self.subjects[level]
                for sample in range(samples)
            ]
            for level in self.subjects
            for judge, samples in panel.items()
        }

    @staticmethod
    def _run(number: int, tools: list[str], answered: bool) -> Any:
        text = "".join(call(f"{n}", f"{tool}_do", tool) + result("ok") for n, tool in enumerate(tools))
        text += answer("4") if answered else "" if tools else "nothing"
        return replace(trajectory(text), id=f"t{number}")

    def _verdict(
        self, level: str, place: tuple[str, Any], judge: str, sample: int, outcome: str, points: list[int | None]
    ) -> Row:
        where: Row = {"subject": place[1]}
        if level == "clip":
            clip = next(clip for key, clip in self.clips if (key, clip.index) == place)
            where = {"clip_index": clip.index, "tool_type": clip.tool_type}
        given = {"a": points[0], "b": points[1]} if outcome in ("scored", "abstained") else {}
        known = {key: None if value is None or outcome != "scored" else value / 10 for key, value in given.items()}
        row = dict.fromkeys(TABLES[f"{level}_verdicts"].schema.names)
        row |= {"drop": "d", "trajectory_id": place[0], **where, "judge": judge, "sample": sample, "scores": known}
        return row | {"outcome": outcome, "provider": "p", "model": "m", "from_ledger": False, "attempts": 1}

    def table(self, name: str, rows: Any = (), judge: str | None = None) -> Stored:
        table = TABLES[name]
        stored = Stored(table, self.lake / f"{name}_{judge}.parquet")
        write(stored.path, Stream(table, batched(rows, table)))
        return stored

    def verdicts(self, level: str) -> dict[str, Stored]:
        name = f"{level}_verdicts"
        return {judge: self.table(name, self.said.get((level, judge), ()), judge) for judge in self.panel}

    def expected(self, level: str, quorum: int) -> dict[tuple[Any, ...], tuple[float | None, int]]:
        """By subject and criterion: the mean of the judges' means over their samples, and how many judges there are."""
        found: dict[tuple[Any, ...], tuple[float | None, int]] = {}
        for key, name in self.subjects[level]:
            for criterion in ("a", "b"):
                means: list[float] = []
                named = False
                for judge in self.panel:
                    own = [
                        row["scores"]
                        for row in self.said[level, judge]
                        if (row["trajectory_id"], row["clip_index"] if level == "clip" else row["subject"])
                        == (key, name)
                    ]
                    named |= any(criterion in each for each in own)
                    known = [each[criterion] for each in own if each.get(criterion) is not None]
                    means += [fmean(known)] if known else []
                if named:
                    enough = len(means) >= quorum
                    found[key, name, criterion] = (fmean(means) if enough else None, len(means))
        return found


def by_place(rows: list[Row], *columns: str) -> dict[tuple[Any, ...], tuple[float | None, int]]:
    return {tuple(row[name] for name in columns): (row["mean"], row["n_scored"]) for row in rows}


def same(found: Mapping[Any, tuple[float | None, int]], wanted: Mapping[Any, tuple[float | None, int]]) -> None:
    assert list(found) == list(wanted)
    for key, (mean, count) in wanted.items():
        assert found[key] == (None if mean is None else pytest.approx(mean), count)


@settings(max_examples=40)
@given(trajectories, judges, st.integers(1, 3), st.data())
def test_any_pattern_of_outcomes_is_averaged_and_reported(
    shapes: list[tuple[list[str], bool]], panel: dict[str, int], quorum: int, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(Drop(Path(folder), shapes, panel, data), quorum)


def check(drop: Drop, quorum: int) -> None:
    kept = drop.table("preprocessed_trajectories", [trajectory_row("d", run) for run in drop.runs])
    clips = drop.table("clips", [clip_row("d", key, clip) for key, clip in drop.clips])
    of_level = {level: drop.verdicts(level) for level in drop.subjects}
    said = {level: panel_scores.PanelVerdicts(own, quorum) for level, own in of_level.items()}

    clip_scores = list(panel_scores.clip_scores("d", clips, said["clip"]))
    same(by_place(clip_scores, "trajectory_id", "clip_index", "criterion"), drop.expected("clip", quorum))
    types = {(key, clip.index): clip.tool_type for key, clip in drop.clips}
    assert all(row["tool_type"] == types[row["trajectory_id"], row["clip_index"]] for row in clip_scores)

    assessments = list(panel_scores.category_assessments("d", clips, said["category"]))
    same(by_place(assessments, "trajectory_id", "category", "criterion"), drop.expected("category", quorum))
    for row in assessments:
        own = [clip for key, clip in drop.clips if (key, clip.tool_type) == (row["trajectory_id"], row["category"])]
        assert row["clip_count"] == sum(not clip.is_final for clip in own)
        calls = Counter(clip.tool_type for key, clip in drop.clips if key == row["trajectory_id"] and not clip.is_final)
        assert row["is_majority"] == (calls[row["category"]] == max(calls.values()))

    whole = list(panel_scores.trajectory_scores("d", kept, clip_scores, said["trajectory"]))
    wanted = {
        (key, ("answer." if name == "answer" else "") + criterion): value
        for (key, name, criterion), value in drop.expected("trajectory", quorum).items()
    }
    judged = [row for row in whole if row["criterion"] != panel_scores.OVERALL]
    same(by_place(judged, "trajectory_id", "criterion"), wanted)
    for run in drop.runs:
        (overall,) = [r for r in whole if (r["trajectory_id"], r["criterion"]) == (run.id, panel_scores.OVERALL)]
        assert overall["mean"] == approximately(_overall([r for r in clip_scores if r["trajectory_id"] == run.id]))

    tables = DropTables(
        raw=kept,
        preprocessed=kept,
        rejected=drop.table("rejected_records"),
        clips=clips,
        clip_scores=drop.table("clip_scores", clip_scores),
        category_assessments=drop.table("category_assessments", assessments),
        trajectory_scores=drop.table("trajectory_scores", whole),
        tool_use_results=drop.table("tool_use_results"),
        failure_patterns=drop.table("failure_patterns"),
        session_analyses=drop.table("session_analyses"),
        findings=drop.table("findings"),
        coding_work=drop.table("coding_work"),
        constraint_results=drop.table("constraint_results"),
        claims=drop.table("claims"),
        process_scores=drop.table("process_scores"),
        predicted_outcomes=drop.table("predicted_outcomes"),
        clip_verdicts=of_level["clip"],
        category_verdicts=of_level["category"],
        trajectory_verdicts=of_level["trajectory"],
        session_verdicts=drop.verdicts("session"),
    )
    report = summarise("d", DropFacts(), {}, tables)
    scored = {(row["trajectory_id"], row["clip_index"]) for row in clip_scores if row["mean"] is not None}
    assert (report.total_clips, report.scored_clips) == (len(drop.clips), len(scored))
    overall_means = {row["trajectory_id"]: row["mean"] for row in whole if row["criterion"] == panel_scores.OVERALL}
    assert {each.trajectory_id: each.overall for each in report.trajectories} == overall_means
    records = [record for record, _ in result_records(tables)]
    found = [record["evaluation_metadata"]["successful_evaluations"] for record in records]
    assert found == [sum(key == run.id for key, _ in scored) for run in drop.runs]


def approximately(value: float | None) -> Any:
    return None if value is None else pytest.approx(value)


def _overall(clip_rows: list[Row]) -> float | None:
    """Mean over scored clips of the mean of their criteria."""
    scored = [row for row in clip_rows if row["mean"] is not None]
    clips = [[row["mean"] for row in scored if row["clip_index"] == clip] for clip in {r["clip_index"] for r in scored}]
    return fmean(map(fmean, clips)) if clips else None
