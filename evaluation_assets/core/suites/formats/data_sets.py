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
from evaluation_assets.core.traces.formats.files.json_values import loaded
from evaluation_assets.core.traces.formats.untyped import bare, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject

NAME = "data-set"
DESCRIPTION = "Data sets: questions with answers or expected tools, under usual names, also as CSV."
DETECTION = (
    "objects, or rows of CSV, with a `question` (`input`, `prompt`, ...) and an `answer` (`expected`, `target`, ...)"
)

_QUESTION = tuple("question input inputs prompt query problem task instruction userinput usermessage intent".split())
_RIGHT = tuple(
    """
    expected expectedoutput expectedanswer expectedresponse groundtruth groundtruths ideal gold goldanswer correctanswer
    correctlabel referenceanswer referenceoutputs referenceoutput expectations
    """.split()
)
_ANSWER = tuple("answer finalanswer target reference solution answers output outputs".split())
"""Names of the right answer, and those that the answer of a run has, too."""
_OF_RUNS = frozenset(
    """
    messages trajectory traj steps history conversation conversations observations toolcalls toolscalled toolsused usage
    totaltokens inputtokens outputtokens latency latencyms latencys totalcost duration durationms durations cost
    costusd runtype runid traceid spanid rootspanid sessionid starttime endtime startedat success iscorrect passed model
    """.split()
)
"""Names of fields of a run, whose answer need not be right."""
_PREDICTED = ("prediction", "predictedanswer", "modelanswer", "response", "actualoutput", "agentanswer")
"""Names of the answer of a run, beside which another one is the right one."""
_CHOICES = ("choices", "options", "optiona", "option1", "choicea", "choice1")
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
_BOXED = re.compile(r".*\\boxed\{([^{}]*)\}", re.DOTALL)
_LATEX = re.compile(
    r"\\(?:[dt]?frac|sqrt|text|pi|boxed|left|cdot|times|math\w+|infty|circ|begin|log|ln|sin|cos|tan|pm)\b"
)
_ASSERTION = re.compile(r"([a-z-]+)(?:\([\d.]+\))?:\s*(.*)", re.DOTALL)
"""An `__expected` cell of promptfoo; one without a kind has the answer."""
_NONE = ("n/a", "nan", "null", "-")
"""Texts for no answer."""
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
        if not any(value not in (None, "") for value in item.data.values()):
            continue  # an empty row of a spreadsheet
        name = next(filter(None, (recorded_id(_field(item.data, key)) for key in _IDS)), None) or f"case-{number}"
        asked, answers, calls = _question(item.data), _answers(item.data), _expected(item.data)
        category = _field(item.data, *_CATEGORIES)
        needs_no_call = not answers and not calls and _says_no_call(item.data)
        case = Case(
            id=str(name),
            message=asked if isinstance(asked, str) else None,
            messages=tuple(asked) if isinstance(asked, list) else (),
            category=category if isinstance(category, str) else None,
            expected_calls=calls or (),
            should_not_call_tools=needs_no_call,
            **_checked(answers),
        )
        draft.add(source, item.line, case, None if needs_no_call else _lacks(item.data, answers, calls))
    return draft


def _says_no_call(row: JsonObject) -> bool:
    """Whether a row has an empty list of expected tools. Beside an answer, exports write one for an unknown list."""
    return any(value == [] for key, value in row.items() if bare(key) in _CALLS)


def _lacks(row: JsonObject, answers: list[str], calls: tuple[ExpectedCall, ...] | None) -> str | None:
    """Why nothing can be learned from a row; `None` if something can."""
    if calls is None:
        return "its expected tools have no names"
    if calls:
        return None
    if _has_choices(row):
        return "its answer is a choice among several; write a case with `answer`"
    if not answers and _is_run(row):
        return "it is a run, whose answer need not be right"
    return _why_unchecked(answers)


def _has_choices(row: JsonObject) -> bool:
    return _field(row, *_CHOICES) is not None or {"a", "b"} <= {bare(key) for key in row}


def _is_run(row: JsonObject) -> bool:
    """Whether a row is a run, whose answer need not be right."""
    fields = {bare(key): value for key, value in row.items() if value not in (None, "", [], {})}
    is_judged = isinstance(fields.get("correct"), bool)
    return (is_judged or not _OF_RUNS.isdisjoint(fields)) and fields.keys().isdisjoint(_PREDICTED)


def _rows(source: Source) -> list[Item]:
    """The objects of a file, or those in the lists of questions that its only object has."""
    items = [Item(item.line, _row(item.data)) for item in source.items if isinstance(item.data, dict)]
    if len(items) == 1 and _question(items[0].data) is None:
        lists = [[_row(each) for each in objects_in(value)] for value in items[0].data.values()]
        return [Item(items[0].line, row) for rows in lists if any(map(_question, rows[:5])) for row in rows]
    return items


def _row(data: JsonObject) -> JsonObject:
    """A row, without what the data set viewer of Hugging Face puts around it."""
    return data["row"] if "row_idx" in data and isinstance(data.get("row"), dict) else data


def _field(row: JsonObject, *names: str) -> Any:
    """The first of these fields that has a value, in the order of the names."""
    known = {bare(key): value for key, value in row.items() if value not in (None, "", [], {})}
    return next((known[name] for name in names if name in known), None)


def _question(row: JsonObject) -> str | list[Message] | None:
    told, given = _field(row, "instruction"), _field(row, "input")
    if isinstance(told, str) and isinstance(given, str):
        return f"{told}\n\n{given}"
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
    if "__expected" in row:
        return _asserted(row["__expected"])
    names = _RIGHT if _is_run(row) else (*_RIGHT, *_ANSWER)
    answer = _field(row, *names)
    answer = _field(object_in(row.get("item")), *names) if answer is None else answer
    if isinstance(answer, dict):
        inner = _field(answer, *_RIGHT, *_ANSWER)
        answer = inner if inner is not None else _field(answer, "text") or _only_text(answer)
    values = answer if isinstance(answer, list) else [answer]
    texts = [_text(value) for value in values if isinstance(value, str | int | float) and _text(value)]
    return list({text.lower(): text for text in reversed(texts)}.values())[::-1]


def _asserted(cell: Any) -> list[str]:
    assertion = _ASSERTION.fullmatch(text := str(cell or "").strip())
    if assertion is None:
        return [text] if text else []
    return [assertion[2]] if assertion[1] in ("equals", "contains", "icontains") and assertion[2] else []


def _text(value: str | float) -> str:
    text = str(value).strip().lower() if isinstance(value, bool) else str(value).strip()
    derived = _GSM8K.search(text) or _BOXED.match(text)
    return "" if text.lower() in _NONE else text if derived is None else derived[1].strip()


def _tools(value: Any) -> list[Any]:
    """Expected tools: a list, JSON in a cell, or names in one."""
    if not isinstance(value, str):
        return list_in(value)
    try:
        return list_in(loaded(value.encode()))
    except ValueError:
        return re.split(r"\s*[,;|\n]\s*", value.strip())


def _expected(row: JsonObject) -> tuple[ExpectedCall, ...] | None:
    """The expected calls; `None` if there are some that have no names."""
    calls: list[ExpectedCall] = []
    for given in _tools(_field(row, *_CALLS)):
        name = given if isinstance(given, str) else _field(object_in(given), *_TOOL)
        if not isinstance(name, str) or not name:
            return None
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
    if _LATEX.search(answers[0]):
        return "its answer in LaTeX can be written otherwise; write a case with `answer`"
    if len(answers[0]) > _WORDED:
        return f"its answer of {len(answers[0])} characters can be worded otherwise; write a case with `keywords`"
    return None
