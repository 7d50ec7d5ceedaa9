"""Detect failed tool calls from the text of their results."""

import re

from evaluation_assets.core.traces.trajectories.model import JsonObject, json_object
from evaluation_assets.core.traces.trajectories.wrapped_results import text_inside

_SEEN = 400
"""Only the head of a result is searched: further down, results quote pages and logs that talk about errors."""

_HEADING = re.compile(r"\s*(?:Wall time: [^\n]*\n)?(?:tool )?(?:result|output|observation|response):\s+", re.IGNORECASE)
"""What frameworks write above a result, and Codex above that of a server of MCP."""

_LEADING = re.compile(
    r"\W*(?:(?:error|exception|fatal|failed|failure|time(?:d )?out)\b"
    r"(?![\"']?\s*:\s*(?:null|none|false|\"\"|''|\[\]|\{\}))"
    r"(?!:?\s+0\b|\s+set\s+to\b|[\s-]+(?:handl\w+(?!.*:[ \t]*\S)|rates?(?! limit)|modes?|analysis|tolerance)\b)"
    r"|错误|失败|异常|超时|执行失败|工具执行失败"
    r"|\w*(?:error|exception)\s*:"
    r"|\w+ error \d{3,5}\s*[:–—-](?!\s*\d)"
    r"|\w+(?:notfound|denied|unavailable|refused|forbidden|timeout|exceeded)\s*:(?!\s*0\b)"
    r"|(?:fehler|erreur|errore?|erro|ошибка|エラー|오류|lỗi)\s?(?:[:：]|[45]\d\d\b)"
    r"|(?:zugriff verweigert|accès refusé|acceso denegado|accesso negato|acesso negado|доступ запрещ[её]н)\b"
    r"|no executable action|an error occurred while (?:running the tool|parsing tool arguments)\b"
    r"|an (?:unexpected )?error occurred[^.\n]{0,60}:|tool (?:execution|call) failed\b|unknown tool:|mcp error -?\d+:"
    r"|encountered error:|i encountered an error\b|tool_use_error>"
    r"|you tried to use the tool \S+, but it doesn't exist"
    r"|no replacement was performed\b|invalid `\w+` parameter\b|parameter `\w+` is required for command\b"
    r"|the path \S+ (?:does not exist\. please provide|is not an absolute path|is a directory and only)"
    r"|file already exists at: \S+ cannot overwrite|your proposed edit has introduced new syntax error)"
)
"""How results begin that are nothing but a failure, also of the OpenAI Agents SDK, CrewAI, LlamaIndex, MCP, Claude Code
and the editors of SWE-agent and Anthropic.

A field `error` with nothing in it is none.
"""

_INSIDE = tuple(
    (hint, re.compile(pattern))
    for hint, pattern in (
        ("success", r"[\"']success[\"']\s*:\s*false"),
        ("validation failed", r"parameter validation failed"),
        ("status", r"[\"']status[\"']\s*:\s*(?:[\"'](?:error|failed|failure)[\"']|[45]\d\d\b)"),
        ("error", r"[\"']is_?error[\"']\s*:\s*true"),
        ("exit", r"exit[ _-]?(?:code|status)[\"']?\s*[:=]?\s*(?!0\b)-?\d+"),
        ("return", r"return[ _-]?code[\"']?\s*[:=]?\s*(?!0\b)-?\d+"),
    )
)
"""Failures reported in fields; the words in front are looked for first, which is 20 times cheaper."""

_BRIEF = 300
"""Characters of a result that may be nothing but an excuse."""

_BRIEFEST, _EARLY = 120, 40
"""Characters of a result that names a trouble without more, and before it."""

