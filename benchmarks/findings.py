"""How many runs have a finding of each kind, among those that succeeded and those that failed; process scores.

    python -m benchmarks.findings [DATA]

DATA is a folder with the data sets of `benchmarks.outcomes`; default: the folder that the tests use. The AUROC is that
of the process score against success, with its 95% interval over tasks. At the end, long runs are timed.
"""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from benchmarks.data_sets import given_folder, trajectories
from benchmarks.outcomes import DATA_SETS, runs
from evaluation_assets.core.scoring.relation_to_success import relation
from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.sections.findings.evidence.call_forms import CallForms
from evaluation_assets.core.sections.findings.gathering import findings_of
from evaluation_assets.core.sections.findings.process_score import process_score
from evaluation_assets.core.traces.trajectories.model import Trajectory

_LONG = (5_000, 20_000)


def main() -> None:
    """Print the figures of each data set."""
    folder = given_folder()
    for name in DATA_SETS:
        totals: Counter[bool] = Counter()
        having: Counter[tuple[str, bool]] = Counter()
        scored: list[tuple[float, bool, str]] = []
        drop = list(runs(folder, name))
        forms = CallForms.of(drop)
        for run in drop:
            outcome = run.success is True
            totals[outcome] += 1
            found = findings_of(run, detected(run, forms))
            having.update((kind, outcome) for kind in {finding.kind for finding in found})
            if (score := process_score(run, found).score) is not None:
                scored.append((score, outcome, run.task_id))
        print(f"{name}: {totals[True]} runs succeeded, {totals[False]} failed")
        for kind in sorted({kind for kind, _ in having}):
            print(f"  {kind:22} succeeded {having[kind, True]:3}   failed {having[kind, False]:3}")
        _print_scores(scored)
    for calls in _LONG:
        trajectory = _long_run(calls)
        started = time.process_time()
        count = len(findings_of(trajectory))
        print(f"a run of {calls:,} calls and claims: {time.process_time() - started:.1f} s CPU, {count:,} findings")


def _print_scores(scored: Sequence[tuple[float, bool, str]]) -> None:
    if not scored:
        print("  no process score")
        return
    mean = fmean(score for score, _, _ in scored)
    found = relation(*map(list, zip(*scored, strict=True)))
    interval = "" if found is None or found.low is None else f" ({found.low:.2f} to {found.high:.2f})"
    auroc = "-" if found is None else f"{found.auroc:.2f}{interval}"
    print(f"  process score {mean:.3f} over {len(scored)} runs, AUROC {auroc}")


def _long_run(calls: int) -> Trajectory:
    """A dialogue with a call and a claim in each turn; every other claim is about an order that no call names."""
    messages: list[dict[str, Any]] = []
    for number in range(calls):
        call = {"name": "cancel_order", "arguments": f'{{"id": "W{number}000", "by_{number}": 1}}'}
        messages += [
            {"role": "user", "content": f"Cancel W{number}000."},
            {"role": "assistant", "content": None, "tool_calls": [{"id": str(number), "function": call}]},
            {"role": "tool", "tool_call_id": str(number), "content": f'{{"total": {number}.5}}'},
            {"role": "assistant", "content": f"I have cancelled W{number + number % 2}000 for ${number}7."},
        ]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "long.json"
        path.write_bytes(orjson.dumps({"messages": messages}))
        (trajectory,) = trajectories(path)
    return trajectory


if __name__ == "__main__":
    main()
