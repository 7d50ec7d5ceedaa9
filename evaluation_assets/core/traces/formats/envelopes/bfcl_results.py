r"""Result files of the Berkeley Function-Calling Leaderboard: what a model answered to each question, without those.

{"id": "parallel_0", "result": [{"play": "{\"artist\": \"Nina\"}"}], "input_token_count": 119, "latency": 1.8}
{"id": "simple_0", "result": "[area(base=10, height=5)]", ...}                 models that write calls as text
{"id": "multi_turn_base_0", "result": [[[{"cd": "{...}"}], "Done."], ...], ...}    turns of steps

With its log, a run of several turns has what users said and tools returned.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.text.python_source import parsed_module
from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.files.json_values import as_json
from evaluation_assets.core.traces.formats.messages.bare_calls import bare_calls
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import as_number, as_object, at, decoded, listed, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_COUNTS = {"input_token_count": "input_tokens", "output_token_count": "output_tokens"}
_LOG = "inference_log"
_NAMED = re.compile(
    r"(?:live_|exec_|executable_)?(?:simple|multiple|parallel|irrelevance|relevance|multi_turn|java|javascript|rest|sql"
    r"|chatable|memory|web_search|format_sensitivity)(?:_[a-z_]+)?_\d+(?:-[\w-]+)?"
)
_FIELDS = {"id", "result", "latency", "reasoning_content", _LOG, *_COUNTS}
_FENCE = re.compile(r"\A\s*```\w*\s*(.*?)\s*```\s*\Z", re.DOTALL)
_NAME_FIRST = re.compile(r"([\w.]+)\n(\{.*\})", re.DOTALL)
_DOTTED = re.compile(r"[\w.]+")
_BROKEN = "Error during inference:"
_STEP = re.compile(r"step_\d+")
_STOPPED = "forced to quit"
_LONGEST = 100_000
"""Characters of a text that is looked through for calls."""


def _holds(data: Any) -> bool:
    if not isinstance(at(data, "result"), str | list) or not ("id" in data or "idx" in data):
        return False
    named = isinstance(data.get("id"), str) and _NAMED.fullmatch(data["id"]) is not None and set(data) <= _FIELDS
    return named or all(name in data for name in _COUNTS)


def _conversations(data: JsonObject) -> Iterator[Chat]:
    result, turns = data["result"], [turn for turn in objects_in(data.get(_LOG)) if any(map(_STEP.fullmatch, turn))]
    is_broken = isinstance(result, str) and result.startswith(_BROKEN)
    messages = [] if is_broken else list(_logged(turns) if turns else _answered(result))
    usage = {name: sum(_numbers(data.get(stated))) for stated, name in _COUNTS.items()}
    record = {
        "task_id": data["id"] if "id" in data else f"{data['idx']}",
        "messages": messages,
        **({"usage": usage} if any(usage.values()) else {}),  # zeros stand for what was not counted
        **({"duration_s": seconds} if (seconds := sum(_numbers(data.get("latency")))) else {}),
        **({"termination_reason": "max_steps"} if any(_STOPPED in as_text(turn) for turn in turns) else {}),
        **without(data, "id", "idx", "result", "latency", _LOG, *_COUNTS),
    }
    yield Chat(record, failure=result if is_broken else None)


def _numbers(value: Any) -> Iterator[float]:
    """The numbers in a value, which is one, or a list of those of each turn and step."""
    for item in listed(value):
        if isinstance(item, list):
            yield from _numbers(item)
        elif (number := as_number(item)) is not None:
            yield number


def _answered(result: Any) -> Iterator[JsonObject]:
    """The answers alone; those of several turns are a list of lists."""
    is_of_turns = isinstance(result, list) and bool(result) and all(isinstance(turn, list) for turn in result)
    for turn, steps in enumerate(result if is_of_turns else [[result]]):
        for number, step in enumerate(steps):
            yield _answer(step, f"turn {turn} step {number}")


def _logged(turns: list[JsonObject]) -> Iterator[JsonObject]:
    """What was said, called and returned, with what users said before it."""
    for turn, logged in enumerate(turns):
        yield from (
            plain_message(at(said, "role"), at(said, "content")) for said in listed(logged.get("begin_of_turn_query"))
        )
        for name, entries in logged.items():
            if _STEP.fullmatch(name):
                yield from _step(list(objects_in(entries)), f"turn {turn} {name}")


def _step(entries: list[JsonObject], place: str) -> Iterator[JsonObject]:
    calls: list[JsonObject] = []
    for entry in entries:
        if entry.get("role") == "assistant":
            said = _answer(entry.get("content"), place)
            calls = list(said.get("tool_calls", ()))
            thought = entry.get("reasoning_content")
            yield {**said, "reasoning_content": thought} if thought else said
        elif entry.get("role") == "tool":
            answered = {"tool_call_id": calls.pop(0)["id"]} if calls else {}
            yield plain_message("tool", as_text(entry.get("content")), **answered)


def _answer(step: Any, place: str) -> JsonObject:
    """A message of the model: calls by name, or a text, which may consist of calls."""
    calls, text = [], ""
    if isinstance(step, list) and all(isinstance(item, dict) and len(item) == 1 for item in step):
        calls = [{"name": name, "arguments": given} for item in step for name, given in item.items()]
    else:
        text = "\n".join(map(as_text, listed(step)))
        calls = _written_calls(text)
    if not calls:
        return plain_message("assistant", text)
    return plain_message("assistant", None, tool_calls=[{"id": f"{place} {i}", **call} for i, call in enumerate(calls)])


def _written_calls(text: str) -> list[JsonObject]:
    """The calls that a text consists of, as Python, as JSON, or a name above its JSON; empty for any other text."""
    if len(text) > _LONGEST:
        return []
    fenced = _FENCE.match(text)
    inside = (text if fenced is None else fenced[1]).strip()
    if isinstance(items := decoded(inside), list):
        return bare_calls(as_text({"calls": items}))
    if isinstance(items, dict):
        return bare_calls(inside)
    alone = _NAME_FIRST.fullmatch(inside)
    given = None if alone is None else as_object(alone[2])
    return _python_calls(inside) if alone is None or given is None else [{"name": alone[1], "arguments": given}]


def _python_calls(text: str) -> list[JsonObject]:
    """Calls alone or in a list. The text is parsed, never run."""
    try:
        values = [each.value if isinstance(each, ast.Expr) else each for each in parsed_module(text).body]
        lists = [value.elts if isinstance(value, ast.List | ast.Tuple) else [value] for value in values]
        calls = [_python_call(item) if isinstance(item, ast.Call) else None for items in lists for item in items]
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    named = [call for call in calls if call is not None and _DOTTED.fullmatch(call["name"]) is not None]
    return named if len(named) == len(calls) else []


def _python_call(call: ast.Call) -> JsonObject:
    unnamed = {"args": [_value(given) for given in call.args]} if call.args else {}
    named = {given.arg or "kwargs": _value(given.value) for given in call.keywords}
    return {"name": ast.unparse(call.func), "arguments": unnamed | named}


def _value(given: ast.expr) -> Any:
    """A value; anything but a literal as it is written."""
    try:
        return as_json(ast.literal_eval(given))
    except (ValueError, TypeError, MemoryError, RecursionError):
        return ast.unparse(given)


BFCL_RESULTS = Envelope(
    name="bfcl_results",
    description="Result files of the Berkeley Function-Calling Leaderboard, of one turn or several",
    detection="`id` and `result` with `input_token_count` and `output_token_count`, or an ID of the leaderboard",
    holds=_holds,
    conversations=_conversations,
)
