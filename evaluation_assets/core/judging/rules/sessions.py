"""How the embedded judge scores sessions, turns and interactions."""

from collections.abc import Callable, Mapping

from evaluation_assets.core.judging.rules.evidence import is_cut_off
from evaluation_assets.core.judging.rules.findings import Finding
from evaluation_assets.core.judging.rules.whole import completion
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.sections.sessions.evidence import SessionEvidence
from evaluation_assets.core.sections.sessions.interactions import SessionInteraction
from evaluation_assets.core.sections.sessions.tool_validation import validity
from evaluation_assets.core.text.nullable import mean_of

TurnScorer = Callable[[SessionEvidence, int], Finding]
PartScorer = Callable[[SessionEvidence, SessionInteraction], Finding]
SessionScorer = Callable[[SessionEvidence], Finding]


def user_satisfaction(seen: SessionEvidence, turn: int) -> Finding:
    """Cues of correction, incomprehension, complaint or thanks in the user's next message."""
    reaction = seen.reactions[turn]
    if reaction is None:
        return Finding(None, "there is no next message")
    if reaction.is_dissatisfied:
        return Finding(1, f"the next message shows {reaction.kind}: {reaction.cue}")
    if reaction.kind == "thanks":
        return Finding(8, f"the next message says: {reaction.cue}")
    return Finding(7, "the next message shows no cue of dissatisfaction, which does not exclude it")


def question_settled(seen: SessionEvidence, turn: int) -> Finding:
    """Whether the next message is nearly the same as the one before the answer."""
    reaction = seen.reactions[turn]
    if reaction is None:
        return Finding(None, "there is no next message")
    if reaction.similarity is None:
        return Finding(None, "there is no message to compare the next one with")
    if reaction.kind == "re_ask":
        return Finding(1, f"the next message asks the same again (similarity {reaction.similarity:.2f})")
    return Finding(7, f"the next message is a different one (similarity {reaction.similarity:.2f})")


def faithfulness(seen: SessionEvidence, turn: int) -> Finding:
    """Open: a contradiction requires understanding."""
    return Finding(None, "whether an answer contradicts what is known requires understanding")


def progress(seen: SessionEvidence, turn: int) -> Finding:
    """Whether there is an answer that is no refusal and follows no open failure.

    A phrase that is said again ("Anything else?") is no sign of standing still; calls and hand-offs in circles are.
    """
    response = seen.response(turn)
    if not response.strip():
        return _ends_with_a_call(seen, turn) or Finding(1, "there is no answer")
    if seen.declines(response):
        return Finding(None, "the answer declines; whether rightly requires understanding")
    if seen.parts_of_turn(turn)[-1].order in seen.in_loops:
        return Finding(3, "the turn ends in a loop")
    failed = seen.errors_of_turn(turn)
    if failed and failed[-1].recovered_at is None and not failed[-1].noticed:
        return Finding(4, f"the answer ignores a failure: {failed[-1].error}")
    return Finding(7, "there is an answer; whether it is right was not verified")


def tool_use(seen: SessionEvidence, part: SessionInteraction) -> Finding:
    """Share of calls to own tools with their parameters, and of calls that worked."""
    calls = part.calls
    if not calls:
        return Finding(None, "there are no calls")
    worked = sum(step.has_succeeded for step in calls) / len(calls)
    valid = validity(part)
    if valid is None:
        return Finding(2 + 6 * worked, f"{worked:.0%} of {len(calls)} calls worked; the agent's tools are unknown")
    points = 8 * min(valid, 0.25 + 0.75 * worked)
    return Finding(points, f"{valid:.0%} of {len(calls)} calls fit the agent's tools, {worked:.0%} worked")


def reasoning(seen: SessionEvidence, part: SessionInteraction) -> Finding:
    """Open: the words of a reasoning do not show whether it is right."""
    return Finding(None, "whether reasoning leads anywhere requires understanding")


def handoff(seen: SessionEvidence, part: SessionInteraction) -> Finding:
    """Share of what the next agent used that was handed over."""
    finding = seen.handoffs.get(part.order)
    if finding is None or finding.completeness is None:
        return Finding(None, "the next agent used nothing in particular that was known before")
    points = 9 * finding.completeness - (2 if finding.asked and finding.missing else 0)
    asked = "; it asked for more" if finding.asked else ""
    used = f"{len(finding.given)} of {len(finding.needed)} values the next agent used were handed over{asked}"
    return Finding(max(0.0, points), used)


