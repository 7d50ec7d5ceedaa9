"""Groups of assets, in the order of the data flow: no group reads from a later one. The UI sorts them by name."""

from evaluation_assets.core.tables import CATEGORY_VERDICTS, CLIP_VERDICTS, SESSION_VERDICTS, TRAJECTORY_VERDICTS, Table

AGENTS = "stage_0_agents"
"""Agents that are run on suites. They write the drops that the other stages read."""

INGEST = "stage_1_ingest"
CLIPS = "stage_2_clips"
CATEGORIES = "stage_3_categories"
TRAJECTORIES = "stage_4_trajectories"
SESSIONS_AND_SUITES = "stage_5_sessions_and_suites"

GATE = "stage_6_gate"
"""Metrics and baseline, and what decides which judges count: canary clips, labels, judge cards."""

REPORT = "stage_7_report"
SINKS = "stage_8_sinks"

OVERVIEW = "stage_9_overview"
"""Tables over all drops."""

_OF_VERDICTS = {
    CLIP_VERDICTS: CLIPS,
    CATEGORY_VERDICTS: CATEGORIES,
    TRAJECTORY_VERDICTS: TRAJECTORIES,
    SESSION_VERDICTS: SESSIONS_AND_SUITES,
}


def group_of_verdicts(table: Table) -> str:
    """The group of a verdict table. Canary clips are judged for the gate."""
    return _OF_VERDICTS.get(table, GATE)
