"""Fit the weights of the decisive step, and measure them on sessions that were left out.

    python -m benchmarks.decisive_steps [DATA] [--write]

DATA is a folder with the data set `who-and-when` (Who&When: failed sessions with the agent and the step that people
found decisive); default: the folder that the tests use. `--write` writes `decisive.yaml`. Weights are fitted to the
algorithm-generated sessions: a conditional logistic regression over the steps of a session, with a ridge.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
import yaml

from benchmarks.data_sets import DATA, trajectories
from evaluation_assets.core.sections.sessions import decisive
from evaluation_assets.core.sections.sessions.decisive import TRAITS, decisive_step, traits_of_steps
from evaluation_assets.core.sections.sessions.interactions import interactions_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

KINDS = {"Algorithm-Generated": "algorithm-generated", "Hand-Crafted": "orchestrated"}
RIDGE, FOLDS, REPEATS = 1.0, 10, 10


@dataclass(frozen=True)
class Session:
    """A labelled session: traits and agent of each step, the decisive step, and its agent."""

    trajectory: Trajectory
    traits: np.ndarray
    agents: list[str]
    step: int
    agent: str

    @classmethod
    def of(cls, run: Trajectory) -> "Session":
        agents = [part.agent_id for part in interactions_of(run) for _ in part.steps]
        step = run.extra["history_steps"][run.labels["mistake_step"]]
        return cls(run, traits_of_steps(run), agents, step, run.labels["mistake_agent"])

    def hits(self, probabilities: np.ndarray) -> tuple[bool, bool]:
        """Whether the most probable agent, and step, is the right one."""
        shares: dict[str, float] = {}
        for agent, probability in zip(self.agents, probabilities, strict=True):
            shares[agent] = shares.get(agent, 0.0) + float(probability)
        return max(shares, key=lambda name: shares[name]) == self.agent, int(probabilities.argmax()) == self.step


def main() -> None:
    """Print accuracies by kind of session; with `--write`, write the weights."""
    named = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    folder = Path(named[0]) if named else DATA
    fitted: dict[str, object] = {}
    for name, kind in KINDS.items():
        sessions = [
            Session.of(run)
            for path in sorted((folder / "who-and-when" / name).glob("*.json"))
            for run in trajectories(path)
        ]
        constants, found = _constants(sessions), _left_out(sessions)
        spoken = sum(decisive_step(session.trajectory) is not None for session in sessions)
        print(f"{kind}, {len(sessions)} sessions; the shipped weights speak of {spoken}:")
        print(f"  sessions left out  agent {found['agent']:.3f}  step {found['step']:.3f}")
        print(f"  best constants     agent {constants['agent']:.3f}  step {constants['step']:.3f}")
        if not fitted:
            fitted = {
                "fitted_on": "the algorithm-generated sessions of Who&When (arXiv 2505.00212) with even numbers",
                "sessions": len(sessions),
                "fitted_by": "python -m benchmarks.decisive_steps --write",
                "most_steps": max(len(session.agents) for session in sessions),
                "accuracy": found,
                "constant_accuracy": constants,
                "weights": dict(zip(TRAITS, [round(float(each), 4) for each in fit(sessions)], strict=True)),
            }
    if "--write" in sys.argv:
        target = Path(decisive.__file__).with_suffix(".yaml")
        head = "# Weights of the decisive step of a failed session; see decisive.py for what they mean.\n"
        target.write_text(head + yaml.safe_dump(fitted, sort_keys=False), "utf-8")


def fit(sessions: Sequence[Session]) -> np.ndarray:
    """Weights of the traits. The ridge is on traits in standard deviations."""
    traits = np.concatenate([session.traits for session in sessions])
    deviations = traits.std(axis=0)
    scale = np.where(deviations > 0, deviations, np.inf)
    scaled = traits / scale
    lengths = [len(session.traits) for session in sessions]
    starts = np.cumsum([0, *lengths[:-1]])
    decisive_traits = np.sum([session.traits[session.step] for session in sessions], axis=0) / scale

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        sums = scaled @ weights
        highest = np.maximum.reduceat(sums, starts)
        shares = np.exp(sums - np.repeat(highest, lengths))
        totals = np.add.reduceat(shares, starts)
        value = RIDGE * weights @ weights + (highest + np.log(totals)).sum() - decisive_traits @ weights
        slope = 2 * RIDGE * weights + (shares / np.repeat(totals, lengths)) @ scaled - decisive_traits
        return float(value), slope

    found = scipy.optimize.minimize(loss, np.zeros(len(TRAITS)), jac=True, method="BFGS")
    return found.x / scale


def _left_out(sessions: Sequence[Session]) -> dict[str, float]:
    """Mean accuracy over repeated ten-fold cross-validation by session."""
    hits = []
    for repeat in range(REPEATS):
        order = np.random.RandomState(repeat).permutation(len(sessions))
        for fold in range(FOLDS):
            apart = {int(number) for number in order[fold::FOLDS]}
            weights = fit([session for number, session in enumerate(sessions) if number not in apart])
            hits += [
                sessions[number].hits(scipy.special.softmax(sessions[number].traits @ weights)) for number in apart
            ]
    agent, step = np.mean(hits, axis=0)
    return {"agent": round(float(agent), 3), "step": round(float(step), 3)}


def _constants(sessions: Sequence[Session]) -> dict[str, float]:
    """The best of: the agent of one certain step, first or last; one certain step."""
    places = range(-3, 8)
    agents = [np.mean([_at(session.agents, place) == session.agent for session in sessions]) for place in places]
    steps = [np.mean([session.step == place for session in sessions]) for place in places]
    names = {session.agent for session in sessions}
    agents += [np.mean([session.agent == name for session in sessions]) for name in names]
    return {"agent": round(float(max(agents)), 3), "step": round(float(max(steps)), 3)}


def _at(agents: Sequence[str], place: int) -> str:
    return agents[max(-len(agents), min(place, len(agents) - 1))]


if __name__ == "__main__":
    main()
