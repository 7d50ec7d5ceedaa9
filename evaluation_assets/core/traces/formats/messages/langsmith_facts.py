"""What LangSmith says of a run as a whole: task, trial, outcome and agent, in its metadata and in feedback.

"extra": {"metadata": {"task_id": "order-7", "agent_version": "2.3"}}
"feedback_stats": {"success": {"n": 1, "avg": 1.0}}
"""

from collections.abc import Iterator
from dataclasses import replace

from evaluation_assets.core.traces.formats.context import (
    AGENT_FACTS,
    RUN_FACTS,
    Context,
    context_of,
    scored_outcome,
)
from evaluation_assets.core.traces.formats.stated import OUTCOME
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in


def facts_of(root: Fields, unmapped: UnmappedFields) -> Context:
    """The facts in the metadata of the root run, under the names of records, and the outcome in its feedback."""
    metadata = root.object("extra").object("metadata")
    facts = {name: metadata.peek(name) for name in RUN_FACTS | AGENT_FACTS if name in metadata}
    rated = list(_rated(root))
    with unmapped.peeking(facts) as fields:
        context = context_of(fields)
        agreed = fields.stated.agree(f"{OUTCOME} (its feedback)", context.success, *rated)
        left = {path.partition(" (")[0] for path in fields.paths()}
    metadata.set_aside(*facts.keys() - left)
    return replace(
        context,
        success=next((each for each in (context.success, *rated) if each is not None), None),
        disputed=context.disputed or not agreed,
        labels=context.labels | root.short("feedback_stats", "feedback"),
    )


def _rated(root: Fields) -> Iterator[bool]:
    """The outcomes that feedback states. An average of 0 or 1 is that of equal scores."""
    for name, score in object_in(root.peek("feedback_stats")).items():
        yield from scored_outcome(name, at(score, "avg")).values()
    for each in objects_in(root.peek("feedback")):
        yield from scored_outcome(first_text(each, "key") or "", each.get("value"), each.get("score")).values()
