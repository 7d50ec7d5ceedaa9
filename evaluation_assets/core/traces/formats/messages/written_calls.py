"""Calls that a model writes into the text of chat messages, as calls of the messages.

Hermes and Qwen models write `<tool_call>` elements with JSON and are given `<tool_response>` elements; LLaMA-Factory
and ms-swift have calls as messages from `function_call` and with the role `tool_call`. Terminus, the agent of Terminal-
Bench, answers with an object of commands that are typed into a terminal, and is given what it then shows. mini-SWE-
agent has one command in a fence of its own. `fenced_code` reads the code that gptme runs, `react_texts` the actions of
agents in the manner of ReAct, `token_calls` calls in special tokens, `answered_elements` calls with their results.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.traces.formats.messages.answered_elements import with_answered_elements
from evaluation_assets.core.traces.formats.messages.bare_calls import (
    bare_calls,
    is_call_alone,
    is_request,
    is_result_told,
    results_of,
    thought_beside,
    told_result,
    unfenced,
)
from evaluation_assets.core.traces.formats.messages.call_elements import (
    CALL,
    RESPONSE,
    call_elements,
    calls_in,
    response_in,
)
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.contents import split_thought
from evaluation_assets.core.traces.formats.messages.elements import element_in, elements_in
from evaluation_assets.core.traces.formats.messages.fenced_code import with_fenced_code
from evaluation_assets.core.traces.formats.messages.function_elements import (
    calls_functions,
    task_in,
    text_of,
    with_functions,
)
from evaluation_assets.core.traces.formats.messages.react_texts import with_actions
from evaluation_assets.core.traces.formats.messages.smolagents_messages import is_of_smolagents, with_calls
from evaluation_assets.core.traces.formats.messages.token_calls import has_token_calls, unread_in, with_token_calls
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import as_object, at, decoded, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_CALLERS = ("function_call", "tool_call", "function-call")
_BEGUN = re.compile(r"^[ \t]*<tool_call>", re.MULTILINE)
_DURATION = re.compile(r"duration=\"([0-9.]+)\"")
_INSTRUCTION, _STATE = "\nTask Description:", "\nCurrent terminal state:"
_WORDS = ("analysis", "state_analysis", "explanation", "plan")
_TERMINAL = "bash_command"
_COMPLETE = "task_complete"
_COMMAND = re.compile(r"^```mswea_bash_command[ \t]*\n(.*?)\n?^```[ \t]*$", re.MULTILINE | re.DOTALL)
_RETURN_CODE = re.compile(r"\s*<returncode>(-?\d+)</returncode>")
_SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What a command of mini-SWE-agent prints before what it hands in."""


@dataclass(frozen=True, slots=True)
class WrittenMessages:
    """Messages with their written calls as calls, and the task, where the prompt of an agent has it among others.

    `answer` is what a last command handed in. `unread` counts messages with a call that is cut off, or that is no call
    where the conversation has no others.
    """

    messages: list[Any]
    task: str | None = None
    unread: int = 0
    answer: str | None = None


def with_written_calls(messages: list[Any]) -> WrittenMessages:
    """Convert messages in which a model writes its calls; others are given back as they are."""
    if is_of_smolagents(messages):
        return WrittenMessages(list(with_calls(messages)))
    messages = list(with_answered_elements(messages))
    if any(_has_call(message) for message in messages):
        unread = sum(_begun(message) > len(_written(message).calls) for message in messages)
        return WrittenMessages([piece for message in messages for piece in _tagged(message)], unread=unread)
    messages = list(_with_bare_calls(messages))
    if has_token_calls(messages):
        return WrittenMessages(list(with_token_calls(messages)), unread=unread_in(messages))
    if calls_functions(messages):
        return WrittenMessages(list(with_functions(messages)), task_in(messages))
    if any(_typed(message) is not None for message in messages):
        return WrittenMessages(list(_terminal(messages)), _instruction(messages), answer=_submitted(messages))
    if (acted := with_actions(messages)) is not None:
        return WrittenMessages(acted)
    if (ran := with_fenced_code(messages)) is not None:
        return WrittenMessages(ran)
    unread = unread_in(messages) + sum(_begun(message) > 0 for message in messages)
    return WrittenMessages(messages, unread=unread)


