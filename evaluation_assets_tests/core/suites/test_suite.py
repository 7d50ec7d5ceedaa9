"""Suites: what a file may say, how faults are named, and the dialects of others."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.suites.formats.registry import LoadedSuite, as_document, find_suite, load_suite
from evaluation_assets.core.suites.suite import InvalidSuite, suite_schema
from evaluation_assets.core.text.exact_json import loads
from evaluation_assets_tests.core.suites.measuring import call, case, expected, measure

ROOT = Path(__file__).parents[3]

WEATHER = """\
description: weather
cases:
  - id: current
    message: What is the weather in Hanoi?
    expected_calls:
      - tool: get_weather
        parameters:
          city: Hanoi
          units: {one_of: [celsius, fahrenheit], optional: true}
"""


def load(tmp_path: Path, content: str | bytes, name: str = "weather.yaml") -> LoadedSuite:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_suite(UPath(path))


def test_what_is_wrong_with_a_whole_suite_is_said_in_one_sentence(tmp_path: Path) -> None:
    content = "wrong_value_credit: 0.7\ncases: [{id: one, message: Hi, answer: Hello}]\n"
    with pytest.raises(InvalidSuite) as refused:
        load(tmp_path, content)
    said = "wrong_value_credit needs wrong_value: credit; without it, a wrong value fails the case"
    assert str(refused.value) == f"weather.yaml:1: {said}"


@pytest.mark.parametrize("name", ["weather.yaml", "weather.json"])
def test_lone_surrogates_in_a_suite_are_replaced(tmp_path: Path, name: str) -> None:
    case = {"id": "half", "message": "Weather in \ud83d?", "answer": "\ud83d\ude00 \udfff"}
    (found,) = load(tmp_path, json.dumps({"cases": [case]}), name).suite.cases
    assert found.answer is not None
    assert (found.prompt, found.answer.value) == ("Weather in \ufffd?", "😀 \ufffd")


def test_a_suite_is_named_by_its_file_and_a_bare_value_means_equals(tmp_path: Path) -> None:
    suite = load(tmp_path, WEATHER).suite
    assert suite.name == "weather"
    rules = suite.cases[0].expected_calls[0].parameters
    assert rules["city"].accepted == ("Hanoi",)
    assert rules["units"].accepted == ("celsius", "fahrenheit")
    assert rules["units"].optional


def test_a_suite_has_no_other_name_than_its_file(tmp_path: Path) -> None:
    for title in ("weather", "forecasts"):
        loaded = load(tmp_path, f"name: {title}\n{WEATHER}")
        assert loaded.suite.name == "weather" and "name" not in as_document(loaded.suite)


def test_yaml_has_only_the_types_of_json(tmp_path: Path) -> None:
    given = ("date: 2024-08-15", "answer: no", "sure: true", "time: 12:30", "postcode: 01234", "address: 0x1F")
    text = WEATHER.replace("city: Hanoi", "\n          ".join(given))
    rules = load(tmp_path, text).suite.cases[0].expected_calls[0].parameters
    assert rules["date"].accepted == ("2024-08-15",)
    assert rules["answer"].accepted == ("no",)
    assert rules["sure"].accepted == (True,)
    assert [rules[name].accepted for name in ("time", "postcode", "address")] == [("12:30",), ("01234",), ("0x1F",)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "s.yaml",
            WEATHER.replace("tool: get_weather", "tols: x"),
            "s.yaml:6: cases[0].expected_calls[0].tool: is missing",
        ),
        ("s.yaml", WEATHER + "          city: Hue\n", "s.yaml:10: not YAML: the key 'city' appears twice"),
        ("s.yaml", WEATHER + "  - [", "s.yaml:10: not YAML"),
        ("s.yaml", WEATHER.replace("city: Hanoi", "city: {regex: '('}"), "s.yaml:8: cases[0].expected_calls[0]"),
        ("s.yaml", WEATHER.replace("city: Hanoi", "city: {schema: {type: 5}}"), "no JSON Schema"),
        ("s.yaml", WEATHER.replace("city: Hanoi", "city: {forbidden: true, equals: 1}"), "forbidden parameter has no"),
        ("s.yaml", WEATHER + "  - id: current\n    message: again\n    keywords: [x]\n", "s.yaml:10: cases[1]: the id"),
        ("s.yaml", WEATHER + "    should_not_call_tools: true\n", "exclude each other"),
        ("s.yaml", "weighting: {}\n" + WEATHER, "s.yaml:1: weighting: a weighting has at least one part"),
        ("s.yaml", "cases: 5", "s.yaml:1: cases is not a list"),
        ("s.json", '{"cases": [\n  {"id": 5}\n]}', "s.json:2: cases[0].id: must be text"),
        ("s.json", '{"cases": [\n  {"id": }\n]}', "s.json:2: not JSON: Expecting value in column 10"),
        ("s.json", '{"cases": [], "cases": []}', "s.json:1: the key 'cases' appears twice"),
        ("s.json", '{"cases": [{"id": "a", "message": "m", "max_calls": NaN}]}', "NaN is not JSON"),
        ("s.json", "[" * 100_000, "nested too deeply"),
        ("s.json", "  ", "s.json:1: the file is empty"),
        ("s.json", b"\xff\xfe\x00", "not text in UTF-8"),
        ("s.json", '{"tasks": []}', "no kind of suite recognises it"),
        ("s.xml", "<evaluation>\n<task><prompt>a</task>", "s.xml:2: not XML"),
    ],
)
def test_a_broken_file_is_an_error_with_line_and_reason(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InvalidSuite) as raised:
        load(tmp_path, content, name)
    assert message in str(raised.value)


def test_all_faults_of_a_file_are_named_at_once(tmp_path: Path) -> None:
    text = WEATHER.replace("tool: get_weather", "tols: x") + "  - {id: 7, message: m, keywords: [x]}\n"
    with pytest.raises(InvalidSuite) as raised:
        load(tmp_path, text)
    assert [fault.split(": ")[1] for fault in re.split(r"\. |(?<=\?) ", str(raised.value))] == [
        "cases[0].expected_calls[0].tool",
        "cases[0].expected_calls[0].tols",
        "cases[1].id",
    ]


@pytest.mark.parametrize(("times", "others"), [(2, "1 more case"), (1000, "999 more cases")])
def test_a_fault_of_many_cases_is_named_once(tmp_path: Path, times: int, others: str) -> None:
    with pytest.raises(InvalidSuite) as raised:
        load(tmp_path, "cases:\n" + "  - {id: x, message: m, keywrds: [x]}\n" * times)
    (named,) = str(raised.value).split(". ")
    assert named.startswith("weather.yaml:2: cases[0].keywrds") and named.endswith(f" (and {others})")


def test_a_question_ends_its_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidSuite, match=r"did you mean 'keywords'\? weather\.yaml"):
        load(tmp_path, "cases:\n  - {id: x, message: m, keywrds: [x]}\n  - {id: y, message: m, max_calls: []}\n")


def test_an_object_in_place_of_rules_is_said_to_be_one(tmp_path: Path) -> None:
    text = WEATHER.replace("city: Hanoi", "city: {name: Hanoi}")
    with pytest.raises(InvalidSuite) as raised:
        load(tmp_path, text)
    said = "parameters.city: has none of the rules; to expect an object, write it as `equals: {...}`"
    assert said in str(raised.value)


def test_incomplete_tasks_are_listed_with_line_and_reason(tmp_path: Path) -> None:
    text = WEATHER + "  - id: silent\n    keywords: [x]\n  - id: empty\n    message: Hello\n"
    loaded = load(tmp_path, text)
    assert [case.id for case in loaded.suite.cases] == ["current"]
    assert [(task.line, task.task, task.reason.split(":")[0]) for task in loaded.incomplete] == [
        (10, "silent", "it has no message"),
        (12, "empty", "it expects nothing"),
    ]


@pytest.mark.parametrize("match", ["exact", "any_order", "subset", "same_effects"])
def test_a_case_without_calls_whose_match_allows_no_others_expects_none(match: str) -> None:
    idle = case(match=match)
    assert idle.lacks is None
    assert not measure(idle, call("cancel_order", id=7)).passed
    assert measure(idle).passed


@pytest.mark.parametrize("match", [None, "in_order", "superset"])
def test_a_case_without_calls_whose_match_allows_others_expects_nothing(match: str | None) -> None:
    assert "it expects nothing" in (case(match=match).lacks or "")


@pytest.mark.parametrize("name", ["s.json", "s.yaml", "s.jsonl"])
def test_cases_may_stand_alone_in_a_list_or_on_lines(tmp_path: Path, name: str) -> None:
    cases = [
        {"id": "a", "message": "One", "expected_calls": [{"tool": "f"}]},
        {"id": "b", "message": "Hi", "keywords": ["x"]},
    ]
    text = "\n".join(map(json.dumps, cases)) if name.endswith("l") and name != "s.yaml" else json.dumps(cases, indent=1)
    found = load(tmp_path, text, name)
    assert (found.format, [of.id for of in found.suite.cases]) == ("suite", ["a", "b"])
    wrong = json.dumps(
        [*cases, {"id": "a", "message": "Two", "keywords": ["x"]}, {"id": "c", "message": "x", "keyword": []}]
    )
    with pytest.raises(
        InvalidSuite, match=r"\[2\]: the id 'a' is that of \[0\] already.*\[3\]\.keyword: unknown field"
    ):
        load(tmp_path, wrong, "wrong.json")


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


@pytest.mark.parametrize(
    "definition",
    [
        {"name": "weather", "description": "w", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "weather", "description": "w", "parameters": SCHEMA, "strict": True}},
        {"type": "function", "name": "weather", "description": "w", "parameters": SCHEMA, "strict": False},
        {"name": "weather", "description": "w", "input_schema": SCHEMA},
        {"name": "weather", "description": "w", "inputSchema": SCHEMA},
    ],
)
def test_tools_are_defined_as_for_any_provider(tmp_path: Path, definition: dict[str, object]) -> None:
    cases = [{"id": "a", "message": "One", "expected_calls": [{"tool": "weather"}]}]
    found = load(tmp_path, json.dumps({"tools": [definition], "cases": cases}), "s.json").suite.tools or ()
    assert [(tool.name, tool.description, tool.parameters) for tool in found] == [("weather", "w", SCHEMA)]


@pytest.mark.parametrize("name", ["s.json", "s.yaml"])
def test_integers_of_more_than_64_bits_are_read_as_those_of_runs(tmp_path: Path, name: str) -> None:
    wei = 123_456_789_012_345_678_901
    rules = {"plain": wei, "one_of": {"one_of": [wei, 1]}, "nested": {"equals": {"wei": [wei]}}, "short": 2**63}
    sent = case(expected("send", **rules)).model_dump(mode="json", exclude_unset=True, exclude={"match"})
    found = load(tmp_path, json.dumps({"cases": [sent]}), name)
    arguments = loads(json.dumps({"plain": wei, "one_of": wei, "nested": {"wei": [wei]}, "short": 2**63}))
    assert measure(found.suite.cases[0], call("send", **arguments)).passed
    other = loads(json.dumps({"plain": wei + 1, "one_of": wei, "nested": {"wei": [wei]}, "short": 2**63}))
    assert not measure(found.suite.cases[0], call("send", **other)).passed


@pytest.mark.parametrize(
    ("element", "prompt", "answer", "name"),
    [("task", "prompt", "response", "task-xml"), ("qa_pair", "question", "answer", "qa-pair-xml")],
)
def test_xml_tasks_at_any_depth(tmp_path: Path, element: str, prompt: str, answer: str, name: str) -> None:
    text = f"""<?xml version="1.0" encoding="ISO-8859-1"?>
