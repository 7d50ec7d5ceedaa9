"""Where records have chat messages: a list under one of several names, as JSON text, or a prompt and its completion."""

import operator
from datetime import datetime
from typing import Any

from evaluation_assets.core.traces.formats.durations import STARTED
from evaluation_assets.core.traces.formats.messages.answered_questions import answered_question
from evaluation_assets.core.traces.formats.messages.asked_beside import with_given
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.framework_messages import as_chat_messages, is_of_framework
from evaluation_assets.core.traces.formats.messages.glaive import glaive_record, is_of_glaive
from evaluation_assets.core.traces.formats.messages.request_steps import with_requests
from evaluation_assets.core.traces.formats.messages.rollouts import is_rollout, rollout_record
from evaluation_assets.core.traces.formats.messages.scored_groups import runs_of_group
from evaluation_assets.core.traces.formats.messages.several_runs import runs_in
from evaluation_assets.core.traces.formats.run_usage import usage_of_answer
from evaluation_assets.core.traces.formats.times import chronological, moment, seconds_of
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import (
    as_number,
    at,
    decoded,
    list_in,
    listed,
    object_in,
    without_none,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

LISTS = ("messages", "traj", "conversation", "conversations", "trajectory")
"""Fields of a record whose value are its messages."""

_ASKED_AND_SAID = (
    ("prompt", "completion"), ("query", "response"), ("prompt", "response"), ("prompt", "output"), ("input", "output"),
)  # fmt: skip
_SAID_IN_THE_END = ("response", "completion", "output", "reply", "generation")
"""Fields of a record that may have its last answer as a text, which is not among its messages."""
_STORES = ("chat_message_store_state", "storeState")
"""Fields of a thread of Microsoft Agent Framework that hold its messages."""
_STEPS, _CALLS = "intermediate_steps", "tool_calls"
_QUERY, _ANSWERS = "query", "answers"
_REQUESTS = LISTS[4]
_NO_TASK, _SOURCE = "default", "data_source"
"""What rollouts of verifiers name as their task if they do not name one, and the field for one that they name."""
_SHORT = (("req", "resp"), ("req", "res"), ("function_kwargs", "request_response"))
_FUNCTION = ("function_name", "function_args")
"""What PromptLayer logs a request and its response as, and the function of an SDK that made it."""
_ANSWERING = ("message", "usage", "finish_reason", "done", "done_reason", "prompt_eval_count", "eval_count")


_UNKNOWN = chronological(None)
_FIRST = ("user", "system", "developer")
_THREAD = "thread.message"
"""The object of a message of OpenAI's Assistants API, which lists the newest first."""


def in_order(messages: list[Any]) -> list[Any]:
    """The messages from the first to the last: pages of an API and of a table often begin with the newest.

    A list that begins with what the user asked is in order, whatever its times: clocks of two programs differ.
    """
    if messages and all(at(message, "object") == _THREAD for message in messages):
        return sorted(messages, key=lambda message: as_number(message.get("created_at")) or 0)
    if len(messages) < 2 or role_of(messages[0]) in _FIRST or _time_of(messages[0]) <= _time_of(messages[-1]):
        return messages
    times = list(map(_time_of, messages))
    return messages[::-1] if _UNKNOWN not in times and all(map(operator.ge, times, times[1:])) else messages


def _time_of(message: Any) -> datetime:
    time = moment(Fields(object_in(message)), *STARTED)
    return chronological(time) if seconds_of(time) is not None else _UNKNOWN


def _of_dataset(data: JsonObject) -> JsonObject | None:
    """A record of a dataset whose messages are not in a list, with that list."""
    if is_of_glaive(data):
        return glaive_record(data)
    return rollout_record(data) if is_rollout(data) else None


def with_messages(data: JsonObject) -> JsonObject:
    """A record whose messages and their calls are lists; any other record unchanged.

    Datasets have messages, or their calls, as JSON text. Rollouts of reinforcement learning and evaluations of Azure AI
    have those given and those made apart, runs of smolagents on GAIA have them as steps, and other runs in requests.
    """
    data = _without_requests(data)
    name = next((name for name in LISTS if data.get(name) is not None), None)
    if name is not None:
        messages = decoded(data[name])
        if not isinstance(messages, list):
            return data
        messages = _with_calls(messages)
        if any(map(is_of_framework, messages)):
            messages = as_chat_messages(messages)
        messages, used = with_given(data, in_order(messages))
        return _with_last_said({key: value for key, value in data.items() if key not in used}, name, messages)
    if (of_dataset := _of_dataset(data)) is not None:
        return of_dataset
    if (calls := _calls_for(data)) is not None:
        messages = [{"role": "user", "content": data[_QUERY]}, {"role": "assistant", "content": "", _CALLS: calls}]
        return {**{key: value for key, value in data.items() if key not in (_QUERY, _ANSWERS)}, LISTS[0]: messages}
    if any(at(message, "object") == _THREAD for message in list_in(data.get("data"))):
        return {**{key: value for key, value in data.items() if key != "data"}, LISTS[0]: in_order(data["data"])}
    for name in _STORES:
        if isinstance(messages := at(data.get(name), "messages"), list):
            others = {key: value for key, value in data.items() if key != name}
            return {**others, LISTS[0]: as_chat_messages(messages)}
    if are_messages(data.get(_STEPS)):
        return {**{key: value for key, value in data.items() if key != _STEPS}, LISTS[0]: data[_STEPS]}
    if (joined := with_requests(data)) is not None:
        return joined
    for names in _ASKED_AND_SAID:
        if messages := _exchanged(data, names):
            others = {key: value for key, value in data.items() if key not in names}
            return {**_about_rollout(others, names), LISTS[0]: messages}
    return answered_question(data) or data


def _exchanged(data: Any, names: tuple[str, str]) -> list[Any]:
    """The messages that were given and made, where both are there."""
    asked, said = list_in(decoded(at(data, names[0]))), _messages_said(decoded(at(data, names[1])))
    return _with_calls([*asked, *said]) if any(map(role_of, asked)) and any(map(role_of, said)) else []


def _about_rollout(others: JsonObject, names: tuple[str, str]) -> JsonObject:
    """What stands beside a prompt and its completion: in a rollout of verifiers, the `answer` is the right one, and the
    `task`, if it is one word, names the environment.
    """
    if names != _ASKED_AND_SAID[0] or "reward" not in others:
        return others
    right = {"ground_truth": others["answer"]} if isinstance(others.get("answer"), str) else {}
    named = others["task"] if len(str(others.get("task", "")).split()) == 1 else None
    source = {} if named in (None, _NO_TASK) else {_SOURCE: named}
    read = (*(("answer",) if right else ()), *(() if named is None else ("task",)))
    return {**source, **{key: value for key, value in others.items() if key not in read}, **right}


def _without_requests(data: JsonObject) -> JsonObject:
    """A rollout of verifiers without the requests in its `trajectory`, which it has as a whole, too."""
    names, requests = _ASKED_AND_SAID[0], list_in(data.get(_REQUESTS))
    whole, made = _exchanged(data, names), [_exchanged(request, names) for request in requests]
    if not whole or not all(made) or any(message not in whole for each in made for message in each):
        return data
    return {key: value for key, value in data.items() if key != _REQUESTS}


def _with_last_said(data: JsonObject, name: str, messages: list[Any]) -> JsonObject:
    """A record with these messages, and the last answer, if it stands beside them."""
    said = next((key for key in _SAID_IN_THE_END if isinstance(data.get(key), str) and data[key].strip()), None)
    if said is not None and messages and role_of(messages[-1]) in ("user", "tool"):
        others = {key: value for key, value in data.items() if key != said}
        return {**others, name: [*messages, *_messages_said(data[said])]}
    return data if messages is data[name] else {**data, name: messages}


def _messages_said(value: Any) -> list[Any]:
    """The messages that were answered: a list, one, or a text."""
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}] if value.strip() else []
    return [value] if at(value, "role") == "assistant" else list_in(value)


