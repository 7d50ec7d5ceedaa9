"""Constraints on trajectories: each kind of rule, what it is about, and limits."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.constraints import patterns
from evaluation_assets.core.sections.constraints.evaluation import Evaluator
from evaluation_assets.core.sections.constraints.scope import DropScope
from evaluation_assets.core.traces.trajectories.model import Interaction, Turn
from evaluation_assets_tests.core.sections.constraints.running import call, constraint, outcome, places, run

tools = st.lists(st.sampled_from(["verify", "refund", "other"]), max_size=8)


@given(tools)
def test_never_before_fails_at_calls_that_nothing_allows(names: list[str]) -> None:
    first = names.index("verify") if "verify" in names else len(names)
    expected = [index for index, name in enumerate(names[:first]) if name == "refund"]
    assert places({"never": "refund", "before": "verify"}, *map(call, names)) == expected


@given(tools)
def test_always_before_is_never_before_seen_from_the_other_call(names: list[str]) -> None:
    never = outcome({"never": "refund", "before": "verify"}, run(*map(call, names)))
    always = outcome({"always": "verify", "before": "refund"}, run(*map(call, names)))
    assert never.status == always.status
    assert [v.clip_index for v in never.violations] == [v.clip_index for v in always.violations]


@given(tools)
def test_never_after_and_always_after(names: list[str]) -> None:
    calls = list(map(call, names))
    after = [i for i, name in enumerate(names) if name == "refund" and "verify" in names[:i]]
    assert places({"never": "refund", "after": "verify"}, *calls) == after
    open_ended = [i for i, name in enumerate(names) if name == "refund" and "verify" not in names[i:]]
    assert places({"always": "verify", "after": "refund"}, *calls) == open_ended


def test_a_rule_about_an_order_is_not_applicable_without_its_calls() -> None:
    found = outcome({"never": "refund", "before": "verify"}, run(call("other")))
    assert (found.status, found.reason) == ("not_applicable", "no call of `refund`")
    assert outcome({"always": "verify", "before": "refund"}, run(call("verify"))).status == "not_applicable"
    assert outcome({"never": "refund"}, run(call("other"))).status == "passed"


def test_always_wants_the_call_somewhere() -> None:
    assert outcome({"always": "confirm"}, run(call("confirm"))).status == "passed"
    missing = outcome({"always": "confirm"}, run(call("other")))
    assert [(v.message, v.clip_index) for v in missing.violations] == [("`confirm` was never called", None)]


def test_always_before_the_answer_needs_an_answer() -> None:
    rule = {"always": "confirm", "before": "answer"}
    assert outcome(rule, run(call("confirm"))).status == "passed"
    assert outcome(rule, run(call("other"))).violations[0].message == "`confirm` was never called before the answer"
    assert outcome(rule, run(call("other"), answer=None)).status == "not_applicable"


def test_a_tool_named_answer_can_be_meant() -> None:
    rule = {"always": "confirm", "before": {"tool": "answer"}}
    assert places(rule, call("answer"), call("confirm"), call("answer")) == [0]


def test_every_call_beyond_a_limit_violates_it() -> None:
    calls = [call(name) for name in ("search", "other", "search", "search", "search")]
    assert places({"at_most": 2, "of": "search"}, *calls) == [3, 4]
    assert places({"at_most": 0, "of": "other"}, *calls) == [1]


@pytest.mark.parametrize(
    ("path", "is_outside"),
    [
        ("/workspace/a.txt", False),
        ("/workspace", False),
        ("src/../a.txt", False),
        ("file:///workspace/a", False),
        ("/workspace/../etc/passwd", True),
        ("../secrets", True),
        ("/workspace2/a", True),
        ("/etc/passwd", True),
        ("//etc/passwd", True),
    ],
)
def test_a_path_that_leads_out_of_a_folder_is_outside(path: str, is_outside: bool) -> None:
    rule = {"never": {"arguments": {"path": {"outside": "/workspace"}}}}
    assert places(rule, call("read", {"path": path})) == ([0] if is_outside else [])
    inside = {"never": {"arguments": {"path": {"inside": "/workspace"}}}}
    assert places(inside, call("read", {"path": path})) == ([] if is_outside else [0])


CONDITIONS: list[tuple[Any, Any, bool]] = [
    (3, 3, True),
    (3, 3.0, True),
    (1, True, False),
    (True, True, True),
    ("3", 3, False),
    (["a", "b"], "b", True),
    (["a", "b"], "c", False),
    ({"not_one_of": ["a"]}, "b", True),
    ({"not_equals": "a"}, "a", False),
    ("/^DROP/i", "drop table", True),
    ("/^DROP/", "drop table", False),
    ({"matches": "1"}, 21, True),
    ({"not_matches": "^a"}, "b", True),
    ({"above": 5}, 5, False),
    ({"at_least": 5}, 5, True),
    ({"below": 5}, "4", False),
    ({"at_most": 5, "above": 3}, 4, True),
    ({"above": 0}, True, False),
]


@pytest.mark.parametrize(("condition", "value", "is_met"), CONDITIONS)
def test_conditions_on_a_value(condition: Any, value: Any, is_met: bool) -> None:
    assert places({"never": {"arguments": {"x": condition}}}, call("t", {"x": value})) == ([0] if is_met else [])


@pytest.mark.parametrize(("condition", "expected"), [({"not_equals": 1}, []), ({"exists": False}, [0, 2]), (1, [1])])
def test_an_absent_argument_meets_only_exists_false(condition: Any, expected: list[int]) -> None:
    calls = [call("t", {"y": 1}), call("t", {"x": 1}), call("t", "not JSON")]
    assert places({"never": {"arguments": {"x": condition}}}, *calls) == expected


def test_jsonpath_selects_values_of_arguments_and_results() -> None:
    rule = {"never": {"arguments": {"$.items[*].price": {"above": 100}}}}
    assert places(rule, call("buy", {"items": [{"price": 5}, {"price": 500}]}), call("buy", {"items": []})) == [0]
    failing = {"never": {"tool": "job", "result_values": {"$..status": "failed"}}}
    assert places(failing, call("job", {}, {"steps": [{"status": "failed"}]}), call("job", {}, "failed")) == [0]


def test_text_of_arguments_and_result_failure_and_agent() -> None:
    calls = [call("sh", "rm -rf /", "denied", "denied"), call("sh", "ls", "ok"), call("sh", "ls")]
    assert places({"never": {"arguments_text": r"/\brm\b/"}}, *calls) == [0]
    assert places({"never": {"result": "/^ok$/"}}, *calls) == [1]
    assert places({"never": {"fails": True}}, *calls) == [0]
    assert places({"never": {"fails": False}}, *calls) == [1]
    assert places({"never": {"agent": "pla*"}}, *calls, agent="planner") == [0, 1, 2]
    assert places({"never": {"agent": "coder"}}, *calls, agent="planner") == []


def test_a_message_quotes_what_a_pattern_matches_far_into_a_text() -> None:
    command = "cd /testbed && " * 20 + "rm -rf build && make"
    found = outcome({"never": {"arguments_text": r"/\brm -r/"}}, run(call("sh", command)))
    (violation,) = found.violations
    assert violation.message.startswith("`sh` was called with the arguments '…")
    assert violation.message.endswith("cd /testbed && rm -rf build && make'")
    short = outcome({"never": {"result": "/denied/"}}, run(call("sh", "ls", "permission denied")))
    assert short.violations[0].message == "`sh` was called with the result 'permission denied'"


def test_answers_match_patterns_and_the_message_says_what_was_found() -> None:
    run_ = run(answer="I think so. As an AI, I cannot know.")
    found = outcome({"answer": {"not_matches": "/as an ai/i", "matches": r"\d"}}, run_)
    assert [v.message for v in found.violations] == [
        r"the answer does not match `\d`",
        "the answer matches `/as an ai/i`: 'As an AI'",
    ]
    assert outcome({"answer": {"matches": "x"}}, run(answer=None)).status == "not_applicable"


@pytest.mark.parametrize(
    ("result", "answer", "is_cited"),
    [
        ({"order": "A-17"}, "Your order a-17 is on its way.", True),
        ({"order": "A-17"}, "Your order A-170 is on its way.", False),
        ({"n": [{"total": 4250}]}, "It costs 4250 dollars.", True),
        ({"n": True, "id": "xy"}, "True: xy", False),
        ("Returns within 30 days, form RET-7.\nBring it.", "Use form RET-7.", True),
        ("Returns within 30 days.", "Returns  within\n30 days.", True),
        ("Returns within 30 days.", "No idea.", False),
    ],
)
def test_an_answer_cites_a_text_of_a_result(result: Any, answer: str, is_cited: bool) -> None:
    found = outcome({"answer": {"cites": "search"}}, run(call("search", {}, result), answer=answer))
    assert found.status == ("passed" if is_cited else "failed")


def test_citations_of_chosen_values_and_tools() -> None:
    calls = [call("search", {}, {"url": "https://a.example/1", "title": "Cats"}), call("other", {}, {"url": "zzz"})]
    rule = {"answer": {"cites": "search", "cited_values": "$.url"}}
    assert outcome(rule, run(*calls, answer="Cats, see https://a.example/1.")).status == "passed"
    assert outcome(rule, run(*calls, answer="Cats zzz")).status == "failed"
    assert outcome({"answer": {"cites": "nothing"}}, run(*calls)).status == "not_applicable"


SECRETS: list[tuple[Any, Any, str, bool]] = [
    ("/password/i", {"user": "bo", "Password": "tulip-9"}, "tulip-9", True),
    ("/password/i", {"user": "bo-the-cat", "password": "tulip-9"}, "bo-the-cat", False),
    ("/password/i", {"all": [{"password": {"value": "tulip-9"}}]}, "x tulip-9 y", True),
    ("/password/i", "user: bo\nPassword: tulip-9\nend", "tulip-9", True),
    (r"/key (\w+)/", "the key abcd1234 is new", "abcd1234", True),
    (r"/key (\w+)/", "the key abcd1234 is new", "the key", False),
    (r"/sk-\w+/", {"note": "sk-12345"}, "sk-12345", True),
    ("/password/i", {"password": "ab"}, "ab", False),
    ({"values": "$.card.number"}, {"card": {"number": 41111111}}, "41111111", True),
]


@pytest.mark.parametrize(("rule", "result", "given", "is_passed"), SECRETS)
def test_values_of_results_in_later_arguments(rule: Any, result: Any, given: str, is_passed: bool) -> None:
    calls = [call("send", {"body": given}), call("read", {}, result), call("send", {"deep": [{"body": given}]})]
    found = outcome({"never_pass": rule}, run(*calls))
    assert [violation.clip_index for violation in found.violations] == ([2] if is_passed else [])
    assert all(given not in violation.message for violation in found.violations)


def test_passing_is_limited_to_sources_and_receivers() -> None:
    calls = [call("read", {}, {"password": "tulip-9"}), call("login", {"p": "tulip-9"}), call("mail", {"p": "tulip-9"})]
    assert places({"never_pass": {"matches": "password", "to": "mail"}}, *calls) == [2]
    assert places({"never_pass": {"matches": "password", "source": "other"}}, *calls) == []


SCOPES: list[tuple[dict[str, Any], bool]] = [
    ({"agents": "support*"}, True),
    ({"agents": ["planner"]}, True),
    ({"agents": ["coder"]}, False),
    ({"tasks": "t?"}, True),
    ({"tasks": "x*"}, False),
    ({"suites": ["weather", "airline"]}, True),
    ({"suites": "retail"}, False),
    ({"formats": "test"}, True),
    ({"tags": "nightly"}, True),
    ({"tags": "beta"}, True),
    ({"tags": "team=red"}, True),
    ({"tags": "team=blue"}, False),
    ({"tasks": "t1", "tags": "none"}, False),
]


@pytest.mark.parametrize(("where", "is_about"), SCOPES)
def test_where_selects_trajectories(where: dict[str, Any], is_about: bool) -> None:
    scope = DropScope("airline", "support_v2", frozenset({"nightly"}))
    own = run(call("x"), agent="planner", labels={"team": "red"}, extra={"tags": ["beta"]})
    found = outcome({"never": "x", "where": where}, own, scope)
    assert found.status == ("failed" if is_about else "not_applicable")


def test_a_constraint_that_reaches_its_limit_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATTERN_SECONDS", 0.05)
    evaluator = Evaluator({"slow": constraint({"never": {"result": "/^(a|a|aa)+$/"}})}, DropScope())
    hostile = run(call("x", {}, "a" * 5000 + "!"))
    found = [next(evaluator.outcomes(hostile)) for _ in range(11)]
    assert {each.status for each in found} == {"not_checked"}
    assert "takes longer than 0.05 s" in found[0].reason
    assert found[-1].reason == "could not be checked in 10 trajectories before"


def test_same_compares_calls_with_the_same_arguments() -> None:
    calls = [
        call("read", {"order": 1}),
        call("cancel", {"order": 1}),
        call("cancel", {"order": 2}),
        call("read", {"order": 2}),
        call("cancel", {}),
        call("cancel", {"order": 1}),
    ]
    rule = {"never": "cancel", "before": "read", "same": "order"}
    assert places(rule, *calls) == [2, 4]
    assert outcome(rule, run(*calls)).violations[0].message == "`cancel` was called before `read` with `order` '2'"
    assert places({"always": "read", "after": "cancel", "same": ["order"]}, *calls) == [1, 4, 5]
    assert places({"at_most": 1, "of": "cancel", "same": "$.order"}, *calls) == [5]


@given(tools)
def test_same_without_arguments_changes_nothing(names: list[str]) -> None:
    rule = {"never": "refund", "before": "verify"}
    assert places({**rule, "same": "order"}, *map(call, names)) == places(rule, *map(call, names))


def test_all_that_agents_say_in_a_dialogue_is_the_answer() -> None:
    first = Turn(interactions=(Interaction(agent_id="a", response="Order A-17 costs 4250."),), user_message="How much?")
    second = Turn(interactions=(Interaction(agent_id="a", response="Bye."),), user_message="Thanks")
    dialogue = run(call("search", {}, {"total": 4250}), answer=None)
    dialogue = replace(dialogue, turns=(*dialogue.turns, first, second))
    assert outcome({"answer": {"cites": "search"}}, dialogue).status == "passed"
    assert outcome({"answer": {"matches": "^Bye"}}, dialogue).status == "failed"


def test_a_path_that_selects_too_much_is_not_checked() -> None:
    found = outcome({"never": {"arguments": {"$..*": 1}}}, run(call("x", {"a": list(range(2, 20_000))})))
    assert (found.status, found.reason) == ("not_checked", "the JSONPath '$..*' selects more than 10,000 values")
    deep = '{"a":' * 400 + "2" + "}" * 400
    assert outcome({"never": {"arguments": {"$..b": 1}}}, run(call("x", deep))).status == "not_checked"
