"""Tokens and cost of a session by model: as recorded, else at public list prices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.traces.prices import list_price_of
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage


@dataclass(frozen=True, slots=True)
class Request:
    """Tokens of one model request, and its cost if the source recorded one."""

    model: str | None
    usage: TokenUsage
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a session used of one model; figures are `None` if those of some request are unknown.

    `is_list_price`: the source recorded no cost, and `cost_usd` is that of the tokens at public list prices.
    """

    model: str | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    is_list_price: bool


def spent_by_model(trajectory: Trajectory) -> Iterator[Spent]:
    """Yield what a session used of each model, in order of first use."""
    by_model = by_key((request.model, request) for request in _requests(trajectory))
    recorded = None if trajectory.usage is None else trajectory.usage.recorded_cost_usd
    for model, requests in by_model.items():
        own = recorded if len(by_model) == 1 else None
        spent = _spent(model, requests, own)
        # Without a total some answers lack their tokens, and those of the others are no total of a model either.
        is_known = trajectory.usage is not None
        unknown = dict.fromkeys(("input_tokens", "cached_tokens", "output_tokens", "cost_usd"))
        yield spent if is_known else replace(spent, **unknown, is_list_price=False)


def _spent(model: str | None, requests: Sequence[Request], recorded: float | None) -> Spent:
    usages = [request.usage for request in requests]
    cost = _whole([request.cost_usd for request in requests]) if recorded is None else recorded
    is_list_price = cost is None
    if cost is None:
        price = list_price_of(model)
        cost = _whole([price.cost(usage) for usage in usages])
    inputs, outputs = _whole([one.input_tokens for one in usages]), _whole([one.output_tokens for one in usages])
    return Spent(
        model=model,
        input_tokens=None if inputs is None else int(inputs),
        cached_tokens=sum(one.cached_tokens or 0 for one in usages),
        output_tokens=None if outputs is None else int(outputs),
        cost_usd=cost,
        is_list_price=is_list_price and cost is not None,
    )


def _requests(trajectory: Trajectory) -> Iterator[Request]:
    """The model requests of a session: as the reader kept them, else by steps, else one of the whole session."""
    kept = trajectory.extra.get("requests")
    if isinstance(kept, list) and kept:
        for model, inputs, cached, written, for_an_hour, outputs in kept:
            usage = TokenUsage(
                input_tokens=inputs,
                cached_tokens=cached,
                cache_write_tokens=written,
                cache_write_1h_tokens=for_an_hour,
                output_tokens=outputs,
            )
            yield Request(model, usage)
        return
    models = {agent.id: agent.model for agent in trajectory.agents}
    has_requests = False
    for turn in trajectory.turns:
        for interaction in turn.interactions:
            for usage in (step.usage for step in interaction.steps if step.usage is not None):
                has_requests = True
                yield Request(models.get(interaction.agent_id), _tokens(usage), usage.recorded_cost_usd)
    if not has_requests and trajectory.usage is not None:
        # A price may depend on the size of a request, so that of a whole session has none.
        used, model = trajectory.usage, trajectory.agents[0].model if trajectory.agents else None
        yield Request(
            model, TokenUsage(input_tokens=used.input_tokens, output_tokens=used.output_tokens), used.recorded_cost_usd
        )


def _tokens(usage: Usage) -> TokenUsage:
    return TokenUsage(
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
        output_tokens=usage.output_tokens,
    )


def _whole(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
