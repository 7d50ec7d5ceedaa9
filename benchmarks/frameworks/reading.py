"""What `evaluation-assets import` reads of a sample, compared with the truth."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from upath import UPath

from benchmarks.frameworks.scenario import TrueCall, Truth
from evaluation_assets.core.intake.drops import one_file
from evaluation_assets.core.traces.formats.base import Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.registry import format_of, read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Step, Trajectory

NOT_COMPARED = "-"


@dataclass(frozen=True)
class Comparison:
    """What was read by column, what of it is wrong, and which columns the shape of the file cannot express."""

    cells: tuple[str, ...]
    wrong: tuple[str, ...]
    unstated: tuple[str, ...] = ()


COLUMNS = ("format", "task", "calls", "results", "errors", "agents", "turns", "tokens", "answer")


def compare(sample: Path, truth: Truth) -> Comparison:
    """Read a sample and hold what is read against the truth, over all its trajectories together."""
    drop = one_file(UPath(sample))
    try:
        name = format_of(drop.sources).name
        read = list(read_trajectories(drop.sources, UnmappedFields(), name))
    except UnreadableDrop as problem:
        reason = str(problem).removeprefix(f"{sample.name} is ").partition(":")[0]
        return Comparison((NOT_COMPARED,) * len(COLUMNS), (f"unreadable, {reason[:100]}",))
    trajectories = [item for item in read if isinstance(item, Trajectory)]
    rejected = [f"rejected: {item.reason}" for item in read if isinstance(item, Rejection)]
    fields = [
        _task(trajectories, truth),
        *_calls(trajectories, truth),
        _names(trajectories, truth),
        _number(sum(len(each.turns) for each in trajectories), truth.turns),
        _tokens(trajectories, truth),
        _answer(trajectories, truth),
    ]
    wrong = [column for column, (_, right) in zip(COLUMNS[1:], fields, strict=True) if not right]
    stated = {
        "task": truth.task is not None,
        "errors": truth.has_errors,
        "agents": truth.agents is not None,
        "turns": truth.turns is not None,
        "tokens": truth.input_tokens is not None,
        "answer": truth.answer is not None,
    }
    unstated = tuple(column for column, is_stated in stated.items() if not is_stated)
    return Comparison((name, *(cell for cell, _ in fields)), (*rejected, *wrong), unstated)


Field = tuple[str, bool]
"""A cell, and whether it is right."""


def _task(trajectories: list[Trajectory], truth: Truth) -> Field:
    task = trajectories[0].task if trajectories else ""
    if truth.task is None:
        return NOT_COMPARED, True
    return "right" if task == truth.task else "other" if task else "missing", task == truth.task


def _calls(trajectories: list[Trajectory], truth: Truth) -> list[Field]:
    """Calls with the right arguments, results and errors. A hand-off may be read as a call or not."""
    steps = [
        (each, step)
        for each in trajectories
        for step in each.calls
        if step.call is not None and step.call.name not in truth.hand_offs
    ]
    left = list(steps)
    found: list[tuple[TrueCall, Trajectory, Step]] = []
    for call in truth.calls:
        same = next((pair for pair in left if _is_same(call, *pair)), None)
        if same is not None:
            left.remove(same)
            found.append((call, *same))
    returned = [
        step.result is not None
        and _bare(truth.error_text if call.error else call.result) in _bare(each.piece(step.result.content))
        for call, each, step in found
    ]
    failed = sum(step.result is not None and step.result.error is not None for _, step in steps)
    made, errors = len(truth.calls), sum(call.error is not None for call in truth.calls)
    extra = f" +{len(left)}" if left else ""
    return [
        (f"{len(found)} of {made}{extra}", len(found) == made and not left),
        (f"{sum(returned)} of {made}", sum(returned) == made),
        (f"{failed} of {errors}", failed == errors) if truth.has_errors else (f"{failed}", failed <= errors),
    ]


def _is_same(call: TrueCall, trajectory: Trajectory, step: Step) -> bool:
    assert step.call is not None
    return step.call.name == call.name and trajectory.arguments(step.call) == call.arguments


def _bare(value: Any) -> str:
    """A value without what tells JSON, Python literals and quoted JSON apart."""
    return re.sub(r"[\s\"'\\]", "", value if isinstance(value, str) else json.dumps(value))


def _names(trajectories: list[Trajectory], truth: Truth) -> Field:
    acting = {turn.agent_id: turn for each in trajectories for one in each.turns for turn in one.interactions}
    known = {agent.id: agent.name or agent.id for each in trajectories for agent in each.agents}
    names = sorted({known.get(each, each) for each in acting})
    shown = ", ".join(names) or NOT_COMPARED
    return shown, truth.agents is None or tuple(names) == tuple(truth.agents)


def _number(read: int, true: int | None) -> Field:
    return (f"{read}", True) if true is None else (f"{read} of {true}", read == true)


def _tokens(trajectories: list[Trajectory], truth: Truth) -> Field:
    usages = [each.usage for each in trajectories if each.usage is not None]
    read = (_sum([usage.input_tokens for usage in usages]), _sum([usage.output_tokens for usage in usages]))
    true = (truth.input_tokens, truth.output_tokens)
    if true == (None, None):
        return NOT_COMPARED if read == true else f"{read[0]} / {read[1]}", read == true
    return f"{read[0]} / {read[1]} of {true[0]} / {true[1]}", read == true


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _answer(trajectories: list[Trajectory], truth: Truth) -> Field:
    answer = _last_response(trajectories[-1]) if trajectories else None
    right = truth.answer is None or answer == truth.answer
    return "right" if right else "missing" if answer is None else "other", right


def _last_response(trajectory: Trajectory) -> str | None:
    """The final answer. A conversation may have none; then what the agent said last."""
    said = [one.response for turn in trajectory.turns for one in turn.interactions if one.response is not None]
    return trajectory.final_answer or (said[-1] if said else None)
