"""Groups of assets, in the order of the data flow: no group reads from a later one. The UI sorts them by name."""

from evaluation_assets.core.lake.tables import (
    CATEGORY_VERDICTS,
    CLIP_VERDICTS,
    SESSION_VERDICTS,
    TRAJECTORY_VERDICTS,
    Table,
)

AGENTS = "0_agents"
"""Agents that are run on suites. They write the drops that the other stages read."""

INGEST = "1_ingest"
CLIPS = "2_clips"
CATEGORIES = "3_categories"
TRAJECTORIES = "4_trajectories"
SESSIONS_AND_SUITES = "5_sessions_suites"

GATE = "6_gate"
"""Metrics and baseline, and what decides which judges count: canary clips, labels, judge cards."""

REPORT = "7_report"
SINKS = "8_sinks"

OVERVIEW = "9_overview"
"""Tables over all drops."""

ALL = (AGENTS, INGEST, CLIPS, CATEGORIES, TRAJECTORIES, SESSIONS_AND_SUITES, GATE, REPORT, SINKS, OVERVIEW)

_OF_VERDICTS = {
    CLIP_VERDICTS: CLIPS,
    CATEGORY_VERDICTS: CATEGORIES,
    TRAJECTORY_VERDICTS: TRAJECTORIES,
    SESSION_VERDICTS: SESSIONS_AND_SUITES,
}


def group_of_verdicts(table: Table) -> str:
    """The group of a verdict table. Canary clips are judged for the gate."""
    return _OF_VERDICTS.get(table, GATE)
