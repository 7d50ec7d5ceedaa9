"""What a call may have done: changed state, run any code, or ended the run."""

import re

from evaluation_assets.core.intake.clips.tool_types import shipped_tool_types
from evaluation_assets.core.sections.coding_work.tools import edits_files, runs_commands
from evaluation_assets.core.suites.effects import changes_state, hands_over, hangs_up
from evaluation_assets.core.traces.trajectories.calls import plain_name, telling_name
from evaluation_assets.core.traces.trajectories.model import ToolCall

_UPDATES = re.compile(r"update|modif|change|edit|set|exchange|replace|return|cancel", re.IGNORECASE)
_PAGES = frozenset({"browser_use", "perform_web_task"})
_ANYTHING = frozenset({"microsandbox", "terminal", "file_editing"}) | _PAGES
"""Tool types whose calls may do anything, whatever the tool is named."""

_THOUGHTS = frozenset({"think", "sequentialthinking", "sequential_thinking"})


def may_do_anything(call: ToolCall) -> bool:
    """Whether a call runs code or commands, or acts on pages or files."""
    return not _ANYTHING.isdisjoint(_types_of(call)) or runs_commands(call.name) or edits_files(call.name)


def acts_on_pages(call: ToolCall) -> bool:
    """Whether a call acts on pages in a browser."""
    return not _PAGES.isdisjoint(_types_of(call))


def may_change_state(call: ToolCall) -> bool:
    """Whether a call may have changed something."""
    return changes_state(call.name) or may_do_anything(call)


def updates(call: ToolCall) -> bool:
    """Whether a call changes a record that there was, which may stay as it was in part."""
    return _UPDATES.search(call.name) is not None


def ends_run(call: ToolCall) -> bool:
    """Whether a call hands in the work or hands the user over, so that nothing is expected after it."""
    return "submission" in _types_of(call) or hands_over(call.name) or hangs_up(call.name)


def is_thought(call: ToolCall) -> bool:
    """Whether the argument of a call is a thought of the agent."""
    return plain_name(call.name) in _THOUGHTS


def _types_of(call: ToolCall) -> set[str]:
    """Its tool type, and that of its name alone: servers may be named as one likes."""
    types = shipped_tool_types()
    return {types.of(call), types.of_name(telling_name(call.name))}