def _with_bare_calls(messages: list[Any]) -> Iterator[Any]:
    """The messages. A text that consists of calls is calls if a tool answers it; in brackets, also the last one.

    Where most of what an agent says are calls, the user says their results. After parsed calls it only does if no tool
    answers any, and the user calls it so.
    """
    is_parsed = any(at(message, "tool_calls") for message in messages)
    is_told = not any(role_of(message) == "tool" for message in messages) if is_parsed else _are_results_told(messages)
    waiting: list[JsonObject] = []
    for number, (message, after) in enumerate(zip(messages, [*messages[1:], None], strict=False)):
        if waiting and not is_parsed and (results := results_of(waiting, _text(message)[1])):
            yield from ({**_without_text(message), **result} for result in results)
            waiting = []
            continue
        if waiting and is_told and _tells(message):
            answered = {"tool_call_id": at(waiting[-1], "id")} if len(waiting) > 1 else {}
            yield {**_without_text(message), **answered, "role": "tool", "content": told_result(_text(message)[1])}
            waiting = []
            continue
        if is_parsed:
            is_answered = is_told and role_of(after) == "user" and is_result_told(_text(after)[1])
            waiting = list(objects_in(at(message, "tool_calls"))) if is_answered else []
            yield message
            continue
        text = _text(message)[1] if role_of(message) == "assistant" else ""
        is_last = after is None and "=" in text and text.startswith("[")
        is_answered = is_last or role_of(after) == "tool" or (is_told and is_call_alone(text))
        waiting = bare_calls(text) if is_answered else []
        if len(waiting) > 1 and is_told:
            waiting = [{"id": f"call {number} {place}", **call} for place, call in enumerate(waiting)]
        if waiting:
            thought = {"reasoning_content": said} if (said := thought_beside(text)) else {}
            yield {**_without_text(message), "role": "assistant", "content": "", "tool_calls": waiting, **thought}
        else:
            yield message


def _tells(message: Any) -> bool:
    """Whether a message after a call tells its result: any of the user, or one of the system that calls it so."""
    return role_of(message) == "user" or (role_of(message) == "system" and is_result_told(_text(message)[1]))


def _are_results_told(messages: list[Any]) -> bool:
    """Whether most messages of the agent are a call alone, at least two of them, and one of the user follows.

    One is enough if what the user says is called a result, or if the call is a request of HTTP.
    """
    pairs = list(zip(messages, [*messages[1:], None], strict=False))
    said = [(_text(message)[1], role_of(after)) for message, after in pairs if role_of(message) == "assistant"]
    calls = [after for text, after in said if is_call_alone(text)]
    if any(is_result_told(_text(after)[1]) for message, after in pairs if is_call_alone(_text(message)[1])):
        return True
    if any(is_request(text) and after == "user" for text, after in said):
        return True
    return "user" in calls and len(calls) > 1 and 2 * len(calls) > len(said)


def _text(message: Any) -> tuple[str, str]:
    """The text of a message with the name of its field; empty if it has other parts or calls."""
    if not at(message, "tool_calls") and isinstance(value := at(message, "value"), str) and "content" not in message:
        return "value", value
    return "content", text_of(message)


@dataclass(frozen=True, slots=True)
class _Written:
    """The calls in the text of a message as they are written, and what else it says."""

    calls: tuple[str, ...]
    words: str = ""
    thought: str | None = None


def _written(message: Any) -> _Written:
    """What a model wrote; in its reasoning, a call is none."""
    text = _text(message)[1]
    if any(at(message, key) in _CALLERS for key in ("from", "role")):
        several = decoded(text)
        return _Written(tuple(map(as_text, several)) if isinstance(several, list) and several else (text,))
    if f"<{CALL}" not in text:
        return _Written((), text)
    thought, said = split_thought(text)
    elements, words = call_elements(said)
    return _Written(tuple(elements), words.strip(), thought)


def _has_call(message: Any) -> bool:
    return role_of(message) == "assistant" and any(map(calls_in, _written(message).calls))


def _begun(message: Any) -> int:
    """How many calls a model began to write, each at the beginning of a line."""
    if role_of(message) != "assistant" or f"<{CALL}" not in (text := _text(message)[1]):
        return 0
    return len(_BEGUN.findall(split_thought(text)[1]))


def _tagged(message: Any) -> Iterator[Any]:
    """A message of a Hermes conversation; one with several responses becomes a message for each."""
    role, (key, text) = role_of(message), _text(message)
    if role == "assistant" and (written := _written(message)).calls:
        calls = [call for each in written.calls for call in calls_in(each) or [{"name": "unnamed", "arguments": each}]]
        thought = {} if written.thought is None else {"reasoning": written.thought}
        yield {**message, key: written.words, "tool_calls": calls, **thought}
        return
    elements, rest = elements_in(text, RESPONSE) if role in ("tool", "user") else ([], text)
    yield from (
        {**_without_text(message), "role": "tool", **response_in(element.content.strip())} for element in elements
    )
    if not elements:
        yield message
    elif rest.strip() and role == "user":
        yield {**message, key: rest.strip()}


