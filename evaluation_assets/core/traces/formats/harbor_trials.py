"""Trials of Harbor: how each run was verified, stated beside what its agent did.

The folder of a trial has `result.json`, the agent's trajectory and own logs in `agent/`, and the output of the tests in
`verifier/`, with their outcomes in the Common Test Report Format where pytest writes it. The folder of a job has those
of its trials, and a `result.json` with their number.
"""

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.context import success_of
from evaluation_assets.core.traces.formats.files.records import first_object
from evaluation_assets.core.traces.formats.task_tests import labels_of_tests
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage_named
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

_RESULT = "result.json"
_TESTS = "verifier/ctrf.json"
_OUTCOMES = {"passed": "success", "failed": "failure"}
_REWARD = "reward"
_TIMEOUT = "AgentTimeoutError"
"""The agent ran out of time. What it had done by then is verified all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a trial states of its run. `error` is the exception that ended it, `tests` are labels of its tests."""

    folder: str
    task_id: str | None = None
    success: bool | None = None
    rewards: JsonObject = field(default_factory=dict)
    tests: JsonObject = field(default_factory=dict)
    error: str | None = None
    used: Usage | None = None

    @property
    def is_cut_off(self) -> bool:
        """Whether the agent ran out of time."""
        return self.error == _TIMEOUT

    @property
    def is_broken(self) -> bool:
        """Whether an exception other than a timeout of the agent kept the run from being verified."""
        return self.error is not None and not self.is_cut_off and not self.rewards


class Trials:
    """The trials of a drop by their folders."""

    def __init__(self, files: Sequence[DropFile], unmapped: UnmappedFields) -> None:
        self._trials: dict[str, Trial] = {}
        self._jobs: dict[str, int] = {}
        for file in files:
            folder, name = posixpath.split(file.source)
            if name == _RESULT and (data := first_object(file)) is not None:
                self._add(folder, data, unmapped)
        for file in files:
            trial = self._trials.get(file.source.removesuffix(_TESTS).rstrip("/"))
            if trial is not None and file.source.endswith(_TESTS):
                self._trials[trial.folder] = replace(trial, tests=_tests(first_object(file)))
        held = Counter(posixpath.dirname(folder) for folder in self._trials)
        for folder, total in self._jobs.items():
            unmapped.stated.compare("trial", total, held[folder])

    def of(self, source: str) -> Trial | None:
        """The trial whose folder has this file."""
        return next((self._trials[folder] for folder in _folders(source) if folder in self._trials), None)

    def has(self, source: str) -> bool:
        """Whether a file is part of a trial, or one of the files that a job has beside its trials."""
        return self.of(source) is not None or posixpath.dirname(source) in self._jobs

    def without(self, sources: Sequence[str]) -> Iterator[Rejection]:
        """A rejection for each trial that none of these files is part of."""
        told = {trial.folder for source in sources if (trial := self.of(source)) is not None}
        for trial in self._trials.values():
            if trial.folder not in told:
                why = f" (it ended with {trial.error})" if trial.error else ""
                detail = (
                    f"the trial has no trajectory in ATIF{why}; evaluate the logs in its folder 'agent' by themselves"
                )
                yield Rejection(posixpath.join(trial.folder, _RESULT), 1, "no_trajectory_text", detail, "")

    def _add(self, folder: str, data: JsonObject, unmapped: UnmappedFields) -> None:
        with unmapped.peeking(data) as fields:
            if isinstance(total := data.get("n_total_trials"), int):
                self._jobs[folder] = total
            elif is_trial(data):
                self._trials[folder] = _trial(folder, fields)


def _tests(report: Any) -> JsonObject:
    """Labels of the tests in a report."""
    by_outcome: dict[str, list[str]] = {"success": [], "failure": []}
    for test in objects_in(at(at(report, "results"), "tests")):
        outcome, name = _OUTCOMES.get(str(test.get("status"))), test.get("name")
        if outcome is not None and isinstance(name, str):
            by_outcome[outcome].append(name)
    return labels_of_tests({"verifier": by_outcome})


def is_trial(data: Any) -> bool:
    """Whether a value is the result of a trial."""
    return isinstance(data, dict) and {"trial_name", "task_name", "verifier_result"} <= data.keys()


def _trial(folder: str, fields: Fields) -> Trial:
    rewards = object_in(fields.object("verifier_result").value("rewards"))
    result = fields.object("agent_result")
    counted = usage_named(result, "n_input_tokens", "n_output_tokens", cost=["cost_usd"])
    only = next(iter(rewards.values())) if len(rewards) == 1 else rewards.get(_REWARD)
    return Trial(
        folder=folder,
        task_id=fields.name("task_name"),
        success=success_of(only),
        rewards={"rewards": rewards} if rewards.keys() - {_REWARD} else rewards,
        error=fields.object("exception_info").text("exception_type"),
        used=counted,
    )


def _folders(source: str) -> Iterator[str]:
    """The folders that a file is in, from the innermost to that of the drop."""
    folder = posixpath.dirname(source)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""
