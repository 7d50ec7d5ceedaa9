"""[tools] Calls whose arguments fit another tool of the agent, and not the one that is called.

What a tool takes is what its definition says, or else what its other calls in the run have.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from evaluation_assets.core.sections.findings.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.detector import Detected, Detector
from evaluation_assets.core.suites.call_schemas import defects
from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.traces.trajectories.model import Tool, Trajectory

Names = frozenset[str]


def _detect(trajectory: Trajectory) -> Iterator[Detected]:
    calls = Course(trajectory).calls
    defined = {agent.id: {tool.name: tool for tool in agent.tools or ()} for agent in trajectory.agents}
    taken: dict[str, Counter[Names]] = {}
    for made in calls:
        if made.has_succeeded:
            taken.setdefault(made.call.name, Counter())[_names(made)] += 1
    for made in calls:
        tools = defined.get(made.agent_id, {})
        is_unsuitable = (
            _fits_another_definition(made, tools) if made.call.name in tools else _fits_other_calls(made, taken)
        )
        if _names(made) and is_unsuitable:
            span = made.arguments_span
            yield Detected(kind="unsuitable_tool", place=made.place(span), evidence=trajectory.piece(span))


def _names(made: PlacedStep) -> Names:
    return frozenset(made.trajectory.arguments(made.call) or ())


def _fits_another_definition(made: PlacedStep, tools: Mapping[str, Tool]) -> bool:
    arguments = made.trajectory.arguments(made.call)
    if not _has_defects(tools[made.call.name], Call(made.call.name, arguments)):
        return False
    return any(
        not _has_defects(tool, Call(name, arguments))
        for name, tool in tools.items()
        if name != made.call.name and tool.parameters
    )


def _has_defects(tool: Tool, call: Call) -> bool:
    return any(defect.kind != "not_checked" for defect in defects(call, (tool,)))


def _fits_other_calls(made: PlacedStep, taken: Mapping[str, Counter[Names]]) -> bool:
    """Whether no other call of the tool has an argument of this name, and calls of another have just these."""
    names = _names(made)
    own = taken.get(made.call.name, Counter[Names]()) - Counter([names] if made.has_succeeded else [])
    if not own or any(names & known for known in own):
        return False
    return any(names in known for tool, known in taken.items() if tool != made.call.name)


DETECTOR = Detector(name="tools", version="1", kinds=("unsuitable_tool",), detect=_detect)
