"""What the figures of a report come from: the files of the drop, read again, and the verdict rows of the judges."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from evaluation_assets.core.intake.clips.segmentation import Clip, clips_of
from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.drops import Drop, find
from evaluation_assets.core.intake.facts import PreprocessingFacts
from evaluation_assets.core.intake.preprocessing.preprocess import Preprocessor, Removal
from evaluation_assets.core.intake.preprocessing.repair import changes_text
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.selection import is_sampled
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.tables.verdicts import BY_LEVEL, CANARY_VERDICTS, VerdictLevel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Source, Usage
from evaluation_assets_tests.recomputed.run_rows import RunReader, RunRows
from evaluation_assets_tests.recomputed.task_means import TaskMeans

TableLevel = VerdictLevel | Literal["canary"]
TABLES: Mapping[TableLevel, str] = {
    **{level: table.name for level, table in BY_LEVEL.items()},
    "canary": CANARY_VERDICTS.name,
}

Subject = tuple[str, str | int]
"""ID of the trajectory, and the index of the clip, the tool type, or `trajectory` or `answer`."""

_COLUMNS = (
    *("judge", "sample", "outcome", "scores", "cost_usd", "input_tokens", "output_tokens", "share_seen"),
    *("ledger_key", "trajectory_id"),
)


@dataclass(frozen=True, slots=True)
class Origin:
    """A trajectory that is evaluated, as it was read again: its place in the drop, and its clips without their text."""

    id: str
    task_id: str
    success: bool | None
    n_tool_calls: int
    has_answer: bool
    clips: tuple[Clip, ...]
    source: Source | None
    usage: Usage


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a drop. `outcomes` are the recorded ones by task, also of runs that a rule removes.

    `verdicts` are the rows of each judge by level and subject, in the order of the panel; `quorum` is the panel's.
    `runs` is what is measured without a judge, `sessions` are rows of `session_analyses`, `sampled` is the share of
    the trajectories that a judge is asked about, by judge and level, if it is not asked about all. `tasks` are the
    metrics that the gate and the history compare.
    """

    drop: Drop
    judges: tuple[str, ...]
    quorum: int
    origins: tuple[Origin, ...]
    outcomes: Mapping[str, list[bool]]
    readable: int
    rejected: Mapping[str, int]
    repaired: int
    repairs: int
    verdicts: Mapping[TableLevel, Mapping[str, Mapping[Subject, list[Row]]]]
    runs: RunRows
    sessions: Sequence[Row]
    sampled: Mapping[tuple[str, str], float]
    tasks: TaskMeans

    @classmethod
    def of(cls, home: Installation, drop: str, report: Mapping[str, Any]) -> Self:
        """Gather the evidence of a drop. `report` says which judges and which quorum it was made with.

        Raises:
            InvalidDrop: the drop is gone.
            UnreadableDrop: its files cannot be read any more.
            InvalidChecks: `checks.yaml` cannot be used.
            InvalidBaseline: the file of the baseline cannot be read.
        """
        found = find(home.drops, drop)
        types = load_tool_types(home.tool_types)
        facts = PreprocessingFacts.of(home.table(drop, "preprocessed_trajectories"))
        preprocessor = Preprocessor(Settings(**facts.settings))
        origins: list[Origin] = []
        outcomes: dict[str, list[bool]] = {}
        rejected: Counter[str] = Counter()
        runs = RunReader(home, found)
        readable = repaired = repairs = 0
        for item in read_trajectories(found.sources, UnmappedFields(), found.sidecar().format):
            if isinstance(item, Rejection):
                rejected[item.reason] += 1
                continue
            readable += 1
            runs.add(item)
            if item.success is not None:
                outcomes.setdefault(item.task_id, []).append(item.success)
            kept = preprocessor.process(item)
            if isinstance(kept, Removal):
                rejected[kept.reason] += 1
                continue
            repaired += changes_text(repair.action for repair in kept.repairs)
            repairs += len(kept.repairs)
            clips = tuple(replace(clip, content="") for clip in clips_of(kept, types))
            answered = bool(kept.final_answer)
            of_run = kept.id, kept.task_id, kept.success, len(kept.calls), answered, clips, kept.source
            origins.append(Origin(*of_run, kept.usage or Usage()))
        judges = tuple(judge["judge"] for judge in report["judges"])
        return cls(
            drop=found,
            judges=judges,
            quorum=int(report["comparability"]["quorum"]),
            origins=tuple(origins),
            outcomes=outcomes,
            readable=readable,
            rejected=rejected,
            repaired=repaired,
            repairs=repairs,
            verdicts={level: _verdicts(home, drop, level, judges) for level in TABLES},
            runs=runs.rows(),
            sessions=list(home.table(drop, "session_analyses").rows()),
            sampled={(sample["judge"], sample["level"]): sample["share"] for sample in report["sampled"]},
            tasks=TaskMeans.of(home, drop, report),
        )

    def quorum_of(self, level: TableLevel, trajectory_id: str) -> int:
        """How many judges must score a subject: only those that were to be asked about it count.

        A judge without any verdict at a level was not to be asked there.
        """
        shares = {judge: share for (judge, _), share in self.sampled.items()}
        asked = sum(
            bool(self.verdicts[level].get(judge)) and is_sampled(trajectory_id, shares.get(judge, 1.0))
            for judge in self.judges
        )
        return min(self.quorum, asked)

    def scores_of(self, level: TableLevel, subject: Subject) -> dict[str, dict[str, list[float]]]:
        """The scores of a subject by criterion and judge, one per sample. A criterion that was asked and never scored
        has no judges.
        """
        found: dict[str, dict[str, list[float]]] = {}
        for judge in self.judges:
            for row in self.verdicts[level].get(judge, {}).get(subject, ()):
                for criterion, score in dict(row["scores"] or {}).items():
                    by_judge = found.setdefault(criterion, {})
                    if row["outcome"] == "scored" and score is not None:
                        by_judge.setdefault(judge, []).append(score)
        return found


def _verdicts(
    home: Installation, drop: str, level: TableLevel, judges: Sequence[str]
) -> dict[str, dict[Subject, list[Row]]]:
    """The rows of each judge that has a table."""
    second = "clip_index" if level == "clip" else "trajectory_id" if level == "canary" else "subject"
    found: dict[str, dict[Subject, list[Row]]] = {}
    for judge in judges:
        table = home.table(drop, TABLES[level], judge)
        if table.exists:
            own = found.setdefault(judge, {})
            for row in table.rows(list(dict.fromkeys([*_COLUMNS, second]))):
                own.setdefault((row["trajectory_id"], row[second]), []).append(row)
    return found
