"""How well planted faults are noticed on recorded runs.

    python -m benchmarks.injected [DATA] [--seed 0] [--json FILE]

DATA is a folder with one folder per data set; default: the third-party data beside the checkout. Data sets that are not
there are named and left out. Every run of a set is taken; see `evaluation-assets inject` for what the figures are.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import orjson
from upath import UPath

from benchmarks.data_sets import DATA
from evaluation_assets.core.intake.clips.tool_types import shipped_tool_types
from evaluation_assets.core.intake.preprocessing.preprocess import Preprocessor, Removal
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.asking import answer_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.rules.judge import RulesJudge
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.pipeline.injection import Pairs, by_findings, judge_pairs, pairs_of
from evaluation_assets.core.report.findings.injection_table import figures, injection_lines
from evaluation_assets.core.scoring.discrimination import Noticed
from evaluation_assets.core.sections.findings.faults.operator import Operator
from evaluation_assets.core.sections.findings.faults.registry import OPERATORS
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory

DATA_SETS = {
    "tau-bench": "tau-bench/*.json",
    "tau2-bench": "tau2-bench/ab/*.json",
    "Who&When": "who-and-when/**/*.json",
    "mini-swe-agent": "mini-swe-agent/trajs/*.json",
    "agent-process-bench": "agent-process-bench/*.jsonl",
}


def main() -> None:
    """Print a table for each data set, and one for all."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path, nargs="?", default=DATA)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    if not options.data.is_dir():
        sys.exit(f"there is no data at {options.data}; name the folder of the data sets")
    everything: dict[str, list[tuple[Operator, Noticed]]] = {}
    together, tables = Pairs(), {}
    for name, pattern in DATA_SETS.items():
        runs = list(_runs(options.data, pattern))
        if not runs:
            print(f"{name}: not in {options.data}, left out")
            continue
        found = pairs_of(runs, list(OPERATORS.values()), options.seed)
        tables[name] = {}
        for by, noticed in _measured(found):
            _print(name, found, by, noticed)
            tables[name][by] = figures(found, noticed)
            everything.setdefault(by, []).extend(
                (operator, replace(each, cluster=(name, each.cluster))) for operator, each in noticed
            )
        together.runs += found.runs
        together.pairs += found.pairs
        for operator, reasons in found.not_applicable.items():
            together.not_applicable.setdefault(operator, type(reasons)()).update(reasons)
    for by, noticed in everything.items():
        _print("all data sets", together, by, noticed)
    tables["all"] = {by: figures(together, noticed) for by, noticed in everything.items()}
    if options.json:
        options.json.write_bytes(orjson.dumps(tables, option=orjson.OPT_INDENT_2))


def _measured(found: Pairs) -> Iterator[tuple[str, list[tuple[Operator, Noticed]]]]:
    ask = partial(judge_pairs, pairs=found, rubrics=load_rubrics(), types=shipped_tool_types())
    yield "the embedded judge", answer_of(RulesJudge(), ask, Budget())
    for by, noticed in by_findings(found).items():
        yield by.replace("_", " "), noticed


def _print(name: str, found: Pairs, by: str, noticed: Sequence[tuple[Operator, Noticed]]) -> None:
    print(f"\n{name}: {found.runs} runs, {len(found.pairs)} changed copies, {by}")
    print(*injection_lines(found, noticed), sep="\n")


def _runs(folder: Path, pattern: str) -> Iterator[Trajectory]:
    """The runs of all files together, as those of one drop: so their IDs are unique."""
    files = [DropFile(UPath(path), str(path.relative_to(folder))) for path in sorted(folder.glob(pattern))]
    preprocessor = Preprocessor(Settings())
    for item in read_trajectories(files, UnmappedFields()) if files else ():
        if isinstance(item, Trajectory) and not isinstance(kept := preprocessor.process(item), Removal):
            yield kept


if __name__ == "__main__":
    main()
