"""NESTFUL: sequences of calls whose arguments refer to the results of earlier ones.

Definitions of the tools come from the `...-spec.json` beside `...-data.json`. The last element of a sequence,
`var_result`, only collects the answer and is no call.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.suites.formats.base import Draft, Item, Source
from evaluation_assets.core.suites.formats.files import read_source
from evaluation_assets.core.suites.suite import Case, ExpectedCall, ParameterRule

NAME = "nestful"
DESCRIPTION = "NESTFUL: nested sequences of calls, with the tools from the -spec.json beside the file."
DETECTION = "objects with `input` and `output`, a list of calls with `name` and `arguments`"

COLLECTOR = "var_result"


def detect(source: Source) -> bool:
    """Whether the file is one."""
    return bool(source.records) and all(
        "input" in record
        and isinstance(record.get("output"), list)
        and all(isinstance(call, dict) and "name" in call and "arguments" in call for call in record["output"])
        for record in source.records[:5]
    )


def read(source: Source) -> Draft:
    """A case for every sequence, whose calls may come in any order."""
    spec = source.path.with_name(source.path.name.replace("-data", "-spec"))
    companions = (spec,) if spec != source.path and spec.exists() else ()
    tools = [tool for companion in companions for tool in _tools(read_source(companion).records)]
    draft = Draft(fields={"tools": tools} if tools else {}, companions=companions)
    for number, item in enumerate(source.items):
        name = f"nestful_{number}"
        try:
            case = _case(name, item)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            draft.leave_out(source, item.line, name, f"it is not as expected: {problem!r}")
        else:
            draft.add(source, item.line, case)
    return draft


def _case(name: str, item: Item) -> Case:
    return Case(
        id=name,
        message=item.data["input"],
        expected_calls=tuple(
            ExpectedCall(
                tool=call["name"],
                parameters={parameter: ParameterRule(equals=value) for parameter, value in call["arguments"].items()},
                other_parameters="forbidden",
            )
            for call in item.data["output"]
            if call["name"] != COLLECTOR
        ),
        match="any_order",
    )


def _tools(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The definitions of a -spec.json. Only parameters marked as required are."""
    for record in records:
        if not isinstance(record.get("name"), str):
            continue
        given = record.get("query_parameters")
        parameters = {name: about for name, about in given.items() if isinstance(about, dict)} if given else {}
        yield {
            "name": record["name"],
            "description": record.get("description") or "",
            "parameters": {
                "type": "object",
                "properties": {
                    name: {key: value for key, value in about.items() if key != "required"}
                    for name, about in parameters.items()
                },
                "required": [name for name, about in parameters.items() if about.get("required") is True],
            },
        }
