"""Eval sets of Google's Agent Development Kit: conversations, with the calls that an agent should make in them.

Files of earlier versions are lists of the turns of one conversation. How the answers should be worded is left out: ADK
compares them by the words that they share, which says nothing of an answer in other words.
"""

from collections.abc import Iterator
from itertools import chain

from evaluation_assets.core.suites.formats.base import Draft, Source
from evaluation_assets.core.suites.suite import Case, ExpectedCall, Message, ParameterRule
from evaluation_assets.core.traces.formats.messages.adk_evals import asked_in, calls_in, expected_in
from evaluation_assets.core.traces.formats.untyped import first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

NAME = "adk-eval-set"
DESCRIPTION = "Eval sets of Google ADK: what users say, with the calls that are expected."
DETECTION = "an object with `eval_cases`, or a list of objects with `query` and `expected_tool_use`"

_Turn = tuple[str, list[tuple[str, JsonObject]] | None]
"""What the user says, and the calls that are expected, by name with their arguments; `None` if none are told of."""


def detect(source: Source) -> bool:
    """Whether the file is one."""
    return any(expected_in(record) or _is_turn(record) for record in source.records)


def read(source: Source) -> Draft:
    """A case for every conversation."""
    draft = Draft()
    turns = [_turn_of_list(record) for record in source.records if _is_turn(record)]
    if turns:
        draft.add(source, 1, _case(source.path.name.partition(".")[0], turns))
    for item in source.items:
        for number, (name, invocations) in enumerate(expected_in(item.data)):
            case = _case(name or f"case-{number}", [*map(_turn_of_set, invocations)])
            draft.add(source, item.line, case)
    return draft


def _is_turn(record: JsonObject) -> bool:
    return "query" in record and "expected_tool_use" in record


def _turn_of_list(record: JsonObject) -> _Turn:
    uses = objects_in(list_in(record["expected_tool_use"]))
    calls = [(first_text(use, "tool_name") or "", object_in(use.get("tool_input"))) for use in uses]
    return first_text(record, "query") or "", calls


def _turn_of_set(invocation: JsonObject) -> _Turn:
    calls = calls_in(invocation)
    if calls is None:
        return asked_in(invocation), None
    return asked_in(invocation), [(first_text(call, "name") or "", object_in(call.get("args"))) for call in calls]


def _case(name: str, turns: list[_Turn]) -> Case:
    expected = tuple(chain.from_iterable(_expected(turn) for turn in turns))
    return Case(
        id=name,
        messages=tuple(Message(role="user", content=said) for said, _ in turns if said),
        expected_calls=expected,
        match="exact" if expected else None,  # as `adk eval` compares them by default
        should_not_call_tools=not expected and bool(turns) and all(calls is not None for _, calls in turns),
    )


def _expected(turn: _Turn) -> Iterator[ExpectedCall]:
    for name, arguments in turn[1] or ():
        rules = {parameter: ParameterRule(equals=value) for parameter, value in arguments.items()}
        yield ExpectedCall(tool=name, parameters=rules, other_parameters="forbidden")
