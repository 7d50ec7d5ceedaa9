"""What the spans of a trace state about all of it: tokens of agents and roots, why the model stopped, what failed."""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.run_usage import lacking
from evaluation_assets.core.traces.formats.spans.attributes import kind_of, usage_in
from evaluation_assets.core.traces.formats.spans.tree import Span, Trace
from evaluation_assets.core.traces.formats.stated import Comparisons
from evaluation_assets.core.traces.formats.transcript import one_line, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, decoded, list_in, listed
from evaluation_assets.core.traces.trajectories.model import Usage

_REASONS = (
    "gen_ai.response.finish_reasons", "gen_ai.response.finish_reason", "ai.response.finishReason",
    "llm.response.finish_reason", "gen_ai.completion.0.finish_reason",
)  # fmt: skip


def stated_usage(trace: Trace) -> Usage | None:
    """The usage that agents and roots state for all model spans below them; `None` if some model is below none."""
    usages: list[Usage] = []
    waiting = list(trace.roots)
    while waiting:
        span = waiting.pop()
        kind = kind_of(span)
        if kind == "model":
            return None
        used = None if kind == "tool" else usage_in(Fields(span.attributes))
        if used is None:
            waiting += span.children
        elif kind == "agent" or any(kind_of(below) == "model" for below in span.walk()):  # no embedding
            usages.append(used)
    return total(usages)


def usage_of_spans(models: Sequence[Usage | None], agents: Sequence[Usage | None], stated: Comparisons) -> Usage | None:
    """The usage of all model spans, or else that which agents state; what some model spans have is no total."""
    known = [used for used in models if used is not None]
    whole = total(agents)
    if known and len(known) == len(models):
        return total(known)
    if whole is None:
        lacking(stated, models)
    return whole


def stop_reason(spans: Sequence[Span]) -> str | None:
    """Why the last model stopped."""
    models = [span for span in spans if kind_of(span) == "model"]
    if not models:
        return None
    last = max(models, key=lambda span: span.start_s or 0)
    return next(_reasons(last), None)


def failure(trace: Trace) -> str | None:
    """The error of the last agent that no other agent called."""
    waiting = list(trace.roots)
    while waiting:
        span = waiting.pop()
        if kind_of(span) == "agent":
            return one_line(span.error)
        waiting += span.children
    return None


def _reasons(span: Span) -> Iterator[str]:
    for key in _REASONS:
        given: Any = decoded(span.attributes.get(key))
        yield from (each for each in listed(given) if isinstance(each, str))
    for message in list_in(decoded(span.attributes.get("gen_ai.output.messages"))):
        if isinstance(reason := at(message, "finish_reason"), str):
            yield reason
