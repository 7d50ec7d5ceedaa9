"""Tools of agents: schemas, the calculator, what is weak in definitions, and a report from a run."""

import asyncio
from dataclasses import replace
from typing import Any, Literal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.report.agents.agent_report import agent_report, as_markdown
from evaluation_assets.core.report.agents.tool_quality import findings
from evaluation_assets.core.suites.agents.calculator import calculator
from evaluation_assets.core.suites.agents.runner import PYTHON_TOOLS
from evaluation_assets.core.suites.agents.settings import InvalidAgent, load_agent
from evaluation_assets.core.suites.agents.tools import FunctionTool, InvalidTool, Toolbox, ToolError, cut, python_tools
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.traces.formats.base import UnusableRecord
from evaluation_assets.core.traces.formats.readers.canonical import line_of, trajectory_of
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, written
from evaluation_assets.core.traces.trajectories.model import Tool, Trajectory
from evaluation_assets_tests.core.making import trajectory


def convert(amount: float, unit: Literal["km", "mile"], places: int = 2, *, tags: list[str] | None = None) -> dict:
    """Convert a length.

    Works both ways.

    Args:
        amount: How much there is.
        unit: What it is measured in.
        places: Decimals of the result.
    """
    return {"amount": round(amount * 1.609344, places), "unit": unit, "tags": tags}


def test_a_schema_is_made_from_hints_and_docstring() -> None:
    tool = FunctionTool(convert).definition
    assert (tool.name, tool.description) == ("convert", "Convert a length.\n\nWorks both ways.")
    assert tool.parameters is not None
    about = tool.parameters["properties"]
    assert tool.parameters["required"] == ["amount", "unit"] and tool.parameters["additionalProperties"] is False
    assert about["amount"] == {"description": "How much there is.", "type": "number"}
    assert about["unit"]["enum"] == ["km", "mile"] and about["places"]["default"] == 2
    assert "description" not in about["tags"]


def called(name: str, arguments: str, *tools: Any) -> tuple[str, bool]:
    outcome = asyncio.run(Toolbox([FunctionTool(tool) for tool in tools]).call(name, arguments))
    return outcome.content, outcome.error is not None


@pytest.mark.parametrize(
    ("arguments", "told", "failed"),
    [
        ('{"amount": 1, "unit": "mile"}', '{"amount":1.61,"unit":"mile","tags":null}', False),
        ('{"amount": "much", "unit": "mile"}', "amount: must be a number", True),
        ('{"amount": 1, "unit": "inch"}', "unit: must be 'km' or 'mile'", True),
        ('{"unit": "km"}', "amount: is missing", True),
        ('{"amount": 1, "unit": "km", "more": 1}', "more: unknown field", True),
    ],
)
def test_arguments_are_checked_before_the_call(arguments: str, told: str, failed: bool) -> None:
    content, error = called("convert", arguments, convert)
    assert told in content and error is failed


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidTool, match="two tools are named 'convert'"):
        Toolbox([FunctionTool(convert), FunctionTool(convert)])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("abacus", "choose one of: calculator"),
        ("no.such.module:f", "No module"),
        ("math:nothing", "has no function nothing"),
    ],
)
def test_an_unknown_function_is_named(name: str, reason: str) -> None:
    with pytest.raises(InvalidTool, match=reason):
        python_tools([name], PYTHON_TOOLS)


