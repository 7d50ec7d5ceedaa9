"""Lines of a Claude Code sub-agent that are copies of another agent's.

The log of a sub-agent that was given the conversation so far, as to answer a question aside, begins with all of it. A
message has its ID from the provider: where another agent has it already, its request was made and paid for there.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.untyped import at, first_text, objects_in


def copied_lines(lines: Sequence[Any]) -> frozenset[int]:
    """The lines that are copies, by their place: what another agent said and was given, and the prompts before it."""
    owners: dict[str, str] = {}
    prompts: dict[str, list[tuple[int, str]]] = {}
    copies: set[int] = set()
    for place, line in enumerate(lines):
        agent = _agent_of(line)
        if agent is None:
            continue
        if at(line, "type") == "assistant":
            names = [first_text(at(line, "message"), "id") or ""]
        else:
            names = list(_answered_in(line))
        if any(name and owners.setdefault(name, agent) != agent for name in names):
            copies.add(place)
            copies.update(one for one, text in prompts.pop(agent, ()) if owners[text] != agent)
        elif not names and (text := _words_of(line)) is not None:
            owners.setdefault(text, agent)
            prompts.setdefault(agent, []).append((place, text))
    return frozenset(copies)


def _agent_of(line: Any) -> str | None:
    """The agent of a line with a message, empty for the main agent; `None` for other lines."""
    if at(line, "type") not in ("user", "assistant") or at(line, "parent_tool_use_id") is not None:
        return None
    return first_text(line, "agentId") if line.get("isSidechain") is True else ""


def _answered_in(line: Any) -> Iterator[str]:
    """The IDs of the calls whose results a line has."""
    parts = objects_in(at(at(line, "message"), "content"))
    yield from filter(None, (first_text(part, "tool_use_id") for part in parts))


def _words_of(line: Any) -> str | None:
    content = at(at(line, "message"), "content")
    return content if isinstance(content, str) else first_text(next(objects_in(content), None), "text")