_EXCUSE = re.compile(
    r"\A\W*(?:(?:(?:(?:we|i)(?:['’]re|['’]m| are| am) )?(?:very |so )?sorry\b|(?:(?:i|we|my|our) )?apolog\w+)"
    r"(?=[\s\S]{0,200}\b(?:wrong|again|later|unable|(?:could|can|did|do|does)(?: ?not|n['’]t)|fail\w*|errors?"
    r"|unavailable|problems?|issues?|at this time|right now)\b)|oops\b"
    r"|(?:(?:we|i)(?:['’]re|['’]m| are| am) )?(?:unable|not able) to\b(?![^.\n]{0,40}\?)"
    r"|(?:i |we )?(?:could|can)(?: ?not|n['’]t)\b"
    r"(?! be (?!process|complet|reach|found|load|open|read|execut|perform|handl|retriev|connect))"
    r"|(?:the |your |this )?(?:\w+ )?(?:(?:request|job|operation|call|tool|action|query|lookup|command|execution)"
    r" (?:(?:could|can|was|has)(?: ?not|n['’]t)\b|(?:was |has (?:been )?)?(?:failed|aborted)\b)"
    r"|(?:operation|call|tool|action|query|lookup|command|execution) (?:was |has been )?(?:rejected|denied|halted)\b)"
    r"|(?:http(?:/\d(?:\.\d)?)? )?[45]\d\d\W{1,3}(?:bad|unauth|forbidden|not found|method|request (?:time|entity|uri)"
    r"|conflict|gone|too many|internal|service|gateway|server|client)|(?:\w+\.)*\w*(?:error|exception)(?:\W*\Z|:)"
    r"|(?:the |your )?\w+ (?:is |was )?(?:\w+ )?unreachable\b|unauthori[sz]ed\b|no response (?:from|was|received)"
    r"|(?:your |the )?(?:session|token) (?:has |is )?expired(?=\W*\Z|[.,;:]))"
    r"|<title>\W*[45]\d\d\b|[\"'](?:status_?code|code|http_?status)[\"']\s*:\s*[\"']?[45]\d\d\b"
)
"""How results begin that are nothing but a failure, in other words than "error"; pages and codes that are one."""

_TROUBLE = re.compile(
    r"(?<![\"'‘“])\b(?:something went wrong|(?:try|retry)(?: \w+){0,2} (?:again )?later|bad gateway"
    r"|down for maintenance|(?:gateway|request) time-?out"
    r"|(?:request|call|connection|operation|tool|server|query|it) timed out"
    r"|(?:tool|service|server|system|database|backend|api|endpoint|resource|temporarily)"
    r" (?:is |was )?(?:\w+ )?(?:unavailable|unreachable|offline|not responding)|(?:unexpected|internal) error"
    r"|internal server error|rate limit (?:exceeded|reached)|too many requests"
    r"|(?:quota|max retries|memory limit) exceeded|out of memory|(?:access|permission)(?: is| was)? denied"
    r"|connection (?:was )?(?:refused|reset|aborted)|not (?:authori[sz]ed|authenticated)"
    r"|invalid (?:credentials|token|api key|request|arguments?|parameters?)|exited with (?:code|status) [1-9]\d*)"
    r"(?=\W*\Z|[.,;:!()-]| (?:while|when|after|for|at|on|to|from|in|due|because|with|and|please|of|during)\b)"
)
"""What short results name that went wrong, without a quotation mark before it and a verb after it."""

_EXITED_WELL = re.compile(r"(?:exit|return)[ _-]?(?:code|status)\W{1,4}0\b")

_OF_A_THING = re.compile(r"[\"']status[\"']\s*:\s*[\"']fail")
"""What may be said of a payment or a job, too, that a result tells of."""

_FINE = (200, 201)
"""Codes of HTTP that a result has as its status."""

_NO_ERRORS = ("", "none", "null", "ok", "no error", "success")
"""What fields of errors say, in lower case, where there is none."""

_TOLD = ("error_message", "message", "detail", "description", "reason", "code")
"""Fields beside or within an error that say what it is."""

_TOLD_OF_FAILURES = frozenset(
    """
    error errors status statuscode status_code http_status httpstatus success ok title type result output content
    response text request_id timestamp retry_after body headers
    """.split()
).union(_TOLD)
"""Fields that an object has which is nothing but a failure."""

_RETURNED = ("output", "result", "response", "data")
_TRACEBACK = "traceback (most recent call last)"
_TAIL = 4000
"""The exception is named at the end of a traceback."""

_LONGEST_PARSED = 1_000_000
_EXCEPTION = re.compile(r"^[ \t]*((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)\b.*)$", re.MULTILINE)


def failure_in(text: str, span: tuple[int, int]) -> str | None:
    """The failure that a tool's result, `text[start:end]`, reports; else `None`.

    It is given in the result's own words, one line of at most 200 characters.
    """
    start, end = span
    if (heading := _HEADING.match(text, start, end)) is not None:
        start = heading.end()
    if text.find('"isError"', start, end) >= 0 and (stated := _stated_in(text[start:end])) is not None:
        return stated or None
    head = text[start : min(end, start + _SEEN)].lower()
    if _TRACEBACK in head:
        exceptions = _EXCEPTION.findall(text, max(start, end - _TAIL), end)
        return exceptions[-1].strip()[:200] if exceptions else "Traceback"
    match = _LEADING.match(head)
    if match is not None and not _states_no_error(text[start:end]):
        return told_in(text[start:end]) or _line(text, start, end, 0)
    for hint, pattern in _INSIDE:
        if hint in head and (match := pattern.search(head)) is not None:
            if _OF_A_THING.match(match[0]) and _is_well(text[start:end]):
                continue
            return told_in(text[start:end]) or _line(text, start, end, match.start())
    if end - start <= _BRIEF and _is_excuse(text[start:end]):
        return told_in(text[start:end]) or _line(text, start, end, 0)
    has_field = any(text.find(name, start, end) >= 0 for name in ('"error', '"ok"', '"exception"'))
    if has_field and (stated := _field_in(text[start:end])) is not None:
        return stated
    inner = text_inside(text[start:end])
    return None if inner is None else failure_in(inner, (0, len(inner)))


