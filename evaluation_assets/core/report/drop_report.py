"""The complete report of a drop, including its suite: gate, history, ranks."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from upath import UPath

from evaluation_assets.core.gating.evaluated_drops import (
    baseline_for,
    gate_drop,
    history_links,
    suite_history,
    why_not_compared,
    without_damaged,
)
from evaluation_assets.core.gating.measured_drop import drop_comparability
from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.gating.participants import Participants
from evaluation_assets.core.gating.session_agents import ranks_in_suite
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.pipeline.checks.blocking import BLOCKING_CHECKS, CheckedTables
from evaluation_assets.core.pipeline.checks.gating import regression_gate
from evaluation_assets.core.pipeline.checks.names import REGRESSION_GATE
from evaluation_assets.core.pipeline.drop_groups import DropGroups, drop_groups
from evaluation_assets.core.pipeline.settings import Settings
from evaluation_assets.core.report.agent_use import AgentUse
from evaluation_assets.core.report.covered_tables import Cover, cover_of, covered
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.failure_groups.failure_group_report import failure_groups_summary
from evaluation_assets.core.report.files import write_page, write_report
from evaluation_assets.core.report.findings.named_runs import first_words, named_runs
from evaluation_assets.core.report.gate.score_history import drop_before, trends
from evaluation_assets.core.report.paths import ReportFiles
from evaluation_assets.core.report.provenance.replies import replies_of
from evaluation_assets.core.report.report import BlockingCheck, DropReport, JudgeSummary
from evaluation_assets.core.report.sessions.session_report import agent_ranks
from evaluation_assets.core.report.summary import summarise
from evaluation_assets.core.report.viewer.documents import documents
from evaluation_assets.core.report.viewer.page import OtherRun
from evaluation_assets.core.review.judge_cards import disqualified_judges
from evaluation_assets.core.review.judged_labels import labels_of_trajectories
from evaluation_assets.core.sections.findings.summary import EarlierFindings, earlier_findings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, first_of
from evaluation_assets.core.traces.trajectories.trajectory_rows import header_of

_NAMED = 5
"""Agents that are named of those of a drop."""


def drop_report(
    home: Installation,
    drop: str,
    own: DropTables,
    scorers: Scorers,
    settings: Settings,
    groups: DropGroups | None = None,
) -> DropReport:
    """Build the report of a drop, with its failure groups where they are given.

    Other drops of the suite with damaged tables are named and skipped.
    """
    comparability = drop_comparability(own, scorers)
    disqualified = disqualified_judges(home, settings.review)
    facts = DropFacts.of(own.raw)
    sidecar = facts.sidecar
    damaged = [] if groups is None else list(groups.damaged)
    history = suite_history(home, sidecar.suite, damaged.append)
    gate = gate_drop(home, drop, settings.gate, disqualified)
    labels = labels_of_trajectories(home, drop)
    previous = drop_before(history, drop)
    compared = _compared_with(home, drop, sidecar.suite, previous)
    earlier = next(without_damaged([compared[0]] if compared else [], _findings_in(home), damaged.append), None)
    alike = () if groups is None else groups.alike
    report = summarise(drop, facts, comparability, own, settings.headline, gate, labels, earlier, alike)
    whole = report.model_copy(
        update={
            "held_back": _held_back(report.judges, settings.sensors.budget_usd_per_day),
            "failure_groups": None if groups is None else failure_groups_summary(groups, _shown(own)),
            **_participation(own),
            "not_compared": None if gate is not None else why_not_compared(home, drop),
            "failed_checks": _failed_checks(own, scorers.judges, gate, settings),
            "history": trends(history, history_links(home, sidecar.suite, history, damaged.append)),
            "previous_drop": previous,
            "damaged_tables": damaged,
            "agent_ranks": agent_ranks(ranks_in_suite(home, sidecar.suite) if sidecar.suite else [], drop),
        }
    )
    return whole.model_copy(update={"first_words": first_words(named_runs(whole), own.preprocessed)})


def _held_back(judges: Sequence[JudgeSummary], limit_usd: float | None) -> str | None:
    """The verdicts that a budget left out, where there is a limit for the day, in words; else `None`."""
    missing = sum(judge.errors.get("budget", 0) for judge in judges)
    if limit_usd is None or not missing:
        return None
    are = "is" if missing == 1 else "are"
    return (
        f"{counted(missing, 'verdict')} {are} missing: the budget of the run was used up; new and stale drops may cost "
        f"${limit_usd:g} a day (UTC)"
    )


def _shown(own: DropTables) -> set[str]:
    return set(own.preprocessed.values("trajectory_id"))


def _participation(own: DropTables) -> dict[str, Any]:
    """The fields of a report on its agents: who they are, and what they called and cost."""
    participants, use = Participants(), AgentUse()
    for row in own.preprocessed.rows(["trajectory", "n_tool_calls", "success"]):
        header = header_of(row)
        participants.add(header.agents, row["success"])
        use = use.with_run(row["n_tool_calls"], header.usage)
    return {"participants": _named(participants), "agent_use": use}


def _named(participants: Participants) -> dict[str, str]:
    """Agent, version and model, as the report may show them; `agents`, `versions` where trajectories have several."""
    agreed = participants.agreed()
    if "agent" not in agreed and participants.names:
        return {**agreed, "agents": first_of(participants.names, _NAMED)}
    versions = participants.success_of_versions
    return {**agreed, "versions": first_of(versions, _NAMED)} if versions[1:] else agreed


def _failed_checks(
    own: DropTables, judges: Sequence[Judge], gate: GateOutcome | None, settings: Settings
) -> list[BlockingCheck]:
    """What the checks on the report will find once it is written, so that the report says why the run fails."""
    tables = CheckedTables(
        judges=judges,
        clips=own.clips,
        clip_scores=own.clip_scores,
        verdicts={judge.name: [level[judge.name] for level in own.verdicts.values()] for judge in judges},
        tool_use_results=own.tool_use_results,
        constraint_results=own.constraint_results,
    )
    findings = {check.name: check.find(tables) for check in BLOCKING_CHECKS}
    findings[REGRESSION_GATE] = regression_gate(gate, settings.gate)
    return [
        BlockingCheck(name=name, description=finding.description or "")
        for name, finding in findings.items()
        if not finding.passed and finding.severity == "error"
    ]


def write_drop_report(
    home: Installation, drop: str, scorers: Scorers, settings: Settings, redaction: Redaction | None
) -> tuple[DropReport, ReportFiles]:
    """Write the report of a drop with the run that it is compared with and its review queue.

    Raises:
        NotRedacted: an own pattern of `redaction` takes too long on a text.
    """
    own, cover, groups, report = _reported(home, drop, scorers, settings, redaction)
    other = _other_run(home, report, scorers.judges, redaction)
    with replies_of(home) as stored:

        def replies_to(keys: Collection[str]) -> Mapping[str, str]:
            try:
                return {key: cover(reply) for key, reply in stored(keys).items()}
            except LedgerError:  # the report does not depend on it
                return {}

        return report, write_report(home.reports(drop), report, own, other, _queue(home, drop), replies_to, groups)


def write_comparison(
    home: Installation, drop: str, against: str, scorers: Scorers, settings: Settings, redaction: Redaction | None
) -> UPath:
    """Write the page of a drop with another run of choice to compare it with; gives the page.

    Raises:
        NotRedacted: an own pattern of `redaction` takes too long on a text.
    """
    own, _, groups, report = _reported(home, drop, scorers, settings, redaction)
    page = home.reports(drop) / "against" / against.replace("/", "_") / "comparison.html"
    other = OtherRun(against, "chosen by hand", documents(_tables_shown(home, against, scorers.judges, redaction)))
    write_page(page, report, own, other, _queue(home, drop), groups)
    return page


def _reported(
    home: Installation, drop: str, scorers: Scorers, settings: Settings, redaction: Redaction | None
) -> tuple[DropTables, Cover, DropGroups, DropReport]:
    """The tables of a drop as reports may show them, what covers their texts, the failure groups, and the report."""
    own = _tables_shown(home, drop, scorers.judges, redaction)
    cover = cover_of(home.table(drop, "preprocessed_trajectories"), redaction)
    groups = drop_groups(home, drop, own.findings, own.raw, cover)
    return own, cover, groups, drop_report(home, drop, own, scorers, settings, groups)


def _tables_shown(home: Installation, drop: str, judges: Sequence[Judge], redaction: Redaction | None) -> DropTables:
    """The tables of a drop as reports may show them."""
    tables = DropTables.of(home, drop, judges)
    return tables if redaction is None else covered(tables, redaction)


def _queue(home: Installation, drop: str) -> list[tuple[str, str]]:
    rows = home.table(drop, "review_queue").rows(["trajectory_id", "reason"])
    return [(row["trajectory_id"], row["reason"]) for row in rows]


def _compared_with(home: Installation, drop: str, suite: str | None, previous: str | None) -> tuple[str, str] | None:
    """The drop that a drop is compared with: the suite's baseline, or else its previous drop; and which of them."""
    baseline = baseline_for(home, drop, suite)
    if baseline is not None and (accepted := baseline.runs[-1].drop) != drop:
        several = len(baseline.runs)
        return accepted, "the baseline" if several == 1 else f"the last of {several} drops of the baseline"
    return None if previous is None else (previous, "the previous drop of the suite")


