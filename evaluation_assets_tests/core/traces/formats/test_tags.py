"""The tokenizer: which tags are structure, which are text, and how unbalanced ones are read."""

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats.tags import Structure, read_structure
from evaluation_assets_tests.core.making import FRAGMENTS, answer, call, result, tagged_texts

RUN = call("print(1)")
SEARCH = call('{"query": "x"}', "research", "deepsearch")


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Kind, name and content of each block."""
    return [(block.kind, block.name, text[block.inner : block.inner_end]) for block in read_structure(text).blocks]


def kinds(text: str) -> list[str]:
    return [block.kind for block in read_structure(text).blocks]


def repairs(text: str) -> list[tuple[str, str, int]]:
    return [(repair.tag, repair.action, repair.offset) for repair in read_structure(text).repairs]


# Whole texts


def test_a_regular_run_is_thought_call_result_answer() -> None:
    text = f"<think>plan</think>\n{RUN}\n<execute_tools />\n{result('1')}\n{answer('one')}"
    assert blocks(text) == [
        ("thought", "think", "plan"),
        ("call", "microsandbox", "<microsandbox_execute>print(1)</microsandbox_execute>"),
        ("result", "result", "1"),
        ("answer", "answer", "one"),
    ]
    assert repairs(text) == []


@pytest.mark.parametrize(
    "text", ["", "   \n", "no tags at all", "1 < 2 and 3 > 2", "<200m of the coast >500 m", "<>", "</>", "<"]
)
def test_a_text_without_tags_has_no_blocks(text: str) -> None:
    assert read_structure(text) == Structure((), ())


def test_nested_reasoning_vocabulary_is_read_like_think() -> None:
    assert blocks("<sub_task_think>a</sub_task_think>") == [("thought", "sub_task_think", "a")]


# Tags that are quoted


@pytest.mark.parametrize(
    "quoted", [RUN, SEARCH, "<answer>x</answer>", "<think>x</think>", "</answer>", "</microsandbox>"]
)
def test_tags_quoted_in_a_result_are_text(quoted: str) -> None:
    text = f"{RUN}{result(f'The page shows {quoted} and more.')}{answer('a')}"
    assert kinds(text) == ["call", "result", "answer"]
    assert repairs(text) == []


def test_a_result_quoted_in_a_result_is_text() -> None:
    text = f"{RUN}{result('log: ' + result('inner') + ' end')}{answer('a')}"
    assert blocks(text)[1] == ("result", "result", "log: <result>inner</result> end")
    assert repairs(text) == []


@pytest.mark.parametrize("quoted", [SEARCH, "<result>x</result>", "<answer>x</answer>", "</think>", "<think>"])
def test_tags_quoted_in_arguments_are_text(quoted: str) -> None:
    text = f"{call(f'print({quoted!r})')}{result('1')}{answer('a')}"
    assert kinds(text) == ["call", "result", "answer"]
    assert blocks(text)[0][2] == f"<microsandbox_execute>print({quoted!r})</microsandbox_execute>"
    assert repairs(text) == []


@pytest.mark.parametrize("quoted", [RUN, SEARCH, "<answer>x</answer>", "</result>", "<microsandbox>", "<tool_call>"])
def test_tags_quoted_in_reasoning_are_text(quoted: str) -> None:
    text = f"<think>I will write {quoted} next.</think>{RUN}{result('1')}{answer('a')}"
    assert kinds(text) == ["thought", "call", "result", "answer"]
    assert repairs(text) == []


@pytest.mark.parametrize("quoted", [RUN, "<think>x</think>", "</result>", "<tool_param>x</tool_param>"])
def test_tags_quoted_in_the_answer_are_text(quoted: str) -> None:
    text = f"{RUN}{result('1')}{answer(f'I used {quoted}.')}"
    assert kinds(text) == ["call", "result", "answer"]
    assert blocks(text)[2][2] == f"I used {quoted}."
    assert repairs(text) == []


def test_nothing_after_the_answer_is_structure() -> None:
    text = f"{answer('a')}\n{RUN}\n{result('1')}"
    assert kinds(text) == ["answer"]


def test_code_may_print_the_closing_tag_of_its_server() -> None:
    code = 'print("</microsandbox>")\nprint("done")'
    text = f"{call(code)}{result('1')}"
    assert blocks(text) == [
        ("call", "microsandbox", f"<microsandbox_execute>{code}</microsandbox_execute>"),
        ("result", "result", "1"),
    ]
    assert repairs(text) == []


def test_code_may_print_the_closing_tags_of_tool_and_server() -> None:
    code = 'print("</microsandbox_execute></microsandbox>")\nprint("done")'
    text = f"{call(code)}{result('1')}"
    assert blocks(text)[0][2] == f"<microsandbox_execute>{code}</microsandbox_execute>"


# What is a call


def test_a_tool_with_a_hyphenated_name_that_is_answered_is_a_call() -> None:
    text = f"<mcp-search-tool><q>x</q></mcp-search-tool>\n<execute_tools />\n{result('1')}"
    assert blocks(text)[0] == ("call", "mcp-search-tool", "<q>x</q>")
    assert kinds(text) == ["call", "result"]


def test_a_hyphenated_tool_inside_a_server_is_part_of_its_call() -> None:
    text = call("{}", "browser-navigate", "browser_use") + result("1")
    assert blocks(text)[0] == ("call", "browser_use", "<browser-navigate>{}</browser-navigate>")


def test_tool_param_with_sibling_elements_is_one_call() -> None:
    inner = "<tool_id>deepsearch</tool_id><action>research</action>"
    text = (
        f"<think>which parameters?</think><tool_param>{inner}</tool_param>\n<execute_tools />\n{result('query: str')}"
    )
    assert blocks(text)[1] == ("call", "tool_param", inner)
    assert kinds(text) == ["thought", "call", "result"]


def test_several_unknown_tags_before_their_results_are_calls() -> None:
    text = f"<alpha>1</alpha>\n<beta>2</beta>\n<execute_tools/>\n{result('a')}\n{result('b')}"
    assert [name for kind, name, _ in blocks(text) if kind == "call"] == ["alpha", "beta"]


@pytest.mark.parametrize(
    "text", ["<note>x</note>", "<note>x</note> and prose <b>y</b>", f"<note>x</note>{RUN}", "<a>x</a></b>"]
)
def test_an_unknown_tag_without_a_result_is_text(text: str) -> None:
    assert "note" not in [name for _, name, _ in blocks(text)]
    assert repairs(text) == []


def test_an_unknown_tag_with_words_between_it_and_the_result_is_text() -> None:
    assert kinds(f"<b>bold</b> words {result('1')}") == ["result"]


def test_a_wrapper_around_whole_steps_is_no_call() -> None:
    text = f"<step>{RUN}{result('1')}</step>{result('2')}"
    assert [name for kind, name, _ in blocks(text) if kind == "call"] == ["microsandbox"]


@pytest.mark.parametrize("wrapper", ["parallel", "sequential", "execute_tools"])
def test_markers_are_never_calls_and_what_they_wrap_is(wrapper: str) -> None:
    text = f"<{wrapper}>{RUN}{SEARCH}</{wrapper}>{result('1')}{result('2')}"
    assert [name for _, name, _ in blocks(text)] == ["microsandbox", "deepsearch", "result", "result"]
    assert repairs(text) == []


@pytest.mark.parametrize(
    "marker", ["<execute_tools/>", "<execute_tools />", "<execute_tools>", "<parallel></parallel>"]
)
def test_a_marker_before_a_result_is_no_call(marker: str) -> None:
    assert kinds(f"{marker}\n{result('1')}") == ["result"]


def test_a_self_closing_server_is_a_call_without_arguments() -> None:
    assert blocks(f"<deepsearch/>{result('1')}") == [("call", "deepsearch", ""), ("result", "result", "1")]


def test_self_closing_tags_of_other_names_are_text() -> None:
    assert kinds(f"<br/><think/>{result('1')}") == ["result"]


def test_json_in_tool_call_is_a_call() -> None:
    text = '<tool_call>\n{"name": "search", "arguments": {"q": "<result>"}}\n</tool_call>' + result("1")
    assert kinds(text) == ["call", "result"]


def test_servers_can_be_named() -> None:
    text = "<oracle><ask>x</ask></oracle><think>no result yet</think>"
    assert [block.kind for block in read_structure(text, ("oracle",)).blocks] == ["call", "thought"]
    assert kinds(text) == ["thought"]


# Tags that are not closed


def test_an_open_think_ends_where_the_call_starts() -> None:
    text = f"<think>plan\n\n{RUN}{result('1')}{answer('a')}"
    assert kinds(text) == ["thought", "call", "result", "answer"]
    assert blocks(text)[0][2] == "plan"
    assert repairs(text) == [("think", "closed", len("<think>plan"))]


def test_an_open_think_before_executed_calls_does_not_swallow_them_up_to_a_later_closing() -> None:
    text = f"<think>one {RUN}{result('1')}<think>two</think>{answer('a')}"
    assert kinds(text) == ["thought", "call", "result", "thought", "answer"]
    assert repairs(text) == [("think", "closed", len("<think>one"))]


def test_an_open_think_at_the_end_is_closed_at_the_end() -> None:
    text = f"{RUN}{result('1')}<think>cut off in the mid\n"
    assert kinds(text) == ["call", "result", "thought"]
    assert repairs(text) == [("think", "closed", len(text) - 1)]


def test_think_inside_think_is_one_thought() -> None:
    text = f"<think>a <think>b</think> c</think>{answer('d')}"
    assert blocks(text) == [("thought", "think", "a <think>b</think> c"), ("answer", "answer", "d")]
    assert repairs(text) == []


def test_an_open_answer_goes_to_the_end() -> None:
    text = f"{RUN}{result('1')}<answer>It is \\boxed{{5}}\n"
    assert blocks(text)[2] == ("answer", "answer", "It is \\boxed{5}")
    assert repairs(text) == [("answer", "closed", len(text) - 1)]


def test_an_answer_that_starts_over_and_echoes_calls_ends_there() -> None:
    text = f"{RUN}{result('1')}<answer>first\n{RUN}\n<answer>first again</answer>"
    assert kinds(text) == ["call", "result", "answer"]
    assert blocks(text)[2][2] == f"first\n{RUN}"
    assert repairs(text) == [("answer", "closed", text.rindex("\n<answer>"))]


def test_an_open_answer_ends_before_the_result_the_framework_appends() -> None:
    text = f"{RUN}{result('1')}<answer>It is 5.\n\n\n{result('No executable action detected in this step.')}\n"
    assert blocks(text)[2] == ("answer", "answer", "It is 5.")
    assert repairs(text) == [("answer", "closed", text.index("\n\n\n"))]


def test_an_open_result_ends_before_the_next_thought() -> None:
    text = f"{RUN}<result>half a page\n<think>go on</think>{answer('a')}"
    assert kinds(text) == ["call", "result", "thought", "answer"]
    assert repairs(text) == [("result", "closed", text.index("\n<think>"))]


def test_an_open_result_before_a_closed_one_does_not_swallow_the_step_between() -> None:
    text = f"{RUN}<result>half\n<think>go on</think>{SEARCH}{result('2')}{answer('a')}"
    assert kinds(text) == ["call", "result", "thought", "call", "result", "answer"]
    assert repairs(text) == [("result", "closed", text.index("\n<think>"))]


def test_an_open_call_ends_before_its_result() -> None:
    text = f"<microsandbox><microsandbox_execute>print(1)</microsandbox_execute>\n{result('1')}{answer('a')}"
    assert kinds(text) == ["call", "result", "answer"]
    assert repairs(text) == [("microsandbox", "closed", text.index("\n"))]


# Closing tags too many


def test_a_second_closing_behind_a_cut_result_extends_it() -> None:
    text = f"{RUN}<result>the page...</result></result>\n</result>{answer('a')}"
    assert blocks(text)[1] == ("result", "result", "the page...</result></result>\n")
    first = text.index("</result>")
    assert repairs(text) == [("result", "extended", first + 9), ("result", "extended", first + 19)]


@pytest.mark.parametrize("name", ["think", "result", "answer", "microsandbox", "tool_call", "sub_task_think"])
def test_a_closing_that_closes_nothing_is_kept_as_text(name: str) -> None:
    text = f"words </{name}> words {RUN}{result('1')}"
    assert kinds(text) == ["call", "result"]
    assert repairs(text) == [(name, "kept_as_text", len("words "))]


def test_an_unknown_closing_needs_no_repair() -> None:
    assert repairs("words </b> words") == []


def test_a_mistyped_closing_of_a_tool_leaves_the_call_whole() -> None:
    text = f"<deepsearch><research>{{}}</reserch></deepsearch>{result('1')}"
    assert blocks(text)[0] == ("call", "deepsearch", "<research>{}</reserch>")


# Any text


def check_structure(text: str) -> None:
    structure = read_structure(text)
    position = 0
    for block in structure.blocks:
        assert position <= block.start <= block.inner <= block.inner_end <= block.end <= len(text)
        assert block.start < block.end
        position = block.end
    assert all(0 <= repair.offset <= len(text) for repair in structure.repairs)
    assert [repair.offset for repair in structure.repairs] == sorted(repair.offset for repair in structure.repairs)
    assert sum(block.kind == "answer" for block in structure.blocks) <= 1
    assert read_structure(text) == structure


@given(tagged_texts)
def test_blocks_of_any_tags_are_ordered_apart_and_inside(text: str) -> None:
    check_structure(text)


@given(st.text(max_size=400))
def test_blocks_of_any_text_are_ordered_apart_and_inside(text: str) -> None:
    check_structure(text)


@given(st.text(alphabet="<>/ abt_-\n\u00a0", max_size=200))
def test_blocks_of_broken_tags_are_ordered_apart_and_inside(text: str) -> None:
    check_structure(text)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join), st.integers(0, 20_000))
def test_white_space_of_any_length_between_tags_is_read(tags: str, width: int) -> None:
    check_structure(tags.replace("><", f">{' ' * width}<", 2))


# Work grows as the text does


def calls_made(text: str) -> int:
    """How many functions, of Python and of C, run while the structure is read."""
    count = 0

    def count_call(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(count_call)
    try:
        read_structure(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "opening",
    [
        "<think>",
        "<result>",
        "<microsandbox><a>",
        "<b>",
        "<think><think></think>",
        "</result>",
        "<b></b>",
        "<think> ",
        "<microsandbox><a></microsandbox> x",
        "<tool_call><result>",
        "<answer>",
    ],
)
def test_twice_the_open_tags_are_twice_the_work(opening: str) -> None:
    once, twice = calls_made(opening * 4000), calls_made(opening * 8000)
    assert twice <= 2.3 * once + 100