def with_choices(data: Any, *responses: str) -> Any:
    """A response of Cohere or Ollama, or a record with one under these names, in the form of OpenAI's; else the same.

    These have one message, without a choice around it, and tokens under names of their own.
    """
    data = with_full_names(data) if responses else data
    if not isinstance(data, dict) or "choices" in data:
        return data
    data = _with_request(data) if responses else data
    if at(data.get("message"), "role") == "assistant":
        if data.get("done") is True:
            counts = {"prompt_tokens": data.get("prompt_eval_count"), "completion_tokens": data.get("eval_count")}
            return _with_choice(data, data.get("done_reason"), without_none(counts))
        if "finish_reason" in data:
            return _with_choice(data, str(data["finish_reason"]).lower(), at(data.get("usage"), "tokens"))
    name = next((name for name in responses if isinstance(data.get(name), dict)), None)
    if name is not None and data[name].get("role") == "assistant" and "type" not in data[name]:
        beside = {key: data[name][key] for key in ("model", "usage") if key in data[name]}
        return {**data, name: {**beside, "choices": [{"message": data[name]}]}}
    return data if name is None else {**data, name: with_choices(data[name], "body")}


def with_full_names(data: Any) -> Any:
    """A request with its response under their full names, also of PromptLayer; other values unchanged."""
    names = next((names for names in _SHORT if all(at(data, name) is not None for name in names)), None)
    if names is None or not isinstance(data[names[0]], dict):
        return data
    others = {key: value for key, value in data.items() if key not in (*names, *_FUNCTION)}
    return {**others, "request": data[names[0]], "response": data[names[1]]}


