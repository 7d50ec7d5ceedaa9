"""The checks that block a drop's run after its report is written, for both the run and the report."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.selection import selections_of
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import CLIP_VERDICTS
from evaluation_assets.core.pipeline.checks.constraints import constraints_hold
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.pipeline.checks.judging import MIN_SCORED, enough_scored, judges_answered
from evaluation_assets.core.pipeline.checks.names import CONSTRAINTS_HOLD, JUDGES_ANSWERED
from evaluation_assets.core.pipeline.checks.suites import suite_pass_rate

_BLOCKING = "Blocking: a failure fails the run once its report exists."


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTables:
    """What the checks look at. `verdicts` holds each judge's tables of all levels."""

    judges: Sequence[Judge]
    clips: Stored
    clip_scores: Stored
    verdicts: Mapping[str, Iterable[Stored]]
    tool_use_results: Stored
    constraint_results: Stored


@dataclass(frozen=True, slots=True)
class BlockingCheck:
    """A check by name: what it demands, and its finding.

    `section` of the report shows why it failed. `runs`, a query of the runs table, selects the runs that it failed for.
    """

    name: str
    description: str
    find: Callable[[CheckedTables], Finding]
    section: str
    runs: str | None = None


def _enough_scored(tables: CheckedTables) -> Finding:
    of_clips = [judge for judge in tables.judges if "clip" in judge.selection.levels]
    names = [judge.name for judge in of_clips]
    asked = selections_of(tables.judges).asker(names, ("clip",)) if names else None
    by_rules = all(judge.provider == "rules" for judge in of_clips)
    return enough_scored(tables.clips, tables.clip_scores, asked, _unchecked(tables, names) if by_rules else 0)


def _unchecked(tables: CheckedTables, judges: Sequence[str]) -> int:
    """Clips from which all these judges abstained."""
    abstained = Counter(
        (row["trajectory_id"], row["clip_index"])
        for judge in judges
        for level in tables.verdicts[judge]
        if level.table == CLIP_VERDICTS
        for row in level.rows(["trajectory_id", "clip_index", "outcome"])
        if row["outcome"] == "abstained"
    )
    return sum(count == len(judges) for count in abstained.values())


BLOCKING_CHECKS = (
    BlockingCheck(
        "enough_scored",
        f"At least {MIN_SCORED:.0%} of the clips that a judge is asked about have a score. {_BLOCKING}",
        _enough_scored,
        section="judges",
    ),
    BlockingCheck(
        JUDGES_ANSWERED,
        f"Every judge answered at least one of its questions. {_BLOCKING}",
        lambda tables: judges_answered(tables.verdicts),
        section="judges",
    ),
    BlockingCheck(
        "suite_pass_rate",
        "Every case of the drop's suite was run, and enough runs passed. Passes if the drop has no suite.",
        lambda tables: suite_pass_rate(tables.tool_use_results),
        section="tool-use",
        runs="outcome:fail",
    ),
    BlockingCheck(
        CONSTRAINTS_HOLD,
        f"The constraints of checks.yaml with severity `error` hold. {_BLOCKING}",
        lambda tables: constraints_hold(tables.constraint_results, "error"),
        section="constraints",
    ),
)
"""All of them but the gate, which needs the other drops of the suite."""
