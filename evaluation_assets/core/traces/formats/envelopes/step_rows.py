"""Runs whose steps are records of their own, as in a table with the run of each row.

{"run_id": "a", "step": 1, "tool": "look_up", "args": {"order": 17}, "result": "paid"}
"""

from collections.abc import Sequence
from typing import Any

from evaluation_assets.core.traces.formats.context import OUTCOMES
from evaluation_assets.core.traces.formats.messages.call_arguments import ARGUMENTS
from evaluation_assets.core.traces.formats.run_names import run_of
from evaluation_assets.core.traces.formats.untyped import decoded, in_both_cases, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TOOLS = (*in_both_cases("tool", "tool_name", "function_name"), "action", "function")
_SHOWN = in_both_cases("observation", "result", "tool_result", "tool_output", "output", "response")
_SAID = in_both_cases("thought", "reasoning", "final_answer", "answer")
_NUMBERS = in_both_cases("step", "step_number", "step_id", "step_index", "index")
_OF_RUNS = in_both_cases(
    "task", "question", "query", "instruction", "goal", "final_answer", "answer", "prediction", "model", "agent"
)
"""Columns that tell of the run where only some rows have them."""
_NAMED = {"action": "tool"}
"""Other programs have actions, too; here it has arguments and a result beside it."""
_OF_STEPS = frozenset((*_TOOLS, *ARGUMENTS, *_SHOWN, "thought", "reasoning", "error", "status", "success", "id"))
"""Columns that tell of a step although all rows may have the same there."""


def run_of_row(row: Any) -> str | None:
    """The run of a row that is a step: it has a tool, what that was given and gave back, or says something beside."""
    if not isinstance(row, dict) or "role" in row:
        return None
    is_act = all(any(name in row for name in names) for names in (_TOOLS, ARGUMENTS, _SHOWN))
    is_numbered = any(type(row.get(name)) is int for name in _NUMBERS)
    return run_of(row) if is_act or (is_numbered and any(row.get(name) for name in _SAID)) else None


def run_with_steps(rows: Sequence[JsonObject]) -> JsonObject:
    """The record of a run: what all rows have in common, and their steps with the rest, in the order of their numbers.

    Success that all rows have in common may be that of the run or of each step, and is neither. An outcome that only
    the last has is that of the run.
    """
    rows = [without_none({key: decoded(value) for key, value in row.items() if value != ""}) for row in rows]
    number = next((name for name in _NUMBERS if all(type(row.get(name)) is int for row in rows)), None)
    rows = rows if number is None else sorted(rows, key=lambda row: row[number])
    about = {
        key: value
        for row in rows
        for key, value in row.items()
        if key not in _OF_STEPS
        and key not in _NUMBERS
        and all(other.get(key, value if key in _OF_RUNS else None) == value for other in rows)
    }
    if len(rows) > 1:
        before = {key for row in rows[:-1] for key in row}
        about |= {key: value for key, value in rows[-1].items() if key in OUTCOMES and key not in before}
    left_out = set(about)
    if all(row.get("success") == rows[0].get("success") for row in rows):
        about["steps[].success (of the run or of each step)"] = rows[0].get("success")
        left_out.add("success")
    steps = [{_NAMED.get(key, key): value for key, value in row.items() if key not in left_out} for row in rows]
    return without_none({"id": run_of(rows[0]), **about, "steps": [step for step in steps if step]})
