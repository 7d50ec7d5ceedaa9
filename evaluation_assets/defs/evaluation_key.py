"""What an evaluation is made with, as one text: a report with another key is stale."""

import json
from collections.abc import Sequence

from evaluation_assets.core.judging.comparability import comparability
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.pipeline.outcomes import OUTCOMES_VERSION
from evaluation_assets.core.pipeline.settings import Settings
from evaluation_assets.core.scoring.panel_scores import SCORING_VERSION
from evaluation_assets.core.sections.constraints.settings import Checks
from evaluation_assets.core.sections.findings.versions import DETECTOR_VERSIONS
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.defs.cascading import Cascading
from evaluation_assets.defs.coding_work import CODING_VERSION
from evaluation_assets.defs.constraints import CONSTRAINTS_VERSION
from evaluation_assets.defs.ingest import PREPROCESSING_VERSION, READER_VERSION
from evaluation_assets.defs.regression import REGRESSION_VERSION
from evaluation_assets.defs.reports import REPORT_VERSION
from evaluation_assets.defs.reviewing import REVIEWING_VERSION
from evaluation_assets.defs.sessions import SESSIONS_VERSION
from evaluation_assets.defs.tool_use import TOOL_USE_VERSION


def evaluation_key(
    home: Installation,
    panel: Panel,
    judges: Sequence[Judge],
    rubrics: Rubrics,
    settings: Settings,
    rules: Checks,
    cascading: Cascading,
) -> str:
    """Changes with judges, rubrics, settings and code: with everything but the drop."""
    return digest(
        json.dumps(comparability(judges, rubrics, panel.quorum, {})),
        home.tool_types.read_text("utf-8") if home.tool_types.exists() else "",
        settings.gate.model_dump_json(),
        settings.headline.model_dump_json(),
        settings.review.model_dump_json(),
        cascading.fingerprint,
        READER_VERSION,
        PREPROCESSING_VERSION,
        SCORING_VERSION,
        TOOL_USE_VERSION,
        CODING_VERSION,
        CONSTRAINTS_VERSION,
        rules.model_dump_json(),
        SESSIONS_VERSION,
        DETECTOR_VERSIONS,
        OUTCOMES_VERSION,
        REGRESSION_VERSION,
        REVIEWING_VERSION,
        REPORT_VERSION,
        *([] if panel.report_redaction is None else [panel.report_redaction.fingerprint]),
    )
