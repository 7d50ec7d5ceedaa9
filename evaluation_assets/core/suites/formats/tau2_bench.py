"""tau2-bench: its tasks, in a file of their own or beside the simulations that were run on them.

What counts in the benchmark is the state at the end (`DB` in `reward_basis`), so that a case asks for the same effects:
the actions of the agent that change something, and no other. Of an action with `compare_args` only these arguments are
compared. What the agent has to tell the user becomes keywords, each of which is required, the scenario of the user a
simulated user. Assertions about the environment, those in words, and actions of the user are not checked.
"""

from typing import Any

from evaluation_assets.core.suites.formats.base import Draft, Item, Source
from evaluation_assets.core.suites.recorded_expectations import gold_call
from evaluation_assets.core.suites.suite import Case, Match, SimulatedUser

NAME = "tau2-bench"
DESCRIPTION = "tau2-bench: tasks with the scenario of a user and gold actions; those of a file of simulations too."
DETECTION = "objects with `user_scenario` and `evaluation_criteria`, or an object with a list of them in `tasks`"

_ABOUT_STATE = {"DB", "ENV_ASSERTION"}


def detect(source: Source) -> bool:
    """Whether the file is one."""
    tasks = [task for _, task in _tasks(source)]
    return bool(tasks) and all(_is_task(task) for task in tasks[:5])


def read(source: Source) -> Draft:
    """A case for every task."""
    draft = Draft(fields={"min_score": 1.0})
    for item, task in _tasks(source):
        name = str(task.get("id")) if _is_task(task) else f"line {item.line}"
        try:
            case = _case(task)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            draft.leave_out(source, item.line, name, f"it is not as expected: {problem!r}")
        else:
            draft.add(source, item.line, case)
    return draft


def _tasks(source: Source) -> list[tuple[Item, Any]]:
    tasks: list[tuple[Item, Any]] = []
    for item in source.items:
        inside = item.data.get("tasks") if isinstance(item.data, dict) else None
        tasks += [(item, task) for task in (inside if isinstance(inside, list) else [item.data])]
    return tasks


def _is_task(task: Any) -> bool:
    return isinstance(task, dict) and "id" in task and {"user_scenario", "evaluation_criteria"} <= task.keys()


def _case(task: dict[str, Any]) -> Case:
    criteria = task["evaluation_criteria"] or {}
    basis = set(criteria.get("reward_basis") or ("DB", "COMMUNICATE"))
    match: Match | None = "same_effects" if basis & _ABOUT_STATE else "superset" if "ACTION" in basis else None
    scenario = task["user_scenario"]
    instructions = scenario["instructions"]
    if isinstance(instructions, str):
        instructions = {"reason_for_call": instructions}
    message = instructions["reason_for_call"]
    return Case(
        id=str(task["id"]),
        message=message,
        expected_calls=tuple(
            gold_call(action["name"], action.get("arguments") or {}, action.get("compare_args"))
            for action in (criteria.get("actions") or () if match else ())
            if action.get("requestor", "assistant") == "assistant"
        ),
        match=match,
        keywords=tuple(map(str, criteria.get("communicate_info") or ())),
        category=instructions.get("domain"),
        user=SimulatedUser(
            persona=scenario.get("persona") or "",
            goal="\n\n".join(filter(None, (message, instructions.get("task_instructions")))),
            facts=tuple(_facts(instructions)),
        ),
    )


def _facts(instructions: dict[str, Any]) -> list[str]:
    facts = [line.strip() for line in (instructions.get("known_info") or "").splitlines() if line.strip()]
    unknown = instructions.get("unknown_info")
    return [*facts, f"What you do not know: {unknown}"] if unknown else facts
