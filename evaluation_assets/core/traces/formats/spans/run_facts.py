"""What the span of a whole run says of it in attributes: task, trial, outcome, agent.

    task_id = "order-7", success = true                                 attributes of a program's own
    metadata.task_id, langfuse.trace.metadata.task_id, task.id          in the places of conventions
    gen_ai.evaluation.name = "success", gen_ai.evaluation.score.label = "pass"

The names are those that records of other formats have; see `context_of`.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.context import (
    AGENT_FACTS,
    NOTHING_KNOWN,
    RUN_FACTS,
    TASK_IDS,
    Context,
    context_of,
    merged,
    scored_outcome,
)
from evaluation_assets.core.traces.formats.spans.attributes import Kind, kind_of
from evaluation_assets.core.traces.formats.spans.tree import Span, Trace
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import as_object
from evaluation_assets.core.traces.trajectories.model import JsonObject

EVALUATION = "gen_ai.evaluation.result"
"""Event with the result of an evaluation."""

_OBJECTS = ("metadata", "langfuse.trace.metadata", "langfuse.observation.metadata")
_PLACES = (
    *(f"{name}." for name in _OBJECTS), "langsmith.metadata.", "traceloop.association.properties.",
    "ai.telemetry.metadata.", "gen_ai.evaluation.", "evaluation_assets.", "evaluation.", "eval.", "task.", "run.",
)  # fmt: skip
"""Attributes with an object, and what the names of attributes begin with, in the conventions for such facts."""
_FACTS = RUN_FACTS | AGENT_FACTS
_EVALUATED = tuple(f"gen_ai.evaluation.{part}" for part in ("name", "score.label", "score.value"))
_Place = tuple[str, str | None]
"""An attribute, and the field in it if it is an object."""
_WORK: tuple[Kind, ...] = ("tool", "check")


def facts_of(trace: Trace, unmapped: UnmappedFields) -> Context:
    """The facts of a run, which are taken from the attributes; what remains there is read, or counted as unmapped.

    Of the traces of a conversation the last one knows most.
    """
    traces: dict[str, list[Span]] = {}
    for root in trace.roots:
        traces.setdefault(root.trace_id, []).append(root)
    found = [_taken(span, unmapped) for roots in reversed(traces.values()) for span in _spans_of_run(roots)]
    return replace(merged(NOTHING_KNOWN, *found), trial=next((each.trial for each in found if each.trial), 0))


def task_in(span: Span) -> str | None:
    """The task that a span names."""
    return Fields(_facts_in(span)[0]).recorded_id(*TASK_IDS)


def outermost_agents(roots: Sequence[Span]) -> Iterator[Span]:
    """The agents that no other agent or tool runs."""
    waiting = list(reversed(roots))
    while waiting:
        span = waiting.pop()
        kind = kind_of(span)
        if kind == "agent":
            yield span
        elif kind not in _WORK:
            waiting += reversed(span.children)


def _spans_of_run(roots: Sequence[Span]) -> Iterator[Span]:
    """The root, and the only agent below it. Several roots are what is left of a trace whose root is missing."""
    if len(roots) == 1 and kind_of(roots[0]) not in _WORK:
        yield roots[0]
    agents = list(outermost_agents(roots))
    if len(agents) == 1 and agents[0] not in roots[:1]:
        yield agents[0]


def _taken(span: Span, unmapped: UnmappedFields) -> Context:
    """The facts in a span, without those attributes of it that nothing else reads."""
    facts, places = _facts_in(span)
    if not facts:
        return NOTHING_KNOWN
    with unmapped.peeking(facts) as fields:
        context = context_of(fields)
        left = {path.partition(" (")[0] for path in fields.paths()}
    for name in facts.keys() - left - AGENT_FACTS:
        for key, inner in places[name]:
            _remove(span.attributes, key, inner)
    return context


def _remove(attributes: JsonObject, key: str, inner: str | None) -> None:
    if inner is None:
        attributes.pop(key, None)
    elif (rest := as_object(attributes.get(key))) is not None:
        attributes[key] = {name: value for name, value in rest.items() if name != inner}


def _facts_in(span: Span) -> tuple[JsonObject, dict[str, list[_Place]]]:
    """The facts in a span's attributes and events, by the names of records; and the attributes that have each."""
    facts: JsonObject = {}
    places: dict[str, list[_Place]] = defaultdict(list)
    for key, inner, value in _stated(span.attributes):
        name = _name_of(key if inner is None else inner)
        if name is not None and name not in facts and not (name == "task_id" and "crew_key" in span.attributes):
            facts[name] = value
            places[name].append((key, inner))
    events = (event.attributes for event in span.events if event.name == EVALUATION)
    for attributes in (span.attributes, *events):
        name, *values = (attributes.get(key) for key in _EVALUATED)
        for key, outcome in scored_outcome(str(name), *values).items():
            if key not in facts:
                facts[key] = outcome
                places[key] += [(each, None) for each in _EVALUATED if attributes is span.attributes]
    return facts, places


def _stated(attributes: JsonObject) -> Iterator[tuple[str, str | None, Any]]:
    """Attributes, and fields of objects in attributes, with their values."""
    for key, value in attributes.items():
        inside = as_object(value) if key in _OBJECTS else None
        if inside is None:
            yield key, None, value
        else:
            yield from ((key, name, each) for name, each in inside.items())


def _name_of(key: str) -> str | None:
    """The name that records have for what an attribute has; `None` if they have none."""
    forms = (key, *(key.removeprefix(place) for place in _PLACES if key.startswith(place)))
    forms += (key.removeprefix("gen_ai."),) if key.startswith("gen_ai.agent.") else ()
    return next((name for form in forms if (name := form.replace(".", "_")) in _FACTS), None)
