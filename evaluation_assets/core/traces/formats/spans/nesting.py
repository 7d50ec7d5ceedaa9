"""Spans inside spans: the work below one, and the model calls that two instrumentations recorded around each other."""

from collections.abc import Iterator
from dataclasses import replace

from evaluation_assets.core.traces.formats.spans.attributes import kind_of
from evaluation_assets.core.traces.formats.spans.tree import Span


def inner_models(span: Span) -> Iterator[Span]:
    """Model spans nested in a model span (a client's call in a framework's), except inside tools and agents."""
    waiting = list(span.children)
    while waiting:
        child = waiting.pop()
        kind = kind_of(child)
        if kind == "model":
            yield child
        elif kind in ("other", "chain"):
            waiting += child.children


def merged(span: Span, wrapper: Span | None) -> Span:
    """Merge a client's model span with that of the framework around it."""
    if wrapper is None:
        return span
    return replace(span, attributes={**wrapper.attributes, **span.attributes}, events=[*wrapper.events, *span.events])


def works(span: Span) -> bool:
    """Whether a span has a model, a tool or an agent below it."""
    return _has_below(span, "model", "tool", "agent")


def speaks(span: Span) -> bool:
    """Whether an agent's span says itself what its model was told and said, as no span below it does.

    Azure AI Foundry, which runs agents itself, writes spans of agents and tools alone.
    """
    told = all(f"gen_ai.{way}.messages" in span.attributes for way in ("input", "output"))
    return told and not _has_below(span, "model", "agent")


def _has_below(span: Span, *kinds: str) -> bool:
    return any(kind_of(below) in kinds for child in span.children for below in child.walk())
