"""Did a tool call fail? Read from what the tool returned, by the words tools use for it."""

import re

_SEEN = 400
"""Only the head of a result is searched: further down, results quote pages and logs that talk about errors."""

_FAILURE = re.compile(
    r"""
      (?P<traceback>Traceback\ \(most\ recent\ call\ last\))
    | (?P<flag>["']success["']\s*:\s*(?:false|False))
    | (?P<validation>parameter\ validation\ failed)
    | (?P<status>["']status["']\s*:\s*(?:["'](?:error|failed|failure)["']|[45]\d\d\b))
    | (?P<is_error>["']is_?[eE]rror["']\s*:\s*(?:true|True))
    | (?P<exit>(?:exit[ _-]?code|return[ _-]?code|exit\ status)["']?\s*[:=]?\s*(?!0\b)-?\d+)
    | (?P<leading>\A\W*(?:(?:error|exception|fatal|failed|failure|time(?:d\ )?out)\b|错误|失败|异常|超时|执行失败|工具执行失败))
    | (?P<named>\A\W*\w*(?:Error|Exception)\s*:)
    | (?P<action>\A\s*No\ executable\ action)
    """,
    re.VERBOSE | re.IGNORECASE,
)

_EXCEPTION = re.compile(r"^\s*((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)\b.*)$", re.MULTILINE)


def failure_in(content: str) -> str | None:
    """The failure a tool's result reports, in its own words (one line, at most 200 characters), else `None`."""
    found = _FAILURE.search(content, 0, _SEEN)
    if found is None:
        return None
    if found.lastgroup == "traceback":
        exceptions = _EXCEPTION.findall(content)
        return (exceptions[-1] if exceptions else found.group()).strip()[:200]
    line_end = content.find("\n", found.end())
    line = content[found.start() : line_end if line_end >= 0 else len(content)]
    return " ".join(line.split())[:200]
