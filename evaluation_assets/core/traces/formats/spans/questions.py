"""What the program around the agents of a trace was asked."""

from evaluation_assets.core.traces.formats.spans.messages import plain_text
from evaluation_assets.core.traces.formats.spans.tree import Span
from evaluation_assets.core.traces.formats.untyped import decoded

ASKED_KEYS = (
    "task",
    "input",
    "query",
    "question",
    "prompt",
    "user_input",
    "user_message",
    "messages",
    "message",
    "inputs",
)
QUESTIONS = ("input.value", "traceloop.entity.input", "mlflow.spanInputs")
"""Attributes with the input of a span, and the names under which an object has the question."""

_SHORTEST = 8


def question_in(span: Span) -> str | None:
    """What a span was asked, if its input is a text, or has one under a known name."""
    given = next((span.attributes[key] for key in QUESTIONS if key in span.attributes), None)
    asked = (plain_text(given, ASKED_KEYS) or "").strip()
    return asked if len(asked) >= _SHORTEST and not asked.startswith(("{", "[")) else None


def is_put_so(asked: str, prompt: str) -> bool:
    """Whether a prompt says what an agent was asked, or the longest text among what was given to it."""
    given = decoded(asked)
    texts = [value for value in given.values() if isinstance(value, str)] if isinstance(given, dict) else []
    longest = max(texts or [asked], key=len).strip()
    return asked.strip() in prompt or longest in prompt or prompt.strip() in longest
