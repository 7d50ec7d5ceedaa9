"""Codec of coding work: rows of `coding_work`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from evaluation_assets.core.sections.coding_work.costs import Spent
from evaluation_assets.core.sections.coding_work.work import CodingWork
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage

Row = dict[str, Any]


def work_row(drop: str, trajectory: Trajectory, work: CodingWork) -> Row:
    """Encode the work of a session as a row of `coding_work`."""
    used = trajectory.usage or Usage()
    cost, is_list_price = _cost(used, work.spent)
    return {
        "drop": drop,
        "trajectory_id": trajectory.id,
        "task_id": trajectory.task_id,
        "format": trajectory.format,
        "project": work.project,
        "git_branch": work.git_branch,
        "model": work.model,
        "started_at": trajectory.started_at,
        "turns": work.turns,
        "edits": work.edits,
        "failed_edits": work.failed_edits,
        "files": len(work.files),
        "edits_undone": work.edits_undone,
        "undone_replaced_back": work.undone_by["replaced_back"],
        "undone_restored": work.undone_by["restored"],
        "undone_removed": work.undone_by["removed"],
        "commands": work.commands,
        "failed_commands": work.failed_commands,
        "test_runs": len(work.test_runs),
        "failing_test_runs": sum(run.result == "failing" for run in work.test_runs),
        "last_test_result": work.last_test_result,
        "reads": work.reads,
        "repeated_reads": work.repeated_reads,
        "most_reread": work.reread.most_common(1)[0][0] if work.reread else None,
        "corrections": len(work.corrections),
        "correction_quotes": list(work.corrections),
        "interruptions": work.interruptions,
        "denied_calls": work.denials,
        "compactions": work.compactions,
        "sub_agents": work.sub_agents,
        "wall_s": trajectory.duration_s,
        "active_s": work.active_s,
        "input_tokens": used.input_tokens,
        "cached_tokens": used.cached_tokens,
        "output_tokens": used.output_tokens,
        "cost_usd": cost,
        "is_list_price": is_list_price,
        "by_model": [asdict(spent) for spent in work.spent],
    }


def _cost(used: Usage, spent: Sequence[Spent]) -> tuple[float | None, bool | None]:
    """The cost of a session and whether it is a list price: as recorded, else that of all its models."""
    if used.recorded_cost_usd is not None:
        return used.recorded_cost_usd, False
    costs = [one.cost_usd for one in spent if one.cost_usd is not None]
    if not costs or len(costs) < len(spent):
        return None, None
    return sum(costs), any(one.is_list_price for one in spent)
