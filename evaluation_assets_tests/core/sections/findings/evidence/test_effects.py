"""What calls may have done, by the names of their tools."""

import pytest

from evaluation_assets.core.sections.findings.evidence.effects import ends_run, is_thought, may_do_anything
from evaluation_assets.core.traces.trajectories.model import ToolCall


def made(name: str, server: str | None = None) -> ToolCall:
    return ToolCall(name=name, raw=(0, 0), server=server)


@pytest.mark.parametrize(
    "name",
    ["bash", "run_shell_command", "executeCommand", "exec", "functions.bash", "Write", "python", "browser_click"],
)
def test_commands_code_pages_and_edits_may_do_anything_on_any_server(name: str) -> None:
    assert may_do_anything(made(name))
    assert may_do_anything(made(f"mcp__my_desk__{name}", "my_desk"))
    assert not may_do_anything(made(f"mcp__{name}__get_order", name.lower()[:4] + "s"))


def test_a_call_ends_the_run_or_is_a_thought_on_any_server() -> None:
    for name in ("finish", "mcp__desk__submit_answer", "mcp__desk__transferToAgent"):
        assert ends_run(made(name, "desk"))
    for name in ("think", "mcp__thinking__sequentialthinking"):
        assert is_thought(made(name, "thinking"))
    assert not ends_run(made("mcp__submit__get_order", "submit")) and not is_thought(made("rethink"))
