"""Exceptions inside a judge: each is a failed verdict that says what went wrong, and its traceback is logged."""

import os
import re
import traceback

from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.system.logs import log_of
from evaluation_assets.core.text.masking import MASKED, Mask, environment_mask
from evaluation_assets.core.text.well_formed import well_formed

_log = log_of(__name__)

_LONGEST = 500
"""Characters of a message in a verdict: an exception may quote a whole trajectory."""

_CREDENTIALS = re.compile(r"(?<=//)[^/\s@]+(?=@)|(?<=\bBasic )[^\s'\",]+|(?<=\bBearer )[^\s'\",]+", re.IGNORECASE)
"""Passwords in addresses and headers: tokens that no variable of the environment holds."""


class Defects:
    """What goes wrong inside a judge at one level of a run.

    A traceback is logged once for each line that raises: the same defect meets thousands of subjects.
    """

    def __init__(self, judge: str, key_variable: str | None) -> None:
        self._judge = judge
        self._mask = Mask([] if key_variable is None else [os.environ.get(key_variable, "")])
        self._logged: set[tuple[type[Exception], str, int | None]] = set()

    def verdict(self, problem: Exception) -> Verdict:
        """The verdict on a subject whose judgement raised this."""
        raised = traceback.extract_tb(problem.__traceback__)[-1]
        place = (type(problem), raised.filename, raised.lineno)
        if place not in self._logged:
            self._logged.add(place)
            told = "".join(traceback.format_exception(problem))
            _log.error("judge %s: internal error\n%s", self._judge, self._without_keys(told))
        message = self._without_keys(f"{type(problem).__name__}: {problem}".removesuffix(": "))
        return Verdict(outcome="failed", error_kind="internal", error=well_formed(message[:_LONGEST]))

    def _without_keys(self, text: str) -> str:
        return _CREDENTIALS.sub(MASKED, self._mask(text))


def without_secrets(text: str) -> str:
    """Without values of variables whose names say that they hold a secret, and without credentials in addresses."""
    return _CREDENTIALS.sub(MASKED, environment_mask()(text)) if text else text
