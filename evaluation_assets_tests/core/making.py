"""Trajectories for tests, read from a text by the same reader that reads files."""

from typing import Any

import orjson
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats.base import Record
from evaluation_assets.core.traces.formats.readers.tagged import trajectory_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

FRAGMENTS = (
    "<think>",
    "</think>",
    "<sub_task_think>",
    "</sub_task_think>",
    "<result>",
    "</result>",
    "<answer>",
    "</answer>",
    "<microsandbox>",
    "</microsandbox>",
    "<microsandbox_execute>",
    "</microsandbox_execute>",
    "<deepsearch>",
    "</deepsearch>",
    "<research>",
    "</research>",
    "</reserch>",
    "<browser_use/>",
    "<mcp-search-tool>",
    "</mcp-search-tool>",
    "<tool_param>",
    "</tool_param>",
    "<tool_call>",
    "</tool_call>",
    "<execute_tools/>",
    "<execute_tools />",
    "<execute_tools>",
    "</execute_tools>",
    "<parallel>",
    "</parallel>",
    "<step>",
    "</step>",
    '<think kind="x">',
    "</result >",
    "<clip_evaluation>",
    "</clip_evaluation>",
)
PROSE = (
    "plan",
    "42",
    '{"query": "x"}',
    '{"a": {"b": "</result>"}}',
    "print('</microsandbox>')",
    "1 < 2 > 0",
    "答案",
    "🦀",
    "é",
)
SPACE = (" ", "\n", "\n\n", "\t", "\u2028")

tagged_texts = st.lists(st.sampled_from(FRAGMENTS + PROSE + SPACE), max_size=40).map("".join)
"""Texts of tags, prose and white space in any order."""


def record(**fields: Any) -> Record:
    """A record as a reader of files gives it."""
    return Record("drop.jsonl", 1, fields, orjson.dumps(fields))


def trajectory(text: str, **fields: Any) -> Trajectory:
    """The trajectory of a tagged text; `fields` are the record's other fields."""
    return trajectory_of(record(task_id="t1", task_description="Find the value", raw_response=text, **fields))


def call(arguments: str, tool: str = "microsandbox_execute", server: str = "microsandbox") -> str:
    """A call as text."""
    return f"<{server}><{tool}>{arguments}</{tool}></{server}>"


def result(content: str) -> str:
    """A result as text."""
    return f"<result>{content}</result>"


def answer(content: str) -> str:
    """An answer as text."""
    return f"<answer>{content}</answer>"