def _with_request(data: JsonObject) -> JsonObject:
    """A record with a request as its `input` and one answer as its `output`, under the usual names."""
    asked, said = data.get("input"), data.get("output")
    said = next(iter(_messages_said(said)), None) if isinstance(said, str) else said
    if any(map(role_of, list_in(asked))) and at(said, "role") == "assistant":
        fields = Fields(data)
        used = usage_of_answer(fields)
        data = fields.rest()
        asked, said = {"messages": asked}, {"choices": [{"message": said}], "usage": used and _as_counted(used)}
    if not list_in(at(asked, "messages")) or not (at(said, "choices") or at(said, "role") == "assistant"):
        return data
    others = {key: value for key, value in data.items() if key not in ("input", "output")}
    return {**others, "request": asked, "response": said}


def _as_counted(used: Usage) -> JsonObject:
    """Usage as OpenAI and OpenRouter write it."""
    cached = {"cached_tokens": used.cached_tokens, "cache_write_tokens": used.cache_write_tokens}
    return without_none(
        {
            "prompt_tokens": used.input_tokens,
            "completion_tokens": used.output_tokens,
            "prompt_tokens_details": without_none(cached) or None,
            "cost": used.recorded_cost_usd,
        }
    )


def _with_choice(data: JsonObject, reason: Any, usage: Any) -> JsonObject:
    others = {key: value for key, value in data.items() if key not in _ANSWERING}
    return {**others, "choices": [{"message": data["message"], "finish_reason": reason}], "usage": usage}


def chats_in(data: Any) -> list[JsonObject]:
    """The conversations of rows with their names, a chat store of LlamaIndex, or a group of answers, each as a record.

    There are none in any other record.
    """
    if runs := runs_of_group(data):
        return runs
    if runs := runs_in(messages_in(object_in(data)) or ()):
        return [{"id": name, LISTS[0]: messages} for name, messages in runs]
    stored = object_in(at(object_in(at(data, "chat_store")) or data, "store"))
    chats = {name: messages for name, messages in stored.items() if any(map(is_of_framework, list_in(messages)))}
    return [{"id": name, LISTS[0]: messages} for name, messages in chats.items()]


def _calls_for(data: JsonObject) -> list[Any] | None:
    """The calls that answer a query, as xLAM's data set of function calls has them; `None` for any other record."""
    calls = list_in(decoded(data.get(_ANSWERS)))
    are_calls = all(isinstance(at(call, "name"), str) and "arguments" in call for call in calls)
    return calls if calls and are_calls and isinstance(data.get(_QUERY), str) and "tools" in data else None


def _with_calls(messages: list[Any]) -> list[Any]:
    """Messages whose calls are objects; they may be JSON text, as a list or each."""
    if not any(isinstance(call, str) for message in messages for call in listed(at(message, _CALLS))):
        return messages
    return [
        {**message, _CALLS: [*map(decoded, listed(decoded(message[_CALLS])))]} if at(message, _CALLS) else message
        for message in messages
    ]


def are_messages(steps: Any) -> bool:
    """Whether the steps of a run are messages."""
    return bool(steps) and all(isinstance(at(step, "role"), str) for step in list_in(steps) or [None])


def messages_in(data: JsonObject) -> list[Any] | None:
    """The messages of a record, as `with_messages` gives it."""
    return next((messages for name in LISTS if isinstance(messages := data.get(name), list)), None)
