"""Wasted calls of a session: unused results, repeated calls, and unchanged retries after the same error.

All other calls count as contributing, although a used result may still have misled: the share is an upper bound.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

from evaluation_assets.core.sections.sessions.interactions import SessionInteraction
from evaluation_assets.core.sections.sessions.progress import IgnoredResult
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.traces.trajectories.calls import CallKey, call_key
from evaluation_assets.core.traces.trajectories.model import Step, Trajectory

Waste = Literal["ignored_result", "repeated_call", "unchanged_retry"]


@dataclass(frozen=True, slots=True)
class WastedCall:
    """A wasted call; `step` is its position in the interaction.

    `ignored_result`: its result was never used. `repeated_call`: the previous identical call, by any agent, had the
    same result. `unchanged_retry`: the previous identical call ended in the same error.
    """

    interaction: SessionInteraction
    step: int
    tool: str
    why: Waste


@dataclass(frozen=True)
class ToolChain:
    """Number of calls per agent, and the wasted calls in order."""

    made: Mapping[str, int]
    wasted: tuple[WastedCall, ...]

    @property
    def calls(self) -> int:
        """Number of all calls."""
        return sum(self.made.values())

    def of(self, agent_id: str) -> Self:
        """The tool chain of one agent."""
        own = self._wasted_by_agent.get(agent_id, [])
        return type(self)({agent_id: self.made.get(agent_id, 0)}, tuple(own))

    @cached_property
    def _wasted_by_agent(self) -> dict[str, list[WastedCall]]:
        return by_key((call.interaction.agent_id, call) for call in self.wasted)

    @property
    def contributed(self) -> float | None:
        """Share of calls that were not wasted; `None` without calls."""
        return 1 - len(self.wasted) / self.calls if self.calls else None


def tool_chain(
    trajectory: Trajectory, parts: Sequence[SessionInteraction], ignored: Sequence[IgnoredResult]
) -> ToolChain:
    """Find the wasted calls of a session, given its ignored results.

    Each wasted call has one reason, the first of `repeated_call`, `unchanged_retry`, `ignored_result`. The first
    failure of a call is not waste; it is counted as a failure.
    """
    unused = {(each.interaction.order, each.step) for each in ignored}
    before: dict[CallKey, Step] = {}
    wasted: list[WastedCall] = []
    made: Counter[str] = Counter()
    for part in parts:
        for number, step in enumerate(part.steps):
            if step.call is None:
                continue
            made[part.agent_id] += 1
            key = call_key(trajectory, step)
            why = _repeats(trajectory, before.get(key), step)
            if why is None and (part.order, number) in unused:
                why = "ignored_result"
            if why is not None:
                wasted.append(WastedCall(part, number, step.call.name, why))
            before[key] = step
    return ToolChain(made, tuple(wasted))


def _repeats(trajectory: Trajectory, earlier: Step | None, step: Step) -> Waste | None:
    """Why a call is wasted compared with the previous identical call; `None` if it is not."""
    if earlier is None or earlier.result is None or step.result is None:
        return None
    first, again = (" ".join(trajectory.piece(each.content).split()) for each in (earlier.result, step.result))
    if first != again or earlier.result.error != step.result.error:
        return None
    return "repeated_call" if step.result.error is None else "unchanged_retry"
