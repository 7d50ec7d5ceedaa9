"""Calls as the fields of an object, as programs of their own write them: a tool, what it was given, what came back.

{"action": "look_up", "action_input": {"order": 17}, "observation": "paid"}
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.call_arguments import ARGUMENTS, given_in
from evaluation_assets.core.traces.formats.messages.chat import EXITS, FAILED, MADE, ROLES, meaning_of, role_of
from evaluation_assets.core.traces.formats.messages.contents import TEXTS
from evaluation_assets.core.traces.formats.messages.given_beside import given_beside
from evaluation_assets.core.traces.formats.messages.typed_events import CALLS, says_failed
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

THOUGHTS = ("thought", "thoughts", "reasoning", "thinking", "rationale", "reflection")
TOOLS = (
    "tool", "tool_name", "toolName", "function_name", "func_name", "action_name", "name", "function", "action", "fn",
    "api_name",
)  # fmt: skip
_IN_ACTIONS = ("name", "tool", "tool_name", "function", "action", "type", "action_type", "command")
RESULTS = (
    "observation", "observations", "tool_output", "toolOutput", "tool_result", "result", "output", "outputs",
    "response", "action_result", "tool_response", "toolResult", "toolResponse", "execution_result", "stdout",
    "obs", "rows", "returned", "return_value",
)  # fmt: skip
ERRORS = ("error", "error_message", "errorMessage", "exception", "stderr")
_OF_MESSAGES = ("name", "function", "response")
"""What means something else in a chat message, or may."""
_LISTS = ("tool_results", "toolResults", "tool_outputs", "toolOutputs", "function_results")
_SURELY_SHOWN = RESULTS[:5]
_OUTCOMES = ("success", "is_error", "isError", "tool_call_id", "call_id")
CODE = ("code", "command", "cmd", "sql", "sql_query")
"""What is run without a tool that is named."""
_ROLES = frozenset(ROLES.values())
_CALL = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*(?:\((.*)\)|\[(.*)\])?\s*", re.DOTALL)
_WITH_OBJECT = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*:?\s*(\{.*\})\s*", re.DOTALL)


def act_in(call: JsonObject) -> JsonObject | None:
    """The call in an object: its name and arguments, what came back, and the error."""
    place = _place_of(call)
    told = None if place is None else _named(call, place)
    if told is None:
        return None
    name, given, whole = told
    shown, error = _came_back(whole)
    return {"name": name, "arguments": given, "shown": shown, "error": error, "id": id_of(whole)}


def _place_of(call: JsonObject) -> str | None:
    """The field that names the tool or the action, or has the code that was run."""
    place = next((name for name in TOOLS if isinstance(call.get(name), str | dict) and call[name]), None)
    place = place or next((name for name in CALLS if isinstance(call.get(name), dict)), None)
    has_ended = _has_result(call) or any(call.get(name) for name in ERRORS)
    return place or next((name for name in CODE if has_ended and first_text(call, name)), None)


def _has_result(call: JsonObject) -> bool:
    return any(name in call for name in RESULTS)


def _named(call: JsonObject, place: str) -> tuple[str, Any, JsonObject] | None:
    """The name and the arguments of a call, and the object with what came back, which may stand in the call, too."""
    inner, given = call[place], given_in(call)
    if isinstance(inner, dict):
        inner = inner["function"] if isinstance(inner.get("function"), dict) else inner
        key = next((key for key in _IN_ACTIONS if isinstance(inner.get(key), str)), None)
        if key is None:
            return None
        more = {name: value for name, value in inner.items() if name not in (key, *THOUGHTS)}
        named = next((each for each in ARGUMENTS if each in more), None)
        whole = call if named is None else {**more, **call}
        return inner[key], (more if named is None else more[named]) if given is None else given, whole
    if place in CODE:
        return place, {place: inner}, call
    if given is not None:
        return inner, given, call
    if not _has_result(call) and (place != "action" or not _is_written_out(inner)):
        return None
    if (match := _CALL.fullmatch(inner)) is not None:
        beside = given_beside(call, (place, *RESULTS, *ERRORS))
        return match[1], match[2] or match[3] or beside, call
    return "action", {"action": inner}, call


def _came_back(call: JsonObject) -> tuple[Any, Any]:
    """What came back, and the error: a text, or true if nothing says which; false if the call is said to be one that
    succeeded.
    """
    shown = next((call[each] for each in RESULTS if call.get(each) is not None), None)
    failed = says_failed(call) or str(call.get("status")).lower() in FAILED
    told_in = ERRORS if failed else ERRORS[:-1]  # many programs write to stderr without an error
    error = next((call[each] for each in told_in if call.get(each)), None)
    failed = failed or bool(error)
    shown = error if shown is None and failed and error is not True else shown
    succeeded = False if call.get("success") is True else None
    return shown, error if isinstance(error, str) and error else failed or succeeded


def _is_written_out(action: str) -> bool:
    """Whether an action has what it is given in brackets: `stop [paid]`."""
    match = _CALL.fullmatch(action)
    return match is not None and any(match.groups()[1:])


def with_fields(messages: Sequence[Any]) -> Iterator[Any]:
    """Chat messages whose fields beside the text are a call, or what came back, with these as calls and results."""
    opened = [*map(_opened, map(_of_agent, _with_lists(messages)))]
    for number, (each, after) in enumerate(zip(opened, [*opened[1:], None], strict=False)):
        message = _with_written_action(each, is_answered=role_of(after) == "tool")
        if role_of(message) != "assistant" or any(map(message.get, MADE)):
            yield message
            continue
        act = _act_of(message)
        if act is None:
            shown = next((message[key] for key in _SURELY_SHOWN if message.get(key)), None)
            yield {key: value for key, value in message.items() if shown is None or key not in _SURELY_SHOWN}
            if shown is not None:
                yield {"role": "tool", "content": as_text(shown)}
            continue
        run = (act["name"],) if act["name"] in CODE else ()
        read = (*TOOLS, *CALLS, *ARGUMENTS, *RESULTS, *ERRORS, *EXITS, *_OUTCOMES, *run)
        call = {"id": act["id"] or f"message {number}", "name": act["name"], "arguments": act["arguments"]}
        others = {key: value for key, value in message.items() if key not in read or key in _OF_MESSAGES}
        yield {**others, "tool_calls": [call]}
        if act["shown"] is not None:
            shown = {"content": as_text(act["shown"]), "tool_call_id": call["id"], "error": act["error"]}
            yield {"role": "tool", **without_none(shown)}


def _with_written_action(message: Any, *, is_answered: bool) -> Any:
    r"""A message of an agent that has no words, but an action in a field: it is a call, or else what the agent says.

    {"role": "agent", "thought": "I look.", "action": "LookUp: {\"order\": 17}"}
    """
    action = first_text(message, "action")
    if action is None or role_of(message) != "assistant" or "content" in message or _act_of(message):
        return message
    others = {key: value for key, value in message.items() if key != "action"}
    if (match := _WITH_OBJECT.fullmatch(action)) is not None:
        return {**others, "tool_calls": [{"name": match[1], "arguments": match[2]}]}
    if not is_answered or action.rstrip().endswith((".", "!", "?")):
        return {**others, "content": action}
    return {**others, "tool_calls": [{"name": "action", "arguments": {"action": action}}]}


def _of_agent(entry: Any) -> Any:
    """An entry between the messages that is a call with its result, as a message of the agent.

    {"type": "LocalShellCall", "command": "ls", "stdout": "main.py"}
    """
    is_call = is_no_message(entry) and any(entry.get(name) is not None for name in RESULTS) and act_in(entry)
    return {**{key: value for key, value in entry.items() if key != "type"}, "role": "assistant"} if is_call else entry


def is_no_message(entry: Any) -> bool:
    """Whether an entry between messages says nothing, has a type that is not known, and what calls have."""
    return (
        isinstance(entry, dict)
        and "role" not in entry
        and isinstance(kind := entry.get("type"), str)
        and meaning_of(kind) not in _ROLES
        and not any(entry.get(name) for name in (*TEXTS, *MADE))
        and any(entry.get(name) is not None for name in (*CODE, *ARGUMENTS, *RESULTS))
    )


def is_act(message: JsonObject) -> bool:
    """Whether a message of an agent is a call in fields of its own."""
    return role_of(message) == "assistant" and _act_of(message) is not None


def _act_of(message: JsonObject) -> JsonObject | None:
    return act_in({key: value for key, value in message.items() if key not in _OF_MESSAGES})


def _opened(message: Any) -> Any:
    """A message whose content is a call, as one with the fields of the call."""
    content = at(message, "content")
    if role_of(message) != "assistant" or not isinstance(content, dict) or act_in(content) is None:
        return message
    return {**{key: value for key, value in message.items() if key != "content"}, **content}


def _with_lists(messages: Sequence[Any]) -> Iterator[Any]:
    """Chat messages with a message of a tool for each result in a list, which may repeat messages of tools."""
    waiting: list[Any] = []
    have_tools = any(role_of(message) == "tool" for message in messages)
    for message in messages:
        is_tool = role_of(message) == "tool"
        names = (*_LISTS, "results") if is_tool else () if have_tools else _LISTS
        name = next((name for name in names if list_in(at(message, name))), None)
        if is_tool and name is None and all(map(id_of, listed := list_in(at(message, "content")))) and listed:
            name = "content"
        waiting = list_in(at(message, "tool_calls")) or waiting
        if name is None:
            yield message
            continue
        results = by_name(waiting, message[name])
        if not is_tool:
            yield {key: value for key, value in message.items() if key != name}
        in_order = [at(call, "id") for call in waiting] if len(waiting) == len(results) else [None] * len(results)
        for result, call_id in zip(results, in_order, strict=True):
            shown = next((each for key in ("content", *RESULTS) if (each := at(result, key)) is not None), result)
            failed = {key: result[key] for key in (*ERRORS, *_OUTCOMES[:3], "status") if key in object_in(result)}
            yield {**failed, "role": "tool", "content": as_text(shown), "tool_call_id": id_of(result) or call_id}


def by_name(calls: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """The results in the order of their calls, if all name the tool that gave them."""
    asked = [first_text(call, *TOOLS) or first_text(at(call, "function"), "name") for call in calls]
    given = [first_text(result, *TOOLS) for result in results]
    of_tool: dict[str | None, list[Any]] = {}
    for name, result in zip(given, results, strict=True):
        of_tool.setdefault(name, []).append(result)
    is_named = None not in asked and Counter(asked) == Counter(given)
    return [of_tool[name].pop(0) for name in asked] if is_named else list(results)


def id_of(call: Any) -> str | None:
    """The ID of a call."""
    return first_text(call, "tool_call_id", "call_id", "id")
