"""What an agent of CrewAI was asked and answered, as OpenInference records it."""

from evaluation_assets.core.traces.formats.spans.tree import Span
from evaluation_assets.core.traces.formats.untyped import decoded, first_text, object_in


def is_of_crew(span: Span) -> bool:
    """Whether a span is the work of a crew's agent. Its input has the agent and its tools, but not the task."""
    return "crew_key" in span.attributes and "task_id" in span.attributes


def crew_task_in(span: Span) -> tuple[str | None, str | None]:
    """The task and the answer in the output of such a span. An agent that failed has no output."""
    output = object_in(decoded(span.attributes.get("output.value")))
    return first_text(output, "description"), first_text(output, "raw")
