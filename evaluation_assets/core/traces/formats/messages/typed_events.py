"""Events of a run that each say their kind, as programs log them, as chat messages.

{"type": "user", "content": "Is order 17 paid?"}
{"type": "tool_call", "name": "look_up", "arguments": {"order": 17}}
{"type": "tool_result", "content": "paid"}
{"type": "final_answer", "content": "It is paid."}
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.call_arguments import ARGUMENTS, given_in
from evaluation_assets.core.traces.formats.messages.chat import EXITS, meaning_of, role_of
from evaluation_assets.core.traces.formats.messages.given_beside import given_beside, may_be_tool
from evaluation_assets.core.traces.formats.outcome_words import outcome_of
from evaluation_assets.core.traces.formats.run_names import parent_of
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import decoded, first_text, list_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KINDS = (
    "kind", "type", "event", "event_type", "eventType", "event_name", "step_type", "speaker", "sender", "author",
)  # fmt: skip
_SPEAKERS = ("from", "who")
"""Who says an event, unless it is a message in the ShareGPT form."""

_HUMANS = ("human_agent", "live_agent", "human_operator", "operator")
"""People to whom an agent hands over."""

_MEANINGS = {
    **dict.fromkeys(_HUMANS, "assistant"),
    **dict.fromkeys(("system", "system_prompt", "system_message"), "system"),
    **dict.fromkeys(
        (
            "user", "user_message", "user_input", "human", "human_message", "prompt", "query", "question", "task",
            "customer", "caller", "visitor",
        ),
        "user",
    ),
    **dict.fromkeys(
        (
            "assistant", "assistant_text", "assistant_message", "agent", "agent_message", "ai", "aimessage", "text",
            "response", "answer", "final_answer", "final", "final_response", "assistant_final", "bot",
            "chatbot", "llm_response", "model_response", "llm_end", "llm_output", "llm_result", "model_output",
        ),
        "assistant",
    ),
    **dict.fromkeys(("thinking", "thought", "reasoning", "think", "reflection", "plan"), "thought"),
    **dict.fromkeys(("tool_use", "tool_call", "tool_calls", "tool_start", "action", "function_call", "call"), "call"),
    **dict.fromkeys(
        (
            "tool_result", "tool_response", "tool_output", "tool_end", "tool_message", "observation",
            "function_result",
        ),
        "result",
    ),
}  # fmt: skip
_TOOL = r"(?:on_)?(?:mcp_|agent_)?(?:tool|function|action)(?:_(?:use|call|invocation|execution))?"
_CALL = re.compile(
    rf"{_TOOL}_(?:start|started|begin|request|requested|called|invoked)(?:_event)?"
    r"|(?:mcp_|agent_)?(?:tool|function)_(?:use|call|invocation|execution)(?:_event)?|agent_action|call_tool|act"
)
_RESULT = re.compile(
    rf"(?!function_call_(?:output|result)\Z){_TOOL}_(?:result|response|output|end|ended|finish|finished|complete|completed|returned|done)(?:_event)?"
    r"|(?:agent_)?observ(?:e|ation)"
)
"""Other kinds of calls and results. Two of them are those of the Responses API."""
_ENDED = "(?:end|ended|finished|completed|done|response|result|output)"
_ANSWERED = rf"(?:on_)?(?:llm|model|chat_model)(?:_(?:call|request))?_{_ENDED}"
_SAID: dict[str, re.Pattern[str]] = {
    "user": re.compile(r"(?:user|human|customer)_(?:input|message|query|question|prompt|request)"),
    "thought": re.compile(
        r"(?:assistant|agent|model|ai|llm)_(?:thinking|thought|reasoning|reflection)(?:_(?:message|content|text|event))?"
        r"|(?:thinking|thought|reasoning)_(?:message|content|text|event)"
    ),
    "assistant": re.compile(rf"(?:assistant|agent|ai|bot)_(?:response|reply|answer|output|message)|{_ANSWERED}"),
}
"""Other kinds of what is said and thought."""
_STREAMED = re.compile("(?:^|_)(?:streaming|stream|delta|chunk|partial)(?=_|$)")
_MODELS = frozenset(("llm", "llm_call", "model_call", "llm_request", "generation", "chat_completion", "completion"))
"""Kinds of events that are requests to a model with its answer, which another event may have, too."""
_COMPLETIONS = ("completion", "response", "output", "message", "content", "text")
_LEVELS = ("level", "severity", "log_level")
"""What tells that a message of the system is one that a program logs."""
_END = re.compile(
    r"(?:on_)?(?:agent_)?(?:run|agent|task|session|workflow|chain)_(?:end|ended|finish|finished|complete|completed|done)(?:_event)?"
)
"""Kinds of events that may have the answer once more."""
_SUCCESS = ("success", "outcome", "resolved", "solved", "passed")
_NAMES = ("name", "tool", "tool_name", "toolName", "function", "action")
_SAME = ("name", "arguments")
"""What two events of one call have in common."""
_IDS = ("tool_call_id", "toolCallId", "call_id", "callId", "toolUseId", "tool_use_id", "id")
_TEXTS = ("content", "text", "message", "utterance", "body", "thought", "answer", "output", "response")
_GIVEN_BACK = (
    "result", "output", "observation", "tool_output", "toolOutput", "tool_result", "toolResult", "tool_response",
    "toolResponse", "function_result",
)  # fmt: skip
_SHOWN = ("content", *_GIVEN_BACK, "outcome", "response", "text", "utterance")
CALLS = ("tool_call", "toolCall", "function_call")
_OF_TOOLS = ("tool", "function")
_DATA = ("data", "payload", "details", "body", "outputs")
_IN_CONTENT = frozenset(("tool", "tool_name", "toolName", "tool_call_id", "text"))
"""What tells that the content of an event is not what a tool gave back, but has it inside."""
_AGENTS = ("agent", "agent_name", "agentName")
_READ = (
    *_KINDS, *_SPEAKERS, *_NAMES, *ARGUMENTS, *_IDS, *_TEXTS, *_SHOWN, *_DATA, "role", "tool_calls", "is_error",
    "isError", *CALLS, "error", "success", "status", "model", *EXITS, *_AGENTS,
)  # fmt: skip
_LEAST = 3
"""Events that a run has at least: what was asked, a call, and what came back."""


def are_events(items: Sequence[Any], *, is_asked: bool = False) -> bool:
    """Whether these are the events of a run: calls with the names of their tools, results, and no unknown words.

    Without calls, they are what a user and an agent said, and no more. Events of any program may be named after what
    it does: those of an agent say who asked or thought, unless something beside them `is_asked`.
    """
    if not items or not all(isinstance(item, dict) for item in items):
        return False
    items = without_streamed(items)
    kinds = list(map(_kind_of, items))
    if {"user", "assistant"} <= set(kinds) <= {"user", "assistant", "system"}:
        return not any(
            isinstance(value, dict | list) or name == "role" for item in items for name, value in item.items()
        )
    makers = [item for item, kind in zip(items, kinds, strict=True) if _makes_calls(item, kind)]
    calls = list(map(_calls, makers))
    others = (item for item, kind in zip(items, kinds, strict=True) if kind is None and not _is_logged(item))
    own = sum(map(_gives_back, makers))
    has_results = "result" in kinds or own > 0
    if len(items) + own < _LEAST:
        return False
    if not is_asked and all(map(_is_named_after_tool, items, map(_word_of, items))):
        return False
    return has_results and bool(calls) and all(calls) and not any(first_text(item, *_TEXTS) for item in others)


def without_streamed(events: Sequence[Any]) -> list[Any]:
    """The events without pieces of messages that other events have as a whole, and with what models answered."""
    events = _with_answers(events)
    words = [_normalised(_word_of(event)) for event in events]
    whole = {word for word in words if not _STREAMED.search(word)}
    return [
        event
        for event, word in zip(events, words, strict=True)
        if not _STREAMED.search(word) or _STREAMED.sub("", word).strip("_") not in whole
    ]


def _with_answers(events: Sequence[JsonObject]) -> list[JsonObject]:
    """The events, of which requests to models are what these answered, unless another event says it, too."""
    told = {first_text(opened(event), *_TEXTS) for event in events if not _asks_model(event)}
    return [_answer(event, told) if _asks_model(event) else event for event in events]


def _asks_model(event: JsonObject) -> bool:
    word = _normalised(_word_of(event))
    whole = opened(event) if re.fullmatch(_ANSWERED, word) else {}
    return word in _MODELS or any(isinstance(whole.get(name), dict) for name in _COMPLETIONS)


def _answer(event: JsonObject, told: Container[str | None]) -> JsonObject:
    whole = opened(event)
    message = next((found for name in _COMPLETIONS if isinstance(found := whole.get(name), dict)), whole)
    answer, calls = first_text(message, *_COMPLETIONS), message.get("tool_calls")
    if answer in told if answer else not calls:
        return event
    others = {key: value for key, value in whole.items() if key not in (*_KINDS, *_COMPLETIONS)}
    return {**others, "type": "assistant", "content": answer, **({"tool_calls": calls} if calls else {})}


def is_known(event: Any) -> bool:
    """Whether an event is of a kind that says something."""
    return isinstance(event, dict) and _kind_of(event) is not None


def others_in(events: Sequence[JsonObject]) -> dict[str, list[JsonObject]]:
    """The events of kinds that are not known, which say nothing, by their kinds."""
    found: dict[str, list[JsonObject]] = {}
    for item in events:
        if _kind_of(item) is None:
            found.setdefault(first_text(item, *_KINDS) or "unknown", []).append(item)
    return found


def requests_in(others: Mapping[str, list[JsonObject]]) -> int:
    """How many events of kinds that are not known hold what a model was given, as Inspect's model events do."""
    events = (opened(item) for items in others.values() for item in items)
    return sum(any(role_of(message) is not None for message in list_in(event.get("input"))) for event in events)


