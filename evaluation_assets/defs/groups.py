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

INGEST = "1_read_runs"
CLIPS = "2_score_clips"
CATEGORIES = "3_score_tools"
TRAJECTORIES = "4_score_runs"
SESSIONS_AND_SUITES = "5_find_failures"

GATE = "6_compare"
"""Metrics and baseline, and what decides which judges count: canary clips, labels, judge cards."""

REPORT = "7_report"

OVERVIEW = "8_all_drops"
"""Tables over all drops."""

SINKS = "9_send"
"""Deliveries to sinks. Most installations have none, and no agents: the groups in between have no gap."""

_OF_VERDICTS = {
    CLIP_VERDICTS: CLIPS,
    CATEGORY_VERDICTS: CATEGORIES,
    TRAJECTORY_VERDICTS: TRAJECTORIES,
    SESSION_VERDICTS: SESSIONS_AND_SUITES,
}


def group_of_verdicts(table: Table) -> str:
    """The group of a verdict table. Canary clips are judged for the gate."""
    return _OF_VERDICTS.get(table, GATE)
