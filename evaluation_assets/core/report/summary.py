"""Build the report of a drop from its tables, read as streams."""

from collections.abc import Iterable, Mapping

from evaluation_assets.core.gating.baselines import is_by_rules_only
from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.gating.settings import HeadlineSettings
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.drawing import drawn
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.findings.process_summary import process_summary
from evaluation_assets.core.report.headline import Headline, criterion_rate, headline, rate
from evaluation_assets.core.report.judges.judge_summary import judge_summary
from evaluation_assets.core.report.judges.judges_report import labels_of, panel_summary
from evaluation_assets.core.report.judges.sampled_judges import sampled_means
from evaluation_assets.core.report.records import records_summary, rejected_records
from evaluation_assets.core.report.report import CriterionSummary, DropReport
from evaluation_assets.core.report.scores.clip_summaries import clip_summaries
from evaluation_assets.core.report.scores.distributions import statistic
from evaluation_assets.core.report.scores.trajectory_summaries import LISTED, kept_trajectories
from evaluation_assets.core.report.sessions.session_report import sessions_summary
from evaluation_assets.core.report.suites.suite_report import tool_use_summary
from evaluation_assets.core.scoring.intervals import rate_interval
from evaluation_assets.core.sections.coding_work.summary import CodingSummary, coding_summary
from evaluation_assets.core.sections.constraints.summary import constraints_summary
from evaluation_assets.core.sections.findings.claim_counts import claim_counts
from evaluation_assets.core.sections.findings.summary import Alike, EarlierFindings, findings_summary
from evaluation_assets.core.suites.call_metrics import TrialRate, trial_rates
from evaluation_assets.core.system.by_key import by_key

_LONGEST_TASK = 400

_DEFAULT = HeadlineSettings()


def summarise(
    drop: str,
    facts: DropFacts,
    comparability: dict[str, str],
    tables: DropTables,
    settings: HeadlineSettings = _DEFAULT,
    gate: GateOutcome | None = None,
    labels: Mapping[str, float] | None = None,
    earlier: EarlierFindings | None = None,
    alike: Iterable[Alike] = (),
) -> DropReport:
    """Build the report of a drop. Tables are read as streams; only figures and listed rows are kept in memory.

    Args:
        drop: key of the drop.
        facts: what is known about its file.
        comparability: the parts of its comparability key.
        tables: its tables.
        settings: what the headline counts.
        gate: the comparison with the baseline.
        labels: people's labels of whole trajectories, by trajectory.
        earlier: the findings of the drop that this one is compared with.
        alike: the failure group of each of its findings.
    """
    task_of = {row["trajectory_id"]: row["task_id"] for row in tables.raw.rows(["trajectory_id", "task_id"])}
    kept = kept_trajectories(tables, task_of, settings)
    total = len(kept.ids)
    tools, clip_criteria, worst_clips, clips = clip_summaries(tables, task_of)
    recorded = _by_task(tables.raw, "task_id", "success")
    rates = [
        rate("success", recorded, tables.raw.count),
        rate("passed", _by_task(tables.tool_use_results, "case_id", "passed"), _with_case(tables.tool_use_results)),
        criterion_rate(zip(kept.tasks, kept.correctness, strict=True), total, settings),
    ]
    overall = statistic(kept.overall, kept.tasks)
    process = process_summary(tables.process_scores, tables.raw)
    shown = headline(
        rates, overall, by_rules_only=is_by_rules_only(comparability), process=process, settings=settings, gate=gate
    )
    panel = panel_summary(tables.preprocessed, tables.verdicts, labels_of(labels or {}, kept.outcomes))
    records, repairs, repairs_total = records_summary(tables, LISTED)
    return DropReport(
        drop=drop,
        headline=shown,
        findings=findings_summary(
            tables.findings,
            task_of,
            set(task_of) - set(kept.ids),
            _failed(shown, tables, kept.below(settings.threshold)),
            rate_interval,
            earlier,
            alike,
        ),
        claims=claim_counts(tables.claims, tables.trajectory_verdicts),
        gate=gate,
        panel=panel,
        sampled=list(sampled_means(total, tables.selections, tables.clip_verdicts, tables.trajectory_verdicts)),
        sidecar=facts.sidecar,
        reading=facts.reading,
        drawn=drawn(facts.sidecar, facts.not_taken, tables.raw.count),
        comparability=comparability,
        records=records,
        recorded_success=sum(kept.outcomes.values()),
        recorded_outcomes=len(kept.outcomes),
        recorded_trials=_repeated(trial_rates(recorded)),
        overall=overall,
        process=process,
        total_clips=clips.total,
        clips_asked=clips.asked,
        scored_clips=clips.scored,
        criteria=[
            CriterionSummary(
                level=level,
                criterion=criterion,
                statistic=values.statistic,
                lowest=values.lowest,
                effective_judges=None if panel is None else panel.effective(level, criterion),
            )
            for (level, criterion), values in [*sorted(kept.criteria.items()), *clip_criteria]
        ],
        tools=tools,
        broken_tools=clips.broken_tools,
        failed_calls=clips.failed_calls,
        judges=[judge_summary(judge, tables, task_of, kept.outcomes) for judge in tables.clip_verdicts],
        worst_clips=worst_clips,
        trajectories=kept.listed,
        trajectories_total=total,
        tasks_total=len(set(kept.tasks)),
        sessions=sessions_summary(tables.session_analyses, task_of),
        coding=_coding(tables),
        constraints=constraints_summary(tables.constraint_results),
        rejected=rejected_records(tables.rejected, LISTED),
        rejected_total=tables.rejected.count,
        repairs=repairs,
        repairs_total=repairs_total,
        tool_use=tool_use_summary(tables.tool_use_results, tables.failure_patterns),
    )


def _failed(headline: Headline, tables: DropTables, below: set[str]) -> set[str]:
    """The runs that the headline counts as failed; `below` are those below the threshold of its criterion."""
    outcomes = {"success": (tables.raw, "success"), "passed": (tables.tool_use_results, "passed")}
    measure = headline.rates[0].measure if headline.rates else None
    if measure is None or measure not in outcomes:
        return below if measure else set()
    table, column = outcomes[measure]
    return {row["trajectory_id"] for row in table.rows(["trajectory_id", column]) if row[column] is False}


def _coding(tables: DropTables) -> CodingSummary | None:
    if not tables.coding_work.count:
        return None
    tasks = tables.raw.rows(["trajectory_id", "task"])
    return coding_summary(tables.coding_work, {row["trajectory_id"]: row["task"][:_LONGEST_TASK] for row in tasks})


def _by_task(table: Stored, task: str, outcome: str) -> dict[str, list[bool]]:
    """Known outcomes by task, of all readable runs, including those that a rule removes."""
    return by_key((row[task], row[outcome]) for row in table.rows([task, outcome]) if row[outcome] is not None)


def _with_case(results: Stored) -> int:
    """The runs that cases are about, those that broke too."""
    return sum(run is not None for run in results.values("trajectory_id"))


def _repeated(rates: list[TrialRate]) -> list[TrialRate]:
    """The rates, if some task was run more than once."""
    return rates if len(rates) > 1 else []
