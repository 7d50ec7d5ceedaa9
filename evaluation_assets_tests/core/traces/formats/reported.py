"""Readings of small inputs, compared with what was worked out by hand.

A case is a folder with the files of one drop, a suite where one applies (`suite.json` or `suite.yaml`), and what is
expected, in `expected.json`. All keys are optional; only what is given is compared:

    {
      "trajectories": [{...}],           each with the keys below, in the order of reading
      "rejected": 0,                     the number of rejections, or their reasons
      "reading": "complete",             the trust of the import report, or several of which one is right
      "sentence": "1 call",              a part of the import report's sentence
      "refused": "first record",         a part of the message with which the drop is refused
      "readings": [{...}, {...}]         several such objects, of which one has to fit
    }

Keys of a trajectory: its own fields (`task_id`, `task`, `trial`, `final_answer`, `success`, `flags`, `started_at`,
`duration_s`), `turns` (a number), `agents` (their IDs, or a number), `models`, `calls` (names of tools, or a number),
`arguments` and `results` (one per call), `errors` (one per call: a part of the message, or null; or the number of calls
with an error), `input_tokens`, `cached_tokens`, `output_tokens`, `cost_usd`, and `case`: figures of the result that the
suite gives it, such as `passed`, `schema`, `parameter_accuracy`, and `issues` (their kinds).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.case_results import CaseIndex, evaluate
from evaluation_assets.core.suites.formats.registry import load_suite
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.traces.formats.base import DropFile, Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

Expected = Mapping[str, Any]
"""What is expected of a drop or of a trajectory; see the module."""

_OWN = ("task_id", "task", "trial", "final_answer", "success", "started_at", "format")
_USAGE = ("input_tokens", "cached_tokens", "output_tokens", "cost_usd")


def check_reading(folder: Path, expected: Expected, suite_file: str | None = None) -> None:
    """Read a folder as one drop, like `import --one-drop`, and compare what is given with what is expected."""
    found = _reading(folder, _suite_in(folder, suite_file))
    choices: Sequence[Expected] = expected.get("readings", [expected])
    differences = [_differences(found, choice) for choice in choices]
    assert [] in differences, min(differences, key=len)


def _reading(folder: Path, suite: Suite | None) -> dict[str, Any]:
    files = [
        DropFile(UPath(path), path.relative_to(folder).as_posix())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "expected.json" and not path.name.startswith("suite")
    ]
    report = ImportReport()
    try:
        items = list(report.read(format_of(files), files))
    except UnreadableDrop as problem:
        return {"refused": str(problem)}
    return {
        "trajectories": [_described(item, suite) for item in items if isinstance(item, Trajectory)],
        "rejected": [item.reason for item in items if isinstance(item, Rejection)],
        "reading": report.summary.trust,
        "sentence": report.summary.sentence,
    }


def _suite_in(folder: Path, name: str | None) -> Suite | None:
    names = ("suite.json", "suite.yaml") if name is None else (name,)
    path = next((path for name in names if (path := folder / name).is_file()), None)
    return None if path is None else load_suite(UPath(path)).suite


def _described(run: Trajectory, suite: Suite | None) -> dict[str, Any]:
    steps = run.calls
    found: dict[str, Any] = {name: getattr(run, name) for name in _OWN}
    found |= {name: None if run.usage is None else getattr(run.usage, name) for name in _USAGE}
    found |= {
        "flags": list(run.flags),
        "duration_s": run.duration_s,
        "turns": len(run.turns),
        "agents": [agent.id for agent in run.agents],
        "models": [agent.model for agent in run.agents],
        "calls": [step.call.name for step in steps if step.call],
        "arguments": [run.arguments(step.call) for step in steps if step.call],
        "results": [None if step.result is None else run.piece(step.result.content) for step in steps],
        "errors": [None if step.result is None else step.result.error for step in steps],
    }
    case = None if suite is None else CaseIndex(suite.cases).find(run.task_id, run.task)
    if suite is not None and case is not None:
        result = evaluate(case, run_of(run), suite)
        figures = {name: getattr(result, name) for name in result.__slots__ if name not in ("issues", "calls")}
        found["case"] = {**figures, "issues": sorted({issue.kind for issue in result.issues})}
    return found


def _differences(found: Mapping[str, Any], expected: Expected) -> list[str]:
    """What differs, a line each; what is read is shown whole with a difference in the number of trajectories."""
    differences: list[str] = []
    for key, wanted in expected.items():
        if key == "pending":
            continue
        actual = found.get(key)
        if key == "trajectories":
            runs = actual or []
            if len(runs) != len(wanted):
                differences.append(f"{len(runs)} trajectories, not {len(wanted)}: {found}")
            pairs = zip(runs, wanted, strict=False)
            differences += [
                f"trajectory {index}, {name}: {one.get(name)!r}, not {value!r}"
                for index, (one, other) in enumerate(pairs)
                for name, value in other.items()
                if not _fits(name, one.get(name), value)
            ]
        elif not _fits(key, actual, wanted):
            differences.append(f"{key}: {actual!r}, not {wanted!r} ({found.get('sentence') or found.get('refused')})")
    return differences


def _fits(key: str, actual: Any, wanted: Any) -> bool:
    if key in ("sentence", "refused"):
        return isinstance(actual, str) and wanted in actual
    if key == "reading":
        return actual == wanted or (isinstance(wanted, list) and actual in wanted)
    if key == "case":
        return isinstance(actual, dict) and all(_fits(name, actual.get(name), value) for name, value in wanted.items())
    if key == "errors" and isinstance(actual, list):
        if isinstance(wanted, int):
            return sum(error is not None for error in actual) == wanted
        return len(actual) == len(wanted) and all(
            one is None if other is None else one is not None and other in one
            for one, other in zip(actual, wanted, strict=True)
        )
    if isinstance(actual, list) and isinstance(wanted, int):
        return len(actual) == wanted
    if isinstance(wanted, float) and isinstance(actual, float):
        return actual == pytest.approx(wanted)
    return actual == wanted
