"""[reports] What people read about a drop, and the records they take elsewhere."""

import dagster as dg

from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.judging.canary_judges import canary_judges
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.lake import tables
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.pipeline.settings import Settings
from evaluation_assets.core.report.drop_report import report_metadata, write_drop_report
from evaluation_assets.core.report.index import INDEX
from evaluation_assets.core.report.preprocessed_files import write_preprocessed_files
from evaluation_assets.core.report.render import as_markdown
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.per_judge import LEVELS, judge_keys
from evaluation_assets.defs.results import linked
from evaluation_assets.defs.stage import Stage, stage

REPORT_VERSION = "47"
"""Increment when the same tables would give a different report."""

REPORTED = (
    "raw_trajectories",
    "images",
    "preprocessed_trajectories",
    "rejected_records",
    "clips",
    "clip_scores",
    "category_assessments",
    "trajectory_scores",
    "tool_use_results",
    "failure_patterns",
    "session_analyses",
    "findings",
    "task_metrics",
    "score_history",
    "session_agents",
    "coding_work",
    "constraint_results",
    "claims",
    "process_scores",
    "predicted_outcomes",
    "review_queue",
)
"""Tables of a drop that its report shows."""


@stage(
    dg.AssetSpec(
        "preprocessed_files",
        group_name=groups.INGEST,
        deps=["preprocessed_trajectories"],
        code_version=REPORT_VERSION,
        kinds={"json"},
        description=(
            "The kept records as JSON Lines with preprocessing metadata: one file, and split into numbered files."
        ),
    )
)
def preprocessed_files(drop: DropRun) -> dg.MaterializeResult:
    """Write the kept records into the folder of the drop's reports."""
    preprocessed = drop.table("preprocessed_trajectories")
    written = write_preprocessed_files(drop.home.reports(drop.key), drop.key, preprocessed, drop.config.split_size)
    return dg.MaterializeResult(
        metadata={"path": str(written.path), "records": written.records, "split_files": len(written.split)}
    )


def report_asset(
    scorers: Scorers, evaluation_key: str, settings: Settings, redaction: Redaction | None, reports_url: str | None
) -> Stage:
    """The report over a panel's tables. `reports_url` is where the folder of reports is read.

    `evaluation_key` stands for everything it is made with but the drop. It is the code version, because Dagster does
    not pass on staleness: with new code of the scores, a report with a version of its own would not be stale.
    """

    @stage(
        dg.AssetSpec(
            "evaluation_report",
            group_name=groups.REPORT,
            code_version=evaluation_key,
            deps=[
                *map(dg.AssetKey, (*REPORTED, "judge_cards")),
                *judge_keys(LEVELS, scorers.judges),
                *judge_keys([tables.CANARY_VERDICTS], canary_judges(scorers.judges)),
            ],
            kinds={"json", "markdown", "html"},
            metadata=linked({"all_reports": f"{reports_url}/{INDEX}"}),
            description=(
                "The report of a drop: JSON, Markdown, HTML, result records with evaluations, one file per judge."
            ),
        )
    )
    def evaluation_report(drop: DropRun) -> dg.MaterializeResult:
        """Write the report files."""
        address = drop.home.report_address(drop.key)
        report, paths = write_drop_report(drop.home, drop.key, scorers, settings, redaction)
        drop.log.info(f"{drop.key}: {report.headline.text}; report: {address.page if address.is_url else paths.html}")
        return dg.MaterializeResult(
            metadata={
                "report": dg.MetadataValue.md(as_markdown(report, address)),
                **linked({"report_url": address.page}),
                "path": dg.MetadataValue.path(str(paths.html)),
                "dagster/uri": str(paths.html),
                **report_metadata(report),
                "content": DropFacts.of(drop.table("raw_trajectories")).content,
            }
        )

    return evaluation_report
