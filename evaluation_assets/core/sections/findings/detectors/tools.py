"""[tools] Calls whose arguments fit another tool of the agent, and not the one that is called.

What a tool takes is what its definition says, or else what its other calls in the run and the drop have.
"""

from collections.abc import Iterator, Mapping

from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_step
from evaluation_assets.core.sections.findings.evidence.call_forms import CallForms
from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep
from evaluation_assets.core.suites.call_schemas import defects
from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.traces.trajectories.model import Tool


def _detect(course: Course) -> Iterator[Detected]:
    defined = {agent.id: {tool.name: tool for tool in agent.tools or ()} for agent in course.trajectory.agents}
    of_run = CallForms.of([course.trajectory])
    for made in course.calls:
        tools = defined.get(made.agent_id, {})
        is_unsuitable = (
            _fits_another_definition(made, tools)
            if made.call.name in tools
            else _has_foreign_arguments(made, of_run, course.forms)
        )
        if is_unsuitable:
            yield in_step("unsuitable_tool", made, made.arguments_span)


def _has_foreign_arguments(made: PlacedStep, of_run: CallForms, of_drop: CallForms) -> bool:
    """Whether other calls show it. It takes more in a drop, which has runs of other agents with other tools.

    A call that failed is only compared within its run: elsewhere agents learn from the failure how a tool is called.
    """
    tool, names = made.call.name, frozenset(made.trajectory.arguments(made.call) or ())
    if not names:
        return False
    return of_run.are_foreign(tool, names, itself=made.step.has_succeeded) or (
        made.step.has_succeeded and of_drop.are_usually_foreign(tool, names)
    )


def _fits_another_definition(made: PlacedStep, tools: Mapping[str, Tool]) -> bool:
    arguments = made.trajectory.arguments(made.call)
    if not arguments or not _has_defects(tools[made.call.name], Call(made.call.name, arguments)):
        return False
    return any(
        not _has_defects(tool, Call(name, arguments))
        for name, tool in tools.items()
        if name != made.call.name and tool.parameters
    )


def _has_defects(tool: Tool, call: Call) -> bool:
    return any(defect.kind != "not_checked" for defect in defects(call, (tool,)))


DETECTOR = Detector(name="tools", version="2", kinds=("unsuitable_tool",), detect=_detect)
