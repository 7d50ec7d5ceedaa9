"""Suites: files of cases, each a task with what an agent is expected to call and to answer."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    field_validator,
    model_validator,
)

from evaluation_assets.core.models.endpoints import EndpointSettings
from evaluation_assets.core.suites.tool_definition import SuiteModel, ToolDefinition
from evaluation_assets.core.text.exact_json import is_number
from evaluation_assets.core.text.user_error import UserError

Match = Literal["exact", "in_order", "any_order", "superset", "subset", "same_effects"]
"""How whole calls, name and parameters, have to agree with the expected ones.

`exact`: these calls in this order and no other. `any_order`: these calls in any order and no other. `in_order`: these
calls in this order, others between them are fine. `superset`: these calls in any order, others are fine. `subset`: no
other calls than these, and not necessarily all of them. `same_effects`: of calls that change something these and no
other, in any order; calls that only read, or that failed, are not compared.
"""
OTHERS_ARE_FINE = ("in_order", "superset")
"""Ways to match with which calls beside the expected ones are no issue."""

Part = Literal[
    "precision", "recall", "parameter_accuracy", "content", "completion", "coverage", "efficiency", "order", "schema"
]
"""What a score may be made of. `content` is the answer compared with the reference, else the keywords."""

WEIGHTINGS: Mapping[str, Mapping[Part, float]] = {
    "calls": {"precision": 0.3, "recall": 0.3, "parameter_accuracy": 0.3, "content": 0.1},
    "completion": {"completion": 0.3, "coverage": 0.25, "content": 0.3, "efficiency": 0.15},
}
"""Weights by name. Parts that a case does not have are left out and the others weigh more in proportion."""


class InvalidSuite(UserError, ValueError):
    """A suite that cannot be used; the message names file, line and reason."""


class ParameterRule(SuiteModel):
    """What one parameter of an expected call has to be.

    Without `equals`, `one_of`, `regex` or `schema` it only has to be there. Values compare as JSON: 1 is 1.0, but
    neither "1" nor true.

    Attributes:
        equals: The value. `null`, where it is written, is a value too.
        one_of: Accepted values, in place of `equals`.
        tolerance: Largest accepted difference of a number from `equals` or `one_of`.
        regex: Regular expression that the whole text has to match.
        ignore_case: Whether case is ignored in texts, also inside lists and objects.
        ignore_punctuation: Whether white space and `,./-_*^` are ignored in `equals` and `one_of`, also inside lists
            and objects.
        json_schema: JSON Schema that the value has to satisfy.
        optional: Whether the parameter may be absent.
        forbidden: Whether the parameter has to be absent.
    """

    equals: Any = None
    one_of: Annotated[tuple[Any, ...], Field(min_length=1)] | None = None
    tolerance: float | None = Field(default=None, ge=0)
    regex: str | None = None
    ignore_case: bool = False
    ignore_punctuation: bool = False
    json_schema: dict[str, Any] | None = Field(default=None, alias="schema")
    optional: bool = False
    forbidden: bool = False

    @property
    def accepted(self) -> tuple[Any, ...] | None:
        """The values it may have; `None` for any."""
        if self.one_of is not None:
            return self.one_of
        return (self.equals,) if "equals" in self.model_fields_set else None

    @field_validator("regex")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        import regex as regular_expressions  # noqa: PLC0415  (with jsonschema: 0.1 s to import)

        try:
            regular_expressions.compile(pattern or "")
        except regular_expressions.error as problem:
            raise ValueError(f"not a regular expression: {problem}") from problem
        return pattern

    @field_validator("json_schema")
    @classmethod
    def _is_a_schema(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        import jsonschema  # noqa: PLC0415

        try:
            jsonschema.Draft202012Validator.check_schema(schema or {})
        except jsonschema.SchemaError as problem:
            raise ValueError(f"no JSON Schema: {problem.message}") from problem
        except RecursionError as problem:
            raise ValueError("no JSON Schema: it is too deep") from problem
        return schema

    @model_validator(mode="after")
    def _is_one_rule(self) -> Self:
        if "equals" in self.model_fields_set and self.one_of is not None:
            raise ValueError("give equals or one_of, not both")
        if self.forbidden and self.model_fields_set - {"forbidden"}:
            raise ValueError("a forbidden parameter has no other rule")
        if self.tolerance is not None and self.accepted is None:
            raise ValueError("tolerance needs equals or one_of")
        return self


_RULES = {field.alias or name for name, field in ParameterRule.model_fields.items()} | ParameterRule.model_fields.keys()
"""The names of rules: a parameter with an object that has none of them is often meant to be that object."""


def _rule(value: Any) -> Any:
    """A bare value means `equals`, nothing means that the parameter has to be there."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        return value if isinstance(value, ParameterRule) else {"equals": value}
    if value and not value.keys() & _RULES:
        raise ValueError("has none of the rules; to expect an object, write it as `equals: {...}`")
    return value


