"""Data sets of questions with their right answers, or with the tools that are expected, under usual names.

    {"question": "What is the capital of Peru?", "answer": "Lima"}
    {"inputs": {"question": "..."}, "outputs": {"answer": "..."}}                  an example of LangSmith
    {"input": [{"role": "user", "content": "..."}], "ideal": "..."}                a sample of OpenAI evals
    {"input": "...", "expected_tools": [{"name": "look_up", "input_parameters": {...}}]}

A number, `yes` or `no` is the right final answer. Another short text only has to stand in the answer, as agents answer
in sentences. A longer one can be worded otherwise, so that no rule can check it, and so can a choice among several.
"""

import re
from typing import Any

from evaluation_assets.core.suites.formats.base import Draft, Item, Source
from evaluation_assets.core.suites.suite import Case, ExpectedCall, Message, ParameterRule, ReferenceAnswer
from evaluation_assets.core.traces.formats.untyped import list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject

NAME = "data-set"
DESCRIPTION = "Data sets: questions with answers or expected tools, under usual names, also as CSV."
DETECTION = (
    "objects, or rows of CSV, with a `question` (`input`, `prompt`, ...) and an `answer` (`expected`, `target`, ...)"
)

_QUESTION = tuple("question input inputs prompt query problem task instruction userinput usermessage intent".split())
_ANSWER = tuple(
    """
    answer finalanswer expected expectedoutput expectedanswer expectedresponse target ideal reference referenceanswer
    groundtruth gold goldanswer solution correctanswer correctlabel output outputs expectations
    """.split()
)
_CHOICES = ("choices", "options")
_CALLS = ("expectedtools", "expectedtoolcalls", "referencetoolcalls", "referencetrajectory")
_IDS = tuple("id taskid questionid exampleid instanceid uuid index idx".split())
_CATEGORIES = ("category", "subject", "topic")
"""Names of fields, without case, spaces and signs."""

_TOOL, _ARGUMENTS = ("name", "toolname", "tool"), ("args", "arguments", "inputparameters", "toolinput", "parameters")
_ROLES = {"human": "user", "ai": "assistant"}

_GSM8K = re.compile(r"####\s*(\S.*?)\s*\Z")
"""What is behind these signs is the answer, and what is before them its derivation."""
_NUMBER = re.compile(r"[-+$€£]?\s?\d[\d,.\s]*%?")
_WORDS = ("yes", "no", "true", "false")
_LETTERS, _WORDED = 2, 80
"""Characters up to which an answer has to be given as it is, and above which it can be worded otherwise."""


def detect(source: Source) -> bool:
    """Whether the file is one."""
    rows = [item.data for item in _rows(source)[:5]]
    return any(_question(row) and (_answers(row) or _expected(row)) for row in rows)


def read(source: Source) -> Draft:
    """A case for every row; one whose answer no rule can check is listed as incomplete."""
    draft = Draft()
    for number, item in enumerate(_rows(source), 1):
        name = next(filter(None, (recorded_id(_field(item.data, key)) for key in _IDS)), None) or f"case-{number}"
        asked, answers, calls = _question(item.data), _answers(item.data), _expected(item.data)
        category = _field(item.data, *_CATEGORIES)
        case = Case(
            id=str(name),
            message=asked if isinstance(asked, str) else None,
            messages=tuple(asked) if isinstance(asked, list) else (),
            category=category if isinstance(category, str) else None,
            expected_calls=calls,
            **_checked(answers),
        )
        lacks = _why_unchecked(answers)
        if _field(item.data, *_CHOICES) is not None:
            lacks = "its answer is a choice among several; write a case with `answer`"
        draft.add(source, item.line, case, None if calls else lacks)
    return draft


def _rows(source: Source) -> list[Item]:
    """The objects of a file, or those in the first list that its only object has."""
    items = [item for item in source.items if isinstance(item.data, dict)]
    if len(items) == 1 and _question(items[0].data) is None:
        listed = next((rows for value in items[0].data.values() if (rows := list(objects_in(value)))), [])
        return [Item(items[0].line, row) for row in listed]
    return items


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _field(row: JsonObject, *names: str) -> Any:
    """The first of these fields that has a value, in the order of the names."""
    known = {_plain(key): value for key, value in row.items() if value not in (None, "", [], {})}
    return next((known[name] for name in names if name in known), None)


def _question(row: JsonObject) -> str | list[Message] | None:
    asked = _field(row, *_QUESTION) or _field(object_in(row.get("item")), *_QUESTION)
    if isinstance(asked, dict):
        asked = _field(asked, *_QUESTION, "messages") or _only_text(asked)
    if isinstance(asked, str):
        return asked if asked.strip() else None
    said = [_message(each) for each in objects_in(asked)]
    return None if not said or None in said else [message for message in said if message is not None]


def _message(given: JsonObject) -> Message | None:
    role, content = given.get("role", given.get("type")), given.get("content")
    role = _ROLES.get(str(role), role)
    if role not in ("system", "user", "assistant") or not isinstance(content, str):
        return None
    return Message.model_validate({"role": role, "content": content})


def _only_text(data: JsonObject) -> str | None:
    texts = [value for value in data.values() if isinstance(value, str)]
    return texts[0] if len(texts) == len(data) == 1 else None


def _answers(row: JsonObject) -> list[str]:
    """The right answers, of which each will do."""
    answer = _field(row, *_ANSWER)
    answer = _field(object_in(row.get("item")), *_ANSWER) if answer is None else answer
    if isinstance(answer, dict):
        answer = _field(answer, *_ANSWER) if _field(answer, *_ANSWER) is not None else _only_text(answer)
    values = answer if isinstance(answer, list) else [answer]
    return [_text(value) for value in values if isinstance(value, str | int | float) and _text(value)]


def _text(value: str | float) -> str:
    text = str(value).strip().lower() if isinstance(value, bool) else str(value).strip()
    derived = _GSM8K.search(text)
    return text if derived is None else derived[1]


def _expected(row: JsonObject) -> tuple[ExpectedCall, ...]:
    calls: list[ExpectedCall] = []
    for given in list_in(_field(row, *_CALLS)):
        name = given if isinstance(given, str) else _field(object_in(given), *_TOOL)
        if not isinstance(name, str):
            return ()
        arguments = {} if isinstance(given, str) else object_in(_field(object_in(given), *_ARGUMENTS))
        rules = {key: ParameterRule(equals=value) for key, value in arguments.items()}
        calls.append(ExpectedCall(tool=name, parameters=rules))
    return tuple(calls)


def _checked(answers: list[str]) -> dict[str, Any]:
    if _why_unchecked(answers) is not None:
        return {}
    (answer,) = answers
    is_given = len(answer) <= _LETTERS or answer.lower() in _WORDS or _NUMBER.fullmatch(answer)
    return {"answer": ReferenceAnswer(value=answer)} if is_given else {"keywords": (answer,)}


def _why_unchecked(answers: list[str]) -> str | None:
    """Why no rule can check an answer; `None` if one can."""
    if not answers:
        return "it has no answer"
    if len(answers) > 1:
        return f"it has {len(answers)} right answers; write a case with `keywords`"
    if len(answers[0]) > _WORDED:
        return f"its answer of {len(answers[0])} characters can be worded otherwise; write a case with `keywords`"
    return None
