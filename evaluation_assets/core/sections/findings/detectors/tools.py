"""[tools] Calls whose arguments fit another tool of the agent, and not the one that is called.

What a tool takes is what its definition says, or else what its other calls in the run have.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from evaluation_assets.core.sections.findings.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.detector import Detected, Detector
from evaluation_assets.core.suites.call_schemas import defects
from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.traces.trajectories.model import Tool, Trajectory

Names = frozenset[str]


def _detect(trajectory: Trajectory) -> Iterator[Detected]:
    calls = Course(trajectory).calls
    defined = {agent.id: {tool.name: tool for tool in agent.tools or ()} for agent in trajectory.agents}
    taken = _Taken(calls)
    for made in calls:
        tools = defined.get(made.agent_id, {})
        is_unsuitable = (
            _fits_another_definition(made, tools) if made.call.name in tools else taken.fits_another_tool(made)
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


class _Taken:
    """The names of the arguments that the successful calls of each tool have."""

    def __init__(self, calls: Iterable[PlacedStep]) -> None:
        self._calls: Counter[str] = Counter()
        self._having: Counter[tuple[str, str]] = Counter()
        self._tools: dict[Names, set[str]] = {}
        for made in calls:
            if made.has_succeeded:
                names, tool = _names(made), made.call.name
                self._calls[tool] += 1
                self._having.update((tool, name) for name in names)
                self._tools.setdefault(names, set()).add(tool)

    def fits_another_tool(self, made: PlacedStep) -> bool:
        """Whether no other call of the tool has an argument of this name, and calls of another have just these."""
        names, tool, itself = _names(made), made.call.name, int(made.has_succeeded)
        if self._calls[tool] == itself or any(self._having[tool, name] > itself for name in names):
            return False
        return not self._tools.get(names, set()) <= {tool}


DETECTOR = Detector(name="tools", version="1", kinds=("unsuitable_tool",), detect=_detect)
