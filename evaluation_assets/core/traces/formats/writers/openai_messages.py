"""Write trajectories as OpenAI chat messages, one record per trajectory, for fine-tuning, replays and viewers.

Every call is a separate message, directly before the tool message with its result. With several agents, `name` is the
speaker. A result without a call is a tool message without `tool_call_id`.
"""

from collections.abc import Iterator

from evaluation_assets.core.traces.formats.untyped import without_none
from evaluation_assets.core.traces.formats.writers.parts import CallIds, functions
from evaluation_assets.core.traces.trajectories.model import Interaction, JsonObject, Step, Trajectory


def record(trajectory: Trajectory) -> JsonObject:
    """Convert the trajectory to a record with messages, tools and outcome."""
    tools = {tool.name: tool for agent in trajectory.agents for tool in agent.tools or ()}
    fields = {
        "task_id": trajectory.task_id,
        "trial": trajectory.trial,
        "messages": list(_messages(trajectory)),
        "tools": functions(tools.values()),
        "final_answer": trajectory.final_answer,
        "reference_answer": trajectory.reference_answer,
        "success": trajectory.success,
    }
    return without_none(fields)


def _messages(trajectory: Trajectory) -> Iterator[JsonObject]:
    spoke = [interaction.agent_id for turn in trajectory.turns for interaction in turn.interactions]
    prompt = next((agent.description for agent in trajectory.agents if agent.description), None)
    if prompt is not None:
        yield {"role": "system", "content": prompt}
    ids = CallIds()
    for turn in trajectory.turns:
        if turn.user_message is not None:
            yield {"role": "user", "content": turn.user_message}
        for interaction in turn.interactions:
            yield from _spoken(trajectory, interaction, ids, len(set(spoke)) > 1)


def _spoken(trajectory: Trajectory, interaction: Interaction, ids: CallIds, is_named: bool) -> Iterator[JsonObject]:
    name = {"name": interaction.agent_id} if is_named else {}
    for step in interaction.steps:
        call_id = None
        if step.thought is not None or step.message is not None or step.call is not None:
            message = _assistant(trajectory, step, ids)
            call_id = message["tool_calls"][0]["id"] if step.call is not None else None
            yield {**message, **name}
        if step.result is not None:
            content = trajectory.piece(step.result.content)
            yield {"role": "tool", **({} if call_id is None else {"tool_call_id": call_id}), "content": content}


def _assistant(trajectory: Trajectory, step: Step, ids: CallIds) -> JsonObject:
    message: JsonObject = {
        "role": "assistant",
        "content": None if step.message is None else trajectory.piece(step.message),
    }
    if step.thought is not None:
        message["reasoning_content"] = trajectory.piece(step.thought)
    if step.call is not None:
        function = {"name": step.call.name, "arguments": trajectory.piece(step.call.raw)}
        message["tool_calls"] = [{"id": ids.unique(step.call.id), "type": "function", "function": function}]
    return message
