"""The list price of a run that records tokens and no cost, where it is certain: of a run of one model.

A price may depend on the model and on the size of each request. So all that a record names as a model has to be the
model of the agents, and where tokens are known of the run only, their price must not depend on the size of requests.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evaluation_assets.core.text.nullable import whole_sum_of
from evaluation_assets.core.traces.prices import cost_of, list_price_of, provider_of
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets.core.traces.trajectories.requests import are_all, kept_requests

_MODEL = re.compile(r"(?:model|llm)(?:[._]?(?:name|id|version|slug))?(?:_or_path)?", re.IGNORECASE)
"""What the names of fields with a model end with."""
_BY_MODEL = re.compile(r"(?:model|models)_?usage|usage_?by_?models?", re.IGNORECASE)
"""Objects with the tokens of each model by its name."""
_VERSION = re.compile(r"[-@:](?:\d{4}.*|latest)")
"""What some name a model with, and others leave out."""


def is_same_model(one: str, other: str) -> bool:
    """Whether two names are of one model, with or without its provider and version."""
    short, long = sorted((provider_of(name)[1].rpartition("/")[2] for name in (one, other)), key=len)
    return long.startswith(short) and (len(long) == len(short) or _VERSION.fullmatch(long[len(short) :]) is not None)


def at_list_price_of_model(run: Trajectory, data: Any) -> Trajectory:
    """A run with the list price of tokens that have no cost, where certain. `data` is all that the run is read of."""
    used, model = run.usage, run.agents[0].model if run.agents else None
    if used is None or model is None or used.cost_usd is not None:
        return run
    cost = _cost(run, used, model)
    named = (*(agent.model or "" for agent in run.agents), *_models_in(data))
    if cost is None or not all(is_same_model(each, model) for each in named):
        return run
    return replace(run, usage=replace(used, cost_usd=cost, is_list_price=True))


def at_list_price_of_requests(run: Trajectory) -> Trajectory:
    """A run whose requests were kept with their models, with the list price of those whose cost is not known."""
    used, requests = run.usage, kept_requests(run)
    if used is None or used.cost_usd is not None or not are_all(used, [request.usage for request in requests]):
        return run
    cost = whole_sum_of([cost_of(request.usage, request.model) for request in requests])
    return run if cost is None else replace(run, usage=replace(used, cost_usd=cost, is_list_price=True))


def _cost(run: Trajectory, used: Usage, model: str) -> float | None:
    """What each step's request cost, if they are all that the run used, else the price of its tokens as a whole."""
    requests = [step.usage for step in run.steps if step.usage is not None]
    if are_all(used, requests):
        return whole_sum_of([cost_of(request, model) for request in requests])
    price = list_price_of(model)
    is_small = price.cliff is None or (used.input_tokens or 0) < price.cliff
    return price.cost(used) if is_small else None


def _models_in(data: Any) -> Iterator[str]:
    """All that a JSON value names as a model."""
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        if not isinstance(value, dict):
            continue
        for key, inner in value.items():
            if _BY_MODEL.fullmatch(key) and isinstance(inner, dict):
                yield from inner
            elif isinstance(inner, str) and inner and _names_model(key):
                yield inner
            elif isinstance(inner, dict | list):
                waiting.append(inner)


def _names_model(key: str) -> bool:
    found = _MODEL.search(key)
    return found is not None and found.end() == len(key)
