"""Lists of test cases as tutorials write them: a question, tool names or calls, keywords.

`user_message` with `expected_tool_calls` describes calls; `query` with `expected_tools` describes which tools are used.
A file is a list of cases, or an object with `test_cases` and, if agents are to be run on them, `tools`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from evaluation_assets.core.suites.formats.base import Draft, Item, Source, invalid
from evaluation_assets.core.suites.suite import Case, ExpectedCall, ParameterRule
from evaluation_assets.core.text.faults import Fault, faults_of
from evaluation_assets.core.text.yaml_lines import Lines

NAME = "test-cases"
DESCRIPTION = "Lists of test cases with `user_message` and `expected_tool_calls`, or `query` and `expected_tools`."
DETECTION = "objects with `user_message` or `query`, or an object with a list of them in `test_cases`"

_LIST = "test_cases"
_MESSAGES = ("user_message", "query")
_OF_COMPLETION = {"query", "expected_tools", "expected_answer_contains", "optimal_steps"}
_CHECKS = {
    "expected_tool_calls", "expected_tools", "should_not_call_tools", "expected_output_contains",
    "expected_answer_contains", "optimal_steps", "max_tool_calls", "max_latency_ms",
}  # fmt: skip
_CALLS = ("expected_tool_calls", "expected_tools")
"""Lists that say, where they are written, empty and all that a case has, that no call is needed."""
_LEAST_SCORE = 0.6
"""Cases that are described by tools and keywords are looked at by a person below this score."""


class _ToolCall(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool_name: str
    required_params: dict[str, Any] | list[str] = {}
    forbidden_params: list[str] = []

    def expected(self) -> ExpectedCall:
        if isinstance(self.required_params, list):
            required: dict[str, Any] = dict.fromkeys(self.required_params)
        else:
            required = self.required_params
        rules = {
            name: ParameterRule() if value is None else ParameterRule(equals=value) for name, value in required.items()
        }
        forbidden = {name: ParameterRule(forbidden=True) for name in self.forbidden_params}
        return ExpectedCall(tool=self.tool_name, parameters=rules | forbidden)


class _TestCase(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    id: str
    message: str = Field(validation_alias=AliasChoices(*_MESSAGES))
    expected_tool_calls: list[_ToolCall] = []
    expected_tools: list[str] = []
    should_not_call_tools: bool = False
    keywords: list[str] = Field(
        default=[], validation_alias=AliasChoices("expected_output_contains", "expected_answer_contains")
    )
    optimal_steps: int | None = None
    max_tool_calls: int | None = None
    max_latency_ms: float | None = None
    category: str | None = None

    def case(self) -> Case:
        case = Case(
            id=self.id,
            message=self.message,
            expected_calls=(
                *(call.expected() for call in self.expected_tool_calls),
                *(ExpectedCall(tool=name) for name in self.expected_tools),
            ),
            should_not_call_tools=self.should_not_call_tools,
            keywords=tuple(self.keywords),
            optimal_steps=self.optimal_steps,
            max_calls=self.max_tool_calls,
            max_latency_ms=self.max_latency_ms,
            category=self.category,
        )
        says_no_call = not self.model_fields_set.isdisjoint(_CALLS) and case.prompt.strip()
        return case.model_copy(update={"should_not_call_tools": True}) if case.lacks and says_no_call else case


def detect(source: Source) -> bool:
    """Whether the file is one."""
    cases = _cases(source) or source.records
    return any(isinstance(case, dict) and _is_case(case) for case in cases[:5])


def _is_case(data: Mapping[str, Any]) -> bool:
    """Whether an object is a case; one with a `query` and none of these checks may be a question of a data set."""
    return "user_message" in data or ("query" in data and not data.keys().isdisjoint(_CHECKS))


def read(source: Source) -> Draft:
    """The cases. All faults of the file are in one error.

    Raises:
        InvalidSuite: a case has an unknown field or a value of the wrong type.
    """
    listed = _cases(source)
    if listed is None:
        places = [((index,), item) for index, item in enumerate(source.items)]
        fields: dict[str, Any] = {}
    else:
        lines = Lines(source.text)
        places = [((_LIST, index), Item(lines.at(_LIST, index) or 1, given)) for index, given in enumerate(listed)]
        fields = {name: value for name, value in source.items[0].data.items() if name != _LIST}
    is_of_completion = any(isinstance(item.data, dict) and item.data.keys() & _OF_COMPLETION for _, item in places)
    weighed = {"weighting": "completion", "min_score": _LEAST_SCORE} if is_of_completion else {}
    draft = Draft(fields=weighed | fields)
    faults: list[str] = []
    for place, item in places:
        try:
            draft.add(source, item.line, _TestCase.model_validate(item.data).case())
        except ValidationError as problem:
            faults += [str(source.broken(item.line, _said(fault))) for fault in faults_of(problem, place, _TestCase)]
    if faults:
        raise invalid(faults)
    return draft


def _cases(source: Source) -> list[Any] | None:
    """The list of a file that is one object."""
    whole = source.items[0].data if len(source.items) == 1 else None
    listed = whole.get(_LIST) if isinstance(whole, dict) else None
    return listed if isinstance(listed, list) else None


def _said(fault: Fault) -> str:
    """What is wrong with a field of a case."""
    if fault.place[-1:] == ("param_validators",):
        reason = "functions cannot be in a file; use a suite with rules (`one_of`, `regex`, `schema`) instead"
        return str(replace(fault, reason=reason))
    return str(fault)