def _field_in(text: str) -> str | None:
    """What a JSON object says in a field of its own for errors: `error`, `ok`, or `errors` in place of `data`, or
    `exception` in place of what would have come back.
    """
    result = _object_in(text)
    if result is None or True in (result.get("success"), result.get("ok")):
        return None
    error, errors = result.get("error"), result.get("errors")
    if not error and isinstance(errors, list) and result.get("data", errors) is None:
        error = next(iter(errors), None)
    if not error and any(result.get(name, result) is None for name in _RETURNED):
        error = result.get("exception")
    if error is True or (not error and result.get("ok") is False):
        error = result
    return _words_of(error) or (_only_text_of(error) if isinstance(error, dict) and error else None)


def _only_text_of(error: JsonObject) -> str:
    """What an error says in a field of any name, if it has but one text: `{"ok": false, "fehler": "abgelaufen"}`."""
    texts = [each for each in error.values() if isinstance(each, str)]
    return (_words_of(texts[0]) if len(texts) == 1 else None) or "error"


def _is_well(text: str) -> bool:
    """Whether a JSON object says of itself that it is no failure, whatever it says of things within it."""
    result = _object_in(text) or {}
    status = result.get("status")
    if isinstance(status, str):
        return not status.lower().startswith(("fail", "error"))
    return True in (result.get("success"), result.get("ok")) or status in _FINE


def _is_excuse(text: str) -> bool:
    """Whether a short result is nothing but a failure."""
    said = (told_in(text) or text).strip().lower()
    is_trouble = (
        len(said) <= _BRIEFEST and "\n" not in said and (match := _TROUBLE.search(said)) and match.start() <= _EARLY
    )
    return bool(is_trouble or _EXCUSE.search(text.lower())) and not _is_fine(text)


def _is_fine(text: str) -> bool:
    """Whether a short result only mentions a failure: by a list, more fields, or its exit code 0."""
    return (
        text.lstrip().startswith("[")
        or _EXITED_WELL.search(text.lower()) is not None
        or (
            (result := _object_in(text)) is not None
            and (
                True in (result.get("success"), result.get("ok"))
                or not _TOLD_OF_FAILURES.issuperset(map(str.lower, result))
            )
        )
    )


def _states_no_error(text: str) -> bool:
    """Whether a JSON object has a field for errors that says there is none, such as 0 or "none"."""
    result = _object_in(text) or {}
    error = result.get("error", True)
    return not error or (isinstance(error, str) and error.strip().lower() in _NO_ERRORS)


def told_in(text: str) -> str | None:
    """What a JSON object that reports a failure says of it beside: its error or message; `None` if it says nothing."""
    result = _object_in(text) or {}
    return _words_of(result.get("error")) or _words_of({key: result.get(key) for key in _TOLD[:-1]})


def _words_of(error: object) -> str | None:
    """What an error says, as a text or in a field of it; `None` if there is none."""
    if isinstance(error, dict):
        error = next((told for key in _TOLD if isinstance(told := error.get(key), str) and told), None)
    said = " ".join(error[:1000].split()) if isinstance(error, str) else ""
    return None if said.lower() in _NO_ERRORS else said[:200]


def _object_in(text: str) -> JsonObject | None:
    return json_object(text) if len(text) <= _LONGEST_PARSED else None


def _stated_in(text: str) -> str | None:
    """What a result of MCP says in its field `isError`: its text if it is one, empty if it is none."""
    result = _object_in(text)
    if result is None or not isinstance(result.get("isError"), bool):
        return None
    if not result["isError"]:
        return ""
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    told = " ".join(str(part["text"]) for part in parts if isinstance(part, dict) and part.get("text"))
    return " ".join(told[:1000].split())[:200] or "isError"


def _line(text: str, start: int, end: int, offset: int) -> str:
    line_end = text.find("\n", start + offset, end)
    line = text[start + offset : line_end if line_end >= 0 else end]
    return " ".join(line[:1000].split())[:200]
