"""The evaluation of a drop: its stages with the judges and settings of an installation, and what it is made with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation_assets.core.judging.cascade.fitted import read_cascade
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.pipeline.settings import Settings
from evaluation_assets.core.report.sinks.settings import SinkSettings
from evaluation_assets.core.sections.constraints.settings import load_checks
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.defs import (
    checks,
    coding_work,
    constraints,
    findings,
    ingest,
    outcomes,
    regression,
    reports,
    reviewing,
    scores,
    sessions,
    tool_use,
)
from evaluation_assets.defs.canaries import canary_assets
from evaluation_assets.defs.cascading import Cascading
from evaluation_assets.defs.judging import judging_assets
from evaluation_assets.defs.reports import REPORT_VERSION
from evaluation_assets.defs.sinks import delivery_assets
from evaluation_assets.defs.stage import Stage


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a drop goes through.

    Attributes:
        stages: in the order in which they run.
        levels: those of the stages that judge.
        key: stands for judges, rubrics, settings and code; a report with another key is stale.
    """

    stages: Sequence[Stage]
    levels: Sequence[Stage]
    key: str


def evaluation_of(
    home: Installation, panel: Panel, settings: Settings, sinks: Mapping[str, SinkSettings]
) -> Evaluation:
    """The evaluation of the drops of an installation."""
    scorers, rules = Scorers.of(home, panel), load_checks(home.checks_file)
    judges, rubrics = scorers.judges, scorers.rubrics
    cascading = Cascading(panel.cascade, read_cascade(home.cascade_file) if panel.cascade else None)
    levels = judging_assets(judges, rubrics, cascading)
    tables = [
        ingest.read_drop,
        ingest.preprocess,
        ingest.clips(home.tool_types),
        reports.preprocessed_files,
        *levels,
        *canary_assets(judges, rubrics, settings.canaries),
        *scores.scores_assets(scorers),
        tool_use.tool_use_results(settings.gate.min_pass_rates),
        tool_use.failure_patterns,
        coding_work.coding_work,
        constraints.constraint_results(rules),
        sessions.session_analyses(judges, panel, home.ledger_url),
        findings.findings(judges),
        outcomes.predicted_outcomes,
        regression.task_metrics(scorers, settings),
        regression.score_history(settings.gate),
        sessions.session_history,
        sessions.session_agents,
        reviewing.review_queue(judges, settings.review, cascading, panel.report_redaction),
    ]
    redaction = panel.report_redaction
    key = digest(
        *_versions(tables),
        settings.gate.model_dump_json(),
        settings.headline.model_dump_json(),
        REPORT_VERSION,
        *([] if redaction is None else [redaction.fingerprint]),
    )
    return Evaluation(
        [
            *tables,
            reports.report_asset(scorers, key, settings, redaction, home.reports_url),
            *delivery_assets(sinks, scorers, settings),
            checks.report_checks(judges, rules),
            regression.gate_check(settings),
        ],
        levels,
        key,
    )


def _versions(stages: Iterable[Stage]) -> list[str]:
    """The code versions of all tables, which change with whatever their rows depend on but the drop."""
    return sorted(f"{spec.key.to_user_string()} {spec.code_version}" for stage in stages for spec in stage.assets)
