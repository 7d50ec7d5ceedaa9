"""Who&When histories, and Magentic-One and AG2 logs of the same structure.

A record is one conversation: `history` has one item per message. The speaker is its `name`, or its `role`.
`Orchestrator (thought)` and `Orchestrator (-> WebSurfer)` are the same agent, thinking and handing over. A terminal is
not an agent: its output is the result of the code in the previous message.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, any_record
from evaluation_assets.core.traces.formats.isolation import each_own_record
from evaluation_assets.core.traces.formats.messages.chat import meaning_of
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, Transcript, flags_of
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import bare, list_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory

NAME = "who_and_when"
DESCRIPTION = "Message histories of Who&When, Magentic-One and AG2, with annotated mistakes"
DETECTION = "records whose history has messages with a content and a speaker (name or role)"

_CHAT_ROLES = {"system", "user", "assistant", "tool", "function", "developer"}
_SPOKEN = ("user", "assistant")
_USER = {"human", "user", "userproxy"}
_TERMINAL = {"computerterminal", "codeexecutor", "executor"}
_ASIDE = re.compile(r"\s*\(\s*(->)?\s*([^()]*?)\s*\)\s*$")
"""Suffix of an orchestrator's name: `(thought)`, `(-> WebSurfer)`, `(termination condition)`."""