Rule = Annotated[
    ParameterRule,
    BeforeValidator(_rule, json_schema_input_type=ParameterRule | str | float | bool | list[Any] | None),
]


class ExpectedCall(SuiteModel):
    """A call the agent should make.

    Attributes:
        tool: Name of the tool.
        parameters: Rules by the name of a parameter. A plain value means `equals`.
        other_parameters: Whether the call may have parameters that are not listed.
        succeeds: Whether the call has to succeed: one that failed, and was not made again with success, fails the case.
        returns: What a mock of the tool answers to this call. Default: `returns` of the tool's definition.
    """

    tool: str = Field(min_length=1)
    parameters: dict[str, Rule] = Field(default={})
    other_parameters: Literal["allowed", "forbidden"] = "allowed"
    succeeds: bool = Field(default=False, exclude_if=lambda succeeds: not succeeds)
    returns: Any = None


class ReferenceAnswer(SuiteModel):
    r"""The right final answer.

    Attributes:
        value: The text.
        compare: `exact` ignores surrounding white space; `normalised` also ignores currency signs, thousands
            separators, case, white space and `\boxed{}`, and takes a number from a sentence that announces it or states
            no other.
        tolerance: Largest accepted difference if both answers are numbers.
    """

    value: str
    compare: Literal["exact", "normalised"] = "normalised"
    tolerance: float | None = Field(default=None, ge=0)


def _answer(value: Any) -> Any:
    if isinstance(value, str):
        return {"value": value}
    return {"value": str(value)} if is_number(value) else value


class Message(SuiteModel):
    """One message of the conversation a case starts with.

    Attributes:
        role: Who says it; `system` is added to the agent's system prompt.
        content: The text.
    """

    role: Literal["system", "user", "assistant"]
    content: str


class SimulatedUser(SuiteModel):
    """A user whom a model plays: it answers the agent after the case's message, until the user ends the conversation.

    Attributes:
        persona: Who the user is, and how they talk.
        goal: What the user wants.
        facts: What the user knows, and says if it is needed.
        stop: When the user ends the conversation. Default: once the goal is reached, or the agent will not reach it.
        max_messages: Maximum messages of the user after the first.
    """

    persona: str = ""
    goal: str = Field(min_length=1)
    facts: tuple[str, ...] = ()
    stop: str = ""
    max_messages: int = Field(default=10, ge=1)


class Case(SuiteModel):
    """A task with expectations. What a case does not say is not checked.

    Attributes:
        id: ID, unique in the suite. A run belongs to the case with its `task_id`, else to that with its message.
        message: What the user asks. `null`: what `messages` say.
        messages: The conversation the case starts with, in place of `message`.
        user: A user who goes on with the conversation when agents are run; a model that the suite names plays it.
        expected_calls: The calls the agent should make.
        match: How the calls must agree with the expected ones: `exact` (in this order and no others), `in_order`
            (others may be in between), `any_order` (no others), `superset` (others are allowed), `subset` (no others,
            maybe not all) or `same_effects` (only calls that change something count). `null`: missing calls, and
            missing or wrong required parameters, fail the case; other calls lower its score.
        should_not_call_tools: Whether any call fails the case, with a score of 0.
        keywords: Texts that the answer should contain, ignoring case; missing ones lower the score.
        answer: The right final answer; a plain text or number is its `value`. Another answer fails the case.
        optimal_steps: Number of calls that the task needs; efficiency is this over the calls made.
        max_calls: Maximum calls; more fail the case.
        max_latency_ms: Milliseconds above which a run has an issue, which does not fail it.
        max_cost_usd: US dollars above which a run has an issue, which does not fail it.
        category: Group of the case in reports.
        tags: Labels of the case, in the tables.
        tools: The tools of this case, in place of those of the suite.
        review: What a person has to confirm. The case is skipped until the field is removed.
    """

    id: str = Field(min_length=1)
    message: str | None = None
    messages: tuple[Message, ...] = ()
    expected_calls: tuple[ExpectedCall, ...] = ()
    match: Match | None = None
    should_not_call_tools: bool = False
    keywords: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    answer: (
        Annotated[ReferenceAnswer, BeforeValidator(_answer, json_schema_input_type=ReferenceAnswer | str | float)]
        | None
    ) = None
    optimal_steps: int | None = Field(default=None, ge=0)
    max_calls: int | None = Field(default=None, ge=0)
    max_latency_ms: float | None = Field(default=None, ge=0)
    max_cost_usd: float | None = Field(default=None, ge=0)
    category: str | None = None
    tags: tuple[str, ...] = ()
    tools: tuple[ToolDefinition, ...] | None = None
    review: str | None = Field(default=None, exclude_if=lambda review: review is None)
    user: SimulatedUser | None = Field(default=None, exclude_if=lambda user: user is None)
    # absent from the digest that is the version of suites without them

    @property
    def allows_no_call(self) -> bool:
        """Whether a run that calls any tool fails the case."""
        return self.should_not_call_tools or (
            not self.expected_calls and self.match in ("exact", "any_order", "subset")
        )

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.should_not_call_tools and self.expected_calls:
            raise ValueError("should_not_call_tools and expected_calls exclude each other")
        if self.should_not_call_tools and self.match == "same_effects":
            raise ValueError("should_not_call_tools and match: same_effects exclude each other")
        if self.message is not None and self.messages:
            raise ValueError("give message or messages, not both")
        return self

    @property
    def prompt(self) -> str:
        """What the user asks: `message`, or the user's messages."""
        if self.message is not None:
            return self.message
        return "\n\n".join(message.content for message in self.messages if message.role == "user")

    @property
    def lacks(self) -> str | None:
        """Why nothing can be learned from the case; `None` when it is complete."""
        if self.review is not None:
            return f"unconfirmed: {self.review}"
        if not self.prompt.strip():
            return "it has no message"
        checked = (
            self.expected_calls,
            self.should_not_call_tools,
            self.match is not None and self.match not in OTHERS_ARE_FINE,
            self.keywords,
            self.answer,
            self.optimal_steps is not None,
            self.max_calls is not None,
            self.max_latency_ms is not None,
            self.max_cost_usd is not None,
        )
        nothing = "it expects nothing: no call, no keyword, no answer, no budget"
        return None if any(checked) else f"{nothing}; `should_not_call_tools: true` says that no call is right"


