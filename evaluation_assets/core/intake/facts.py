"""What the writer of a table notes about it as a whole, for its readers; kept in the footer of the table's file."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import BaseModel

from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.traces.formats.import_report import ImportSummary


class Facts(Frozen):
    """Facts of one kind of table. Those that were not noted, or by an earlier version, have their defaults."""

    @classmethod
    def of(cls, stored: Stored) -> Self:
        """The facts of a stored table."""
        noted = {name: text for name, text in stored.facts.items() if name in cls.model_fields}
        return cls.model_validate(
            {name: text if cls._is_text(name) else json.loads(text) for name, text in noted.items()}
        )

    def footer(self) -> dict[str, str]:
        """The facts that are set, as they are stored: texts as they are, all else as JSON."""
        known = {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}
        return {name: _encoded(value) for name, value in known.items() if value is not None}

    @classmethod
    def _is_text(cls, name: str) -> bool:
        return cls.model_fields[name].annotation in (str, str | None)


class DropFacts(Facts):
    """Of `raw_trajectories`: the hash of the drop's content, its sidecar, and how well it was read.

    `not_taken` counts by reason the trajectories that were read and, by the sidecar, are not evaluated. `call_forms`
    are tools, the names of arguments that they were called with, and the number of such calls.
    """

    content: str = ""
    sidecar: Sidecar = Sidecar()
    reading: ImportSummary = ImportSummary()
    not_taken: Mapping[str, int] = {}
    call_forms: Sequence[tuple[str, Sequence[str], int]] = ()


class PreprocessingFacts(Facts):
    """Of `preprocessed_trajectories`: the settings of preprocessing."""

    settings: Mapping[str, Any] = {}


class SuiteFacts(Facts):
    """Of `tool_use_results` and `failure_patterns`: the drop's suite, or the `problem` for which it cannot be used.

    `incomplete` are tasks of the suite that are left out, `without_case` trajectories that no case is about.
    """

    suite: str | None = None
    suite_version: str | None = None
    min_pass_rate: float | None = None
    weights: Mapping[str, float] = {}
    incomplete: tuple[str, ...] = ()
    without_case: tuple[str, ...] = ()
    problem: str | None = None


class VerdictFacts(Facts):
    """Of a judge's verdicts: the fitted cascade, as a digest, that spared it what earlier stages accepted.

    `redacted` counts by kind the values that were replaced in the texts it was asked about, each time they were.
    """

    cascade: str = ""
    redacted: Mapping[str, int] = {}


class CanaryFacts(Facts):
    """Of `canary_verdicts`: the occasion the canaries were asked on, and the version of the judge and its rubrics."""

    occasion: str = ""
    asked_of: str | None = None


class FindingsFacts(Facts):
    """Of `findings`: the detectors and their versions; findings of other versions are not comparable."""

    detectors: str = ""


class GroupsFacts(Facts):
    """Of `failure_groups`: the drops that were grouped, the oldest first.

    Each is its name, suite, agent, agent with version, and number of runs. `made_from` is a digest of all that the
    groups were made from; empty where that cannot be seen.
    """

    drops: Sequence[tuple[str, str | None, str | None, str, int]] = ()
    made_from: str = ""


class MetricsFacts(DropFacts):
    """Of `task_metrics`: what its drop's metrics were made of.

    `comparability` is the comparability key, part by part. `kept_out` names the judges whose scores are left out, with
    the reason. `canaries` are judges' scores of canary clips, `canaries_asked` the number of clips they were asked
    about. `participants` are agent, version and model, where all trajectories agree on them, `versions` those of an
    agent that has several. `detectors` are those that
    searched for findings. `disputed` are runs with two outcomes: ID, task and `success`.
    """

    comparability: Mapping[str, str] = {}
    kept_out: Mapping[str, str] = {}
    canaries: Mapping[str, Mapping[str, list[float]]] = {}
    canaries_asked: Mapping[str, int] = {}
    participants: Mapping[str, str] = {}
    versions: Sequence[str] = ()
    detectors: str = ""
    disputed: Sequence[tuple[str, str, bool]] = ()


class HistoryFacts(Facts):
    """Of `score_history`: when the drop was evaluated last and first, and when its runs were made (UTC, ISO 8601).

    `made_at` is the median of the recorded starts; the first evaluation where none is recorded.
    """

    evaluated_at: str = ""
    first_evaluated_at: str = ""
    made_at: str = ""


def _encoded(value: Any) -> str:
    if isinstance(value, str):
        return value
    return value.model_dump_json() if isinstance(value, BaseModel) else json.dumps(value)
