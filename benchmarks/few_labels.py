"""What a cascade accepts on small sets of labels, with recorded judges in the place of a decision and a language model.

    python -m benchmarks.few_labels DATA [SPLITS]

DATA has `agent-process-bench`, `tau2-bench/judge` and `judgebench`. For each set it prints the errors of both judges,
and for some alpha what a cascade of them accepts that is fitted on a random half of the subjects: in how many splits,
and on the other half how much, how much of that is wrong, and how often the second judge is asked.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson

from benchmarks.cascade import Steps, errors_of, measured, summary
from evaluation_assets.core.judging.cascade.fitted import Subjects
from evaluation_assets.core.judging.cascade.fitting import LabelledSubjects

FIRST, SECOND = "first", "second"
ALPHAS = (0.1, 0.2, 0.3)
_PASSED = ("pass", "satisfied")
"""Verdicts that the publishers count as success."""
_PREFERS_FIRST = {"A>B": 1.0, "A=B": 0.5, "B>A": 0.0}

Verdicts = Sequence[tuple[float, ...]]
"""Of the first judge and the second, by subject: 1 passes, 0 fails, NaN where there is none."""


def main() -> None:
    data, splits = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100
    for name, steps in {
        "agent-process-bench, deepseek-reasoner and gpt-5.2-chat on whole runs": process_runs(data),
        "tau2-bench/judge, gpt-4o with two prompts on conversations": conversations(data),
        "judgebench, claude-3-haiku on pairs in one order and in the other": pairs(data),
    }.items():
        errors = " and ".join(f"{errors_of(steps.labelled, judge):.3f}" for judge in (FIRST, SECOND))
        print(f"{name}: {len(steps.tasks)} subjects of {len(set(steps.tasks))} tasks, errors {errors}")
        for alpha in ALPHAS:
            print(f"  alpha {alpha}: {summary(list(measured(steps, alpha, 'trajectory', splits)))}", flush=True)


def process_runs(data: Path) -> Steps:
    """Runs of a search agent; whether the answer was rewarded is the label."""
    folder = data / "agent-process-bench"
    said = []
    for judge in ("deepseek-reasoner", "gpt-5.2-chat"):
        (path,) = (folder / "llm_annotations").glob(f"*{judge}*")
        said.append({row["record_id"]: float(row["final_label"] == 1) for row in map(orjson.loads, path.open("rb"))})
    (path,) = folder.glob("*.jsonl")
    runs = [
        (f"{row['data_source']}:{row['query_index']}", str(row["sample_index"]), row["reward_info"]["reward"] == 1)
        for row in map(orjson.loads, path.open("rb"))
    ]
    verdicts = [
        (said[0].get(f"{task}:{sample}", np.nan), said[1].get(f"{task}:{sample}", np.nan)) for task, sample, _ in runs
    ]
    return _steps([task for task, *_ in runs], verdicts, [passed for *_, passed in runs])


def conversations(data: Path) -> Steps:
    """Conversations of a retail agent; their outcome is the label."""
    entries = [
        {row["simulation_id"]: row for row in orjson.loads(path.read_bytes())["entries"]}
        for path in sorted((data / "tau2-bench" / "judge").glob("*.json"))
    ]
    both = sorted(entries[0].keys() & entries[1].keys())
    verdicts = [tuple(float(own[name]["judge_verdict"] in _PASSED) for own in entries) for name in both]
    rows = [entries[0][name] for name in both]
    return _steps([row["task_id"] for row in rows], verdicts, [row["tau2_success"] for row in rows])


def pairs(data: Path) -> Steps:
    """Whether the first answer of a pair is the better one, asked in both orders."""
    (path,) = (data / "judgebench" / "outputs").iterdir()
    rows = [orjson.loads(line) for line in path.open("rb")]
    verdicts = []
    for row in rows:
        one, swapped = (_PREFERS_FIRST.get(judgment["decision"], np.nan) for judgment in row["judgments"])
        verdicts.append((one, 1 - swapped))
    return _steps([row["pair_id"] for row in rows], verdicts, [row["label"] == "A>B" for row in rows])


def _steps(tasks: Sequence[str], verdicts: Verdicts, passes: Sequence[bool]) -> Steps:
    signals = {judge: np.array([own[at] for own in verdicts]) for at, judge in enumerate((FIRST, SECOND))}
    clusters = [f"{task}#{number}" for number, task in enumerate(tasks)]
    subjects = Subjects(signals, signals, ["all"] * len(tasks), np.zeros(len(tasks)))
    return Steps(((FIRST,), (SECOND,)), LabelledSubjects(subjects, clusters, np.array(passes)), list(tasks))


if __name__ == "__main__":
    main()
