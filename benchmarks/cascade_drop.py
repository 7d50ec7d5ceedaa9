"""Write an installation whose recorded judges form a cascade: no key, no model.

    python -m benchmarks.cascade_drop HOME [FOLDER]

FOLDER is a copy of the repository RUCBM/AgentProcessBench; see `benchmarks/cascade.py`. Writes to HOME the trajectories
on HotpotQA in which every clip is one labelled step, with the verdicts of five models (`hotpotqa.jsonl`), rubrics with
the one criterion that was labelled, a panel with a cascade, and the labels of people (`labels/people.jsonl`). Then:

    evaluation-assets evaluate HOME/hotpotqa.jsonl --home HOME
    evaluation-assets cascade fit hotpotqa --home HOME --alpha 0.2
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import yaml

from benchmarks.cascade import FOLDER, STAGES
from benchmarks.data_sets import trajectories
from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging import rubrics
from evaluation_assets.core.traces.formats.readers.canonical import line_of
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, labelled

DROP = "hotpotqa"
WHOLE = "task_completion"
CRITERION: dict[str, Any] = {
    "key": "step",
    "question": "Does this step move the task forward?",
    "anchors": {0: "It harms.", 5: "It is unclear whether it helps.", 10: "It moves the task forward."},
}
SHIPPED = Path(rubrics.__file__).parent / "clip"


def main() -> None:
    home = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER
    source = folder / "data" / "AgentProcessBench" / f"{DROP}.jsonl"
    records = [orjson.loads(line) for line in source.read_bytes().splitlines()]
    said = {_name(model): _said(folder, model) for stage in STAGES for model in stage}
    drop, labels = bytearray(), bytearray()
    for trajectory, record in zip(trajectories(source), records, strict=True):
        if len(clips_of(trajectory)) != len(record["step_labels"]):
            continue
        verdicts = [
            verdict
            for judge, by_record in said.items()
            if _id(record) in by_record
            for verdict in _verdicts(judge, by_record[_id(record)], list(record["step_labels"]))
        ]
        task = _id(record).rpartition(":")[0]
        drop += line_of(replace(trajectory, id=_id(record), task_id=task, labels=labelled(verdicts)))
        place = {"drop": DROP, "trajectory_id": _id(record), "annotator": "people"}
        whole = {"criterion": WHOLE, "label": _share(record["final_label"])}
        steps = [
            {"clip_index": position, "criterion": CRITERION["key"], "label": float(label == 1)}
            for position, label in enumerate(record["step_labels"].values())
        ]
        for label in (whole, *steps):
            labels += orjson.dumps(place | label, option=orjson.OPT_APPEND_NEWLINE)
    for below in ("labels", "rubrics/clip"):
        (home / below).mkdir(parents=True, exist_ok=True)
    (home / f"{DROP}.jsonl").write_bytes(drop)
    (home / "labels" / "people.jsonl").write_bytes(labels)
    for name in ("search_tool", "final", "general"):
        rubric = yaml.safe_load((SHIPPED / f"{name}.yaml").read_text()) | {"criteria": [CRITERION]}
        (home / "rubrics" / "clip" / f"{name}.yaml").write_text(yaml.safe_dump(rubric, sort_keys=False))
    panel = {
        "judges": [{"name": judge, "provider": "recorded", "model": judge} for judge in said],
        "cascade": [[_name(model) for model in stage] for stage in STAGES],
    }
    (home / "panel.yaml").write_text(yaml.safe_dump(panel, sort_keys=False))


def _verdicts(judge: str, row: dict[str, Any], steps: list[str]) -> Iterator[RecordedVerdict]:
    for position, step in enumerate(steps):
        label = (row["step_labels"] or {}).get(step)
        if label in (-1, 0, 1):
            scores: dict[str, float | None] = {CRITERION["key"]: _share(label)}
            yield RecordedVerdict(level="clip", subject=str(position), judge=judge, scores=scores)
    if row["final_label"] in (-1, 1):
        scores: dict[str, float | None] = {WHOLE: _share(row["final_label"])}
        yield RecordedVerdict(level="trajectory", subject="trajectory", judge=judge, scores=scores)


def _said(folder: Path, model: str) -> dict[str, dict[str, Any]]:
    results = next(path for path in (folder / "eval" / "results").iterdir() if path.name.strip() == model)
    rows = (orjson.loads(line) for path in results.glob(f"{DROP}*") for line in path.read_bytes().splitlines())
    return {row["record_id"]: row for row in rows}


def _id(record: dict[str, Any]) -> str:
    return f"{record['data_source']}:{record['query_index']}:{record['sample_index']}"


def _share(label: int) -> float:
    return (label + 1) / 2


def _name(model: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", model.lower()).strip("_")


if __name__ == "__main__":
    main()
