"""Subjects of a session: every interaction, every turn with the next user message, and the whole session.

Interactions are one conversation with a judge and turns another, so that a judge of turns sees what the user saw.
"""

from collections.abc import Iterator
from functools import partial

from evaluation_assets.core.judging.fences import Show
from evaluation_assets.core.judging.rubrics.model import Need, Rubrics
from evaluation_assets.core.judging.subjects import Chain, Subject, chain_of, whole
from evaluation_assets.core.sections.sessions.interactions import (
    SessionInteraction,
    definitions,
    interactions_of,
    speakers,
)
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.traces.trajectories.model import Trajectory

SESSION = "session"

_OUTLINE = 400
"""Characters of a message in the outline of a session."""


def session_chain(trajectory: Trajectory, rubrics: Rubrics) -> Chain:
    """The subjects of a session: its interactions in order, then its turns, then all of it."""
    parts = interactions_of(trajectory)
    subjects = (*_interactions(trajectory, parts, rubrics), *_turns(trajectory, parts, rubrics))
    return chain_of(trajectory, (*subjects, _session(trajectory, parts, rubrics)))


def turn_name(turn: int) -> str:
    """What a turn is called in verdicts."""
    return f"turn/{turn}"


def _interactions(trajectory: Trajectory, parts: list[SessionInteraction], rubrics: Rubrics) -> Iterator[Subject]:
    rubric = rubrics.choose("interaction")
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        handed_over = following is not None and following.turn == part.turn and following.agent_id != part.agent_id
        there_is: dict[Need, bool] = {
            "tool_calls": bool(part.calls),
            "thoughts": bool(part.thoughts),
            "handoff": handed_over,
        }
        yield Subject(
            level="interaction",
            name=part.name,
            rubric=rubric,
            trajectory=trajectory,
            chain_rubrics=(rubric,),
            there_is=frozenset(need for need, exists in there_is.items() if exists),
            heading=f"Turn {part.turn + 1}, contribution {part.position + 1}.",
            contents=(whole(_who(trajectory, part.agent_id)), whole(part.text)),
            part=part,
        )


def _turns(trajectory: Trajectory, parts: list[SessionInteraction], rubrics: Rubrics) -> Iterator[Subject]:
    rubric = rubrics.choose("turn")
    said_in = by_key((part.turn, part.messages) for part in parts if part.messages)
    for number, turn in enumerate(trajectory.turns):
        if not turn.interactions:  # the user said goodbye, or went on at once: there is no answer to judge
            continue
        following = trajectory.turns[number + 1].user_message if number + 1 < len(trajectory.turns) else None
        said = said_in.get(number, [])
        shown = {
            "The user said": turn.user_message,
            "This is known": turn.knowledge,
            "The answer": said[-1] if said else "(no answer)",
            "The user said next": following,
        }
        there_is: dict[Need, bool] = {
            "next_user_message": following is not None,
            "knowledge": turn.knowledge is not None,
        }
        yield Subject(
            level="turn",
            name=turn_name(number),
            rubric=rubric,
            trajectory=trajectory,
            chain_rubrics=(rubric,),
            there_is=frozenset(need for need, exists in there_is.items() if exists),
            heading=f"Turn {number + 1}.",
            contents=tuple(whole(f"[{label}:]\n{text}") for label, text in shown.items() if text is not None),
            turn=number,
        )


def _session(trajectory: Trajectory, parts: list[SessionInteraction], rubrics: Rubrics) -> Subject:
    rubric = rubrics.choose("session")
    acted = speakers(trajectory)
    agents = dict.fromkeys((*definitions(trajectory), *acted))
    return Subject(
        level="session",
        name=SESSION,
        rubric=rubric,
        trajectory=trajectory,
        chain_rubrics=(rubric,),
        there_is=frozenset({"several_agents"}) if len(acted) > 1 else frozenset(),
        heading="The session as a whole, from beginning to end.",
        contents=(
            whole("\n".join(_who(trajectory, agent) for agent in agents)),
            partial(_outline, trajectory, parts),
        ),
    )


def _who(trajectory: Trajectory, agent_id: str) -> str:
    agent = definitions(trajectory).get(agent_id)
    if agent is None:
        return f"[agent {agent_id}]"
    tools = "unknown" if agent.tools is None else ", ".join(tool.name for tool in agent.tools) or "none"
    tools += " and others that are not recorded" if agent.has_other_tools else ""
    about = "; ".join(text for text in (agent.role, agent.description) if text)
    return f"[agent {agent_id}{f' ({about})' if about else ''}; tools: {tools}]"


def _outline(trajectory: Trajectory, parts: list[SessionInteraction], show: Show) -> str:
    """One line for every message and call. Messages are shown before they are cut: a part of a key is not known as one.

    The lines are shown together too, since a marker may begin in one and end in another.
    """
    return show("\n".join(_lines(trajectory, parts, show)))


def _lines(trajectory: Trajectory, parts: list[SessionInteraction], show: Show) -> Iterator[str]:
    turn = -1
    for part in parts:
        if part.turn != turn:
            turn = part.turn
            if asked := trajectory.turns[turn].user_message:
                yield f"user: {_short(show(asked))}"
        for step in part.calls:
            ended = "failed" if step.has_failed else "ok" if step.result is not None else "no result"
            yield f"{part.agent_id} calls {step.call.name if step.call else ''}: {ended}"
        if part.messages:
            yield f"{part.agent_id}: {_short(show(part.messages))}"


def _short(text: str) -> str:
    line = " ".join(text[: _OUTLINE * 2].split())
    return line[:_OUTLINE] + ("…" if len(line) > _OUTLINE else "")
