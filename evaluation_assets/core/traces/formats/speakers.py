"""Detect speakers in plain text: lines that name a speaker, as written by people and agent frameworks."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from evaluation_assets.core.traces.formats.program_logs import is_fault, is_program_log
from evaluation_assets.core.traces.formats.untyped import without_none

Kind = Literal["message", "thought", "arguments", "result", "nobody"]

_SEEN = 300
"""Only the beginning of a line is searched: markers are at the start, and lines can be very long."""

_NAME = r"[A-Za-z][\w.-]*(?: [\w.-]+){0,4}"
_LOG_LINE = re.compile(
    r"\[\d{4}-[^\]\n]{1,40}\] "
    r"|\d{4}-\d\d-\d\d[ T][\d:.,]+ ?\| ?\w+ *\| [^\n|]{1,120}? - "
    r"|[\w.-]{1,120} - (?:DEBUG|INFO|WARNING|ERROR) - "
)
"""Prefix that a logger writes before every message."""

_IN_LOGS = re.compile(
    rf"(?P<actor>{_NAME})\(\w+\): to do [^\n]*"
    rf"|(?P<seminar>{_NAME}): \*\*[^*\n]{{0,200}}\*\*"
    rf"|FROM: (?P<sender>{_NAME}) TO: [^\n]*"
    r"|🔧 Tool arguments: (?P<arguments>)"
    r"|🎯 Tool '(?P<tool>[\w.-]+)' completed its mission! Result: "
    r"|(?P<news>NEW MESSAGES):"
)
_SENT = re.compile(r"\nACTION: [^\n]*\nCONTENT:\n")
"""Lines between the sender and the message."""

_ANYWHERE = re.compile(
    r"-{3,} ?(?P<banner>[A-Za-z][\w.]*(?: [\w.]+){0,4}) ?-{3,}[ \t]*$"
    rf"|(?P<console>{_NAME}) \(to (?P<console_to>{_NAME})\):[ \t]*$"
    rf"|(?:✨ )?(?P<response>{_NAME})'s (?:[Rr]esponse|[Rr]eply): ?"
    rf"|(?:✨ )?(?P<thinker>{_NAME})'s [Tt]houghts?: ?"
    rf"|(?P<arrow>{_NAME})->(?P<arrow_to>{_NAME}): "
    rf"|[ \t]*(?:Response from|Reply from) (?P<origin>{_NAME}?)(?: to {_NAME})?[ \t]*$"
    rf"|[ \t]*(?P<told>Message to {_NAME}|Code Execution Output)[ \t]*$"
    rf"|[ \t]*(?P<notice>(?:Entering|Exiting) {_NAME} message loop)[ \t]*$"
)
_PLAIN = re.compile(
    rf"(?:#{{1,6}} |\*\*|\[)?(?P<name>{_NAME})(?:\*\*|\])?:(?:\*\*)?(?=\s|$)"
    r"|<(?P<tag>user|human|assistant|system|agent|bot)>"
)
_LOOSE = ("banner", "arrow")
"""Forms that people give to other things as well, such as headings."""

_FRAMEWORK = {"system", "http request"}
_RESULTS = re.compile(
    r"(?:tool|function|environment|observation|computer_?terminal|.* api)(?: (?:output|result))?", re.IGNORECASE
)
_ROLES = {
    "user", "human", "customer", "client", "assistant", "ai", "agent", "bot", "chatbot", "system", "chatgpt", "gpt",
    "claude", "model", "tool", "function", "environment", "observation", "computer_terminal", "computerterminal",
}  # fmt: skip
_NO_NAMES = {
    "action", "answer", "args", "arguments", "code", "content", "context", "date", "description", "error", "example",
    "file", "final answer", "goal", "input", "instructions", "name", "note", "output", "parameters", "plan", "question",
    "raises", "reason", "result", "results", "returns", "round", "source", "step", "steps", "subgoal", "summary",
    "task", "thought", "time", "timestamp", "title", "tip", "todo", "traceback", "type", "url", "usage", "warning",
    "yields", "intern name", "request", "cost", "prompt_tokens", "completion_tokens", "total_tokens", "else", "try",
    "finally",
}  # fmt: skip
"""Words before a colon that are not speakers."""

_IN_SENTENCES = frozenset(
    "a all an and another any are as at by each every first for from here how if in is it last my new next no not of "
    "on one or other our second so some that the their then these third this to was what when where which with you "
    "your".split()
)
"""Words that stand in sentences and headings, not in names."""
_NAME_WORD = re.compile(r"[A-Z][\w-]*|\d{1,3}")
_LONGEST_NAME = 3
"""Words of a name."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A line that names a speaker. `start` is the offset of the line, `inner` that of the message.

    A message of `nobody` was written by the framework itself. A result may name its `tool`. A speaker is `guessed` if
    it is no known role, and its line has no form that a framework writes.
    """

    start: int
    inner: int
    kind: Kind
    speaker: str
    to: str | None = None
    guessed: bool = False


def markers_in(text: str) -> list[Marker]:
    """All markers in order; none for a text in which no speaker is named twice.

    Names before a colon count only if no line has a more specific marker.
    """
    clear: list[Marker] = []
    plain: list[Marker] = []
    news = False
    for start, line in _lines(text):
        log = _LOG_LINE.match(line)
        offset = log.end() if log else 0
        match = (_IN_LOGS.match(line, offset) if log else None) or _ANYWHERE.match(line, offset)
        marker = None if match is None else _clear(match, start)
        if marker is not None and (header := _SENT.match(text, marker.inner)) is not None:
            marker = replace(marker, inner=header.end())
        if news and line.strip() and (name := _PLAIN.match(line)) is not None:
            marker = _plain(name, start)
        news = (match is not None and match.groupdict().get("news") is not None) or (news and not line.strip())
        if marker is not None:
            clear.append(marker)
        elif log is not None:
            clear.append(Marker(start, start + offset, "nobody", ""))
        elif (named := _PLAIN.match(line)) is not None:
            plain.append(_plain(named, start))
    clear = _credible(clear)
    if any(marker.kind != "nobody" for marker in clear):
        return clear
    return [] if is_program_log(text) else _repeated(plain)


def is_user(speaker: str) -> bool:
    """Whether a speaker is the user."""
    return speaker.lower() in ("user", "human", "customer", "client")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The beginning of every line, with its offset."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start : min(end, start + _SEEN)]
        start = end + 1


def _clear(match: re.Match[str], start: int) -> Marker:
    groups = without_none(match.groupdict())
    inner = start + match.end()
    if "arguments" in groups:
        return Marker(start, inner, "arguments", "")
    if "tool" in groups:
        return Marker(start, inner, "result", groups["tool"])
    if "told" in groups:
        return Marker(start, inner, "result", "")
    if "news" in groups or "notice" in groups:
        return Marker(start, inner, "nobody", "")
    if "thinker" in groups:
        return Marker(start, inner, "thought", groups["thinker"])
    name = next(value for key, value in groups.items() if not key.endswith("_to"))
    to = groups.get("console_to") or groups.get("arrow_to")
    kind = "nobody" if name.lower() in _FRAMEWORK else _kind(name)
    is_loose = any(form in groups for form in _LOOSE) and name.lower() not in _ROLES
    return Marker(start, inner, kind, name, to, guessed=is_loose and kind == "message")


def _plain(match: re.Match[str], start: int) -> Marker:
    name = match["name"] or match["tag"]
    return Marker(start, start + match.end(), _kind(name), name, guessed=name.lower() not in _ROLES)


def _kind(name: str) -> Kind:
    return "result" if _RESULTS.fullmatch(name) else "message"


def _credible(markers: list[Marker]) -> list[Marker]:
    """Markers with the guessed speakers only if these talk, with each other or with known ones.

    A heading in the form in which a known role speaks too names a speaker.
    """
    known = {marker.speaker for marker in markers if not marker.guessed and marker.kind == "message"}
    if any(name.lower() in _ROLES for name in known):
        return [replace(marker, guessed=False) for marker in markers]
    guessed = Counter(marker.speaker for marker in markers if marker.guessed)
    if not guessed or (len(known) + len(guessed) > 1 and (known or max(guessed.values()) > 1)):
        return markers
    return [marker for marker in markers if not marker.guessed]


def _repeated(markers: list[Marker]) -> list[Marker]:
    """Known roles, and what may be names and occurs repeatedly; none if there is only one: a dialogue needs two."""
    times = Counter(marker.speaker for marker in markers)
    speakers = {
        name
        for name, count in times.items()
        if name.lower() in _ROLES or (count > 1 and _may_be_a_name(name) and not is_fault(name))
    }
    return [marker for marker in markers if marker.speaker in speakers] if len(speakers) > 1 else []


def _may_be_a_name(text: str) -> bool:
    """Whether a text before a colon looks like a name: few words, all capitalised, none of them of a sentence."""
    words = text.split()
    return (
        len(words) <= _LONGEST_NAME
        and text.lower() not in _NO_NAMES
        and all(_NAME_WORD.fullmatch(word) and word.lower() not in _IN_SENTENCES for word in words)
    )
