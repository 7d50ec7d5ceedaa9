"""What a user of Claude Code took back: the log is a tree, of which only the branch with the last line is still shown.

Each line names the one before it as `parentUuid`. Lines of parallel calls and their results branch, too, so a branch is
left behind only where a later prompt starts from a line that already had a conversation after it. A rewind to the first
prompt starts a new tree; only a `last-prompt` line tells it from a session that was continued without its beginning.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.branches import path_to
from evaluation_assets.core.traces.formats.untyped import at, first_text, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

INTERRUPTED = "[Request interrupted by user"
_COMMAND = re.compile(r"\s*<(?:command-name|command-message|local-command-std(?:out|err)|bash-)")


def branches_left(lines: Sequence[Any]) -> list[frozenset[str]]:
    """The branches that were left behind, each as the UUIDs of its lines."""
    tree = _Tree(lines)
    return list(tree.left())


def is_of_client(line: JsonObject) -> bool:
    """Whether a line of type `user` is stated to be what the client or a hook says, in logs or in streams."""
    return True in (line.get("isMeta"), line.get("isSynthetic"))


class _Tree:
    """The lines of the main chain by UUID, in order."""

    def __init__(self, lines: Sequence[Any]) -> None:
        self._lines: dict[str, JsonObject] = {}
        self._children: dict[str | None, list[str]] = defaultdict(list)
        self._shown: str | None = None
        for line in lines:
            if at(line, "type") == "last-prompt":
                self._shown = first_text(line, "leafUuid")
            uuid = first_text(line, "uuid")
            if uuid is None or uuid in self._lines or line.get("isSidechain") is True or line.get("parent_tool_use_id"):
                continue
            self._lines[uuid] = line
            self._children[self._parent(line)].append(uuid)
        self._order = {uuid: place for place, uuid in enumerate(self._lines)}

    def left(self) -> Iterator[frozenset[str]]:
        """The branches beside the path to the last message, where the path goes on with another prompt."""
        path = self._path()
        is_shown = self._shown in path
        for place, uuid in enumerate(path):
            parent = self._parent(self._lines[uuid])
            if (parent is None and not is_shown) or not self._starts_with_prompt(path[place:]):
                continue
            for other in self._children[parent] if parent is None or parent in self._lines else ():
                if self._order[other] < self._order[uuid]:
                    branch = list(self._below(other))
                    if any(_is_said(self._lines[one]) for one in branch):
                        yield frozenset(branch)

    def _path(self) -> list[str]:
        """The UUIDs from the first line to the last message."""
        messages = [uuid for uuid, line in self._lines.items() if line.get("type") in ("user", "assistant")]
        parents = {uuid: self._parent(line) for uuid, line in self._lines.items()}
        return path_to(messages[-1] if messages else None, parents)

    def _parent(self, line: JsonObject) -> str | None:
        return first_text(line, "parentUuid", "logicalParentUuid")

    def _below(self, uuid: str) -> Iterator[str]:
        waiting, seen = [uuid], {uuid}
        while waiting:
            line = waiting.pop()
            yield line
            following = [child for child in self._children.get(line, ()) if child not in seen]
            seen.update(following)
            waiting += following

    def _starts_with_prompt(self, path: Sequence[str]) -> bool:
        """Whether the first message on a path, but for what the client adds, is a prompt."""
        messages = (line for uuid in path if (line := self._lines[uuid]).get("type") in ("user", "assistant"))
        first = next((line for line in messages if not is_of_client(line) and not _is_command(line)), None)
        return first is not None and _is_prompt(first) and not _text_of(first).startswith(INTERRUPTED)


def _is_said(line: JsonObject) -> bool:
    return line.get("type") == "assistant" or (_is_prompt(line) and not _is_command(line))


def _is_prompt(line: JsonObject) -> bool:
    parts = objects_in(at(line.get("message"), "content"))
    return (
        line.get("type") == "user"
        and not is_of_client(line)
        and line.get("isCompactSummary") is not True
        and not any(part.get("type") == "tool_result" for part in parts)
    )


def _is_command(line: JsonObject) -> bool:
    return line.get("type") == "user" and _COMMAND.match(_text_of(line)) is not None


def _text_of(line: JsonObject) -> str:
    content = at(line.get("message"), "content")
    if isinstance(content, str):
        return content
    return next((first_text(part, "text") or "" for part in objects_in(content)), "")
