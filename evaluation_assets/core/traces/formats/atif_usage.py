"""Tokens and costs of ATIF documents: those of their steps, and the totals that they state."""

from dataclasses import replace

from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.usage import usage_named
from evaluation_assets.core.traces.trajectories.model import Usage

_KINDS = ("input_tokens", "cached_tokens", "output_tokens", "cost_usd")


def usage_in_metrics(metrics: Fields) -> Usage | None:
    """The usage of a step."""
    metrics.set_aside("prompt_token_ids", "completion_token_ids", "logprobs")
    return usage_named(metrics, "prompt_tokens", "completion_tokens", ["cached_tokens"], ["cost_usd"])


def final_usage(metrics: Fields) -> Usage | None:
    """The total that a document reports."""
    cached, cost = ["total_cached_tokens"], ["total_cost_usd"]
    return usage_named(metrics, "total_prompt_tokens", "total_completion_tokens", cached, cost)


def whole_usage(steps: Usage | None, final: Usage | None) -> Usage | None:
    """Usage of a document: the sum over its steps, or the document's total for figures that no step reports."""
    if steps is None or final is None:
        return steps or final
    known = {kind: getattr(final if getattr(steps, kind) is None else steps, kind) for kind in _KINDS}
    return replace(steps, **known)


def at_least(used: Usage | None, final: Usage | None) -> Usage | None:
    """Usage of a document and its sub-agents, or the document's total if higher: it includes calls without steps.

    Some totals include the sub-agents and some do not, so sub-agents are never added to the total.
    """
    if used is None or final is None:
        return used
    pairs = {kind: (getattr(used, kind), getattr(final, kind)) for kind in _KINDS}
    return replace(
        used, **{kind: one if one is None or other is None else max(one, other) for kind, (one, other) in pairs.items()}
    )


def includes(final: Usage | None, used: Usage | None) -> bool:
    """Whether the total of a continuation may include what was used before it, as the totals of Terminus do."""
    if final is None or used is None or used.input_tokens is None:
        return False
    return (final.input_tokens or 0) >= used.input_tokens
