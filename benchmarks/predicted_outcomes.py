"""How well outcomes of runs are predicted for tasks, and for a domain, that no outcome is known of.

    python -m benchmarks.predicted_outcomes [DATA]

DATA is a folder with the data sets of `benchmarks.outcomes` and the folder `tau2-bench/judge`; default: the folder that
the tests use. Per data set: AUROC with tasks left out, its lower bound, and the AUROC without agreement among runs.
Then how often predictions came true, and the AUROC of a model of some data sets on another. The figures of
`docs/findings.md` are from here.
"""

import ast
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import orjson

from benchmarks.data_sets import given_folder, trajectories
from benchmarks.outcomes import runs
from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.sections.outcomes.agreement import agreements
from evaluation_assets.core.sections.outcomes.discrimination import auroc
from evaluation_assets.core.sections.outcomes.model import LEAST_AUROC, fit, too_few
from evaluation_assets.core.sections.outcomes.traits import Traits, hashes, traits_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

DATA_SETS = ("tau-bench", "tau2-bench", "agent-process-bench", "mini-swe-agent")
RETAIL = "tau2-bench retail"
SPLITS = 20
ELSEWHERE = (
    (("tau-bench", "tau2-bench"), RETAIL),
    (("tau-bench", "tau2-bench"), "agent-process-bench"),
    (("tau-bench",), "agent-process-bench"),
    (("agent-process-bench",), "tau-bench"),
    (("agent-process-bench",), "tau2-bench"),
)
_LINE = re.compile(r"^\d+\. (Assistant|User|Tool)(?: TOOL CALL -> (\S+) |(?: \S+?)?: )", re.MULTILINE)


@dataclass(frozen=True)
class DataSet:
    """Runs with their outcomes."""

    runs: list[Traits]
    succeeded: list[bool]

    @classmethod
    def of(cls, name: str, trajectories: Iterator[Trajectory]) -> "DataSet":
        found, succeeded = [], []
        for run in trajectories:
            findings = [(finding.kind, finding.severity) for finding in detected(run)]
            found.append(replace(traits_of(run, findings), task_id=f"{name} {run.task_id}"))
            succeeded.append(run.success is True)
        return cls(found, succeeded)

    def at(self, places: np.ndarray) -> "DataSet":
        """Some of the runs."""
        kept = np.flatnonzero(places)
        return DataSet([self.runs[place] for place in kept], [self.succeeded[place] for place in kept])


def main() -> None:
    """Print the figures."""
    folder = given_folder()
    data = {name: DataSet.of(name, runs(folder, name)) for name in DATA_SETS}
    data[RETAIL] = DataSet.of(RETAIL, _retail(folder / "tau2-bench" / "judge"))
    print(f"Tasks left out; predictions are made if the lower bound is above {LEAST_AUROC}:")
    for name, known in data.items():
        print(f"  {name:20} {_tasks_apart(known)}")
    print(f"Fitted on two thirds of the tasks, {SPLITS} times; of the others, predicted and actual share of successes:")
    for name in ("tau-bench", "agent-process-bench"):
        print(f"  {name:20} {_calibration(data[name])}")
    print("A domain without any known outcome:")
    for sources, target in ELSEWHERE:
        print(
            f"  {' and '.join(sources):28} on {target:20} {_elsewhere([data[name] for name in sources], data[target])}"
        )


def _tasks_apart(known: DataSet) -> str:
    failing = len(known.succeeded) - sum(known.succeeded)
    counts = f"{sum(known.succeeded)} succeeded, {failing} failed"
    if why := too_few(known.succeeded, [run.task_id for run in known.runs]):
        return f"no model: {why}"
    found = fit(known.runs, known.succeeded)
    claimed = [run.claims_success for run in known.runs]
    false = sum(claims and not success for claims, success in zip(claimed, known.succeeded, strict=True))
    nothing = hashes(())
    alone = [replace(run, answer=nothing, calls=nothing, changes=nothing) for run in known.runs]
    without = fit(alone, known.succeeded).auroc.value
    return (
        f"AUROC {found.auroc.value:.2f}, at least {found.auroc.low:.2f} ({counts}, {found.tasks} tasks; without "
        f"agreement {without:.2f}); "
        f"{'predicts' if found.is_trusted else 'says nothing'}; {sum(claimed)} claim success, {false} of them failed"
    )


def _calibration(known: DataSet) -> str:
    """Predictions by quarters of the scale; of splits whose model is not trusted there are none."""
    tasks = np.array([run.task_id for run in known.runs])
    predicted: list[float] = []
    actual: list[bool] = []
    trusted = 0
    for split in range(SPLITS):
        names = np.random.RandomState(split).permutation(sorted(set(tasks)))
        is_known = np.isin(tasks, names[: len(names) * 2 // 3])
        fitting, others = (known.at(places) for places in (is_known, ~is_known))
        model = fit(fitting.runs, fitting.succeeded)
        if model.is_trusted:
            trusted += 1
            predicted += model.probabilities(others.runs, agreements(others.runs)).tolist()
            actual += others.succeeded
    quarter = np.minimum(np.array(predicted) * 4, 3).astype(int)
    shown = [
        f"{np.mean(np.array(predicted)[quarter == each]):.2f}/{np.mean(np.array(actual)[quarter == each]):.2f} "
        f"({sum(quarter == each)})"
        for each in range(4)
        if (quarter == each).any()
    ]
    return f"{', '.join(shown)}; trusted in {trusted} splits"


def _elsewhere(sources: Sequence[DataSet], target: DataSet) -> str:
    known = [run for source in sources for run in source.runs]
    found = fit(known, [success for source in sources for success in source.succeeded])
    predicted = found.probabilities(target.runs, agreements(target.runs))
    succeeded, tasks = np.array(target.succeeded), np.array([run.task_id for run in target.runs])
    measured = auroc([predicted], succeeded, tasks)
    return f"AUROC {measured.value:.2f}, at least {measured.low:.2f}"


def _retail(folder: Path) -> Iterator[Trajectory]:
    """Runs of the retail domain, of which the data has the transcripts that a judge was shown, and the outcomes."""
    (path,) = folder.glob("*conversation*.json")
    entries = orjson.loads(path.read_bytes())["entries"]
    records = [
        {
            "id": entry["simulation_id"],
            "task_id": str(entry["task_id"]),
            "success": bool(entry["tau2_success"]),
            "messages": list(_messages(entry["judge_prompt"])),
        }
        for entry in entries
    ]
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "retail.jsonl"
        file.write_bytes(b"\n".join(orjson.dumps(record) for record in records))
        yield from trajectories(file)


def _messages(prompt: str) -> Iterator[dict[str, object]]:
    transcript = prompt.split("Conversation transcript:\n", 1)[1].split("\n\nJudging instructions:", 1)[0]
    starts = list(_LINE.finditer(transcript))
    ends = [*(each.start() for each in starts[1:]), len(transcript)]
    calls, answered = 0, 0
    for start, end in zip(starts, ends, strict=True):
        said = transcript[start.end() : end].strip()
        if start[2]:
            calls += 1
            function = {"name": start[2], "arguments": json.dumps(ast.literal_eval(said))}
            yield {"role": "assistant", "tool_calls": [{"id": f"{calls}", "type": "function", "function": function}]}
        elif start[1] == "Tool":
            answered += 1
            yield {"role": "tool", "tool_call_id": f"{answered}", "content": said}
        else:
            yield {"role": start[1].lower(), "content": said}


if __name__ == "__main__":
    main()