def wordless_in(others: Mapping[str, list[JsonObject]]) -> Iterator[JsonObject]:
    """The requests to a model among events of kinds that are not known, whose answers have no words."""
    return (opened(item) for items in others.values() for item in items if _asks_model(item))


def outcome_in(events: Sequence[JsonObject]) -> JsonObject:
    """What the event that ends a run says of its success."""
    ends = (opened(item) for item in reversed(events) if _is_end(_word_of(item)))
    said = (outcome_of(end.get(name)) for end in ends for name in _SUCCESS)
    return next(({"success": outcome} for outcome in said if outcome is not None), {})


def messages_of(events: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """The events as chat messages."""
    waiting: list[tuple[str, str]] = []
    announced: list[tuple[str | None, JsonObject]] = []
    told: list[tuple[str | None, str | None, str]] = []
    said_last: str | None = None
    for number, item in enumerate(events):
        kind, event = _kind_of(item), opened(item)
        words = _words_in(event)
        if kind is None or (kind == "end" and first_text(event, *_TEXTS) == said_last):
            continue
        kind = "assistant" if kind == "end" else kind
        read = (*_READ, *_given_beside(event)) if kind == "call" else _READ
        about = without_none({key: value for key, value in event.items() if key not in read})
        by = (
            {"name": agent}
            if kind in ("call", "thought", "assistant") and (agent := first_text(event, *_AGENTS))
            else {}
        )
        if _makes_calls(item, kind):
            said = first_text(item, *_KINDS)
            made = [call for call in _calls(item) if kind != "call" or not _was_announced(call, said, announced)]
            calls = [{**call, "id": call["id"] or f"event {number} {place}"} for place, call in enumerate(made)]
            waiting += [(call["id"], call["name"]) for call in calls]
            announced += [(said, call) for call in made]
            if calls:
                text = words if kind == "assistant" else None
                yield {**about, **by, "role": "assistant", "content": text, "tool_calls": calls}
            if len(calls) == 1 and _gives_back(item):
                waiting = [each for each in waiting if each[0] != calls[0]["id"]]
                yield _result_of(event, calls[0]["id"], among=(*_GIVEN_BACK, "error"))
            if calls or not _gives_back(item):
                continue
            kind = "result"  # of a call that another event has made
        if kind == "result":
            shown = next((event[key] for key in _SHOWN if event.get(key) is not None), event.get("error"))
            answered = first_text(event, *_IDS)
            of_tool = [call_id for call_id, name in waiting if name == first_text(event, *_NAMES)]
            is_known = not waiting or answered in dict(waiting)
            call_id = answered if is_known else next(iter(of_tool), waiting[0][0])
            waiting = [each for each in waiting if each[0] != call_id]
            announced = [each for each in announced if each[1]["id"] is None or each[1]["id"] != call_id]
            said = first_text(item, *_KINDS)
            if any(each[0] != said and each[1:] == (answered, as_text(shown)) for each in told[-1:]):
                continue  # another event has told it
            told.append((said, answered, as_text(shown)))
            yield {**about, **_result_of(event, call_id, among=(*_SHOWN, "error"))}
        else:
            text = words or ""
            said_last = first_text(event, *_TEXTS) if kind == "assistant" else said_last
            speaker = (_word_of(item) or "").lower()
            by = {"name": speaker} if speaker in _HUMANS else by
            said = {"reasoning_content": text} if kind == "thought" else {"content": text}
            yield {**about, **by, "role": "assistant" if kind == "thought" else kind, **said}


def _words_in(event: JsonObject) -> Any:
    """What an event says: a text, or a list of parts with texts and pictures."""
    parts = event.get("content")
    is_list = isinstance(parts, list) and bool(parts) and all(first_text(part, "type") for part in parts)
    return parts if is_list else first_text(event, *_TEXTS)


def _is_logged(event: JsonObject) -> bool:
    return any(isinstance(event.get(key), str) for key in _LEVELS)


def says_failed(data: JsonObject) -> bool:
    """Whether the fields of a call or result say that it failed: its success, a flag, or an exit code."""
    return (
        data.get("success") is False
        or any(data.get(flag) is True for flag in ("is_error", "isError"))
        or any(isinstance(code := data.get(name), int) and code for name in EXITS)
    )


def _result_of(event: JsonObject, call_id: str | None, *, among: Sequence[str]) -> JsonObject:
    """The message of a tool: what came back in one of these fields, and whether the call failed."""
    shown = next((event[key] for key in among if event.get(key) is not None), None)
    return without_none(
        {
            "role": "tool", "content": as_text(shown), "tool_call_id": call_id,
            "is_error": says_failed(event) or None,
            "error": event.get("error") or None, "status": event.get("status"),
        }
    )  # fmt: skip


def _gives_back(item: JsonObject) -> bool:
    """Whether the event of a call has what came back, too."""
    event = opened(item)
    return any(event.get(key) is not None for key in _GIVEN_BACK) or bool(event.get("error"))


def opened(event: JsonObject) -> JsonObject:
    """The event with the fields that it has in an object of their own."""
    content = event.get("content")
    if isinstance(content, dict) and not _IN_CONTENT.isdisjoint(content):
        return {**without_none({key: value for key, value in event.items() if key != "content"}), **content}
    if event.get("tool_calls") is None and isinstance(event.get("toolCalls"), list):
        others = {key: value for key, value in event.items() if key != "toolCalls"}
        event = {**others, "tool_calls": event["toolCalls"]}
    call = next((call for key in CALLS if isinstance(call := event.get(key), dict)), None)
    event = event if call is None or event.get("tool_calls") else {**event, "tool_calls": [call]}
    inner = next((value for key in _DATA if isinstance(value := event.get(key), dict)), {})
    return {**inner, **without_none(event)}


def _word_of(event: JsonObject) -> str | None:
    """The word that says what an event is, or who speaks."""
    return first_text(event, *_KINDS) or (None if "value" in event else first_text(event, *_SPEAKERS))


def _kind_of(event: JsonObject) -> str | None:
    kind = _word_of(event)
    if kind == "message":
        kind = first_text(event, "role")
        named = first_text(event, "from", "speaker", "sender", *_AGENTS)
        by_name = None if named is None else "user" if meaning_of(named) == "user" else "assistant"
        return meaning_of(kind) if kind is not None else by_name
    if kind in _OF_TOOLS:
        event = opened(event)
        is_call = given_in(event) is not None
        return "call" if is_call else "result" if any(event.get(key) is not None for key in _GIVEN_BACK) else None
    word = _normalised(kind)
    other = "call" if _CALL.fullmatch(word) else "result" if _RESULT.fullmatch(word) else None
    other = other or next((meaning for meaning, words in _SAID.items() if words.fullmatch(word)), None)
    known = _MEANINGS.get(word) or other or _MEANINGS.get(first_text(event, "role") or "")
    if known == "system" and _is_logged(event):
        return None
    if known is None and _is_end(kind) and parent_of(event) is None:
        return "end" if first_text(opened(event), *_TEXTS) else None
    return "call" if known is None and _is_named_after_tool(event, kind) else known


def _is_end(kind: str | None) -> bool:
    return _END.fullmatch(_normalised(kind)) is not None


def _normalised(kind: str | None) -> str:
    """A kind in lower case, with underscores between its words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[.-]", "_", kind or "").lower()


def _is_named_after_tool(event: JsonObject, kind: str | None) -> bool:
    """Whether the kind of an event is the name of the tool that was called in it."""
    return may_be_tool(kind) and any(event.get(key) is not None for key in _GIVEN_BACK) and bool(_given_beside(event))


def _given_beside(event: JsonObject) -> JsonObject:
    return given_beside(event, _READ)


def _makes_calls(item: JsonObject, kind: str | None) -> bool:
    """Whether an event is a call, or an answer of a model that makes some."""
    return kind == "call" or (kind == "assistant" and any(True for _ in objects_in(opened(item).get("tool_calls"))))


def _was_announced(call: JsonObject, kind: str | None, announced: list[tuple[str | None, JsonObject]]) -> bool:
    """Whether an event of another kind has made this call before: an answer, or its start. Each is one only once."""
    others = [each for each in announced if each[0] != kind]
    known = next((each for each in others if call["id"] is not None and each[1]["id"] == call["id"]), None)
    if known is None:
        same = (each for each in others if all(decoded(each[1][key]) == decoded(call[key]) for key in _SAME))
        known = next((each for each in same if None in (each[1]["id"], call["id"])), None)
    if known is not None:
        announced.remove(known)
    return known is not None


def _calls(item: JsonObject) -> list[JsonObject]:
    event = opened(item)
    several = list(objects_in(event.get("tool_calls")))
    calls = list(map(_flat, several or [event]))
    beside = None if several else _given_beside(event) or None
    own = _word_of(item) if _is_named_after_tool(event, _word_of(item)) else None
    made = [
        {
            "id": first_text(call, *_IDS),
            "name": first_text(call, *_NAMES) or own,
            "arguments": beside if (given := given_in(call)) is None else given,
        }
        for call in calls
    ]
    return made if all(call["name"] for call in made) else []


def _flat(call: JsonObject) -> JsonObject:
    """A call with the name and the arguments that it has in an object of its function."""
    function = call.get("function")
    if not isinstance(function, dict):
        return call
    return {**function, **{key: value for key, value in call.items() if key != "function"}}
