"""The Berkeley Function-Calling Leaderboard: questions with function definitions, and their possible answers.

The answers stand in `possible_answer/` beside the file, under the same name, or in the records. Texts compare without
case, white space and `,./-_*^`, as the leaderboard does; a parameter whose answers include an empty text may be absent.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from evaluation_assets.core.suites.formats.base import Draft, Item, Source
from evaluation_assets.core.suites.formats.files import read_source
from evaluation_assets.core.suites.suite import Case, ExpectedCall, Message, ParameterRule
from evaluation_assets.core.suites.tool_definition import ToolDefinition

NAME = "bfcl"
DESCRIPTION = "Berkeley Function-Calling Leaderboard: simple, multiple, parallel, parallel_multiple and irrelevance."
DETECTION = "JSON Lines with `question` and `function`, or with `question` and `involved_classes`"

_MOST_VALUES = 1000
"""Accepted objects are written out; more combinations than this are not."""

_NUMBERED = re.compile(r"_\d+$")


def detect(source: Source) -> bool:
    """Whether the file is one."""
    return bool(source.records) and all(
        "question" in record and ("function" in record or "involved_classes" in record) for record in source.records[:5]
    )


def read(source: Source) -> Draft:
    """A case for every question that has possible answers, or for which no call is right."""
    answers_file = source.path.parent / "possible_answer" / source.path.name
    companions = (answers_file,) if answers_file.exists() else ()
    answers = {
        str(record.get("id")): record.get("ground_truth")
        for companion in companions
        for record in read_source(companion).records
    }
    draft = Draft(companions=companions)
    for item in source.items:
        _read_record(source, item, answers, draft)
    return draft


def _read_record(source: Source, item: Item, answers: Mapping[str, Any], draft: Draft) -> None:
    record = item.data
    if not isinstance(record, dict) or "id" not in record:
        draft.leave_out(source, item.line, f"line {item.line}", "it is not an object with an id")
        return
    name = str(record["id"])
    if "function" not in record:
        draft.leave_out(source, item.line, name, "multi-turn tasks are checked by the state they end in, not by calls")
        return
    gold = answers.get(name, record.get("ground_truth"))
    needs_no_call = "irrelevance" in name
    try:
        tools = _tools(record["function"])
        calls = tuple(_expected(gold, {tool.name for tool in tools})) if gold is not None else ()
        case = Case(
            id=name,
            messages=_messages(record["question"]),
            expected_calls=calls,
            match=None if needs_no_call else "any_order",
            should_not_call_tools=needs_no_call,
            category=re.sub(r"[_-]\d.*$", "", name),
            tools=tools,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        draft.leave_out(source, item.line, name, f"it is not as expected: {type(problem).__name__}: {problem}")
        return
    lacks = None if needs_no_call or calls else f"possible_answer/{source.path.name} has no answer for it"
    draft.add(source, item.line, case, lacks)


def _messages(question: Any) -> tuple[Message, ...]:
    if isinstance(question, str):
        return (Message(role="user", content=question),)
    first = question[0] if question and isinstance(question[0], list) else question
    return tuple(Message(role=message["role"], content=message["content"]) for message in first)


def _tools(functions: Any) -> tuple[ToolDefinition, ...]:
    given = functions if isinstance(functions, list) else [functions]
    return tuple(
        ToolDefinition(
            name=function["name"], description=function.get("description", ""), parameters=function.get("parameters")
        )
        for function in given
    )


def _expected(gold: Any, tools: set[str]) -> Iterator[ExpectedCall]:
    """Gold is a list of one-key objects; older files have one object with names numbered `_1`, `_2`."""
    for answer in gold if isinstance(gold, list) else [gold]:
        for name, parameters in answer.items():
            tool = name if name in tools else _NUMBERED.sub("", name)
            yield ExpectedCall(
                tool=tool,
                parameters={parameter: _rule(values) for parameter, values in parameters.items()},
                other_parameters="forbidden",
            )


def _rule(values: list[Any]) -> ParameterRule:
    accepted = [written for value in values for written in written_out(value)]
    if len(accepted) > _MOST_VALUES:
        raise ValueError(f"a parameter has {len(accepted)} accepted values, more than {_MOST_VALUES}")
    return ParameterRule(
        one_of=tuple(accepted), optional=any(value == "" for value in values), ignore_case=True, ignore_punctuation=True
    )


def written_out(value: Any) -> Iterator[Any]:
    """The values that a possible answer stands for. Inside objects every key has a list of accepted values.

    An empty text among them means that the key may be absent.
    """
    if isinstance(value, dict):
        choices = [
            [(key, written) for option in options if option != "" for written in written_out(option)]
            + ([(key, _ABSENT)] if "" in options else [])
            for key, options in value.items()
        ]
        for chosen in product(*choices):
            yield {key: item for key, item in chosen if item is not _ABSENT}
    elif isinstance(value, list):
        yield from (list(items) for items in product(*(list(written_out(item)) for item in value)))
    else:
        yield value


_ABSENT = object()
