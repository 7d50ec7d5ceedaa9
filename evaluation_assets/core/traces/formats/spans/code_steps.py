"""Steps of smolagents that run code of the model, which no span of a tool records."""

import re
from dataclasses import replace

from evaluation_assets.core.traces.formats.spans.pending import PendingEvents
from evaluation_assets.core.traces.formats.spans.tree import Span
from evaluation_assets.core.traces.formats.transcript import Call, Result, Said, one_line

_CODE = re.compile(r"```(?:py|python)?[ \t]*\n(.*?)```", re.DOTALL)
_CODE_STEP = '{"memory_step": "ActionStep('
_CODE_TOOL = "python_interpreter"
"""Prefix of a step recorded by smolagents, and its name for the tool that runs the model's code."""


def is_code_step(span: Span) -> bool:
    """Whether a span is a step that runs the code in what the model said."""
    return str(span.attributes.get("input.value", "")).startswith(_CODE_STEP)


def run_code(span: Span, events: PendingEvents, first: int) -> None:
    """Add the execution of code in a message since event `first` as a call, with the step's output as its result."""
    output = span.attributes.get("output.value")
    content = output if isinstance(output, str) else span.error or ""
    for entry in events.since(first):
        if not isinstance(entry.event, Said) or entry.event.calls or not entry.event.message:
            continue
        code = _CODE.findall(entry.event.message)
        if code:
            words = re.sub(r"\s*(?:Code:)?\s*$", "", entry.event.message[: entry.event.message.index("```")])
            call = Call(name=_CODE_TOOL, arguments="\n\n".join(part.rstrip() for part in code))
            entry.event = replace(entry.event, message=words or None, calls=(call,))
            entry.results = [Result(content=content, error=one_line(span.error))] if content else [None]
            events.remember(content)
            return
    if content and not events.is_known(content):
        events.observe(Result(content=content, error=one_line(span.error)))
        events.remember(content)