@given(st.text(max_size=300), st.integers(min_value=10, max_value=100))
def test_what_is_cut_keeps_both_ends_and_says_so(text: str, most: int) -> None:
    shown = cut(text, most)
    clean = text.encode("utf-8", "replace").decode()
    if len(clean) <= most:
        assert shown == clean
    else:
        assert clean.startswith(shown[: most - most // 3]) and "characters left out" in shown
        assert len(shown) <= most + 40


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("10000 * (1 + 0.05 / 12) ** 36", 11614.72),
        ("50 * 2 * cos(pi/4)", 70.71),
        ("4 * pi * (3 * 500 / (4 * pi)) ** (2 / 3)", 304.65),
        ("-log10(3.5e-5)", 4.46),
        ("200000 * (0.045/12) / (1 - (1 + 0.045/12) ** -360)", 1013.37),
        ("(7 + sqrt(7**2 - 4*3*2)) / (2*3)", 2),
        ("round(7 // 2 + 7% 2 - -1, 1)", 5),
        ("factorial(5) + max(1, 2) + abs(-3) + gcd(12, 18) + 2 ** 0", 132),
    ],
)
def test_the_calculator_works_out_arithmetic(expression: str, value: float) -> None:
    assert float(calculator(expression)) == pytest.approx(value, abs=0.005)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("__import__('os').system('true')", "is not arithmetic"),
        ("().__class__", "is not arithmetic"),
        ("open('x')", "unknown function|not arithmetic"),
        ("[1][0]", "is not arithmetic"),
        ("'a' * 10", "is not arithmetic"),
        ("lambda: 1", "is not arithmetic"),
        ("x + 1", "unknown name"),
        ("True + 1", "truth values"),
        ("1,000 + 1", "thousands separators"),
        ("2 ^ 3", r"\*\* for powers"),
        ("9 ** 9 ** 9", "too large"),
        ("factorial(100000)", "factorial takes"),
        ("round(5, -1000000000)", "fewer places"),
        ("1e308 ** 2", "too large"),
        ("1 / 0", "division by zero"),
        ("sqrt(-1)", "domain"),
        ("(-8) ** 0.5", "not real"),
        ("1 +", "no arithmetic"),
        ("(" * 400 + "1" + ")" * 400, "no arithmetic"),
        ("1+" * 600 + "1", "longer than"),
    ],
)
def test_the_calculator_refuses_everything_else(expression: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        calculator(expression)


@given(st.text(max_size=60) | st.text(alphabet="0123456789+-*/%().e ,eπsqrtlognif", max_size=60))
def test_the_calculator_gives_a_number_or_a_reason(expression: str) -> None:
    try:
        float(calculator(expression))
    except ToolError as problem:
        assert str(problem)


def tool(name: str, description: str = "Looks up the weather of a city.", **properties: Any) -> Tool:
    return Tool(name=name, description=description, parameters={"type": "object", "properties": properties})


CITY = {"type": "string", "description": "The city."}


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ([tool("weather", city=CITY)], []),
        ([tool("weather", "", city=CITY)], [("no_description", None)]),
        ([tool("weather", "Weather.", city=CITY)], [("short_description", None)]),
        ([tool("weather", city={"type": "string", "description": " "})], [("undocumented_parameter", "city")]),
        ([tool("weather", city={"description": "The city."})], [("untyped_parameter", "city")]),
        ([Tool(name="weather", description="Looks up the weather of a city.")], [("no_schema", None)]),
        (
            [
                tool(
                    "weather",
                    where={"type": "object", "description": "Where.", "properties": {"city": {"type": "string"}}},
                )
            ],
            [("undocumented_parameter", "where.city")],
        ),
        (
            [tool("weather", city=CITY), tool("get_weather", "Looks up the weather of a town.", city=CITY)],
            [("near_duplicate", None)],
        ),
        ([tool("weather", city=CITY), tool("time", "Tells what time it is in a city.", city=CITY)], []),
        ([tool("weather", city=CITY), tool("get_weather", day=CITY)], []),
    ],
)
def test_weak_definitions_are_found(tools: list[Tool], expected: list[tuple[str, str | None]]) -> None:
    assert [(note.kind, note.parameter) for note in findings(tools)] == expected


words = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
said = st.builds(
    Said,
    agent_id=st.sampled_from(["a", "b"]),
    thought=st.none() | words,
    message=st.none() | words,
    calls=st.lists(st.builds(Call, name=words, arguments=words, id=st.none() | words), max_size=2).map(tuple),
    latency_ms=st.none() | st.floats(min_value=0, max_value=1e6),
)
events = st.lists(said | st.builds(Result, content=words) | st.builds(Asked, text=words), max_size=8)


@given(events)
def test_a_trajectory_is_read_as_it_was_written(happened: list[Any]) -> None:
    text, turns = written([Asked(text="go"), *happened, Said(message="done")])
    whole = replace(trajectory("<think>x</think>", labels={"a": [1, None]}), text=text, turns=turns)
    assert trajectory_of(line_of(whole)) == whole


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda data: data.pop("text"), "text: is missing"),
        (lambda data: data.update(turns=3), "turns"),
        (lambda data: data.update(text="short"), r"step 0\.\.\d+: expected to start at 0 and end by 5"),
        (lambda data: data.update(task_id=" "), "blank"),
        (lambda data: data.update(duration_s=-1.0), "is negative: -1"),
        (lambda data: data.update(trial=-1), "is negative: -1"),
        (lambda data: data.update(trial=1 << 63), "trial has more than 64 bits"),
        (
            lambda data: data["turns"][0]["interactions"][0]["steps"][0].update(thought=[0, 10_000]),
            r"span 0\.\.10000 is not within its step",
        ),
        (
            lambda data: data["turns"][0]["interactions"][0]["steps"][-1].update(message=[0, 3]),
            r"span 0\.\.3 is not within its step",
        ),
    ],
)
def test_a_line_that_is_no_trajectory_is_rejected(spoil: Any, reason: str) -> None:
    data = orjson.loads(
        line_of(trajectory("<think>why</think><find><id>4</id></find><result>4</result><answer>42</answer>"))
    )
    spoil(data)
    with pytest.raises(UnusableRecord, match=reason):
        trajectory_of(orjson.dumps(data))


def attempt(task_id: str, answer: str | None, feedback: str = "", **extra: Any) -> Trajectory:
    whole = trajectory("<think>why</think><answer>42</answer>")
    about = {"ended": "answered", "feedback": feedback, "summary": "I did it.", "tool_calls": {}} | extra
    data = orjson.loads(line_of(whole)) | {"task_id": task_id, "id": task_id, "final_answer": answer, "extra": about}
    data["agents"] = [{"id": "a", "name": "a", "model": "m", "tools": [{"name": "sums"}, {"name": "sums_more"}]}]
    return trajectory_of(orjson.dumps(data | {"duration_s": 2.0}))


