"""checks.yaml: constraints on tool calls, results and answers, written without code."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator
from upath import UPath

from evaluation_assets.core.sections.constraints.json_paths import compiled
from evaluation_assets.core.sections.constraints.patterns import is_written_as_pattern, regular_expression
from evaluation_assets.core.system.configuration import InvalidConfiguration, Section, read_settings

Severity = Literal["error", "warn"]
Scalar = bool | int | float | str

_ANSWER = "answer"


class InvalidChecks(InvalidConfiguration):
    """A checks.yaml that cannot be used; the message names file and field."""


def _checked_pattern(text: str) -> str:
    regular_expression(text)
    return text


Pattern = Annotated[str, AfterValidator(_checked_pattern)]
"""A regular expression: `text`, or `/text/` with the flags `i` (ignore case), `m` (lines), `s` (dot matches breaks)."""


def _checked_place(text: str) -> str:
    if text.startswith("$"):
        compiled(text)
    return text


Place = Annotated[str, AfterValidator(_checked_place)]
"""The name of an argument, or a JSONPath that begins with `$`."""


def _json_path(text: str) -> str:
    if not text.startswith("$"):
        raise ValueError("a JSONPath begins with $, e.g. $.items[*].id")
    return _checked_place(text)


JsonPath = Annotated[str, AfterValidator(_json_path)]


def _as_condition(value: object) -> object:
    if isinstance(value, list):
        return {"one_of": value}
    if isinstance(value, Mapping) or value is None:
        return value
    return {"matches": value} if isinstance(value, str) and is_written_as_pattern(value) else {"equals": value}


class Condition(Section):
    """What a value has to fulfil: all of the fields that are set. Values compare as JSON: `1` is `1.0`, and no text.

    Attributes:
        equals: The value is this.
        not_equals: The value is not this.
        one_of: The value is one of these.
        not_one_of: The value is none of these.
        matches: Regular expression, found anywhere in the value. Values that are no texts are compared as JSON.
        not_matches: Regular expression, not found in the value.
        inside: The value is a path in this folder. `..` is resolved; relative paths are relative to it.
        outside: The value is a path that leads out of this folder.
        above: The value is a number greater than this.
        below: The value is a number less than this.
        at_least: The value is a number not less than this.
        at_most: The value is a number not greater than this.
        exists: `true` if the value has to be there, `false` if it must not be. `null`: as `true`.
    """

    equals: Scalar | None = None
    not_equals: Scalar | None = None
    one_of: tuple[Scalar, ...] | None = None
    not_one_of: tuple[Scalar, ...] | None = None
    matches: Pattern | None = None
    not_matches: Pattern | None = None
    inside: str | None = None
    outside: str | None = None
    above: float | None = None
    below: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    exists: bool | None = None

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"an empty condition; set one of: {', '.join(type(self).model_fields)}")
        return self


Conditional = Annotated[Condition, BeforeValidator(_as_condition)]
"""A condition, or in short a value (`equals`), `/a regular expression/` (`matches`) or a list (`one_of`)."""


def _as_calls(value: object) -> object:
    return {"tool": value} if isinstance(value, str) else value


class CallPattern(Section):
    """Which tool calls are meant: those that fulfil all of the fields.

    Attributes:
        tool: Name of the tool, with `*` for any characters, or `/a regular expression/`. Default: any tool.
        agent: ID of the agent that calls, with `*` for any characters.
        arguments: Conditions by the name of an argument, or by a JSONPath that begins with `$`; any of the selected
            values has to fulfil it.
        arguments_text: Condition on the arguments as the agent wrote them.
        result: Condition on the text of the result.
        result_values: Conditions by a JSONPath in a result that is JSON.
        fails: `true` for calls that failed, `false` for calls with a result and no failure.
    """

    tool: str = Field(default="*", min_length=1)
    agent: str | None = None
    arguments: dict[Place, Conditional] = Field(default={})
    arguments_text: Conditional | None = None
    result: Conditional | None = None
    result_values: dict[JsonPath, Conditional] = Field(default={})
    fails: bool | None = None

    @model_validator(mode="after")
    def _has_a_name(self) -> Self:
        if is_written_as_pattern(self.tool):
            regular_expression(self.tool)
        return self


Calls = Annotated[CallPattern, BeforeValidator(_as_calls)]
"""A pattern of calls, or in short the name of a tool."""


def _as_before(value: object) -> object:
    return {"answer": True} if value == _ANSWER else _as_calls(value)


class CallsOrAnswer(CallPattern):
    """What something has to come before: calls, or the final answer.

    Attributes:
        answer: `true` for the final answer; in short `before: answer`. To name a tool `answer`, write `{tool: answer}`.
    """

    answer: bool = False


class AnswerRule(Section):
    """What the final answer has to be like; in a dialogue, all that agents said.

    Attributes:
        cites: Calls; a text from one of their results has to occur in the answer.
        cited_values: JSONPath of the texts that count, in results that are JSON.
        min_length: Length in characters; shorter texts of a result do not count.
        matches: Regular expression that has to be found in the answer.
        not_matches: Regular expression that must not be found in the answer.
    """

    cites: Calls | None = None
    cited_values: JsonPath | None = None
    min_length: int = Field(default=3, ge=1)
    matches: Pattern | None = None
    not_matches: Pattern | None = None

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if self.cites is None and self.matches is None and self.not_matches is None:
            raise ValueError("set cites, matches or not_matches")
        if self.cites is None and self.cited_values is not None:
            raise ValueError("cited_values needs cites")
        return self


def _as_values(value: object) -> object:
    return {"matches": value} if isinstance(value, str) else value


class PassedValues(Section):
    """Values of results that must not occur in the arguments of a later call.

    Attributes:
        matches: Regular expression whose first group is the value. Without a group: in results that are JSON, texts
            that match and those below a key that matches; in other results the rest of the line.
        values: JSONPath of the values, in results that are JSON, in place of `matches`.
        source: Calls whose results are meant. Default: all.
        to: Calls whose arguments are meant. Default: all.
        min_length: Length in characters; shorter values do not count.
    """

    matches: Pattern | None = None
    values: JsonPath | None = None
    source: Calls = CallPattern()
    to: Calls = CallPattern()
    min_length: int = Field(default=4, ge=1)

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if (self.matches is None) == (self.values is None):
            raise ValueError("set either matches or values")
        return self


def _as_names(value: object) -> object:
    return [value] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_as_names)]
"""Names with `*` for any characters; one of them has to match."""


class Where(Section):
    """The trajectories that a constraint is about: those that match all of the fields. `*` stands for any characters.

    Attributes:
        agents: Agent of the sidecar, or ID or name of an agent that acts in the trajectory.
        tasks: Task ID.
        suites: Suite of the drop.
        formats: Trace format.
        tags: An entry of `tags` of sidecar or trajectory, or a label of either as `name=value`.
    """

    agents: Names | None = None
    tasks: Names | None = None
    suites: Names | None = None
    formats: Names | None = None
    tags: Names | None = None


class Constraint(Section):
    """One rule, with exactly one of `never`, `always`, `at_most`, `answer` and `never_pass`.

    Attributes:
        never: Calls that must not be made; with `before` or `after`, not before or after these calls.
        always: Calls that have to be made; with `before`, before each of these calls or the answer; with `after`, after
            each of these.
        at_most: Maximum the calls `of`.
        of: The calls that `at_most` counts.
        answer: What the final answer has to be like.
        never_pass: Values of results that must not be passed into arguments.
        before: The calls, or `answer`, that `never` and `always` come before.
        after: The calls that `never` and `always` come after.
        same: Names of arguments, or JSONPaths: the rule is about calls with the same values of these. `never: cancel`,
            `before: read`, `same: order` demands a `read` of the same order.
        severity: `error` fails the drop's run, `warn` is a warning.
        where: The trajectories that the rule is about. Default: all.
        description: The rule in words. `null`: made from the rule.
    """

    never: Calls | None = None
    always: Calls | None = None
    at_most: int | None = Field(default=None, ge=0)
    of: Calls | None = None
    answer: AnswerRule | None = None
    never_pass: Annotated[PassedValues, BeforeValidator(_as_values)] | None = None
    before: Annotated[CallsOrAnswer, BeforeValidator(_as_before)] | None = None
    after: Calls | None = None
    same: Annotated[tuple[Place, ...], BeforeValidator(_as_names)] = ()
    severity: Severity = "error"
    where: Where = Where()
    description: str | None = Field(default=None, min_length=1, max_length=500)

    @model_validator(mode="after")
    def _is_one_rule(self) -> Self:
        kinds = ("never", "always", "at_most", "answer", "never_pass")
        chosen = [kind for kind in kinds if getattr(self, kind) is not None]
        if len(chosen) != 1:
            raise ValueError(f"a constraint has exactly one of: {', '.join(kinds)}")
        if (self.at_most is None) != (self.of is None):
            raise ValueError("at_most needs of, the calls that are counted, and the other way round")
        if self.before is not None and self.after is not None:
            raise ValueError("set before or after, not both")
        if (self.before is not None or self.after is not None) and chosen[0] not in ("never", "always"):
            raise ValueError(f"before and after belong to never and always, not to {chosen[0]}")
        if self.same and self.at_most is None and (self.before or self.after) is None:
            raise ValueError("same belongs to before, after and at_most")
        if self.before is not None and self.before.answer and self.same:
            raise ValueError("same compares calls, and the answer is not a call")
        if self.before is not None and self.before.answer and self.always is None:
            raise ValueError("before: answer belongs to always; to name a tool `answer`, write {tool: answer}")
        return self


ConstraintName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]


class Checks(Section):
    """All of checks.yaml.

    Attributes:
        constraints: Constraints by name.
    """

    constraints: dict[ConstraintName, Constraint] = Field(default={})


def load_checks(file: UPath) -> Checks:
    """The constraints in a file; none where there is no file.

    Raises:
        InvalidChecks: no YAML, an unknown field, or a regular expression or JSONPath that is none.
    """
    return read_settings(file, Checks, InvalidChecks) if file.exists() else Checks()
