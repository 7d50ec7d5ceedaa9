"""Runs that are cut off: at a user's message, or in the middle of the work."""

from dataclasses import replace
from random import Random

from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.sections.findings.faults.editing import user_message_end, with_steps
from evaluation_assets.core.sections.findings.faults.operator import Changed, NotApplicable
from evaluation_assets.core.sections.findings.finding import Place
from evaluation_assets.core.traces.trajectories.model import Interaction, Trajectory


def cut_off_at_user(trajectory: Trajectory, random: Random) -> Changed:
    """End the run with a user's message that is not answered. A call was made after it, so that work is missing."""
    called = max((at.turn for at in Course(trajectory).steps if at.step.call is not None), default=0)
    turns = [
        number
        for number, turn in enumerate(trajectory.turns)
        if 0 < number <= called and turn.user_message and turn.interactions
    ]
    if not turns:
        raise NotApplicable("no later message of a user with a call after it")
    turn = random.choice(turns)
    first = next(at.order for at in Course(trajectory).steps if at.turn == turn)
    place = Place(turn=turn)
    return Changed(
        trajectory=_ended(trajectory, turn, first, user_message_end(trajectory, turn)), place=place, origin=place
    )


def cut_off_midway(trajectory: Trajectory, random: Random) -> Changed:
    """End the run after a call; what the agents did then is missing, and so is the answer."""
    places = [at for at in Course(trajectory).steps[:-1] if at.step.call is not None]
    if not places:
        raise NotApplicable("no call with a later step")
    chosen = random.choice(places)
    after = _ended(trajectory, chosen.turn, chosen.order + 1, chosen.step.end)
    return Changed(trajectory=after, place=chosen.place(), origin=chosen.place())


def _ended(trajectory: Trajectory, turn: int, missing: int, end: int) -> Trajectory:
    """The run without the step of this index and all after it; its text ends at `end`, in a turn."""
    cut = with_steps(trajectory, lambda at: [at.step] if at.order < missing else [])
    *before, last = cut.turns[: turn + 1]
    whole = trajectory.turns[turn].interactions
    parts = tuple(map(_without_later_response, last.interactions, whole))
    flags = trajectory.flags
    if not before and "no_answer" not in flags:
        flags = (*flags, "no_answer")
    return replace(
        cut,
        turns=(*before, replace(last, interactions=parts)),
        text=trajectory.text[:end],
        final_answer=None,
        flags=flags,
    )


def _without_later_response(kept: Interaction, whole: Interaction) -> Interaction:
    return kept if len(kept.steps) == len(whole.steps) else replace(kept, response=None)
