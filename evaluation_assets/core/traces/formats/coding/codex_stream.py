"""Events that `codex exec --json` prints: one item per message, command, file change or tool call.

The stream has neither the prompt nor the model. Calls that the CLI refuses do not stand in it.
"""

from collections.abc import Sequence
from typing import Any

from evaluation_assets.core.traces.formats.coding.codex_rollouts import MAIN
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.transcript import Call, Result, Said, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.usage import usage_named
from evaluation_assets.core.traces.trajectories.model import Agent

_CALLS = {
    "command_execution": "shell", "file_change": "apply_patch", "mcp_tool_call": "mcp", "web_search": "web_search",
    "collab_tool_call": "collab", "todo_list": "update_plan",
}  # fmt: skip
"""The tool that each type of item stands for, unless the item names it."""


class Stream:
    """Reads the events of one thread."""

    def __init__(self, events: Sequence[Any], unmapped: UnmappedFields) -> None:
        self.session = CodingSession(Agent(id=MAIN, name="Codex"))
        self._unmapped = unmapped
        self._run = 0
        self._open: set[str] = set()
        for event in events:
            if isinstance(event, dict):
                with unmapped.reading(event) as fields:
                    self._event(fields)
            else:
                unmapped.count("events[] (no object)")

    def _event(self, fields: Fields) -> None:
        kind = fields.text("type") or "unknown"
        if kind == "thread.started":
            self._run += 1
            self.session.id = fields.name("thread_id") or self.session.id
        elif kind == "turn.started":
            self.session.error = None
        elif kind == "turn.completed":
            self.session.error = None
            self._spent(fields.object("usage"))
        elif kind in ("turn.failed", "error"):
            problem = fields.object("error").text("message") or fields.text("message")
            self.session.error = one_line(problem) or "the turn failed"
        elif kind in ("item.started", "item.updated", "item.completed"):
            self._item(fields.object("item"), kind)
        else:
            fields.ignore_unknown(kind)

    def _spent(self, counted: Fields) -> None:
        """The usage of the thread so far, with the turns of earlier runs."""
        counted.set_aside("cache_write_input_tokens", "reasoning_output_tokens")
        self.session.spent = usage_named(counted, "input_tokens", "output_tokens", ["cached_input_tokens"])

    def _item(self, item: Fields, kind: str) -> None:
        what, text = item.text("type") or "unknown", item.text("text")
        identity = f"{self._run}:{item.name('id')}"  # the numbers start again with each run
        if what == "agent_message" and kind == "item.completed":
            self.session.said(Said(message=text))
        elif what in ("reasoning", "plan") and kind == "item.completed":
            self.session.said(Said(thought=text))
        elif what == "error":
            self._unmapped.count("item (error)")
            item.rest()
        elif what == "todo_list":
            items = item.value("items")
            if kind != "item.completed":  # each change is a call of its own
                self.session.spoke(calls=[Call(name=_CALLS[what], arguments={"items": items})])
                self.session.answered(Result(content="", succeeded=True))
        elif what in _CALLS:
            self._called(what, item, identity, is_over=kind == "item.completed")
        elif what not in ("agent_message", "reasoning", "plan"):
            item.ignore_unknown(what)

    def _called(self, what: str, item: Fields, identity: str, *, is_over: bool) -> None:
        known = identity in self._open
        call = self._call(what, item, identity)
        if not known:
            self._open.add(identity)
            self.session.spoke(calls=[call])
        if is_over:
            self.session.answered(_result(what, item, identity))
        item.rest()

    def _call(self, what: str, item: Fields, identity: str) -> Call:
        name, server = item.text("tool") or _CALLS[what], item.text("server")
        if what == "mcp_tool_call":
            return Call(name=name, id=identity, arguments=item.value("arguments"), server=server)
        keys = {
            "command_execution": ("command",), "file_change": ("changes",), "web_search": ("query", "action"),
            "collab_tool_call": ("prompt", "receiver_thread_ids"),
        }[what]  # fmt: skip
        arguments = {key: value for key in keys if (value := item.value(key)) is not None}
        return Call(name=name, id=identity, arguments=arguments)


def _result(what: str, item: Fields, identity: str) -> Result:
    status, code = item.text("status") or "completed", item.whole("exit_code")
    problem = item.object("error").text("message")
    if code is not None and code != 0:
        error = f"exit code {code}"
    elif problem is not None or status in ("failed", "declined"):
        error = one_line(problem) or status
    else:
        error = None
    contents = item.object("result").parts("content") if item.is_object("result") else []
    said = [part if isinstance(part, str) else _text_of(part) for part in contents]
    states = as_text(item.value("agents_states")) if what == "collab_tool_call" else ""
    output = item.value("aggregated_output") if what == "command_execution" else None
    content = as_text(output) if output is not None else "\n".join(said) or states or problem or status
    return Result(content=content, call_id=identity, error=error, succeeded=error is None)


def _text_of(part: Fields) -> str:
    """The text of a part of an MCP result, or the part itself."""
    text = part.text("text")
    rest = part.rest()
    return as_text(rest) if text is None else text
