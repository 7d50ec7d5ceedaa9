"""Asset checks: record counts, schemas, coverage and outcomes."""

from collections.abc import Sequence

import dagster as dg

from evaluation_assets.core import tables
from evaluation_assets.core.checks import judging, records, sessions, suites
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.lake import Stored
from evaluation_assets.core.pipeline.canaries import canary_judges
from evaluation_assets.core.tables import Table
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.per_judge import LEVELS, judge_key
from evaluation_assets.defs.results import check_result
from evaluation_assets.resources.installation import HomeResource


@dg.asset_check(
    asset="rejected_records",
    partitions_def=DROPS,
    additional_ins={
        name: dg.AssetIn(name) for name in ("raw_trajectories", "unreadable_records", "preprocessed_trajectories")
    },
    description="Every record of the drop is exactly one of kept, removed and rejected.",
)
def records_add_up(
    rejected_records: Stored,
    raw_trajectories: Stored,
    unreadable_records: Stored,
    preprocessed_trajectories: Stored,
) -> dg.AssetCheckResult:
    """Compare counts and ids."""
    return check_result(
        records.records_add_up(raw_trajectories, unreadable_records, preprocessed_trajectories, rejected_records)
    )


@dg.asset_check(
    asset="rejected_records",
    partitions_def=DROPS,
    additional_ins={"preprocessed_trajectories": dg.AssetIn("preprocessed_trajectories")},
    description=f"At most {records.MAX_REJECTED:.0%} of the records were removed or could not be read.",
)
def reject_rate(rejected_records: Stored, preprocessed_trajectories: Stored) -> dg.AssetCheckResult:
    """The share of records that is not judged."""
    return check_result(records.reject_rate(preprocessed_trajectories, rejected_records))


def schema_checks(judges: Sequence[Judge]) -> list[dg.AssetChecksDefinition]:
    """For every table of the lake: the stored file has the columns and types that others rely on."""
    checks: list[dg.AssetChecksDefinition] = []
    for table in tables.TABLES.values():
        of_table = canary_judges(judges) if table is tables.CANARY_VERDICTS else judges
        keys = [judge_key(table, judge.name) for judge in of_table] if table.per_judge else [dg.AssetKey(table.name)]
        checks += [_schema_check(table, key) for key in keys]
    return checks


def _schema_check(table: Table, key: dg.AssetKey) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        name="schema",
        asset=key,
        partitions_def=None if table.whole else DROPS,
        description="The stored file has exactly the columns and types of its table.",
    )
    def schema(stored: Stored) -> dg.AssetCheckResult:
        return check_result(records.schema(stored))

    return schema


@dg.asset_check(
    asset="clip_scores",
    partitions_def=DROPS,
    description=f"Where several judges score, Krippendorff's alpha of no criterion is below {judging.MIN_ALPHA}.",
)
def panel_agreement(clip_scores: Stored) -> dg.AssetCheckResult:
    """Inter-rater agreement. It shows that judges give the same scores, not that the scores are right."""
    return check_result(judging.panel_agreement(clip_scores))


@dg.asset_check(
    asset="evaluation_report",
    partitions_def=DROPS,
    blocking=True,
    additional_ins={name: dg.AssetIn(name) for name in ("clips", "clip_scores")},
    description=f"At least {judging.MIN_SCORED:.0%} of the clips have a score. Blocks after the report is written.",
)
def enough_scored(clips: Stored, clip_scores: Stored) -> dg.AssetCheckResult:
    """A drop without any clip fails: nothing was judged."""
    return check_result(judging.enough_scored(clips, clip_scores))


def judges_answered(judges: Sequence[Judge]) -> dg.AssetChecksDefinition:
    """The check over a panel's verdicts."""

    @dg.asset_check(
        name="judges_answered",
        asset="evaluation_report",
        partitions_def=DROPS,
        blocking=True,
        additional_deps=[judge_key(level, judge.name) for level in LEVELS for judge in judges],
        description="Every judge answered at least one of its questions. Blocks after the report is written.",
    )
    def check(context: dg.AssetCheckExecutionContext, home: HomeResource) -> dg.AssetCheckResult:
        verdicts = {
            judge.name: [home.home.table(context.partition_key, level.name, judge.name) for level in LEVELS]
            for judge in judges
        }
        return check_result(judging.judges_answered(verdicts))

    return check


@dg.asset_check(
    asset="evaluation_report",
    partitions_def=DROPS,
    blocking=True,
    additional_ins={"tool_use_results": dg.AssetIn("tool_use_results")},
    description="Every case of the drop's suite was run, and enough runs passed. Passes if the drop has no suite.",
)
def suite_pass_rate(tool_use_results: Stored) -> dg.AssetCheckResult:
    """The share of runs that passed against the suite's `min_pass_rate`."""
    return check_result(suites.suite_pass_rate(tool_use_results))


@dg.asset_check(
    asset="session_analyses",
    partitions_def=DROPS,
    description=f"At least {sessions.MIN_JUDGED:.0%} of the responses in sessions are judged.",
)
def sessions_judged(session_analyses: Stored) -> dg.AssetCheckResult:
    """Without sessions there is nothing to judge."""
    return check_result(sessions.sessions_judged(session_analyses))


@dg.asset_check(
    asset="session_analyses",
    partitions_def=DROPS,
    description="No agent called a tool that it does not have.",
)
def unauthorised_calls(session_analyses: Stored) -> dg.AssetCheckResult:
    """Agents whose tools are unknown cannot fail this."""
    return check_result(sessions.unauthorised_calls(session_analyses))


@dg.asset_check(
    asset="session_analyses",
    partitions_def=DROPS,
    description=f"The mean coordination of sessions with several agents is at least {sessions.MIN_COORDINATION}.",
)
def coordinated(session_analyses: Stored) -> dg.AssetCheckResult:
    """Sessions of one agent have no coordination."""
    return check_result(sessions.coordinated(session_analyses))
