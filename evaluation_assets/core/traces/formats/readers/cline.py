"""Conversations of Cline and its descendants (Roo Code, Kilo Code): `api_conversation_history.json` of a task, with the
tokens that `ui_messages.json` beside it states; and sessions of Cline's CLI (`<session>.messages.json`).
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, any_record
from evaluation_assets.core.traces.formats.coding.client_context import CLINE_RESULT, is_of_cline
from evaluation_assets.core.traces.formats.coding.cline_tasks import ClineTask, request_usage, tasks_beside
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import each_session, units_in
from evaluation_assets.core.traces.formats.coding.session_spool import Unit
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.isolation import each_own_file
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.transcript import Call, Result, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import at, listed, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory

NAME = "cline"
DESCRIPTION = "Cline and Roo Code tasks: api_conversation_history.json; sessions of Cline's CLI"
DETECTION = (
    "messages in which the client adds <environment_details>, or a result as '[tool for ...] Result:'; "
    "or a sessionId with messages that have modelInfo and metrics"
)

_ENVIRONMENT = re.compile(r"\s*<environment_details>.*?(?:</environment_details>|\Z)\s*", re.DOTALL)
_FOLDER = re.compile(r"^# Current Work(?:ing|space) Directory \(([^)\n]+)\) Files", re.MULTILINE)
_WRAPPED = re.compile(r"\s*<(task|user_message|feedback|answer)>\s*(.*?)\s*</\1>\s*\Z", re.DOTALL)
_THOUGHT = re.compile(r"<thinking>(.*?)(?:</thinking>|\Z)", re.DOTALL)
_ERROR = re.compile(
    r"The tool execution failed with the following error:\s*(?:<error>)?\s*(.*?)\s*(?:</error>|\Z)", re.DOTALL
)
_DENIED = re.compile(r'\s*(?:The user denied this operation|\{"status": ?"denied", ?"message": ?"The user denied)')
_MODEL = re.compile(r"^<model>([^<\n]+)</model>", re.MULTILINE)
_OF_THE_CLIENT = ("[ERROR] You did not use a tool", "[TASK RESUMPTION]", "[NOTE]", "[Response interrupted")
_ARGUMENT = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.DOTALL)
_INNER = ("file", "diff")
"""Arguments of Roo Code that are made of elements themselves."""
_TOOLS = (
    "access_mcp_resource", "apply_diff", "ask_followup_question", "attempt_completion", "browser_action",
    "codebase_search", "condense", "execute_command", "fetch_instructions", "insert_content",
    "list_code_definition_names", "list_files", "load_mcp_documentation", "new_rule", "new_task", "plan_mode_respond",
    "read_file", "replace_in_file", "search_and_replace", "search_files", "switch_mode", "update_todo_list",
    "use_mcp_tool", "web_fetch", "web_search", "write_to_file",
)  # fmt: skip
"""Tools that the models of these clients call by writing an XML element in their text."""


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per file of messages, and per session."""
    tasks, conversations = tasks_beside(files)
    units = each_own_file(conversations, detect, NAME, _units_of)
    return each_session(units, partial(_trajectory, tasks, unmapped))


def _units_of(file: DropFile) -> Iterator[Unit | Rejection]:
    return units_in(read_records(file), is_whole=_is_session)


def _trajectory(tasks: Mapping[str, ClineTask], unmapped: UnmappedFields, unit: Unit) -> Trajectory:
    if _is_session(unit[0].data):
        return _session_of(unit[0], unmapped)
    return _task_of(unit, tasks.get(posixpath.dirname(unit[0].source), ClineTask()), unmapped)


def _is_session(data: Any) -> bool:
    return "sessionId" in object_in(data) and any(
        isinstance(at(at(message, "metrics"), "inputTokens"), int) for message in objects_in(at(data, "messages"))
    )


def _session_of(record: Record, unmapped: UnmappedFields) -> Trajectory:
    """The session of a document of Cline's CLI."""
    task = _Task(unmapped)
    with unmapped.reading(record.json_object()) as fields:
        fields.set_aside("version", "updated_at", "agent", "origin")
        task.session.id = fields.name("sessionId")
        for message in objects_in(fields.value("messages")):
            task.add(message)
    return task.session.trajectory(NAME, unmapped)


def _task_of(records: Sequence[Record], known: ClineTask, unmapped: UnmappedFields) -> Trajectory:
    task = _Task(unmapped)
    task.session.spent = known.spent
    for record in records:
        task.add(record.json_object())
    task.session.ran_on(known.model)
    return task.session.trajectory(NAME, unmapped)


