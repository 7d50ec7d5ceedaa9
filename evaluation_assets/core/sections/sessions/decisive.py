"""The decisive step of a failed session of several agents: a logistic regression over its steps.

Its weights are in `decisive.yaml`, with how well they did on sessions that they were not fitted on. It speaks only of
sessions like those: of orchestrated sessions, constants say as much.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import fsum, log1p

import numpy as np
import scipy
from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.sections.sessions.interactions import SessionInteraction, interactions_of
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.shipped_yaml import shipped_yaml
from evaluation_assets.core.traces.trajectories.model import Trajectory

TRAITS = ("first", "second", "third", "order", "brief", "length", "call", "failed", "new_figures", "new_agent")
"""What is known of a step: its place, whether it says little or much, whether it calls a tool and whether that failed,
how many numbers it brings up, and whether its agent has not acted before."""

_BRIEF = 60
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class DecisiveWeights(BaseModel):
    """The file `decisive.yaml`.

    Attributes:
        fitted_on: Sessions that the weights were fitted on.
        sessions: Number of them.
        fitted_by: Command that fits the weights, and prints the accuracies.
        most_steps: Steps that the longest of these sessions had.
        accuracy: Share of sessions whose agent, and whose step, is found while the session is left out.
        constant_accuracy: The same of the best constants: the agent of one certain step, and one certain step.
        weights: Weight of each trait of a step; probabilities of the steps are a softmax of the sums.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fitted_on: str
    sessions: int
    fitted_by: str
    most_steps: int
    accuracy: Mapping[str, float]
    constant_accuracy: Mapping[str, float]
    weights: Mapping[str, float]


class DecisiveStep(Frozen):
    """The step that most likely decided the failure, and the agent, each with its probability; these may disagree.

    An agent's probability is that of all of its steps. `step_agent_id` acted in the step. `accuracy` is how often such
    an agent, and such a step, was right in sessions that were left out.
    """

    agent_id: str
    agent_probability: float
    step_agent_id: str
    turn_index: int
    interaction: int
    step: int
    probability: float
    accuracy: dict[str, float]


@cache
def decisive_weights() -> DecisiveWeights:
    """The weights that ship with the project."""
    return DecisiveWeights.model_validate(shipped_yaml("evaluation_assets.core.sections.sessions", "decisive.yaml"))


def decisive_step(trajectory: Trajectory) -> DecisiveStep | None:
    """The decisive step of a failed session; `None` if it is unlike the sessions that the weights were fitted on."""
    parts = interactions_of(trajectory)
    fitted = decisive_weights()
    if not _is_group_chat(trajectory, parts, fitted.most_steps):
        return None
    sums = traits_of_steps(trajectory) @ np.array([fitted.weights[name] for name in TRAITS])
    probabilities = [float(each) for each in scipy.special.softmax(sums)]
    places = [(part, number) for part in parts for number in range(len(part.steps))]
    agents = by_key((part.agent_id, each) for (part, _), each in zip(places, probabilities, strict=True))
    shares = {agent: fsum(own) for agent, own in agents.items()}
    agent = max(shares, key=lambda name: shares[name])
    top = max(range(len(places)), key=lambda number: probabilities[number])
    part, step = places[top]
    return DecisiveStep(
        agent_id=agent,
        agent_probability=min(shares[agent], 1.0),
        step_agent_id=part.agent_id,
        turn_index=part.turn,
        interaction=part.position,
        step=step,
        probability=probabilities[top],
        accuracy=dict(fitted.accuracy),
    )


def _is_group_chat(trajectory: Trajectory, parts: Sequence[SessionInteraction], most_steps: int) -> bool:
    """Whether several agents talk to each other about one request, in a short session.

    In an orchestrated session, an agent plans in reasoning of its own, which sessions of the other kind do not record.
    """
    steps = [step for part in parts for step in part.steps]
    is_short = len(trajectory.turns) == 1 and 2 <= len(steps) <= most_steps
    has_several = len({part.agent_id for part in parts}) > 1
    return is_short and has_several and all(step.thought is None for step in steps)


def traits_of_steps(trajectory: Trajectory) -> np.ndarray:
    """By step of the whole session, the values of `TRAITS`."""
    rows: list[tuple[float, ...]] = []
    known, agents = set(_NUMBER.findall(trajectory.task)), set[str]()
    for part in interactions_of(trajectory):
        for step in part.steps:
            text = trajectory.piece(step.message) or trajectory.piece(step.thought)
            order, figures = len(rows), set(_NUMBER.findall(text))
            rows.append(
                (
                    order == 0,
                    order == 1,
                    order == 2,
                    log1p(order),
                    len(text) < _BRIEF,
                    log1p(len(text)),
                    step.call is not None,
                    step.has_failed,
                    log1p(len(figures - known)),
                    part.agent_id not in agents,
                )
            )
            result = "" if step.result is None else trajectory.piece(step.result.content)
            known |= figures | set(_NUMBER.findall(result))
            agents.add(part.agent_id)
    return np.array(rows, float).reshape(len(rows), len(TRAITS))
