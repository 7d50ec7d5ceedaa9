"""The vocabulary of coding agents: which tools edit, read and run commands, and how their arguments are named.

Agents name the same tool differently (`Edit`, `replace`, `str_replace`), also behind the prefix of an extension or MCP
server (`developer__shell`), but `refunds.create` is no `create`. What is not in the vocabulary is none of these.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.sections.coding_work.patches import Change, changes_in, search_and_replace
from evaluation_assets.core.traces.trajectories.calls import telling_name
from evaluation_assets.core.traces.trajectories.model import JsonObject, Step, Trajectory


def _names(names: str) -> frozenset[str]:
    """Names of tools as they are compared: `edit_file`, `editFile` and `EditFile` are one."""
    return frozenset(name.replace("_", "") for name in names.split())


_EDITORS = _names("str_replace_based_edit_tool str_replace_editor text_editor file_editor")
"""Tools whose argument `command` says whether they read or edit."""

_WRITE = _names("write create write_file write_to_file create_file save_file notebook_edit")
_REPLACE = _names("edit edit_file replace str_replace multi_edit search_and_replace insert_content insert")
_DIFF = _names("replace_in_file apply_diff")
_PATCH = _names("apply_patch patch")
_READ = _names("read read_file view view_file open_file open goto cat read_many_files read_files")
_ON_OPEN_FILE = _names("edit insert create open goto")
"""Tools of SWE-agent that work on the file that is open, or that have only a command line: results name the file."""

_SHOWN_FILE = re.compile(r"^\[File: (.+) \(\d+ lines total\)\]", re.MULTILINE)
_SHELL = _names(
    """
    bash shell exec_command run_shell_command execute_command local_shell execute_bash terminal run_terminal_cmd
    run_command shell_command exec execute powershell cmd command sh run_in_terminal run_terminal_command run_bash
    run_shell run_bash_command bash_command bash_tool execute_shell execute_shell_command shell_exec
    """
)
_PATH = ("file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "filename", "file")
_PATHS = ("paths", "include", "files")
_OLD = ("old_string", "oldString", "old_str", "oldText", "before", "search")
_NEW = ("new_string", "newString", "new_str", "newText", "after", "replace", "insert_text", "new_source")
_CONTENT = ("content", "file_text", "contents", "new_source", "text")
_RANGE = ("offset", "limit", "line_number", "start_line", "end_line", "view_range", "line_range")
_PATCH_TEXT = ("patchText", "input", "patch", "diff")
_COMMAND = ("command", "cmd", "script")
_UNNAMED = "arguments"
"""Where a trajectory has arguments that are no JSON object."""

_SHELLS = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh")


@dataclass(frozen=True, slots=True)
class Edited:
    """A call that changes files; `undoes` marks a tool that takes back the last change of a file."""

    changes: tuple[Change, ...]
    undoes: str | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """A call that reads files, each with the part of it that was asked for."""

    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Ran:
    """A call that runs a command line."""

    command: str


Action = Edited | Looked | Ran


def action_of(trajectory: Trajectory, step: Step) -> Action | None:
    """What a step did, by the name and the arguments of its call; `None` for other tools."""
    call = step.call
    if call is None:
        return None
    name = _compared(call.name)
    raw = trajectory.piece(call.raw)
    given = trajectory.arguments(call)
    arguments = given or {}
    if name in _ON_OPEN_FILE and _first(arguments, _PATH) is None and (shown := _shown_file(trajectory, step)):
        arguments = {**arguments, "path": shown}
    if name in _SHELL:
        is_plain = given is None or given.keys() == {_UNNAMED}
        return _shell(raw if is_plain else next((arguments[one] for one in _COMMAND if arguments.get(one)), None))
    if name in _EDITORS:
        return _editor(arguments)
    if name in _PATCH:
        changes = tuple(changes_in(_first(arguments, _PATCH_TEXT) or raw)) or tuple(_named_changes(arguments))
        return Edited(changes) if changes else None
    if name in _READ:
        return _read(arguments)
    if name in _DIFF:
        path = _first(arguments, _PATH)
        return None if path is None else Edited(tuple(search_and_replace(path, _first(arguments, ("diff",)) or "")))
    return _edit(arguments, is_whole=name in _WRITE) if name in _WRITE | _REPLACE else None


def _shown_file(trajectory: Trajectory, step: Step) -> str | None:
    """The file that a result shows; none is shown where an edit was refused."""
    result = step.result
    shown = _SHOWN_FILE.search(trajectory.piece(result.content)) if result is not None else None
    return None if shown is None else shown[1]


def edits_files(name: str) -> bool:
    """Whether a tool of this name changes files, or may do so."""
    return _compared(name) in _EDITORS | _WRITE | _REPLACE | _DIFF | _PATCH


def runs_commands(name: str) -> bool:
    """Whether a tool of this name runs commands."""
    return _compared(name) in _SHELL


def _compared(name: str) -> str:
    return telling_name(name).replace("_", "").replace("-", "")


def _shell(command: Any) -> Action | None:
    line = command_line(command)
    if not line:
        return None
    changes = tuple(changes_in(line))
    return Edited(changes) if changes else Ran(line)


def command_line(command: Any) -> str | None:
    """The command line of a call: of a list of words or a text, without a shell around it."""
    if isinstance(command, str):
        try:
            words = shlex.split(command) if command.startswith(_SHELLS) else []
        except ValueError:
            words = []
        return _unwrapped(words) or command
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        words = [str(word) for word in command]
        return _unwrapped(words) or (words[1] if words[:1] == ["apply_patch"] and len(words) > 1 else shlex.join(words))
    return None


def _unwrapped(words: Sequence[str]) -> str | None:
    """The script of `bash -lc SCRIPT`."""
    is_wrapped = len(words) == 3 and words[0] in _SHELLS and words[1].startswith("-") and words[1].endswith("c")
    return words[2] if is_wrapped else None


def _editor(arguments: JsonObject) -> Action | None:
    command, path = arguments.get("command"), _first(arguments, _PATH)
    if path is None:
        return None
    if command == "view":
        return _read(arguments)
    if command == "undo_edit":
        return Edited((), undoes=path)
    return _edit(arguments, is_whole=command in ("create", "write"))


def _edit(arguments: JsonObject, *, is_whole: bool) -> Action | None:
    path = _first(arguments, _PATH)
    if path is None:
        return None
    several = arguments.get("edits")
    if isinstance(several, list):
        return Edited(tuple(_replacement(path, one) for one in several if isinstance(one, dict))) if several else None
    if is_whole or ("content" in arguments and not any(name in arguments for name in _OLD)):
        return Edited((Change(path, None, _first(arguments, _CONTENT), is_whole=is_whole),))
    return Edited((_replacement(path, arguments),))


def _replacement(path: str, arguments: JsonObject) -> Change:
    return Change(path, _first(arguments, _OLD), _first(arguments, _NEW), is_whole=False)


def _named_changes(arguments: JsonObject) -> Iterator[Change]:
    """Changes that are named without their text, as the printed events of Codex have them."""
    listed = arguments.get("changes")
    entries = (
        [(one.get("path"), one.get("kind")) for one in listed if isinstance(one, dict)]
        if isinstance(listed, list)
        else []
    )
    for path, kind in entries:
        if isinstance(path, str):
            yield Change(path, None, None, is_whole=True, removes=kind == "delete")


def _read(arguments: JsonObject) -> Action | None:
    path = _first(arguments, _PATH)
    listed = [one for name in _PATHS if isinstance(arguments.get(name), list) for one in arguments[name]]
    paths = [path] if path is not None else [one for one in listed if isinstance(one, str)]
    part = ",".join(f"{name}={arguments[name]}" for name in _RANGE if arguments.get(name) is not None)
    return Looked(tuple((one, part) for one in paths)) if paths else None


def _first(arguments: JsonObject, names: Sequence[str]) -> str | None:
    return next((arguments[name] for name in names if isinstance(arguments.get(name), str)), None)
