"""The limits of models that are asked at one endpoint with one key: the strictest of each holds for all of them."""

from collections.abc import Sequence
from typing import TypeVar

from evaluation_assets.core.models.endpoints import EndpointSettings, endpoint_of
from evaluation_assets.core.models.providers.capabilities import PROVIDERS
from evaluation_assets.core.system.by_key import by_key

LIMITS = ("max_concurrency", "requests_per_minute", "tokens_per_minute")

Settings = TypeVar("Settings", bound=EndpointSettings)


def with_strictest_limits(models: Sequence[Settings]) -> list[Settings]:
    """The models with the limits that hold for them. A default `max_concurrency` yields to one that is set."""
    held = {model.name: _held(together) for together in _together(models) for model in together}
    return [model.model_copy(update=held.get(model.name, {})) for model in models]


def overruled_limits(models: Sequence[EndpointSettings]) -> list[str]:
    """A line for each limit that a model sets and that does not hold, because another one's is stricter."""
    return [
        f"{model.name}: {limit} {own:g} is overruled by {held:g}, which another model of the same endpoint has"
        for together in _together(models)
        for model in together
        for limit, held in _held(together).items()
        if limit in model.model_fields_set and (own := getattr(model, limit)) is not None and own != held
    ]


def _together(models: Sequence[Settings]) -> list[list[Settings]]:
    known = [model for model in models if model.provider in PROVIDERS]
    if len(known) < 2:
        return []
    from evaluation_assets.core.models.shared_limits import limited_together  # noqa: PLC0415  (SQLAlchemy: 0.2 s)

    groups = by_key((limited_together(endpoint_of(model)[0]), model) for model in known)
    return [group for group in groups.values() if len(group) > 1]


def _held(together: Sequence[EndpointSettings]) -> dict[str, float]:
    """The strictest of the limits that are set."""
    from evaluation_assets.core.models.shared_limits import strictest  # noqa: PLC0415  (SQLAlchemy: 0.2 s)

    held: dict[str, float] = {}
    for limit in LIMITS:
        given = [getattr(model, limit) for model in together if limit in model.model_fields_set]
        if (least := strictest(given)) is not None:
            held[limit] = least
    return held
