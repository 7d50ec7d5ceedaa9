"""Tokens and cost of a session by model: as recorded, else at public list prices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.nullable import sum_of, whole_sum_of
from evaluation_assets.core.traces.prices import list_price_of
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets.core.traces.trajectories.requests import are_all, requests_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a session used of one model; figures are `None` if they are not known of all that the session used.

    `is_list_price`: the source recorded no cost, and `cost_usd` is that of the tokens at public list prices.
    """

    model: str | None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    is_list_price: bool = False


def spent_by_model(run: Trajectory) -> Iterator[Spent]:
    """Yield what a session used of each model, in order of first use. The figures add up to those of the session."""
    used, requests = run.usage, requests_of(run)
    by_model = by_key((request.model, request.usage) for request in requests)
    if used is None or (requests and not are_all(used, [request.usage for request in requests])):
        yield from (Spent(model=model) for model in by_model)
    elif requests:
        for model, usages in by_model.items():
            yield _spent(model, usages, used.recorded_cost_usd if len(by_model) == 1 else None)
    else:
        model = run.agents[0].model if run.agents else None
        yield _figures(model, used, used.recorded_cost_usd, used.cost_usd)


def _spent(model: str | None, usages: Sequence[Usage], recorded: float | None) -> Spent:
    summed = Usage(
        input_tokens=whole_sum_of([one.input_tokens for one in usages]),
        cached_tokens=sum_of(one.cached_tokens for one in usages),
        output_tokens=whole_sum_of([one.output_tokens for one in usages]),
    )
    own = whole_sum_of([one.recorded_cost_usd for one in usages]) if recorded is None else recorded
    price = list_price_of(model)
    return _figures(model, summed, own, None if own is not None else whole_sum_of(list(map(price.cost, usages))))


def _figures(model: str | None, used: Usage, recorded: float | None, listed: float | None) -> Spent:
    return Spent(
        model=model,
        input_tokens=used.input_tokens,
        cached_tokens=used.cached_tokens,
        output_tokens=used.output_tokens,
        cost_usd=listed if recorded is None else recorded,
        is_list_price=recorded is None and listed is not None,
    )