<evaluation><group>
  <{element}><{prompt}> Wie groß ist <b>x</b>? </{prompt}><{answer}> 42 </{answer}></{element}>
  <{element}><{prompt}>No answer</{prompt}></{element}>
  <{element}><{prompt}> </{prompt}><{answer}>1</{answer}></{element}>
  <{element}><{prompt}>Two</{prompt}><{answer}>1</{answer}><{answer}>2</{answer}></{element}>
</group></evaluation>"""
    loaded = load(tmp_path, text, "tasks.xml")
    assert loaded.format == name
    (case,) = loaded.suite.cases
    assert (case.id, case.message) == (f"{element}_1", "Wie groß ist x?")
    assert case.answer is not None
    assert case.answer.value == "42"
    assert [(task.line, task.reason) for task in loaded.incomplete] == [
        (4, f"it has no {answer}"),
        (5, f"it has no {prompt}"),
        (6, f"it has more than one {answer}"),
    ]


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
def test_document_types_and_entities_are_not_read(tmp_path: Path, doctype: str) -> None:
    text = f"{doctype}<x><task><prompt>&file;</prompt><response>&b;</response></task></x>"
    with pytest.raises(InvalidSuite, match="document types and entities are not read"):
        load(tmp_path, text, "s.xml")


def test_an_answer_may_be_a_number_and_a_case_a_conversation(tmp_path: Path) -> None:
    case = {
        "id": "c",
        "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        "answer": 42,
    }
    loaded = load(tmp_path, json.dumps({"cases": [case]}), "s.json")
    assert loaded.suite.cases[0].prompt == "a"
    assert loaded.suite.cases[0].answer is not None
    assert loaded.suite.cases[0].answer.value == "42"


def test_what_is_written_reads_the_same(tmp_path: Path) -> None:
    suite = load(tmp_path, WEATHER).suite
    again = load(tmp_path, json.dumps(as_document(suite)), "weather.json").suite
    assert again == suite


def test_a_folder_is_one_suite_and_ids_are_unique_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "both"
    folder.mkdir()
    (folder / "a.yaml").write_text(WEATHER)
    (folder / "b.yaml").write_text(WEATHER.replace("id: current", "id: other"))
    assert [case.id for case in load_suite(UPath(folder)).suite.cases] == ["current", "other"]
    (folder / "c.yaml").write_text(WEATHER)
    with pytest.raises(InvalidSuite, match=r"c.yaml: the id 'current' is that of a case in a.yaml already"):
        load_suite(UPath(folder))


def test_a_suite_is_found_by_its_name_in_one_file_only(tmp_path: Path) -> None:
    folder = UPath(tmp_path)
    assert find_suite(folder, "weather") is None
    (tmp_path / "weather.yaml").write_text(WEATHER)
    assert find_suite(folder, "weather") == folder / "weather.yaml"
    (tmp_path / "weather.json").write_text("{}")
    with pytest.raises(InvalidSuite, match="several files"):
        find_suite(folder, "weather")


def test_bfcl_answers_stand_beside_the_questions(tmp_path: Path) -> None:
    question = {
        "id": "simple_0",
        "question": [[{"role": "user", "content": "sqrt of 4"}]],
        "function": [{"name": "math.sqrt", "parameters": {"type": "dict", "properties": {"x": {"type": "float"}}}}],
    }
    lines = [question, question | {"id": "simple_1"}, question | {"id": "irrelevance_2"}]
    gold = {"id": "simple_0", "ground_truth": [{"math.sqrt": {"x": [4], "o": [{"a": [1, ""], "b": ["x", "y"]}, ""]}}]}
    (tmp_path / "possible_answer").mkdir()
    (tmp_path / "possible_answer" / "q.json").write_text(json.dumps(gold))
    loaded = load(tmp_path, "\n".join(map(json.dumps, lines)), "q.json")
    assert [(case.id, case.should_not_call_tools) for case in loaded.suite.cases] == [
        ("simple_0", False),
        ("irrelevance_2", True),
    ]
    assert [(task.line, task.task) for task in loaded.incomplete] == [(2, "simple_1")]
    rule = loaded.suite.cases[0].expected_calls[0].parameters["o"]
    assert rule.optional
    assert rule.accepted == ({"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"b": "x"}, {"b": "y"}, "")


def test_the_published_schema_is_the_one_of_the_code() -> None:
    published = ROOT / "docs" / "suite.schema.json"
    assert json.loads(published.read_text()) == suite_schema()


def test_the_example_in_the_documentation_can_be_used(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tool_use.md").read_text()
    loaded = load(tmp_path, page.split("```yaml\n")[1].split("```")[0])
    assert [case.id for case in loaded.suite.cases] == ["forecast"]


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.sampled_from(["s.json", "s.yaml", "s.xml"]))
def test_any_bytes_are_a_suite_or_an_error_that_names_the_file(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    folder.mkdir(exist_ok=True)
    try:
        load(folder, content, name)
    except InvalidSuite as problem:
        assert name in str(problem)