SUITE = Suite.model_validate(
    {
        "name": "s",
        "cases": [
            {"id": "one", "message": "1?", "answer": "1"},
            {"id": "two", "message": "2?", "answer": "$1,000"},
            {"id": "three", "message": "3?", "keywords": ["42"]},
        ],
    }
)


def test_a_report_counts_answers_by_their_own_denominator() -> None:
    used = {"sums": {"count": 2, "durations_ms": [1.0, 3.0]}}
    report = agent_report(
        SUITE,
        [
            attempt("one", "1", tool_calls=used),
            attempt("two", "NOT_FOUND"),
            attempt("three", "42"),
            attempt("no such", "1"),
        ],
    )
    assert (report.attempts, report.answerable, report.right, report.not_found) == (3, 2, 1, 1)
    assert report.accuracy == 0.5 and report.mean_duration_s == 2.0 and report.cost_usd is None
    assert [(each.name, each.calls, each.mean_duration_ms) for each in report.tools] == [
        ("sums", 2, 2.0),
        ("sums_more", 0, None),
    ]
    assert [task.compared for task in report.tasks] == ["exact", "not_found", None]


def test_means_of_a_report_leave_out_attempts_that_the_infrastructure_failed() -> None:
    made = attempt("one", "1")
    broken = replace(attempt("two", None, ended="failed"), duration_s=100.0, flags=("failed",))
    report = agent_report(SUITE, [made, broken])
    assert (report.attempts, report.failed, report.mean_duration_s, report.mean_calls) == (2, 1, 2.0, len(made.calls))
    assert f"{len(made.calls)}.00 per counted attempt" in as_markdown(report)


def test_a_right_not_found_is_counted_as_not_found_too() -> None:
    suite = Suite.model_validate({"name": "s", "cases": [{"id": "one", "message": "1?", "answer": "NOT_FOUND"}]})
    report = agent_report(suite, [attempt("one", "NOT_FOUND")])
    assert (report.right, report.not_found) == (1, 1)


def test_a_report_without_attempts_divides_by_nothing() -> None:
    report = agent_report(SUITE, [])
    assert report.accuracy is None and report.mean_duration_s is None and report.mean_calls is None
    assert "0/0" in as_markdown(report)


def test_feedback_is_gathered_under_the_tools_it_names() -> None:
    one = "Sums is unclear. Name the unit.\n- `sums_more` failed twice"
    report = agent_report(SUITE, [attempt("one", "1", one), attempt("two", "2", "Name the unit.")])
    remarks = {each.name: [(remark.text, remark.tasks) for remark in each.remarks] for each in report.tools}
    assert remarks == {"sums": [("Sums is unclear.", ["one"])], "sums_more": [("`sums_more` failed twice", ["one"])]}
    assert [(remark.text, remark.tasks) for remark in report.general_remarks] == [("Name the unit.", ["one", "two"])]


def test_hostile_text_stays_text_in_the_report() -> None:
    hostile = "```\n# Owned [click](https://evil.example) <script>alert(1)</script> | @everyone\x1b[2J"
    report = agent_report(SUITE, [attempt("one", hostile, hostile, summary=hostile, error=hostile, ended="failed")])
    lines = as_markdown(report).splitlines()
    outside, fence = [], None
    for line in lines:
        if fence is None and line.startswith("```"):
            fence = line.removesuffix("text")
        elif line == fence:
            fence = None
        elif fence is None:
            outside.append(line)
    assert fence is None
    assert not any(bad in line for line in outside for bad in ("<script", "](http", "\x1b", "@everyone"))
    assert "# Owned" not in "\n".join(line for line in outside if line.startswith("#"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name: a\nprovider: rules", "provider 'rules'; choose one of"),
        ("name: A b\nprovider: openai", "lower-case"),
        ("name: a\nprovider: openai\nkey: sk-1", "key: unknown field"),
        ("name: a\nprovider: openai\ntools: {mcp: [{name: x}]}", "either a command or a url"),
        ("name: a\nprovider: openai\nlimits: {max_steps: 0}", "limits.max_steps"),
        ("name: [", "expected"),
    ],
)
def test_an_agent_that_cannot_be_used_says_why(tmp_path: Any, text: str, reason: str) -> None:
    from upath import UPath

    path = tmp_path / "agent.yaml"
    path.write_text(text)
    with pytest.raises(InvalidAgent, match=reason):
        load_agent(UPath(path))


def test_the_example_agent_can_be_used() -> None:
    from pathlib import Path

    from upath import UPath

    example = Path(__file__).parents[4] / "examples" / "agents" / "calculating.yaml"
    assert load_agent(UPath(example)).tools.python == ("calculator",)
