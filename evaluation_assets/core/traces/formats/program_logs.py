"""Recognise the log of a program: lines with a time and a level, which are no trace of what an agent did."""

import re

_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)"
_TIME = r"\[?(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?"
_LOGGED = re.compile(rf"\[?{_LEVEL}\]?(?:[ :\t|\-]|$)|{_TIME}[ \t|\-]*(?:\S+[ \t|\-]+){{0,3}}\[?{_LEVEL}\b")
_FAULT = re.compile(r"(?:[\w.]*(?:Error|Exception|Warning|Interrupt)|" + _LEVEL + r")\Z", re.IGNORECASE)
_SEEN = 300
_MOST_LINES = 2000


def is_program_log(text: str) -> bool:
    """Whether at least half of the lines that are not blank or indented have a level, and a time or nothing before."""
    lines = [line[:_SEEN] for line in text.split("\n", _MOST_LINES)[:_MOST_LINES] if line.strip()]
    lines = [line for line in lines if not line[0].isspace()]
    return len(lines) > 1 and sum(_LOGGED.match(line) is not None for line in lines) * 2 >= len(lines)


def is_fault(name: str) -> bool:
    """Whether a word before a colon is a level of a log or the class of an exception."""
    return _FAULT.match(name) is not None
