"""What Python's JSON reader finds wrong, as a sentence that may go on."""

import json
import re

_POSITION = re.compile(r"(?: starting)? at$")


def json_fault(problem: json.JSONDecodeError) -> str:
    """What is wrong. Python's words end with those that lead to its own position, as `Invalid control character at`."""
    return _POSITION.sub("", problem.msg)
