"""Reports of agent runs on a suite, built from the drops that the runs wrote."""

from collections.abc import Iterable

from evaluation_assets.core.intake.drops import Drop, scan
from evaluation_assets.core.report.agents.agent_comparison import AgentComparison, compare_agents
from evaluation_assets.core.report.agents.agent_report import AgentReport, agent_report
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields


def report_of(drop: Drop, suite: Suite) -> AgentReport:
    """Build the report of the run that wrote a drop."""
    items = read_trajectories(drop.sources, UnmappedFields(), drop.sidecar().format)
    return agent_report(suite, (item for item in items if not isinstance(item, Rejection)))


def compare_runs(home: Installation, suite: Suite, drops: Iterable[str]) -> AgentComparison:
    """Compare runs on a suite. Drops that no longer exist or have no attempts at the suite are skipped."""
    there = scan(home.drops).drops
    reports = {drop: report_of(there[drop], suite) for drop in drops if drop in there}
    return compare_agents(suite, {drop: report for drop, report in reports.items() if report.attempts})


def report_figures(report: AgentReport) -> dict[str, str | int | float]:
    """Figures of a run for the UI; unknown ones are omitted."""
    figures: dict[str, float | None] = {
        "accuracy": report.accuracy,
        "mean_duration_s": report.mean_duration_s,
        "mean_calls": report.mean_calls,
        "cost_usd": report.cost_usd,
        "unpriced_attempts": report.unpriced or None,
    }
    return {
        "right": report.right,
        "answerable": report.answerable,
        "passed": report.passed,
        "failed": report.failed,
        "failures": "; ".join(dict.fromkeys(task.error or "" for task in report.tasks if task.passed is None))[:1000],
        **{name: value for name, value in figures.items() if value is not None},
    }
