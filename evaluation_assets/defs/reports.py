"""[reports] What people read about a drop, and the records they take elsewhere."""

import json
from collections.abc import Sequence

import dagster as dg

from evaluation_assets.core.drops import Sidecar
from evaluation_assets.core.gating.evaluated_drops import gate_drop, suite_history
from evaluation_assets.core.gating.session_agents import ranks_in_suite
from evaluation_assets.core.gating.settings import Settings
from evaluation_assets.core.human_review.judge_cards import kept_out
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.lake import Stored
from evaluation_assets.core.preprocessing.split import numbered_files, remove_earlier
from evaluation_assets.core.reporting.comparability import comparability
from evaluation_assets.core.reporting.files import write_json_lines, write_report
from evaluation_assets.core.reporting.render import as_markdown
from evaluation_assets.core.reporting.results import preprocessed_records
from evaluation_assets.core.reporting.score_history import trends
from evaluation_assets.core.reporting.session_report import agent_ranks
from evaluation_assets.core.reporting.summary import DropTables, summarise
from evaluation_assets.core.rubrics.model import Rubrics
from evaluation_assets.core.tables import CANARY_VERDICTS
from evaluation_assets.core.trajectories.identity import file_name
from evaluation_assets.defs.canaries import canary_judges
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

REPORT_VERSION = "2"
"""Increment when the same tables would give a different report."""


class FilesConfig(dg.Config):
    """`split_size`: records per numbered file; 0 writes one file only."""

    split_size: int = 0


@dg.asset(
    partitions_def=DROPS,
    group_name="reports",
    code_version=REPORT_VERSION,
    kinds={"json"},
    description="The kept records as JSON Lines with preprocessing metadata: one file, and split into numbered files.",
)
def preprocessed_files(
    context: dg.AssetExecutionContext, config: FilesConfig, home: HomeResource, preprocessed_trajectories: Stored
) -> dg.MaterializeResult:
    """Write `<name>_preprocessed.jsonl`, and `pre<name>/<name>NN.jsonl` where a split size is given.

    Numbered files of an earlier run that this one does not write are removed.
    """
    name = context.partition_key.rsplit("/", 1)[-1]
    folder = home.home.reports(context.partition_key)
    path = folder / file_name(name, "_preprocessed.jsonl")
    count = write_json_lines(path, preprocessed_records(preprocessed_trajectories))
    split: list[str] = []
    if config.split_size:
        records = preprocessed_records(preprocessed_trajectories)
        for file, part in numbered_files(records, name, config.split_size, count):
            write_json_lines(folder / f"pre{name}" / file, part)
            split.append(file)
    remove_earlier(folder / f"pre{name}", name, split)
    return dg.MaterializeResult(metadata={"path": str(path), "records": count, "split_files": len(split)})


def report_asset(
    judges: Sequence[Judge], rubrics: Rubrics, quorum: int, evaluation_key: str, settings: Settings
) -> dg.AssetsDefinition:
    """The report over a panel's tables. `evaluation_key` stands for everything it is made with but the drop."""
    levels = ("clip_verdicts", "category_verdicts", "trajectory_verdicts", "session_verdicts")
    tables = (
        "raw_trajectories",
        "preprocessed_trajectories",
        "rejected_records",
        "clips",
        "clip_scores",
        "category_assessments",
        "trajectory_scores",
        "tool_use_results",
        "failure_patterns",
        "session_analyses",
    )
    verdicts = {f"{level}_{judge.name}": dg.AssetIn([level, judge.name]) for level in levels for judge in judges}
    canaries = {judge.name: f"{CANARY_VERDICTS.name}_{judge.name}" for judge in canary_judges(judges)}
    canary_inputs = {name: dg.AssetIn([CANARY_VERDICTS.name, judge]) for judge, name in canaries.items()}

    @dg.asset(
        partitions_def=DROPS,
        group_name="reports",
        code_version=REPORT_VERSION,
        ins={name: dg.AssetIn(name) for name in tables} | verdicts | canary_inputs,
        deps=["task_metrics", "score_history", "session_agents"],
        kinds={"json", "markdown", "html"},
        description="The report of a drop: JSON, Markdown, HTML, result records with evaluations, one file per judge.",
    )
    def evaluation_report(
        context: dg.AssetExecutionContext, home: HomeResource, **stored: Stored
    ) -> dg.MaterializeResult:
        """Write the report files."""
        name = context.partition_key
        raw, preprocessed = stored["raw_trajectories"], stored["preprocessed_trajectories"]
        key = comparability(judges, rubrics, quorum, json.loads(preprocessed.facts.get("settings", "{}")))
        if version := stored["tool_use_results"].facts.get("suite_version"):
            key["suite"] = version
        own = DropTables(
            raw=raw,
            preprocessed=preprocessed,
            rejected=stored["rejected_records"],
            clips=stored["clips"],
            clip_scores=stored["clip_scores"],
            category_assessments=stored["category_assessments"],
            trajectory_scores=stored["trajectory_scores"],
            tool_use_results=stored["tool_use_results"],
            failure_patterns=stored["failure_patterns"],
            session_analyses=stored["session_analyses"],
            canary_verdicts={judge: stored[name] for judge, name in canaries.items()},
            **{level: {judge.name: stored[f"{level}_{judge.name}"] for judge in judges} for level in levels},
        )
        disqualified = kept_out(home.home.whole_table("judge_cards").rows(), settings.review)
        sidecar = Sidecar.model_validate_json(raw.facts.get("sidecar", "{}"))
        damaged: list[str] = []
        report = summarise(name, sidecar, key, own).model_copy(
            update={
                "gate": gate_drop(home.home, name, settings.gate, disqualified),
                "history": trends(suite_history(home.home, sidecar.suite, damaged.append)),
                "damaged_tables": damaged,
                "agent_ranks": agent_ranks(ranks_in_suite(home.home, sidecar.suite) if sidecar.suite else [], name),
            }
        )
        paths = write_report(home.home.reports(name), report, own)
        figures = {
            "overall": report.overall.mean,
            "kept_share": report.records.kept_share,
            "clips": report.total_clips,
            "scored_clips": report.scored_clips,
            "trajectories": report.trajectories_total,
            "success_rate": (report.recorded_success / report.recorded_outcomes if report.recorded_outcomes else None),
            "pass_rate": None if report.tool_use is None else report.tool_use.pass_rate,
        }
        return dg.MaterializeResult(
            metadata={
                "headline": report.headline.text,
                "report": dg.MetadataValue.md(as_markdown(report)),
                "path": dg.MetadataValue.path(str(paths.html)),
                "content": raw.facts.get("content", ""),
                "evaluation_key": evaluation_key,
                "shortfalls": [judge.shortfall for judge in report.judges if judge.shortfall],
                **({"damaged_tables": "\n".join(damaged)} if damaged else {}),
                **{figure: value for figure, value in figures.items() if value is not None},
            }
        )

    return evaluation_report
