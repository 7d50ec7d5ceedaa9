"""[findings] What went wrong in the runs of a drop, where, and who says so; a score by it. No model is asked here."""

from collections.abc import Iterator, Sequence

import dagster as dg

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.spool import Spool
from evaluation_assets.core.pipeline.checks.findings import quotations_hold
from evaluation_assets.core.pipeline.findings import SOURCES, drop_findings
from evaluation_assets.core.sections.findings.process_score import PROCESS_VERSION
from evaluation_assets.core.sections.findings.versions import DETECTOR_VERSIONS, versions_with
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import QUOTATIONS
from evaluation_assets.defs.partitions import check_of_drops
from evaluation_assets.defs.per_judge import by_judge, judge_keys
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.stage import Result, Stage, stage
from evaluation_assets.defs.table_assets import table_spec


def findings(judges: Sequence[Judge]) -> Stage:
    """The stage of what went wrong. Judges that check claims of the final answer add what the run contradicts."""
    checking = [judge for judge in judges if judge.selection.asks_claims]
    names, verdicts = [judge.name for judge in checking], judge_keys([tables.TRAJECTORY_VERDICTS], checking)
    group = groups.SESSIONS_AND_SUITES

    @stage(
        table_spec(tables.FINDINGS, group, versions_with(names), [*SOURCES, *verdicts]),
        table_spec(tables.CLAIMS, group, DETECTOR_VERSIONS, ["raw_trajectories"]),
        table_spec(tables.PROCESS_SCORES, group, f"{DETECTOR_VERSIONS}|{PROCESS_VERSION}", SOURCES),
        checks=[
            check_of_drops(
                QUOTATIONS,
                asset=tables.FINDINGS.name,
                description="The quotations of findings match the text of their trajectories.",
            )
        ],
    )
    def what_went_wrong(drop: DropRun) -> Iterator[Result]:
        """Detect findings, gather those of other tables, list claims, and score each run by what was found."""
        sources = drop.tables(*SOURCES)
        judged = by_judge(drop, tables.TRAJECTORY_VERDICTS, checking)
        key = dg.AssetKey(tables.FINDINGS.name)
        with Spool(tables.PROCESS_SCORES) as scores, Spool(tables.CLAIMS) as claims:
            rows = drop_findings(drop.key, sources, scores, claims, judged)
            yield rows
            yield scores.stream()
            yield claims.stream()
        yield check_result(quotations_hold(drop.table(tables.FINDINGS.name), sources[0]), QUOTATIONS, key)

    return what_went_wrong
