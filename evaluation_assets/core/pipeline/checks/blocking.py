"""The checks that block a drop's run after its report is written, for both the run and the report."""

from collections.abc import Iterable, Mapping, Sequence

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.selection import selections_of
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.checks import judging, suites
from evaluation_assets.core.pipeline.checks.constraints import constraints_hold
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.pipeline.checks.names import (
    CONSTRAINTS_HOLD,
    ENOUGH_SCORED,
    JUDGES_ANSWERED,
    SUITE_PASS_RATE,
)


def blocking_findings(
    *,
    judges: Sequence[Judge],
    clips: Stored,
    clip_scores: Stored,
    verdicts: Mapping[str, Iterable[Stored]],
    tool_use_results: Stored,
    constraint_results: Stored,
) -> dict[str, Finding]:
    """The findings of the blocking checks but the gate, by name. `verdicts` holds each judge's tables of all levels."""
    of_clips = [judge.name for judge in judges if "clip" in judge.selection.levels]
    asked = selections_of(judges).asker(of_clips, ("clip",)) if of_clips else None
    return {
        ENOUGH_SCORED: judging.enough_scored(clips, clip_scores, asked),
        JUDGES_ANSWERED: judging.judges_answered(verdicts),
        SUITE_PASS_RATE: suites.suite_pass_rate(tool_use_results),
        CONSTRAINTS_HOLD: constraints_hold(constraint_results, "error"),
    }
