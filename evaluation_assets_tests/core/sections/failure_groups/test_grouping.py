"""Which findings are one failure."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.failure_groups.grouping import (
    ANY_TOOL,
    GroupKey,
    assigned,
    grouped,
    names_of,
    pattern_of,
    tools_of,
)
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence


def found(
    run: int, kind: str = "ignored_error", tool: str | None = None, evidence: str = "e", **place: int | None
) -> Occurrence:
    return Occurrence(
        drop="d",
        trajectory_id=f"run {run}",
        task_id=f"task {run}",
        kind=kind,
        severity="HIGH",
        tool=tool,
        evidence=evidence,
        **place,
    )


CALLS = {"d": {"search": 500, "pay": 100, "open": 400}}


def keys_of(occurrences: Sequence[Occurrence], known: Collection[GroupKey]) -> list[GroupKey]:
    """The group that each finding is assigned to."""
    by_run: dict[tuple[str, str], list[Occurrence]] = {}
    for each in occurrences:
        by_run.setdefault(each.run, []).append(each)
    keys = {id(each): key for own in assigned(by_run.values(), known, CALLS) for each, key in own}
    return [keys[id(each)] for each in occurrences]


def test_findings_of_a_kind_are_one_group_if_they_are_spread_like_the_calls() -> None:
    spread = [found(run, tool=tool) for run, tool in enumerate(["search"] * 10 + ["pay"] * 2 + ["open"] * 8)]
    assert grouped(spread, CALLS).keys() == {GroupKey("ignored_error", ANY_TOOL)}


def test_a_tool_in_which_a_kind_gathers_is_a_group_of_its_own() -> None:
    gathered = [found(run, tool="pay" if run < 10 else "search") for run in range(14)]
    groups = grouped(gathered, CALLS)
    assert {key: len(own) for key, own in groups.items()} == {
        GroupKey("ignored_error", "pay"): 10,
        GroupKey("ignored_error", ANY_TOOL): 4,
    }
    assert GroupKey("ignored_error", "pay").name == "Ignored error: pay"


def test_of_many_tools_one_has_more_findings_by_chance() -> None:
    tools = ["pay", *(f"tool {number}" for number in range(9))]
    at = ["pay"] * 8 + tools[1:]
    findings = [found(run, tool=tool) for run, tool in enumerate(at)]
    assert grouped(findings, {"d": dict.fromkeys(tools, 100)}).keys() == {GroupKey("ignored_error", ANY_TOOL)}
    assert len(grouped(findings, {"d": {"pay": 100, "tool 0": 900}})) == 2, "as concentrated, among two tools"


def test_few_runs_and_a_single_tool_say_nothing_about_a_tool() -> None:
    any_tool = {GroupKey("ignored_error", ANY_TOOL)}
    assert grouped([found(run % 4, tool="pay") for run in range(12)], CALLS).keys() == any_tool
    assert grouped([found(run, tool="pay") for run in range(12)], {"d": {"pay": 12}}).keys() == any_tool


def test_what_agents_with_other_tools_do_does_not_hide_a_failing_tool() -> None:
    calls = {drop: {f"{drop}_{tool}": 50 for tool in ("find", "open", "pay")} for drop in "abcd"}
    failing = [replace(found(run, tool=f"{drop}_pay"), drop=drop) for drop in "abcd" for run in range(12)]
    assert {key.tool: len(own) for key, own in grouped(failing, calls).items()} == {
        f"{drop}_pay": 12 for drop in "abcd"
    }


def pays_and_others(others: int) -> list[Occurrence]:
    """Ten errors of a tool, in other words each, and errors that are spread over the other tools."""
    spread = [
        found(run, tool=("search", "open")[run % 2], evidence=f"{'ab'[run % 2] * (run + 2)}") for run in range(others)
    ]
    return [*(found(100 + run, tool="pay", evidence="c" * (run + 2)) for run in range(10)), *spread]


def test_a_group_stays_one_when_others_are_added() -> None:
    former = grouped(pays_and_others(9), CALLS)
    assert {key.tool: len(own) for key, own in former.items()} == {"pay": 10, ANY_TOOL: 9}
    assert {key.tool: len(own) for key, own in grouped(pays_and_others(60), CALLS).items()} == {ANY_TOOL: 70}
    later = grouped(pays_and_others(60), CALLS, former)
    assert {key.tool: len(own) for key, own in later.items()} == {"pay": 10, ANY_TOOL: 60}


def test_words_stay_a_group_when_others_are_added() -> None:
    same = [found(run, evidence="no connection") for run in range(6)]
    few, many = ([found(9 + run, evidence="x" * (run + 2)) for run in range(count)] for count in (6, 60))
    former = grouped([*same, *few], CALLS)
    words = GroupKey("ignored_error", None, "no connection")
    assert former.keys() == {words, GroupKey("ignored_error")}
    assert grouped([*same, *many], CALLS).keys() == {GroupKey("ignored_error")}
    assert {key: len(own) for key, own in grouped([*same, *many], CALLS, former).items()}[words] == 6


def test_findings_at_calls_and_elsewhere_are_two_groups() -> None:
    ended = [found(run, "cut_off", tool="pay" if run < 3 else None) for run in range(6)]
    at_calls, elsewhere = GroupKey("cut_off", ANY_TOOL), GroupKey("cut_off")
    assert {key: len(own) for key, own in grouped(ended, CALLS).items()} == {at_calls: 3, elsewhere: 3}


def test_a_call_in_the_step_of_an_answer_is_not_what_failed() -> None:
    said = [found(run, "unsupported_answer", tool="pay" if run < 9 else None) for run in range(12)]
    assert grouped(said, CALLS).keys() == {GroupKey("unsupported_answer")}
    assert keys_of(said, [GroupKey("unsupported_answer")]) == [GroupKey("unsupported_answer")] * 12


def test_findings_of_a_drop_are_assigned_as_they_are_grouped() -> None:
    errors = [found(run, tool="pay" if run < 10 else "search", clip_index=1) for run in range(14)]
    everything = [*errors, *(found(run, "unsupported_answer", clip_index=2) for run in range(20))]
    groups = grouped(everything, CALLS)
    keys = {id(each): key for key, own in groups.items() for each in own}
    assert keys_of(everything, groups.keys()) == [keys[id(each)] for each in everything]
    assert len(groups) == 3


def test_words_that_many_findings_share_are_a_group_of_its_own() -> None:
    same = [found(run, evidence=f"No module named 'm{run}' (line {run})") for run in range(6)]
    other = [found(run, evidence=f"word{chr(97 + run)}") for run in range(6, 14)]
    groups = grouped([*same, *other], CALLS)
    assert {key.words: len(own) for key, own in groups.items()} == {"no module named # (line #": 6, None: 8}
    assert grouped(same, CALLS).keys() == {GroupKey("ignored_error")}, "words that all have tell nothing apart"


def test_a_tool_is_told_apart_by_what_is_left_without_frequent_words() -> None:
    same = [found(run, tool="pay", evidence="no connection") for run in range(12)]
    others = [found(run, tool=tool, evidence=tool) for run, tool in enumerate(("pay", "search", "open"), 12)]
    assert {key: len(own) for key, own in grouped([*same, *others], CALLS).items()} == {
        GroupKey("ignored_error", "pay", "no connection"): 12,
        GroupKey("ignored_error", ANY_TOOL): 3,
    }


def test_words_of_an_agent_are_no_group_of_their_own() -> None:
    said = [found(run, "unsupported_answer", evidence="Everyone is satisfied.", start=0, end=9) for run in range(6)]
    other = [found(run, "unsupported_answer", evidence=f"word{chr(97 + run)}") for run in range(6, 14)]
    assert grouped([*said, *other], CALLS).keys() == {GroupKey("unsupported_answer")}


def test_what_follows_from_another_finding_is_in_its_group() -> None:
    errors = [found(run, tool="pay", clip_index=1) for run in range(8)]
    made_up = [found(run, "unsupported_answer", clip_index=2) for run in range(12)]
    groups = grouped([*made_up, *errors], CALLS)
    assert {key: {each.kind for each in own} for key, own in groups.items()} == {
        GroupKey("ignored_error", "pay"): {"ignored_error", "unsupported_answer"},
        GroupKey("unsupported_answer"): {"unsupported_answer"},
    }
    assert len(groups[GroupKey("unsupported_answer")]) == 4, "runs without the error"


@pytest.mark.parametrize(
    ("kind", "evidence", "words"),
    [
        ("missing_call", 'call 2, book with {"id": "W1", "flights": [{"on":…, was not made', "book"),
        ("missing_call", "call 12, book, was not made", "book"),
        ("missing_call", 'call 1, book with {"id": 7}, failed: no seats', "book, failed: no seats"),
        ("unnecessary_call", 'call 5, cancel with {"id": 7}, is one more than expected', "cancel"),
        ("unnecessary_call", "call 1, cancel, was not expected", "cancel"),
        ("unsuitable_tool", 'call 9 went to book with {"id": 7} while an expected call is missing', "book"),
        ("wrong_argument", 'book, payment_id: expected "a", got "b"', "book, payment_id"),
        ("wrong_argument", "book, payments: at [0].amount expected 290, got 163", "book, payments"),
        ("wrong_answer", 'expected "41", got "42"', ""),
        ("missing_content", 'the answer lacks "327", "1000"', ""),
        ("failing_tests", "1 of 1 test that passed before fails: test_a", "tests that passed before"),
        ("failing_tests", "2 of 3 tests that passed before fail: test_a, test_b", "tests that passed before"),
        ("ignored_error", "TypeError: expected str, got int", "typeerror: expected str, got int"),
        ("ignored_error", '{"error": "503 Unavailable: payments backend"}', "# unavailable: payments backend"),
        ("ignored_error", '{"code": 7, "error": {"message": "No seats on \\"W1\\" for', "no seats on # for"),
    ],
)
def test_an_issue_of_a_case_is_told_apart_by_tool_and_parameter(kind: str, evidence: str, words: str) -> None:
    assert pattern_of(evidence, kind) == words


def test_tests_that_fail_are_no_failure_of_the_shell() -> None:
    failing = [found(run, "failing_tests", tool="bash", start=0, end=9) for run in range(8)]
    assert {key.name for key in grouped(failing, {"d": {"bash": 20, "edit": 20}})} == {"Failing tests"}


def test_a_pattern_without_a_word_tells_nothing() -> None:
    same = [found(run, evidence='{"q": "same"}') for run in range(8)]
    other = [found(run, evidence=f"word{chr(97 + run)}") for run in range(8, 12)]
    assert grouped([*same, *other], CALLS).keys() == {GroupKey("ignored_error")}


def test_what_varies_is_no_part_of_a_pattern() -> None:
    assert pattern_of('Order W-123 of "Ada" was\n not found at 10:30') == pattern_of(
        "order X99 of 'Eve' was not found at 1"
    )
    assert len(pattern_of("word " * 50).split()) == 12


@pytest.mark.parametrize(
    ("evidence", "pattern"),
    [
        ("错误：订单12345未找到", "错误：订单#未找到"),
        ("エラー：注文A12が見つかりません", "エラー：注文#が見つかりません"),
        ("오류: 주문 123번을 찾을 수 없음", "오류: 주문 #번을 찾을 수 없음"),
        ("خطأ: الطلب 12 غير موجود", "خطأ: الطلب # غير موجود"),
        ("Kein Kunde «Ada», kein “Ein Tisch”", "kein kunde #, kein #"),
        ("用户「张三」不存在", "用户#不存在"),
    ],
)
def test_what_varies_is_told_apart_in_any_script(evidence: str, pattern: str) -> None:
    assert pattern_of(evidence) == pattern


def test_the_pattern_of_a_message_has_no_part_of_a_value_that_was_cut_off() -> None:
    long, short = 'expected "41", got "the answer to it is 42, since…', 'expected "a \\"b\\" c", got "d"'
    assert pattern_of(long) == pattern_of(short) == "expected #, got #"
    assert (
        pattern_of('call 2, book with {"id": "W1", "flights": [{"on":…, was not made')
        == "call # book with #, was not made"
    )


@given(
    st.lists(
        st.builds(
            found,
            st.integers(0, 9),
            st.sampled_from(["ignored_error", "loop"]),
            st.none() | st.sampled_from(["search", "pay", "other"]),
            st.sampled_from(["a", "b 1", "b 2"]),
        )
    )
)
def test_every_finding_is_in_one_group_whatever_their_order(given_: list[Occurrence]) -> None:
    groups = grouped(given_, CALLS)
    assert sum(map(len, groups.values())) == len(given_)
    again = grouped(reversed(given_), CALLS)
    assert {key: len(own) for key, own in again.items()} == {key: len(own) for key, own in groups.items()}
    assert len({key.id for key in groups}) == len(groups)
    for key, own in groups.items():
        assert {each.kind for each in own} == {key.kind}
        tools = {each.tool for each in own}
        assert None not in tools if key.tool == ANY_TOOL else tools == {key.tool}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (
            GroupKey("wrong_argument", ANY_TOOL, "book, id: expected #, got #"),
            "Wrong argument: book, id: expected #, got #",
        ),
        (
            GroupKey("wrong_argument", "Book", "book, id: expected #, got #"),
            "Wrong argument: book, id: expected #, got #",
        ),
        (GroupKey("ignored_error", "book", "seat is taken"), "Ignored error: book: seat is taken"),
        (GroupKey("cut_off", ANY_TOOL), "Cut off"),
    ],
)
def test_the_name_of_a_group_says_its_tool_once(key: GroupKey, name: str) -> None:
    assert key.name == name


def test_no_two_groups_have_the_same_name() -> None:
    words = "pay: expected #"
    keys = [GroupKey("loop"), GroupKey("loop", ANY_TOOL), GroupKey("loop", "pay")]
    keys += [GroupKey("wrong_argument", "pay", words), GroupKey("wrong_argument", ANY_TOOL, words)]
    assert list(names_of(dict.fromkeys(keys, ("pay", "ship"))).values()) == [
        "Loop",
        "Loop: at a call",
        "Loop: pay",
        f"Wrong argument: pay: {words}",
        f"Wrong argument: at a call: {words}",
    ]


def test_a_group_of_any_tool_is_named_by_the_only_one_of_its_findings() -> None:
    (key,) = groups = grouped([found(run, tool="pay") for run in range(3)], CALLS)
    assert names_of({key: tools_of(key, groups[key])}) == {key: "Ignored error: pay"}
    made_up = found(0, "unsupported_argument", tool="ship", clip_index=2)
    groups = grouped([found(0, tool="pay", clip_index=1), made_up], CALLS)
    assert tools_of(key, groups[key]) == {"pay"}, "what follows from the error is at another tool"
    groups = grouped([found(run, tool=("pay", "search")[run % 2]) for run in range(4)], CALLS)
    assert names_of({key: tools_of(key, groups[key])}) == {key: "Ignored error"}
    said = GroupKey("unsupported_answer")
    assert names_of({said: tools_of(said, [found(0, "unsupported_answer", tool="pay")])}) == {
        said: "Unsupported answer"
    }
