"""Voice simulations of tau2-bench, in which agent and user speak at once: ticks, and what the session consumed.

The fields are those of `tau2.data_model.message.Tick` and `tau2.data_model.usage.SessionUsage`.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.transcript import total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage


def messages_of(ticks: Iterable[Any]) -> list[JsonObject]:
    """The messages of a simulation, in the order in which they begin.

    The chunks of an utterance are one message, also where the other side speaks in the middle of it; so are utterances
    of one side with nothing between them. What the ticks say of sounds and of turn-taking is left out, and so are their
    times: those of the machine, which has its own pace, are no times of the conversation.
    """
    messages: list[JsonObject] = []
    spoken: dict[str, _Spoken] = {}
    for tick in ticks:
        for side, role in (("agent", "assistant"), ("user", "user")):
            chunk = at(tick, f"{side}_chunk")
            said = at(chunk, "content")
            if isinstance(said, str) and said:
                utterances = {one for one in at(chunk, "utterance_ids") or () if isinstance(one, str)}
                before = spoken.get(role)
                if before is not None and (before.continues(utterances) or messages[-1] is before.message):
                    before.add(said, utterances)
                else:
                    spoken[role] = _Spoken(role, said, utterances)
                    messages.append(spoken[role].message)
            calls = at(tick, f"{side}_tool_calls") or at(chunk, "tool_calls")
            if isinstance(calls, list) and calls:
                messages.append({"role": role, "content": None, "tool_calls": calls})
            results = at(tick, f"{side}_tool_results")
            if isinstance(results, list):
                messages += [result | {"timestamp": None} for result in results if isinstance(result, dict)]
    return messages


class _Spoken:
    """What a side said last, as the message that it is part of."""

    def __init__(self, role: str, text: str, utterances: set[str]) -> None:
        self.message: JsonObject = {"role": role, "content": text}
        self._utterances = utterances

    def continues(self, utterances: set[str]) -> bool:
        """Whether a chunk of these utterances belongs to what was said last."""
        return not self._utterances.isdisjoint(utterances)

    def add(self, text: str, utterances: set[str]) -> None:
        """Append a chunk; chunks of one utterance have their own spaces."""
        is_next = bool(self._utterances and utterances) and not self.continues(utterances)
        self.message["content"] += f" {text}" if is_next else text
        self._utterances = self._utterances | utterances


def session_usage(session: Fields) -> Usage | None:
    """What the agent of a voice simulation consumed: a record for each of its models, and the cost of them all."""
    tokens = total(_tokens(record) for record in session.objects("records"))
    cost = session.number("cost")
    session.set_aside("cost_breakdown", "pricing_version", "num_raw_records")
    return with_cost(tokens, cost)


def with_cost(tokens: Usage | None, cost: float | None) -> Usage | None:
    """A usage with the recorded cost of the whole run, which is 0 for models without a price."""
    if cost is None:
        return tokens
    return replace(tokens or Usage(), cost_usd=cost if cost > 0 else None)


def _tokens(record: Fields) -> Usage | None:
    whole, written, cached = (record.whole(f"{name}_tokens") for name in ("input", "output", "input_cached"))
    record.rest()  # shares of these by text and audio, and what other meters say
    return usage(whole, written, cached_tokens=cached)
