"""A function of the user's own as a judge of the panel."""

import asyncio
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation_assets.core.judging.defects import without_secrets
from evaluation_assets.core.judging.judge import AlwaysOpen, Judgement
from evaluation_assets.core.judging.own.checks import InvalidResult, scores_of, settings_of
from evaluation_assets.core.judging.own.view import view_of
from evaluation_assets.core.judging.selection import EVERYTHING, Selection
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import FailureKind, Verdict, outcome_of
from evaluation_assets.core.system.daemon_threads import called
from evaluation_assets.core.system.own_code import OwnFunction
from evaluation_assets.core.traces.trajectories.identity import digest

VIEW_VERSION = "1"
"""Raise it when the same check may see other values of the same subject."""

LONGEST_ERROR = 4000
"""Characters of a traceback in a verdict; its end is kept."""

LONGEST_REASON = 20_000
"""Characters of the reasons of a verdict."""


@dataclass(frozen=True, slots=True)
class OwnJudge(AlwaysOpen):
    """Calls a check with a view of every subject.

    Asynchronous checks run concurrently in the event loop, others in threads. A check that raises, takes longer than
    `timeout_s`, or returns no score gives a `failed` verdict; `None` is `abstained`.
    """

    name: str
    own: OwnFunction
    chains_in_flight: int = 16
    timeout_s: float = 60.0
    selection: Selection = EVERYTHING
    provider: str = "python"
    samples: int = 1
    key_variable: None = None

    @property
    def model(self) -> str:
        """The function, as the panel names it."""
        return self.own.name

    @property
    def version(self) -> str:
        """Changes with the file of the function."""
        return digest(VIEW_VERSION, self.own.name, self.own.digest)

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """The verdict on a subject."""
        criterion = settings_of(self.own.function).criterion
        started = time.monotonic()
        try:
            returned = await asyncio.wait_for(called(self.own.function, view_of(subject)), self.timeout_s)
            scores = scores_of(returned, criterion)
        except InvalidResult as problem:
            return _failed("out_of_range", str(problem), criterion)
        except TimeoutError as problem:
            if time.monotonic() - started < self.timeout_s:  # the check's own
                return _failed("internal", _traceback(problem, self.own.file), criterion)
            return _failed("timeout", f"the check gave no result in {self.timeout_s:g} s", criterion)
        except Exception as problem:  # noqa: BLE001  # a check may raise anything
            return _failed("internal", _traceback(problem, self.own.file), criterion)
        reasons = [f"{score.criterion}: {score.reason}" for score in scores if score.reason]
        given = {score.criterion or criterion: score.value for score in scores}
        return Verdict(
            outcome=outcome_of(given),
            scores=given,
            reasoning=without_secrets("\n".join(reasons))[:LONGEST_REASON] or None,
            share_seen=1.0,
        )


def _failed(kind: FailureKind, error: str, criterion: str) -> Verdict:
    return Verdict(outcome="failed", scores={criterion: None}, error_kind=kind, error=without_secrets(error))


def _traceback(problem: Exception, file: str) -> str:
    """The traceback from the check on, without the frames that called it."""
    frames = traceback.extract_tb(problem.__traceback__)
    first = next((at for at, frame in enumerate(frames) if frame.filename == file), len(frames))
    own = frames[first:]
    told = "".join([*traceback.format_list(own), *traceback.format_exception_only(problem)]).strip()
    last = f"{type(problem).__name__}: {problem}"
    return told if len(told) <= LONGEST_ERROR else f"{last[: LONGEST_ERROR // 2]}\n…\n{told[-LONGEST_ERROR // 2 :]}"