class Suite(SuiteModel):
    """Cases that belong together.

    Attributes:
        name: Name of the suite. That of a file is the file's name, whatever is written in it.
        description: What the suite is for.
        weighting: Weights of the parts of the score, or the name of a set of weights. Parts that do not apply are left
            out.
        min_score: Score, 0 to 1, that a case needs to pass; it must also have no hard issue.
        min_pass_rate: Share of the runs that must pass for the suite to pass.
        wrong_value: What a wrong or missing required parameter does: `fail` the case, or lower its score (`credit`).
        wrong_value_credit: Credit, 0 to 1, that `wrong_value: credit` gives for a wrong value.
        tools: The tools that agents are given and calls are checked against. `null`: those that a run recorded.
        user_model: The model that plays the `user` of cases, with the fields of an agent's model.
        user_judge: The judge of the panel whose model plays the `user` of cases, in place of `user_model`.
        cases: The test cases.
    """

    name: str = Field(min_length=1)
    description: str = ""
    weighting: Literal["calls", "completion"] | dict[Part, Annotated[float, Field(gt=0)]] = "calls"
    min_score: float = Field(default=0.8, ge=0, le=1)
    min_pass_rate: float = Field(default=0.9, ge=0, le=1)
    wrong_value: Literal["fail", "credit"] = "fail"
    wrong_value_credit: float = Field(default=0.5, ge=0, le=1)
    tools: tuple[ToolDefinition, ...] | None = None
    user_model: EndpointSettings | None = Field(default=None, exclude_if=lambda model: model is None)
    user_judge: str | None = Field(default=None, exclude_if=lambda judge: judge is None)
    cases: tuple[Case, ...] = ()

    @field_validator("weighting")
    @classmethod
    def _weighs_something(cls, weighting: str | dict[Part, float]) -> str | dict[Part, float]:
        if not weighting:
            raise ValueError(f"a weighting has at least one part; names are {', '.join(WEIGHTINGS)}")
        return weighting

    @model_validator(mode="after")
    def _credit_is_given(self) -> Self:
        if self.wrong_value == "fail" and "wrong_value_credit" in self.model_fields_set:
            raise ValueError("wrong_value_credit needs wrong_value: credit; without it, a wrong value fails the case")
        return self

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [case.id for case in self.cases]
        twice = sorted({case_id for case_id in ids if ids.count(case_id) > 1}) if len(set(ids)) < len(ids) else []
        if twice:
            raise ValueError(f"case ids have to be unique; more than once: {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _users_have_one_player(self) -> Self:
        if self.user_model is not None and self.user_judge is not None:
            raise ValueError("give user_model or user_judge, not both")
        return self

    @property
    def most_user_messages(self) -> int:
        """Messages that simulated users write at most, over all cases."""
        return sum(case.user.max_messages for case in self.cases if case.user is not None)

    @property
    def credit(self) -> float:
        """The credit for a parameter that is there with a wrong value."""
        return self.wrong_value_credit if self.wrong_value == "credit" else 0

    @property
    def weights(self) -> Mapping[Part, float]:
        """The weight of each part of the score."""
        return WEIGHTINGS[self.weighting] if isinstance(self.weighting, str) else self.weighting

    def tools_of(self, case: Case) -> tuple[ToolDefinition, ...] | None:
        """The tools a case is run with: its own, else the suite's."""
        return self.tools if case.tools is None else case.tools


def suite_schema() -> dict[str, Any]:
    """The JSON Schema of suite files, for editors and other programs."""
    schema = Suite.model_json_schema(by_alias=True, mode="validation")
    schema["required"] = ["cases"]  # a file's name is the default of the suite's
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Suite", **schema}
