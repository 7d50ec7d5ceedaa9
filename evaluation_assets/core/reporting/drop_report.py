"""The complete report of a drop, including its suite: gate, history, ranks."""

from collections.abc import Sequence

from evaluation_assets.core.facts import DropFacts
from evaluation_assets.core.gating.evaluated_drops import baseline_of, gate_drop, suite_history
from evaluation_assets.core.gating.session_agents import ranks_in_suite
from evaluation_assets.core.human_review.judge_cards import disqualified_judges
from evaluation_assets.core.human_review.judged_labels import labels_of_trajectories
from evaluation_assets.core.installation import Installation
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.reporting.report import DropReport
from evaluation_assets.core.reporting.score_history import trends
from evaluation_assets.core.reporting.session_report import agent_ranks
from evaluation_assets.core.reporting.summary import DropTables, summarise
from evaluation_assets.core.reporting.viewer.documents import documents
from evaluation_assets.core.reporting.viewer.page import OtherRun
from evaluation_assets.core.settings import Settings


def drop_report(
    home: Installation, drop: str, own: DropTables, comparability: dict[str, str], settings: Settings
) -> DropReport:
    """Build the report of a drop. Other drops of the suite with damaged tables are named and skipped."""
    disqualified = disqualified_judges(home, settings.review)
    facts = DropFacts.of(own.raw)
    sidecar = facts.sidecar
    damaged: list[str] = []
    gate = gate_drop(home, drop, settings.gate, disqualified)
    labels = labels_of_trajectories(home, drop)
    return summarise(drop, facts, comparability, own, settings.headline, gate, labels).model_copy(
        update={
            "history": trends(suite_history(home, sidecar.suite, damaged.append)),
            "damaged_tables": damaged,
            "agent_ranks": agent_ranks(ranks_in_suite(home, sidecar.suite) if sidecar.suite else [], drop),
        }
    )


def other_run(home: Installation, drop: str, suite: str | None, judges: Sequence[Judge]) -> OtherRun | None:
    """The run that the viewer compares a drop with: the suite's baseline, or else its previous drop.

    `None` if there is neither, or if its tables cannot be read.
    """
    baseline = baseline_of(home, suite)
    if baseline is not None and (accepted := baseline.runs[-1].drop) != drop:
        chosen, why = accepted, "the baseline"
    else:
        rows = suite_history(home, suite, lambda _: None)
        earlier = list(dict.fromkeys(row["drop"] for row in rows))
        before = earlier[: earlier.index(drop)] if drop in earlier else earlier
        if not before:
            return None
        chosen, why = before[-1], "the previous drop of the suite"
    tables = DropTables.of(home, chosen, judges)
    return OtherRun(chosen, why, documents(tables)) if tables.preprocessed.exists else None


def report_metadata(report: DropReport) -> dict[str, str | int | float | list[str]]:
    """Metadata for the UI: the headline, unanswered questions, and figures as numbers, which it plots over drops."""
    figures: dict[str, float | None] = {
        "overall": report.overall.mean,
        "kept_share": report.records.kept_share,
        "clips": report.total_clips,
        "scored_clips": report.scored_clips,
        "trajectories": report.trajectories_total,
        "success_rate": report.recorded_success / report.recorded_outcomes if report.recorded_outcomes else None,
        "pass_rate": None if report.tool_use is None else report.tool_use.pass_rate,
    }
    return {
        "headline": report.headline.text,
        "shortfalls": [judge.shortfall for judge in report.judges if judge.shortfall],
        **({"damaged_tables": "\n".join(report.damaged_tables)} if report.damaged_tables else {}),
        **{figure: value for figure, value in figures.items() if value is not None},
    }