def _without_text(message: JsonObject) -> JsonObject:
    return {key: value for key, value in message.items() if key not in ("content", "value", "from", "role")}


def _terminal(messages: Sequence[Any]) -> Iterator[Any]:
    """The messages of Terminus: what follows its commands is what the terminal shows, and not the user."""
    is_waiting = False
    for message in messages:
        role = role_of(message)
        if role == "assistant":
            typed = _typed(message)
            is_waiting = typed is not None
            yield message if typed is None else {**_without_text(message), "role": "assistant", **typed}
        elif role == "user" and is_waiting:
            is_waiting = False
            shown = _text(message)[1]
            code = return_code_in(shown)
            failed = {"error": f"return code {code}"} if code else {}
            yield {**_without_text(message), "role": "tool", "content": shown, **failed}
        else:
            yield message


def _typed(message: Any) -> JsonObject | None:
    """The fields of a message whose text are commands for a terminal."""
    return typed_in(_text(message)[1]) if role_of(message) == "assistant" else None


def typed_in(said: str) -> JsonObject | None:
    """The fields of a message of commands for a terminal: its words, and all keystrokes as one call."""
    thought, text = split_thought(said)
    if len(fenced := _COMMAND.findall(text)) == 1:
        call = {"name": "bash", "arguments": {"command": fenced[0]}}
        words = "\n\n".join(filter(None, (thought, _COMMAND.sub("", text).strip())))
        return {"content": "", "reasoning": words, "tool_calls": [call]}
    answer = _answer(text)
    if answer is None:
        return None
    commands = list(objects_in(answer["commands"]))
    is_done = answer.get(_COMPLETE) is True or answer.get("is_task_complete") is True
    keystrokes = "".join(keys for command in commands if isinstance(keys := command.get("keystrokes"), str))
    durations = [seconds for command in commands if isinstance(seconds := command.get("duration"), int | float)]
    calls: list[JsonObject] = []
    if commands:
        arguments = {"keystrokes": keystrokes, **({"duration": sum(durations)} if durations else {})}
        calls = [{"name": _TERMINAL, "arguments": {**arguments, **({_COMPLETE: True} if is_done else {})}}]
    elif is_done:
        calls = [{"name": _COMPLETE, "arguments": {}}]
    words = "\n\n".join(word for key in _WORDS if isinstance(word := answer.get(key), str) and word.strip())
    return {"content": words, "tool_calls": calls, **({} if thought is None else {"reasoning": thought})}


def _answer(text: str) -> JsonObject | None:
    """The answer of Terminus, as JSON or XML; `None` for any other text."""
    parsed = as_object(unfenced(text))
    if isinstance(at(parsed, "commands"), list) and any(key in object_in(parsed) for key in _WORDS):
        return parsed
    if "<response>" not in text or "<commands>" not in text:
        return None
    typed = [{"keystrokes": one.content, **_duration(one.attributes)} for one in elements_in(text, "keystrokes")[0]]
    words = {key: inner for key in _WORDS if (inner := element_in(text, key)) is not None}
    return {**words, "commands": typed, _COMPLETE: (element_in(text, _COMPLETE) or "").lower() == "true"}


def _duration(attributes: str) -> JsonObject:
    match = _DURATION.search(attributes)
    try:
        return {} if match is None else {"duration": float(match[1])}
    except ValueError:
        return {}


def _submitted(messages: Sequence[Any]) -> str | None:
    """What the last command handed in, which is the last message."""
    *_, command, shown = messages if len(messages) > 1 else (None, None)
    match = _COMMAND.search(_text(command)[1])
    return _text(shown)[1].strip() or None if match is not None and _SUBMIT in match[1] else None


def _instruction(messages: Sequence[Any]) -> str | None:
    """The task in the first prompt of Terminus."""
    return instruction_in(_text(next((message for message in messages if role_of(message) == "user"), None))[1])


def return_code_in(shown: str) -> int | None:
    """The return code that mini-SWE-agent puts before what a command shows."""
    match = _RETURN_CODE.match(shown)
    return None if match is None else int(match[1])


def instruction_in(prompt: str) -> str | None:
    """The task in a prompt of Terminus, between its instructions and the state of the terminal."""
    _, _, rest = f"\n{prompt}".partition(_INSTRUCTION)
    task, marker, _ = rest.partition(_STATE)
    return task.strip() or None if marker else None
