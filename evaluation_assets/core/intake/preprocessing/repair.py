"""Insert missing closing tags into a text; nothing is removed and nothing else is changed."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace

from evaluation_assets.core.traces.trajectories.model import (
    Interaction,
    Repair,
    RepairAction,
    Span,
    Step,
    Trajectory,
    Turn,
)


def changes_text(actions: Iterable[RepairAction]) -> bool:
    """Whether repairs change the text: the others only say how a tag was read."""
    return "closed" in actions


def repaired(trajectory: Trajectory) -> Trajectory:
    """The trajectory with every missing closing tag where its block ends, and the steps moved along.

    `repairs` stays as it is: the log of what was amiss, with offsets into the text as it came.
    """
    insertions = [repair for repair in trajectory.repairs if repair.action == "closed"]
    if not insertions:
        return trajectory
    text = _with_insertions(trajectory.text, insertions)
    offsets = [repair.offset for repair in insertions]
    lengths = [0]
    for repair in insertions:
        lengths.append(lengths[-1] + len(_closing(repair)))

    def moved(position: int) -> int:
        return position + lengths[bisect_right(offsets, position)]

    def moved_span(span: Span) -> Span:
        """A closing tag at the end of a piece does not belong to it."""
        return span[0] + lengths[bisect_left(offsets, span[0])], span[1] + lengths[bisect_left(offsets, span[1])]

    def moved_step(step: Step) -> Step:
        if step.end < offsets[0]:
            return step
        call, result = step.call, step.result
        return replace(
            step,
            start=moved(step.start),
            end=moved(step.end),
            thought=step.thought and moved_span(step.thought),
            message=step.message and moved_span(step.message),
            call=call and replace(call, raw=moved_span(call.raw)),
            result=result and replace(result, content=moved_span(result.content)),
        )

    def moved_interaction(interaction: Interaction) -> Interaction:
        return replace(interaction, steps=tuple(map(moved_step, interaction.steps)))

    turns: tuple[Turn, ...] = tuple(
        replace(turn, interactions=tuple(map(moved_interaction, turn.interactions))) for turn in trajectory.turns
    )
    return replace(trajectory, text=text, turns=turns)


def _closing(repair: Repair) -> str:
    return f"</{repair.tag}>"


def _with_insertions(text: str, insertions: list[Repair]) -> str:
    pieces: list[str] = []
    position = 0
    for repair in insertions:
        pieces += (text[position : repair.offset], _closing(repair))
        position = repair.offset
    pieces.append(text[position:])
    return "".join(pieces)
