"""How well sessions are read without a model: who decided a failure, values from nowhere.

    python -m benchmarks.sessions [DATA]

DATA is a folder with the data sets `who-and-when` (Who&When: failed sessions with the agent and the step that people
found responsible), `tau-bench` and `tau2-bench` (conversations with tools); default: the folder that the tests use.
Every rate is printed with its counts and its 95% interval (Wilson). The shapes of identifiers were made with the
conversations in view. For reactions of users see reactions.py.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from math import sqrt
from pathlib import Path

from benchmarks.data_sets import given_folder, trajectories
from evaluation_assets.core.sections.sessions.analysing import analyse
from evaluation_assets.core.sections.sessions.analysis import FailureAttribution
from evaluation_assets.core.sections.sessions.attribution import Distribution
from evaluation_assets.core.sections.sessions.evidence import SessionEvidence
from evaluation_assets.core.sections.sessions.grounding import UngroundedValue, identifiers_in, ungrounded_values
from evaluation_assets.core.sections.sessions.interactions import interactions_of
from evaluation_assets.core.sections.sessions.similarity import LexicalSimilarity
from evaluation_assets.core.sections.sessions.tool_chain import ToolChain
from evaluation_assets.core.traces.trajectories.model import ToolCall, Trajectory

MEASURE = LexicalSimilarity()


def main() -> None:
    folder = given_folder()
    attributions(folder / "who-and-when")
    values([folder / "tau-bench", folder / "tau2-bench" / "ab"])


def attributions(folder: Path) -> None:
    """The likeliest agent and step against the label, beside the baselines and the label itself."""
    sessions = [(trajectory, _attribution(trajectory)) for trajectory in _trajectories(folder)]
    print(f"Who decided the failure (Who&When, {len(sessions)} sessions), without a judge:")
    names = ("evidence", "most_frequent_speaker", "last_agent", "random", "label fed back")
    for name in names:
        hits, shares = [], []
        for trajectory, found in sessions:
            label = trajectory.labels["mistake_agent"]
            guess = {**found.baselines, "evidence": found.agents, "label fed back": {label: 1.0}}[name]
            hits.append(_hit_rate(guess, label))
            shares.append(guess.get(label, 0.0))
        hit = f"hits {sum(hits):5.2f} of {len(hits)}"
        print(f"  agent: {name:24} {hit}, mean probability of the label {_mean(shares):.2f}")
    exact, near, chance, near_by_chance = [], [], [], []
    for trajectory, found in sessions:
        label = trajectory.extra["history_steps"][trajectory.labels["mistake_step"]]
        top = found.steps[0]
        distance = abs(_number(trajectory, top.turn_index, top.interaction, top.step) - label)
        exact.append(distance == 0)
        near.append(distance <= 5)
        chance.append(1 / found.steps_total)
        steps = range(found.steps_total)
        near_by_chance.append(sum(abs(step - label) <= 5 for step in steps) / len(steps))
    print(f"  step:  exact          {_rate(exact)}, random {_mean(chance):.1%}")
    print(f"  step:  within 5 steps {_rate(near)}, random {_mean(near_by_chance):.1%}")


def values(folders: list[Path]) -> None:
    """Identifiers in arguments: how many are called ungrounded as recorded, and with their digits changed."""
    trajectories = [trajectory for folder in folders for trajectory in _trajectories(folder)]
    calls = [(trajectory, step.call) for trajectory in trajectories for step in trajectory.calls if step.call]
    print(f"Values from nowhere ({len(trajectories)} conversations, {len(calls)} calls):")
    found = [each.value for each in chain.from_iterable(map(_ungrounded, trajectories))]
    identifiers = [
        (trajectory, call, value)
        for trajectory, call in calls
        for value in dict.fromkeys(value for _, value, _ in identifiers_in(trajectory.arguments(call)))
    ]
    print(f"  identifiers called ungrounded as recorded: {len(found)} of {len(identifiers)}")
    draw = random.Random(0)
    changed = [_is_found(trajectory, call, value, draw) for trajectory, call, value in identifiers]
    print(f"  found with other digits:  {_rate(hit for hit in changed if hit is not None)}")
    chains = [SessionEvidence(trajectory, MEASURE).tool_chain for trajectory in trajectories]
    for why in ("ignored_result", "repeated_call", "unchanged_retry"):
        print(f"  calls wasted as {why:16} {_rate(_wasted(chains, why))}")


def _wasted(chains: list[ToolChain], why: str) -> list[bool]:
    """Whether each call is wasted for this reason."""
    found = sum(call.why == why for each in chains for call in each.wasted)
    return [True] * found + [False] * (sum(each.calls for each in chains) - found)


def _is_found(trajectory: Trajectory, call: ToolCall, value: str, draw: random.Random) -> bool | None:
    """Whether the value is found with other digits; `None` where the change cannot be made in the text."""
    other = "".join(draw.choice("0123456789") if character.isdigit() else character for character in value)
    start, end = call.raw
    raw = trajectory.piece(call.raw)
    if other == value or value not in raw or call.arguments is not None:
        return None
    changed = replace(trajectory, text=trajectory.text[:start] + raw.replace(value, other) + trajectory.text[end:])
    return other in [each.value for each in _ungrounded(changed)]


def _ungrounded(trajectory: Trajectory) -> list[UngroundedValue]:
    return ungrounded_values(trajectory, interactions_of(trajectory))


def _attribution(trajectory: Trajectory) -> FailureAttribution:
    found = analyse(SessionEvidence(trajectory, MEASURE), {}, []).attribution
    assert found is not None, f"{trajectory.id} succeeded"
    return found


def _number(trajectory: Trajectory, turn: int, interaction: int, step: int) -> int:
    """The number of a step over the whole trajectory."""
    before = 0
    for turn_number, each in enumerate(trajectory.turns):
        for position, part in enumerate(each.interactions):
            if (turn_number, position) == (turn, interaction):
                return before + step
            before += len(part.steps)
    raise LookupError


def _trajectories(folder: Path) -> Iterator[Trajectory]:
    return chain.from_iterable(map(trajectories, sorted(folder.rglob("*.json"))))


def _rate(hits: Iterable[bool]) -> str:
    listed = list(hits)
    k, n, z = sum(listed), len(listed), 1.96
    middle, spread = (k + z * z / 2) / (n + z * z), z * sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    return f"{k:4} of {n:4} = {k / n:6.1%}  [{max(0.0, middle - spread):.1%}, {min(1.0, middle + spread):.1%}]"


def _hit_rate(guess: Distribution, label: str) -> float:
    """The chance that the most probable name of a distribution is the label; equals share it.

    1.0 for the label itself, for a uniform guess one over the number of names.
    """
    top = max(guess.values(), default=0.0)
    best = [name for name, probability in guess.items() if probability == top]
    return best.count(label) / len(best) if best else 0.0


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


if __name__ == "__main__":
    main()