def response_quality(seen: SessionEvidence, part: SessionInteraction) -> Finding:
    """Whether the agent did something, said something, and does not repeat itself."""
    if not part.messages.strip() and not part.calls:
        return Finding(1, "the agent neither says nor calls anything")
    if part.order in seen.says_again:
        return Finding(2, "the agent repeats an earlier message")
    if seen.declines(part.messages):
        return Finding(4, "the agent declines; whether rightly was not judged")
    return Finding(7, "the agent does something; whether it is right was not verified")


def soundness(seen: SessionEvidence, part: SessionInteraction) -> Finding:
    """Open: attribution weighs the evidence of failures itself; the rest requires understanding."""
    return Finding(None, "whether later work rests on an error requires understanding")


def on_task(seen: SessionEvidence, part: SessionInteraction) -> Finding:
    """Open: likeness of words is reported beside the scores, and is no judgement."""
    return Finding(None, "whether work serves the task requires understanding")


def coordination_boundaries(seen: SessionEvidence) -> Finding:
    """Duplicate work and ping-pong, per hand-off."""
    if not seen.flow.handoffs:
        return Finding(None, "no agent handed over to another")
    clashes = [repetition for repetition in seen.repeated if repetition.kind in ("duplicate_work", "ping_pong")]
    share = len(clashes) / len(seen.flow.handoffs)
    points = 8 if not clashes else max(1.0, 6 - 12 * share)
    return Finding(points, f"{len(clashes)} times work was done twice or passed back and forth")


def coordination_context(seen: SessionEvidence) -> Finding:
    """Mean completeness of the hand-offs, less those where the receiver asked back."""
    handoffs = list(seen.handoffs.values())
    complete = mean_of([finding.completeness for finding in handoffs])
    if complete is None:
        return Finding(None, "no agent used anything in particular that was known before")
    asked = sum(finding.asked and bool(finding.missing) for finding in handoffs) / len(handoffs)
    return Finding(max(0.0, 9 * complete - 4 * asked), f"{complete:.0%} of what receivers used was handed over")


def coordination_roles(seen: SessionEvidence) -> Finding:
    """Share of calls with tools of the agent's own."""
    known = [part for part in seen.parts if validity(part) is not None]
    calls = sum(len(part.calls) for part in known)
    if not calls:
        return Finding(None, "no call of an agent whose tools are known")
    strange = sum(issue.fault == "unauthorized_tool" for issue in seen.issues)
    points = 8 if not strange else max(0.0, 5 - 10 * strange / calls)
    return Finding(points, f"{strange} of {calls} calls went to tools the agent does not have")


def task_completion(seen: SessionEvidence) -> Finding:
    """Whether the last turn with an agent in it delivers, where something shows it."""
    if not seen.parts:
        return completion(seen.trajectory, "")
    turn = seen.parts[-1].turn
    response = seen.response(turn)
    if not response.strip() and (abstention := _ends_with_a_call(seen, turn)):
        return abstention
    return completion(seen.trajectory, response)


def _ends_with_a_call(seen: SessionEvidence, turn: int) -> Finding | None:
    """An abstention where the turn is the last one of an agent and ends with a call, such as a transfer to a person."""
    last = seen.parts[-1]
    if turn != last.turn or not last.calls or is_cut_off(seen.trajectory):
        return None
    return Finding(None, "the session ends with a call; whether it did what was wanted requires understanding")


TURN_SCORERS: Mapping[str, TurnScorer] = {
    "user_satisfaction": user_satisfaction,
    "question_settled": question_settled,
    "faithfulness": faithfulness,
    "progress": progress,
}
PART_SCORERS: Mapping[str, PartScorer] = {
    "tool_use": tool_use,
    "reasoning": reasoning,
    "handoff": handoff,
    "response_quality": response_quality,
    "soundness": soundness,
    "on_task": on_task,
}
SESSION_SCORERS: Mapping[str, SessionScorer] = {
    "coordination_boundaries": coordination_boundaries,
    "coordination_context": coordination_context,
    "coordination_roles": coordination_roles,
    "task_completion": task_completion,
}


def find_in_session(criterion: str, subject: Subject, seen: SessionEvidence) -> Finding:
    """The finding for one criterion of a session, a turn or an interaction.

    Raises:
        KeyError: no scorer knows the criterion.
    """
    if subject.part is not None:
        return PART_SCORERS[criterion](seen, seen.parts[subject.part.order])
    if subject.turn is not None:
        return TURN_SCORERS[criterion](seen, subject.turn)
    return SESSION_SCORERS[criterion](seen)
