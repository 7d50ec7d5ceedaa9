"""ToolTalk: a conversation a file, with the calls the assistant should make in it."""

from typing import Any

from evaluation_assets.core.suites.formats.base import Draft, Item, Source
from evaluation_assets.core.suites.suite import Case, ExpectedCall, Message, ParameterRule

NAME = "tooltalk"
DESCRIPTION = "ToolTalk conversations, one a file or a folder of them."
DETECTION = "an object with `conversation` and `apis_used`"


def detect(source: Source) -> bool:
    """Whether the file is one."""
    return bool(source.records) and all("conversation" in item and "apis_used" in item for item in source.records)


def read(source: Source) -> Draft:
    """A case for every conversation: the user's messages, and every call with exactly its parameters."""
    draft = Draft()
    for item in source.items:
        try:
            case = _case(item)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            draft.leave_out(source, item.line, source.path.stem, f"it is not as expected: {problem!r}")
        else:
            draft.add(source, item.line, case, None if case.expected_calls else "its assistant calls no tool")
    return draft


def _case(item: Item) -> Case:
    turns: list[dict[str, Any]] = item.data["conversation"]
    requests = [api["request"] for turn in turns for api in turn.get("apis") or ()]
    return Case(
        id=item.data["name"],
        messages=tuple(Message(role="user", content=turn["text"]) for turn in turns if turn["role"] == "user"),
        expected_calls=tuple(
            ExpectedCall(
                tool=request["api_name"],
                parameters={name: ParameterRule(equals=value) for name, value in request["parameters"].items()},
                other_parameters="forbidden",
            )
            for request in requests
        ),
        match="any_order",
        category=", ".join(item.data.get("suites_used") or ()) or None,
    )
