"""Cutting trajectories into clips, and naming their tools."""

from pathlib import Path

import pytest
from hypothesis import given
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import Clip, clips_of
from evaluation_assets.core.intake.clips.tool_types import InvalidToolTypes, load_tool_types, shipped_tool_types
from evaluation_assets.core.traces.trajectories.model import ToolCall
from evaluation_assets_tests.core.making import answer, call, result, tagged_texts, trajectory

CODE, SEARCH = call("print(1)"), call('{"query": "x"}', "research", "deepsearch")


def cut(text: str) -> list[Clip]:
    return clips_of(trajectory(text))


def test_a_clip_ends_with_the_result_of_its_call() -> None:
    first = f"<think>a</think>\n{CODE}\n<execute_tools />\n{result('1')}"
    second = f"\n<think>b</think>\n{SEARCH}\n{result('2')}"
    last = f"\n{answer('done')}"
    clips = cut(first + second + last)
    assert [clip.content for clip in clips] == [first, second, last]
    assert [clip.is_final for clip in clips] == [False, False, True]
    assert [clip.tool_type for clip in clips] == ["microsandbox", "deepsearch", "final"]
    assert [clip.tool_name for clip in clips] == ["microsandbox_execute", "research", None]
    assert [clip.index for clip in clips] == [0, 1, 2]


def test_the_last_of_several_results_ends_the_clip() -> None:
    clips = cut(CODE + result("1") + "\n" + result("2") + answer("a"))
    assert [clip.content for clip in clips] == [CODE + result("1") + "\n" + result("2"), answer("a")]


def test_results_after_several_calls_end_their_clips_in_order() -> None:
    clips = cut(CODE + SEARCH + result("1") + result("2") + answer("a"))
    assert [clip.content for clip in clips] == [CODE + SEARCH + result("1"), result("2"), answer("a")]
    assert [clip.tool_type for clip in clips] == ["microsandbox", "deepsearch", "final"]


def test_a_call_without_a_result_ends_its_clip_itself() -> None:
    clips = cut(f"<think>a</think>{CODE}")
    assert [(clip.content, clip.call_status) for clip in clips] == [(f"<think>a</think>{CODE}", "none")]


def test_a_text_without_calls_is_the_final_clip() -> None:
    (clip,) = cut(answer("a"))
    assert (clip.is_final, clip.tool_type, clip.tool_name, clip.call_status) == (True, "final", None, "none")


@pytest.mark.parametrize("rest", ["", "\n", " \n\t"])
def test_a_blank_rest_is_no_clip_of_its_own_and_not_lost(rest: str) -> None:
    text = CODE + result("1") + rest
    (clip,) = cut(text)
    assert (clip.content, clip.is_final) == (text, False)


def test_a_wrapper_that_closes_after_the_last_result_is_the_final_clip() -> None:
    clips = cut(f"<step>{CODE}{result('1')}</step>")
    assert [clip.content for clip in clips] == [f"<step>{CODE}{result('1')}", "</step>"]


@pytest.mark.parametrize(
    ("content", "status"),
    [("1", "ok"), ("", "ok"), ("Error: refused", "error"), ('{"success": false}', "error"), ("no errors", "ok")],
)
def test_the_status_is_how_the_call_ended(content: str, status: str) -> None:
    assert cut(CODE + result(content) + answer("a"))[0].call_status == status


@given(tagged_texts.filter(str.strip))
def test_clips_of_any_text_tile_it(text: str) -> None:
    run = trajectory(text)
    clips = clips_of(run)
    assert "".join(clip.content for clip in clips) == text
    assert [clip.index for clip in clips] == list(range(len(clips)))
    position = 0
    for clip in clips:
        assert clip.start == position <= clip.end
        assert clip.content == text[clip.start : clip.end]
        position = clip.end
    assert position == len(text)
    assert [clip.is_final for clip in clips[:-1]] == [False] * (len(clips) - 1)
    assert sum(not clip.is_final for clip in clips) == len(run.calls)
    assert all(clip.content.strip() for clip in clips if clip.is_final)


@given(tagged_texts.filter(str.strip))
def test_cutting_twice_gives_the_same_clips(text: str) -> None:
    assert cut(text) == cut(text)


def call_of(name: str, server: str | None = None) -> ToolCall:
    return ToolCall(name=name, raw=(0, 0), server=server)


def test_the_server_is_the_tool_type() -> None:
    assert shipped_tool_types().of(call_of("python", "deepsearch")) == "deepsearch"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("microsandbox_execute", "microsandbox"),
        ("python", "microsandbox"),
        ("Python", "microsandbox"),
        ("execute_code", "microsandbox"),
        ("quick_research", "deepsearch"),
        ("browser_navigate", "browser_use"),
        ("browser-navigate", "browser_use"),
        ("list_code_definitions", "search_tool"),
        ("tavily_search", "tavily"),
        ("tavily-search", "tavily"),
        ("google_search", "perform_web_task"),
    ],
)
def test_known_names_have_a_tool_type(name: str, wanted: str) -> None:
    assert shipped_tool_types().of(call_of(name)) == wanted


@pytest.mark.parametrize("name", ["get_weather", "Tool_Param", "mcp-search-tool", "搜索", "research_notes"])
def test_an_unknown_tool_keeps_its_own_name(name: str) -> None:
    assert shipped_tool_types().of(call_of(name)) == name


def test_a_call_to_a_tool_named_final_is_not_the_final_clip() -> None:
    text = '<tool_call>{"name": "final", "arguments": {}}</tool_call>' + result("1") + answer("a")
    called, last = cut(text)
    assert not called.is_final and last.is_final
    assert called.tool_type != last.tool_type


def test_an_installation_names_its_own_tool_types(tmp_path: Path) -> None:
    path = UPath(tmp_path / "tool_types.yaml")
    path.write_text("categories: {crm: ['CRM_*'], terminal: ['zsh']}\nservers: {jira-prod: tickets}\n")
    types = load_tool_types(path)
    assert types.of(call_of("crm_lookup")) == "crm"
    assert types.of(call_of("zsh")) == types.of(call_of("bash")) == "terminal"
    assert types.of(call_of("create", "jira-prod")) == "tickets"
    assert types.of(call_of("python", "deepsearch")) == "deepsearch"


def test_tool_types_that_are_no_table_are_refused_by_name(tmp_path: Path) -> None:
    path = UPath(tmp_path / "tool_types.yaml")
    path.write_text("categories: [crm]\n")
    with pytest.raises(InvalidToolTypes, match=r"tool_types\.yaml"):
        load_tool_types(path)
