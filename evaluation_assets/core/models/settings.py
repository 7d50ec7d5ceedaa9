"""A model at an endpoint, as the client needs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.models.dialects import Dialect, Feature, Structured
from evaluation_assets.core.models.timeouts import Timeouts


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """A model, its limits and how it is asked.

    Attributes:
        endpoint: Its address without a password.
        usual: How the provider is asked as a rule. What differs from it is part of a question's address.
        dialect: How the endpoint is asked at first.
        fixed: Features of the dialect that are not given up, even if the endpoint refuses them.
        ways: How the protocol can ask for JSON, from the strictest to the simplest.
    """

    name: str
    provider: str
    model: str
    endpoint: str
    max_concurrency: int
    requests_per_minute: float | None
    tokens_per_minute: float | None
    max_output_tokens: int
    max_input_tokens: int
    parameters: Mapping[str, Any]
    key_variable: str | None = None
    usual: Dialect = field(default_factory=Dialect)
    dialect: Dialect = field(default_factory=Dialect)
    fixed: frozenset[Feature] = frozenset()
    ways: tuple[Structured, ...] = ()
    timeouts: Timeouts = field(default_factory=Timeouts)
