"""A model at an endpoint, as the client needs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.llm.timeouts import Timeouts


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """A model, its limits and how it is asked.

    `endpoint` is its address without a password. `structured` says how JSON is asked for where that is not the
    provider's usual way.
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
    structured: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