def _findings_in(home: Installation) -> Callable[[str], EarlierFindings | None]:
    return lambda drop: earlier_findings(drop, home.table(drop, "findings"), home.table(drop, "raw_trajectories"))


def _other_run(
    home: Installation, report: DropReport, judges: Sequence[Judge], redaction: Redaction | None
) -> OtherRun | None:
    """The run that the viewer compares a drop with; `None` if there is none, or if its tables cannot be read."""
    other = _compared_with(home, report.drop, report.sidecar.suite, report.previous_drop)
    if other is None:
        return None
    chosen, why = other
    if not DropTables.of(home, chosen, judges).are_readable:
        return None
    tables = _tables_shown(home, chosen, judges, redaction)
    return OtherRun(chosen, why, documents(tables)) if tables.preprocessed.exists else None


def report_metadata(report: DropReport) -> dict[str, str | int | float | list[str]]:
    """Metadata for the UI: the headline, unanswered questions, and figures as numbers, which it plots over drops."""
    figures: dict[str, float | None] = {
        "overall": report.overall.mean,
        "process_score": None if report.process is None else report.process.statistic.mean,
        "kept_share": report.records.kept_share,
        "clips": report.total_clips,
        "scored_clips": report.scored_clips,
        "trajectories": report.trajectories_total,
        "success_rate": report.recorded_success / report.recorded_outcomes if report.recorded_outcomes else None,
        "pass_rate": None if report.tool_use is None else report.tool_use.pass_rate,
    }
    return {
        "headline": report.headline.text,
        "runs": report.of_runs,
        "shortfalls": [judge.shortfall for judge in report.judges if judge.shortfall],
        **({"damaged_tables": "\n".join(report.damaged_tables)} if report.damaged_tables else {}),
        **{figure: value for figure, value in figures.items() if value is not None},
    }
