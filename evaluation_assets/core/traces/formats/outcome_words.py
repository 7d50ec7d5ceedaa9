"""Words that say whether a run, or a call, succeeded."""

from typing import Any

TESTED: dict[str, bool] = {
    "pass": True, "passed": True, "correct": True, "fail": False, "incorrect": False, "wrong": False,
}  # fmt: skip
"""Words of tests. In a status, the other words may say no more than that a run came to its end."""
VERDICTS: dict[str, bool] = {
    **TESTED, "success": True, "succeeded": True, "successful": True, "solved": True, "resolved": True,
    "failed": False, "failure": False, "unsuccessful": False, "unsolved": False, "unresolved": False,
}  # fmt: skip
_ANSWERS: dict[str, bool] = {
    **VERDICTS, "true": True, "yes": True, "1": True, "1.0": True, "false": False, "no": False, "0": False,
    "0.0": False,
}  # fmt: skip


def outcome_of(value: Any) -> bool | None:
    """Yes or no, as a boolean, 0 or 1, or a word for these; `None` for other values."""
    word = value.strip().lower() if isinstance(value, str) else value
    if isinstance(word, str):
        return _ANSWERS.get(word)
    return bool(word) if isinstance(word, int | float) and word in (0, 1) else None
