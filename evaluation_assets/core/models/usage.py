"""The tokens that endpoints report: what cannot be is unknown, with the reason, and has no price."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluation_assets.core.models.image_tokens import images_of
from evaluation_assets.core.models.messages import Reply, Request
from evaluation_assets.core.models.sizes import size_of_request
from evaluation_assets.core.text.exact_json import is_number
from evaluation_assets.core.traces.token_usage import TokenUsage

_MOST: Mapping[str, int] = {"output_tokens": 1_000_000, "reasoning_tokens": 1_000_000}
"""More than the longest replies of models, thinking included, by some times."""

_MOST_INPUT = 10_000_000
"""The largest context window of models."""

_ADDED = 20_000
"""Tokens that chat templates, and instructions of providers and gateways, may add to a request."""

_LARGEST_IMAGE = 20_000
"""Tokens of the largest image, of any model."""


def reported(counts: Mapping[str, Any], *, cached_beside: bool = False) -> tuple[TokenUsage, str | None]:
    """What an endpoint reports, by the names of `TokenUsage`; or nothing, and why it is not believed.

    `cached_beside` says that its input leaves the cached tokens out.
    """
    given: dict[str, int] = {}
    for name, count in counts.items():
        if count is None:
            continue
        said = name.replace("_", " ")
        if not is_number(count) or count != count // 1:
            return TokenUsage(), f"the endpoint reports no whole number of {said}"
        if count < 0:
            return TokenUsage(), f"the endpoint reports a negative number of {said}"
        if count > (most := _MOST.get(name, _MOST_INPUT)):
            return TokenUsage(), f"the endpoint reports more than {most} {said}"
        given[name] = int(count)
    written, for_an_hour = given.get("cache_write_tokens", 0), given.get("cache_write_1h_tokens", 0)
    if for_an_hour > written:
        return TokenUsage(), f"the endpoint reports {for_an_hour} of {written} cached tokens as kept for an hour"
    cached = given.get("cached_tokens", 0) + written
    if cached_beside and "input_tokens" in given:
        given["input_tokens"] += cached
    if cached > given.get("input_tokens", cached):
        return TokenUsage(), f"the endpoint reports {cached} cached tokens of {given['input_tokens']} input tokens"
    return TokenUsage(**given), None


def believed(reply: Reply, request: Request) -> Reply:
    """The reply without the usage that its request cannot have had: a token has at least one byte."""
    used = reply.usage.input_tokens
    most = size_of_request(request) + _LARGEST_IMAGE * len(images_of(request)) + _ADDED
    if used is None or used <= most:
        return reply
    why = f"the endpoint reports {used} input tokens for a request that has at most {most}"
    return replace(reply, usage=TokenUsage(), usage_problem=why)