class _Task:
    """The session of a task while its messages are read."""

    def __init__(self, unmapped: UnmappedFields) -> None:
        self.session = CodingSession(Agent(id="cline"))
        self._unmapped = unmapped

    def add(self, message: dict[str, Any]) -> None:
        """Add a message of the model, or of the client for the user."""
        with self._unmapped.reading(message) as fields:
            if fields.flag("isSummary") or fields.flag("isTruncationMarker"):  # Roo Code has shortened the context
                self.session.compactions += 1
                fields.rest()
                return
            role = fields.text("role")
            self.session.at_milliseconds(fields.number("ts", "createdAt"))
            texts: list[str] = []
            calls: list[Call] = []
            for part in fields.parts("content"):
                if isinstance(part, str):
                    texts.append(part)
                else:
                    self._part(part, texts, calls)
            fields.set_aside("id", "reasoning_details", "condenseParent", "truncationParent")
            model, metrics = fields.object("modelInfo"), fields.object("metrics")
            used = request_usage(metrics, model.text("providerId", "provider"))
            self.session.ran_on(model.text("modelId", "id"))
            ignore_rest(metrics.object("tokens"), metrics, model)
        if role == "assistant":
            self._said("\n".join(texts), calls)
            self.session.used(used)
        else:
            self._given(texts)

    def _part(self, part: Fields, texts: list[str], calls: list[Call]) -> None:
        kind = part.text("type") or "unknown"
        part.set_aside("cache_control", "signature", "call_id", "reasoning_details", "ts", "summary")
        if kind == "text":
            texts.append(part.text("text") or "")
        elif kind in ("thinking", "reasoning"):
            texts.append(f"<thinking>{part.text('thinking', 'text') or ''}</thinking>")
        elif kind == "tool_use":
            calls.append(call_in(part, "name", "input", "id"))
        elif kind == "tool_result":
            content = "\n".join(one if isinstance(one, str) else _output(one) for one in part.parts("content"))
            failed = part.flag("is_error") is True
            part.set_aside("name")
            self._answered(content, part.name("tool_use_id"), failed=failed)
        elif kind == "image":
            texts.append(image_text(part))
            part.rest()
        else:
            texts.append(f"[{part.note_unknown(kind)}]")
            part.rest()

    def _said(self, text: str, native: list[Call]) -> None:
        """What the model wrote: thoughts, words, and calls as XML elements."""
        thoughts = [thought.strip() for thought in _THOUGHT.findall(text)]
        words, calls = _calls_in(_THOUGHT.sub("", text))
        self.session.spoke("\n\n".join(filter(None, thoughts)), words, [*native, *calls])

    def _given(self, texts: Sequence[str]) -> None:
        """What the client put into the user's place: results, words of the user, and notes of its own."""
        if (folder := next((match for each in texts if (match := _FOLDER.search(each))), None)) is not None:
            self.session.about.setdefault("cwd", folder[1])
        for match in filter(None, map(_MODEL.search, texts)):
            self.session.ran_on(match[1])
        asked: list[str] = []
        waiting: str | None = None
        for text in (cleaned for each in texts if (cleaned := _ENVIRONMENT.sub("\n", each).strip())):
            header = CLINE_RESULT.match(text)
            if header is not None:
                self._flush(waiting)
                waiting = text[header.end() :]
            elif waiting is not None and not waiting.strip():
                waiting = text
            elif text.startswith(_OF_THE_CLIENT):
                self.session.interruptions += text.startswith("[TASK RESUMPTION]")
                self._unmapped.count("messages[].content[] (note of the client)")
            else:
                match = _WRAPPED.match(text)
                asked.append(text if match is None else match[2])
        self._flush(waiting)
        self.session.asked("\n\n".join(asked))

    def _flush(self, content: str | None) -> None:
        if content is not None:
            self._answered(content.strip(), None)

    def _answered(self, content: str, call_id: str | None, *, failed: bool = False) -> None:
        content = _ENVIRONMENT.sub("\n", content).strip()
        header = CLINE_RESULT.match(content)
        content = content if header is None else content[header.end() :]
        error = _ERROR.match(content)
        problem = error[1] if error is not None else content if failed or _DENIED.match(content) else None
        self.session.answered(
            Result(content=content, call_id=call_id, error=None if problem is None else one_line(problem) or "error")
        )


def _output(part: Fields) -> str:
    return image_text(part) if part.text("type") == "image" else as_text(part.value("text", "type"))


def _calls_in(text: str) -> tuple[str, list[Call]]:
    """A model message as its text, and the calls that are written in it as XML elements."""
    calls: list[Call] = []
    words: list[str] = []
    arguments: JsonObject
    position = 0
    for match in re.finditer(rf"<({'|'.join(_TOOLS)})>(.*?)</\1>", text, re.DOTALL):
        words.append(text[position : match.start()])
        position = match.end()
        arguments = dict(_ARGUMENT.findall(match[2]))
        if set(arguments) == {"args"}:  # Roo Code wraps the arguments of some tools
            arguments = _wrapped(arguments["args"]) or arguments
        calls.append(Call(name=match[1], arguments=arguments))
    words.append(text[position:])
    return "".join(words).strip(), calls


def _wrapped(text: str) -> JsonObject:
    """Arguments as elements, of which there may be several of one name: files to read, and the changes of each."""
    arguments: JsonObject = {}
    for name, inner in _ARGUMENT.findall(text):
        value = (_wrapped(inner) if name in _INNER else None) or inner
        arguments[name] = value if name not in arguments else [*listed(arguments[name]), value]
    return arguments


detect = any_record(lambda record: is_of_cline(record) or _is_session(record))
