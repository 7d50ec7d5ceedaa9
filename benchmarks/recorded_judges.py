"""Prepare an evaluation by three recorded judges, to see judges side by side without a key.

    python benchmarks/recorded_judges.py [DATA] HOME

DATA is a folder with the data set `agent-process-bench` (default: the folder that the tests use): 125 runs of a search
agent on 25 questions, with step labels and final labels by three models. The drop has the runs without parallel calls,
whose labelled messages are clips. HOME receives the drop `recorded.jsonl`, a
panel of these models with provider `recorded`, and rubrics with one criterion each: `step_label` (-1, 0, 1) for clips
and `final_label` (-1, 1) for trajectories. Then run

    evaluation-assets --home HOME evaluate HOME/recorded.jsonl
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.readers.canonical import line_of
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, labelled

JUDGES = ("claude-sonnet-4-5-20250929", "deepseek-reasoner", "gpt-5.2-chat")
RUNS = "hotpotqa.even-queries.jsonl"


def prepare(data: Path, home: Path) -> Path:
    """Write drop, panel and rubrics into `home`; return the path of the drop."""
    folder = data / "agent-process-bench"
    annotations = [
        json.loads(line)
        for path in sorted((folder / "llm_annotations").glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    by_run: dict[str, list[Mapping[str, Any]]] = {}
    for annotation in annotations:
        by_run.setdefault(annotation["record_id"].split(":", 1)[1], []).append(annotation)
    home.mkdir(parents=True, exist_ok=True)
    drop = home / "recorded.jsonl"
    tool_types: set[str] = set()
    with drop.open("wb") as out:
        for trajectory, run in _runs(folder / RUNS):
            clips = clips_of(trajectory)
            labelled_runs = by_run.get(run, [])
            if any(len(own["step_labels"]) != len(clips) for own in labelled_runs):
                continue
            tool_types |= {clip.tool_type for clip in clips}
            verdicts = [verdict for own in labelled_runs for verdict in _verdicts(own)]
            out.write(line_of(replace(trajectory, labels={**trajectory.labels, **labelled(verdicts)})))
    (home / "panel.yaml").write_text(yaml.safe_dump({"judges": [_judge(name) for name in JUDGES]}, sort_keys=False))
    for tool_type in sorted({*tool_types, "general"}):
        _rubric(home, "clip", tool_type, "step_label", {-1: "harms", 0: "neutral", 1: "moves the task forward"})
    _rubric(home, "trajectory", "trajectory", "final_label", {-1: "the task failed", 1: "the task succeeded"})
    return drop


def _runs(path: Path) -> Iterator[tuple[Trajectory, str]]:
    """Each run with the question and the sample that the annotations name it by."""
    lines = path.read_text("utf-8").splitlines()
    names = [f"{record['query_index']}:{record['sample_index']}" for record in map(json.loads, lines)]
    found = read_trajectories([DropFile(UPath(path), path.name)], UnmappedFields())
    for trajectory, name in zip(found, names, strict=True):
        if not isinstance(trajectory, Trajectory):
            raise TypeError(f"{path}: {trajectory.detail}")
        yield trajectory, name


def _verdicts(annotation: Mapping[str, Any]) -> Iterator[RecordedVerdict]:
    """The labels of one judge on a run: one per assistant message, each of which ends a clip."""
    judge, labels = annotation["annotator"], annotation["step_labels"]
    for index, step in enumerate(sorted(labels, key=int)):
        scores: dict[str, float | None] = {"step_label": (labels[step] + 1) / 2}
        yield RecordedVerdict(
            level="clip",
            subject=str(index),
            judge=judge,
            scores=scores,
            reasoning=annotation["explanations"]["steps"].get(step),
        )
    yield RecordedVerdict(
        level="trajectory",
        subject="trajectory",
        judge=judge,
        scores={"final_label": (annotation["final_label"] + 1) / 2},
        reasoning=annotation["explanations"]["final"],
    )


def _judge(model: str) -> dict[str, str]:
    return {"name": model.split("-", 1)[0], "provider": "recorded", "model": model}


def _rubric(home: Path, level: str, name: str, criterion: str, anchors: dict[int, str]) -> None:
    path = home / "rubrics" / level / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    rubric = {
        "name": name,
        "level": level,
        "version": 1,
        "description": f"Labels of AgentProcessBench for a {level}.",
        "scale": {"min": min(anchors), "max": max(anchors)},
        "criteria": [{"key": criterion, "question": "Which label does it deserve?", "anchors": anchors}],
    }
    if name == "general":
        rubric["applies_to"] = ["*"]
    path.write_text(yaml.safe_dump(rubric, sort_keys=False))


if __name__ == "__main__":
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    *given, target = sys.argv[1:]
    print(prepare(Path(given[0]) if given else default, Path(target)))