_CODE = re.compile(r"^[ \t]*```[ \t]*([\w+.#-]*)[^\n]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_SHELLS = {"sh", "bash", "shell", "console", "zsh"}
_HEAD = 300
_EXIT_CODE = re.compile(r"exit ?code:? ?(-?\d+)", re.IGNORECASE)
_NO_CODE = re.compile(r"There is no code from the last")
_END = re.compile(r"\s*TERMINATE\.?\s*$")
_FINAL_ANSWER = re.compile(r"^FINAL ANSWER:[ \t]*(.+)$", re.MULTILINE)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per record."""
    return each_own_record(files, detect, NAME, lambda record: trajectory_of(record, unmapped))


def trajectory_of(record: Record, unmapped: UnmappedFields) -> Trajectory:
    """Build the trajectory of one record.

    Raises:
        UnusableRecord: the record is not an object or has no history.
    """
    data = record.json_object()
    with unmapped.reading(data) as fields:
        names = _Names()
        prompts = fields.object("system_prompt").rest()
        messages = _messages(fields, data.get("history"), names)
        question = fields.text("question", "task", "prompt")
        asked = next((message.content for message in messages if message.kind == "user"), None)
        transcript = Transcript()
        if question is not None and not (messages and messages[0].kind == "user"):
            transcript.asked(Asked(text=question))
        steps = _write(messages, transcript)
        text, turns = transcript.finished("'history' has no agent message")
        described = {names.agent(name): text for name, text in prompts.items() if isinstance(text, str)}
        task = question or asked or ""
        task_id = task_id_of(fields.recorded_id("question_ID", "question_id", "task_id", "id"), task, text)
        answer = _final_answer(messages)
        return Trajectory(
            id=task_id,
            task_id=task_id,
            format=NAME,
            task=task,
            text=text,
            agents=tuple(Agent(id=name, name=name, description=described.get(name)) for name in names.agents()),
            turns=turns,
            final_answer=answer,
            reference_answer=fields.name("ground_truth", "reference_answer"),
            success=fields.outcome("is_correct", "is_corrected"),
            flags=flags_of(cut_off=False, unanswered=not answer, disputed=fields.stated.disputed_outcomes > 0),
            labels=_labels(fields, names),
            extra={"history_steps": [steps.get(index) for index in range(len(data["history"]))]},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """One item of a history. `index` is its position, `agent` the speaker, `to` the agent the work is handed to."""

    index: int
    kind: Literal["user", "terminal", "thought", "message"]
    content: str
    agent: str
    to: str | None = None


class _Names:
    """Agents by name. Later spellings of a name are mapped to the first one."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def agent(self, name: str) -> str:
        return self._first.setdefault(bare(name), name)

    def spelt(self, name: str) -> str:
        """The canonical spelling of an agent's name; unknown names are returned unchanged."""
        return self._first.get(bare(name), name)

    def agents(self) -> list[str]:
        return list(self._first.values())


def _messages(fields: Fields, history: Any, names: _Names) -> list[_Message]:
    places = [index for index, item in enumerate(list_in(history)) if isinstance(item, dict)]
    return [
        message
        for index, item in zip(places, fields.objects("history"), strict=False)
        if (message := _message(index, item, names)) is not None
    ]


def _message(index: int, item: Fields, names: _Names) -> _Message | None:
    role, name, content = item.text("role"), item.text("name"), item.text("content")
    if content is None:
        return None
    speaker = name or role or "agent"
    aside = _ASIDE.search(speaker)
    key = bare(speaker)
    if key in _USER and (name is None or role == "user"):
        return _Message(index=index, kind="user", content=content, agent=speaker)
    if key in _TERMINAL:
        return _Message(index=index, kind="terminal", content=content, agent=speaker)
    agent = names.agent(speaker[: aside.start()] if aside else speaker)
    if aside is None:
        return _Message(index=index, kind="message", content=content, agent=agent)
    if aside[1]:
        return _Message(index=index, kind="message", content=content, agent=agent, to=_receiver(aside[2], names))
    kind = "thought" if aside[2].lower() == "thought" else "message"
    return _Message(index=index, kind=kind, content=content, agent=agent)


def _receiver(name: str, names: _Names) -> str:
    return name if bare(name) in _TERMINAL else names.agent(name)


def _write(messages: Sequence[_Message], transcript: Transcript) -> dict[int, int]:
    """Write all messages; return the step number of each history item."""
    steps: dict[int, int] = {}
    ready: _Message | None = None  # code that has not been run yet
    for place, message in enumerate(messages):
        number = transcript.steps_written
        following = messages[place + 1] if place + 1 < len(messages) else None
        if message.kind == "user":
            transcript.asked(Asked(text=message.content))
        elif message.kind == "thought":
            transcript.said(Said(agent_id=message.agent, thought=message.content))
        elif message.kind == "message" and (code := _code(message.content)) is not None:
            ready = message
            if following is not None and following.kind == "terminal":
                words = _CODE.sub("", message.content).strip() or None
                said = Said(agent_id=message.agent, message=words, to=message.to, calls=(code,))
                transcript.said(said, [_result(following.content)])
                steps[following.index] = number
                ready = None
            else:
                transcript.said(Said(agent_id=message.agent, message=message.content, to=message.to))
        elif message.kind == "message":
            transcript.said(Said(agent_id=message.agent, message=message.content, to=message.to))
        elif message.index in steps:
            continue
        elif ready is not None and (code := _code(ready.content)) is not None and not _NO_CODE.match(message.content):
            transcript.said(Said(agent_id=ready.agent, calls=(code,)), [_result(message.content)])
            ready = None
        else:
            transcript.observed(_result(message.content))
        steps[message.index] = number
    last = transcript.steps_written - 1
    return {index: min(number, last) for index, number in steps.items()}


def _code(content: str) -> Call | None:
    """The code blocks of a message, which a terminal runs together."""
    blocks = [(language.lower(), code) for language, code in _CODE.findall(content) if code.strip()]
    if not blocks:
        return None
    name = "bash" if blocks[0][0] in _SHELLS else blocks[0][0] or "python"
    return Call(name=name, arguments="\n".join(code.rstrip("\n") for _, code in blocks))


def _result(content: str) -> Result:
    match = _EXIT_CODE.search(content[:_HEAD])
    code = None if match is None else int(match[1])
    return Result(content=content, error=f"exit code {code}" if code else None, succeeded=code == 0)


def _final_answer(messages: Sequence[_Message]) -> str | None:
    """The final answer named in the log; without an orchestrator, the last message, unless its code was not run."""
    if not messages:
        return None
    if (named := _FINAL_ANSWER.findall(messages[-1].content)) and named[-1].strip():
        return named[-1].strip()
    if any(message.kind == "thought" or message.to for message in messages):
        return None
    for message in reversed(messages):
        if message.kind == "terminal" and _NO_CODE.match(message.content):
            continue
        if message.kind != "message":
            return None
        if words := _END.sub("", message.content).strip():
            return words
    return None


def _labels(fields: Fields, names: _Names) -> JsonObject:
    labels = {
        "mistake_agent": None if (agent := fields.text("mistake_agent")) is None else names.spelt(agent),
        "mistake_step": fields.whole("mistake_step"),
        "mistake_reason": fields.text("mistake_reason"),
        "mistake_type": fields.value("labels"),
        "level": fields.name("level"),
    }
    return without_none(labels)


def _is_history(record: Any) -> bool:
    if not isinstance(record, dict) or not isinstance(history := record.get("history"), list):
        return False
    return "trajectory" not in record and any(
        isinstance(item.get("content"), str)
        and isinstance(role := item.get("role"), str)
        and (
            meaning_of(role) not in _CHAT_ROLES or (role in ("user", "assistant") and isinstance(item.get("name"), str))
        )
        for item in objects_in(history)
    )


detect = any_record(_is_history)
