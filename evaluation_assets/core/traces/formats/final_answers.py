"""What a run ends with: the last message, or what a tool for handing in was given."""

from collections.abc import Iterable, Sequence

from evaluation_assets.core.traces.formats.transcript import Said, as_text
from evaluation_assets.core.traces.trajectories.model import Turn, arguments_in

_SUBMITTING = {
    "finish", "final_answer", "answer", "submit", "submit_answer", "attempt_completion", "task_complete",
    "final_result",
}  # fmt: skip
_SUBMITTED = ("answer", "final_answer", "message", "result", "submission", "output", "final_thought")
"""Tools that submit the final answer, and the arguments that contain it. All arguments of `final_result`, which is for
structured output, are the answer."""


def final_message(turns: Sequence[Turn]) -> str | None:
    """The last agent message, if the conversation is a single task and not a dialogue."""
    if len(turns) != 1 or not turns[0].interactions:
        return None
    return turns[0].interactions[-1].response


def last_words(outputs: Iterable[Said]) -> str | None:
    """The last message of an agent, by its outputs; `None` if it called a tool after it."""
    last: str | None = None
    for said in outputs:
        last = None if said.calls else said.message or last
    return last


def hands_in(name: str) -> bool:
    """Whether a tool of this name submits the final answer."""
    return name.lower() in _SUBMITTING


def final_submission(text: str, turns: Sequence[Turn], of: str | None = None) -> str | None:
    """The answer submitted by the last call, of all agents or `of` one, if that call submits one."""
    interactions = (one for turn in turns for one in turn.interactions if of is None or one.agent_id == of)
    steps = [step for interaction in interactions for step in interaction.steps]
    call = next((step.call for step in reversed(steps) if step.call is not None), None)
    if call is None or not hands_in(call.name):
        return None
    arguments = call.arguments or arguments_in(text[slice(*call.raw)])
    if arguments is None:
        return text[slice(*call.raw)].strip() or None
    if call.name.lower() == "final_result":
        return as_text(arguments)
    answer = next((arguments[name] for name in _SUBMITTED if arguments.get(name) not in (None, "")), None)
    return None if answer is None else as_text(answer)
