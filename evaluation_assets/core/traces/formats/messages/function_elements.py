r"""Calls as elements in the text of a model, and results as the next message of the user, as OpenHands, R2E-Gym and
SWE-agent have them for models without calls of their own.

    <function=execute_bash>\n<parameter=command>ls</parameter>\n</function>
    EXECUTION RESULT of [execute_bash]:\n...      OBSERVATION:\n...
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.final_answers import hands_in
from evaluation_assets.core.traces.formats.messages.bare_calls import is_result_told, told_result
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.contents import split_thought
from evaluation_assets.core.traces.formats.messages.elements import Element, elements_in
from evaluation_assets.core.traces.formats.untyped import at, list_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_FUNCTION, _PARAMETER = "function", "parameter"
_OPEN, _CLOSED = f"<{_FUNCTION}=", f"</{_FUNCTION}>"
_RESULT = re.compile(r"\A\s*(?:EXECUTION RESULT of|Execution output of) \[([^\]\n]*)\]:[ \t]*\n?")
_EXIT_CODE = re.compile(r"^\[(?:Command finished|The command completed) with exit code (\d{1,9})\.?\]", re.MULTILINE)
_TASK = re.compile(r"-{5,} NEW TASK DESCRIPTION -{5,}\n(.*?)\n-{5,} END OF NEW TASK DESCRIPTION", re.DOTALL)


def calls_functions(messages: Sequence[Any]) -> bool:
    """Whether a message of a model has a call as an element."""
    return any(role_of(message) == "assistant" and _calls(text_of(message))[0] for message in messages)


def with_functions(messages: Sequence[Any]) -> Iterator[Any]:
    """The messages with their elements as calls, and with results as messages of tools."""
    is_waiting = has_ended = False
    are_told = any(role_of(one) == "user" and is_result_told(text_of(one)) for one in messages)
    for message in messages:
        text, role = text_of(message), role_of(message)
        if role == "assistant":
            thought, said = split_thought(text)
            calls, words = _calls(said)
            reasoning = "\n\n".join(filter(None, (thought, words.strip())))
            is_waiting, has_ended = bool(calls), any(hands_in(call["name"]) for call in calls)
            called = {"role": "assistant", "content": "", "reasoning": reasoning, "tool_calls": calls}
            yield {**message, **called} if calls else message
        elif is_waiting and (match := _RESULT.match(text)) is not None:
            shown = text[match.end() :]
            *_, code = ["0", *_EXIT_CODE.findall(shown)]
            failed = {"error": f"exit code {code}"} if int(code) else {}
            yield {"role": "tool", "content": shown, "name": match[1], **failed}
        elif is_waiting and are_told and role == "user" and (is_result_told(text) or not has_ended):
            is_waiting = False
            yield {"role": "tool", "content": told_result(text)}
        else:
            yield message


def task_in(messages: Sequence[Any]) -> str | None:
    """The task in the first prompt of OpenHands, after an example."""
    prompt = text_of(next((message for message in messages if role_of(message) == "user"), None))
    match = _TASK.search(prompt)
    return None if match is None else match[1].strip() or None


def function_in(element: Element) -> JsonObject:
    """The call in an element: its name, and its parameters as arguments, which Llama models write as JSON."""
    parameters, _ = elements_in(element.content, _PARAMETER)
    arguments: Any = {one.attributes.removeprefix("="): one.content.strip() for one in parameters}
    if not parameters and element.content.strip():
        arguments = element.content.strip()
    return {"name": element.attributes.removeprefix("=") or "unnamed", "arguments": arguments}


def text_of(message: Any) -> str:
    """The text of a message without calls, which is one text or has only parts of text."""
    content = at(message, "content")
    if at(message, "tool_calls"):
        return ""
    texts = [content] if isinstance(content, str) else [at(part, "text") for part in list_in(content)]
    return "\n".join(text for text in texts if isinstance(text, str)) if all(texts) else ""


def _calls(text: str) -> tuple[list[JsonObject], str]:
    """The calls in a text, and its words. The end of the last one is missing where it stopped the model."""
    if _OPEN not in text:
        return [], text
    cut_off = text.rfind(_OPEN) > text.rfind(_CLOSED)
    elements, words = elements_in(f"{text}\n{_CLOSED}" if cut_off else text, _FUNCTION)
    return [function_in(element) for element in elements], words
