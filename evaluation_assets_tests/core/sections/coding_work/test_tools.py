"""The tools of each agent, by the names and arguments that they have there."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.coding_work.patches import Change
from evaluation_assets.core.sections.coding_work.tools import Action, Edited, Looked, Ran, action_of
from evaluation_assets.core.traces.trajectories.model import Step, ToolCall, ToolResult, Trajectory


def _action(name: str, arguments: Any) -> Action | None:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    run = Trajectory(id="t", task_id="t", format="x", task="", text=text, turns=())
    return action_of(run, Step(start=0, end=len(text), call=ToolCall(name=name, raw=(0, len(text)))))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}),
        ("replace", {"file_path": "a.py", "old_string": "x", "new_string": "y"}),
        ("edit", {"filePath": "a.py", "oldString": "x", "newString": "y"}),
        ("developer__text_editor", {"command": "str_replace", "path": "a.py", "old_str": "x", "new_str": "y"}),
        ("str_replace_based_edit_tool", {"command": "str_replace", "path": "a.py", "old_str": "x", "new_str": "y"}),
        ("developer__edit", {"path": "a.py", "before": "x", "after": "y"}),
        ("MultiEdit", {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y"}]}),
    ],
)
def test_a_replacement(name: str, arguments: dict[str, Any]) -> None:
    assert _action(name, arguments) == Edited((Change("a.py", "x", "y"),))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Write", {"file_path": "a.py", "content": "x"}),
        ("write_file", {"file_path": "a.py", "content": "x"}),
        ("write", {"filePath": "a.py", "content": "x"}),
        ("write_to_file", {"path": "a.py", "content": "x"}),
        ("str_replace_editor", {"command": "create", "path": "a.py", "file_text": "x"}),
        ("mcp__filesystem__write_file", {"path": "a.py", "content": "x"}),
    ],
)
def test_a_write_of_a_whole_file(name: str, arguments: dict[str, Any]) -> None:
    assert _action(name, arguments) == Edited((Change("a.py", None, "x", is_whole=True),))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Bash", {"command": "ls -a"}),
        ("run_shell_command", {"command": "ls -a"}),
        ("executeCommand", {"command": "ls -a"}),
        ("run_in_terminal", {"command": "ls -a"}),
        ("mcp__desk__run-command", {"cmd": "ls -a"}),
        ("exec_command", {"cmd": "ls -a"}),
        ("shell", {"command": ["bash", "-lc", "ls -a"]}),
        ("shell", {"command": "/bin/bash -lc 'ls -a'"}),
        ("local_shell", {"command": ["ls", "-a"]}),
        ("developer__shell", {"command": "ls -a"}),
        ("execute_command", {"command": "ls -a", "requires_approval": False}),
    ],
)
def test_a_command(name: str, arguments: dict[str, Any]) -> None:
    assert _action(name, arguments) == Ran("ls -a")


@pytest.mark.parametrize(
    ("name", "arguments", "part"),
    [
        ("Read", {"file_path": "a.py"}, ""),
        ("Read", {"file_path": "a.py", "offset": 5, "limit": 10}, "offset=5,limit=10"),
        ("read_file", {"absolute_path": "a.py"}, ""),
        ("read", {"filePath": "a.py"}, ""),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a.py", "view_range": [1, 2]}, "view_range=[1, 2]"),
    ],
)
def test_a_read(name: str, arguments: dict[str, Any], part: str) -> None:
    assert _action(name, arguments) == Looked((("a.py", part),))


def test_the_blocks_of_cline_and_roo_are_replacements() -> None:
    cline = "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n"
    roo = "<<<<<<< SEARCH\n:start_line:3\n-------\nold\n=======\nnew\n>>>>>>> REPLACE\n"
    expected = Edited((Change("a.py", "old\n", "new\n"),))
    assert _action("replace_in_file", {"path": "a.py", "diff": cline}) == expected
    assert _action("apply_diff", {"path": "a.py", "diff": roo}) == expected


def test_a_tool_that_takes_back_the_last_edit() -> None:
    assert _action("str_replace_editor", {"command": "undo_edit", "path": "a.py"}) == Edited((), undoes="a.py")


def test_a_patch_of_opencode() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch"
    changes = (Change("a.py", "x\n", "y\n"), Change("a.py", None, None, moved_to="b.py"))
    assert _action("apply_patch", {"patchText": patch}) == Edited(changes)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Grep", {"pattern": "x", "path": "."}),
        ("TodoWrite", {"todos": []}),
        ("Edit", {}),
        ("Bash", {}),
        ("Edit", "no JSON"),
        ("Read", {"file_path": 7}),
        ("apply_patch", "no patch"),
        ("WebFetch", {"url": "https://example.com"}),
    ],
)
def test_everything_else_is_none_of_these(name: str, arguments: Any) -> None:
    assert _action(name, arguments) is None


NAMES = ["Edit", "Write", "MultiEdit", "apply_patch", "Bash", "shell", "Read", "str_replace_editor", "replace_in_file"]
FIELDS = [
    "command",
    "path",
    "file_path",
    "edits",
    "changes",
    "old_string",
    "new_string",
    "content",
    "diff",
    "paths",
    "input",
]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["view", "*** Begin Patch\n@@"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(FIELDS), values, max_size=4) | st.text())
def test_whatever_a_model_writes_is_an_action_or_none(name: str, arguments: Any) -> None:
    action = _action(name, arguments)
    assert action is None or isinstance(action, Edited | Looked | Ran)


SHOWN = "Replaced 1 occurrences.\n[File: /repo/a.py (3 lines total)]\n1:y"


@pytest.mark.parametrize(
    ("name", "arguments", "shown", "expected"),
    [
        (
            "edit",
            {"search": "x", "replace": "y", "replace-all": False},
            SHOWN,
            Edited((Change("/repo/a.py", "x", "y"),)),
        ),
        ("edit", "edit 1:1\ny\nend_of_edit", SHOWN, Edited((Change("/repo/a.py", None, None),))),
        ("edit", {"search": "x", "replace": "y"}, "Your changes have NOT been applied.", None),
        ("open", 'open "a.py" 2', SHOWN, Looked((("/repo/a.py", ""),))),
        ("open", {"path": "a.py", "line_number": 2}, SHOWN, Looked((("a.py", "line_number=2"),))),
        ("search_file", "search_file x", SHOWN, None),
    ],
)
def test_the_file_that_is_open_is_named_by_the_result(
    name: str, arguments: Any, shown: str, expected: Action | None
) -> None:
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    text = raw + shown
    run = Trajectory(id="t", task_id="t", format="x", task="", text=text, turns=())
    result = ToolResult(content=(len(raw), len(text)))
    step = Step(start=0, end=len(text), call=ToolCall(name=name, raw=(0, len(raw))), result=result)
    assert action_of(run, step) == expected
