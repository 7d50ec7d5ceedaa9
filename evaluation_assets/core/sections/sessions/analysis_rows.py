"""Codec of session analyses: rows of `session_analyses`."""

from collections.abc import Mapping
from typing import Any

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.sections.sessions.analysis import SessionAnalysis
from evaluation_assets.core.traces.trajectories.model import Trajectory


def analysis_row(drop: str, trajectory: Trajectory, analyst: str, analysis: SessionAnalysis) -> Row:
    """Encode an analysis as a row of `session_analyses`."""
    counts = analysis.conversation
    decisive = None if analysis.attribution is None else analysis.attribution.decisive
    return {
        "drop": drop,
        "session_id": trajectory.id,
        "task_id": trajectory.task_id,
        "analyst": analyst,
        "n_agents": len(analysis.per_agent_scores),
        "n_turns": len(analysis.turn_results),
        "overall_score": analysis.overall_score,
        "conversation_score": analysis.conversation_score,
        "tool_use_score": analysis.tool_use_score,
        "coordination_score": analysis.coordination_score,
        "reasoning_score": analysis.reasoning_score,
        "intent_drift_score": analysis.intent_drift_score,
        "task_completion": analysis.task_completion,
        "bad_responses": counts.bad_responses,
        "responses": counts.total_responses,
        "judged_responses": counts.total_responses - counts.not_judged,
        "unauthorized_calls": sum(issue.kind == "unauthorized_tool" for issue in analysis.issues),
        "failed_calls": sum(agent.failed_calls for agent in analysis.per_agent_scores.values()),
        "ungrounded_values": sum(issue.kind == "ungrounded_value" for issue in analysis.issues),
        "tool_chain": analysis.tool_chain.contributed,
        "signal": analysis.course.signal,
        "total_latency_ms": analysis.total_latency_ms.value,
        "total_cost_usd": analysis.total_cost.value,
        "n_interactions": analysis.total_cost.n_total,
        "n_latency_known": analysis.total_latency_ms.n_known,
        "n_cost_known": analysis.total_cost.n_known,
        "decisive_agent": decisive and decisive.agent_id,
        "decisive_agent_probability": decisive and decisive.agent_probability,
        "decisive_turn": decisive and decisive.turn_index,
        "decisive_interaction": decisive and decisive.interaction,
        "decisive_step": decisive and decisive.step,
        "decisive_step_probability": decisive and decisive.probability,
        "analysis": analysis.model_dump_json(),
    }


def analysis_of(row: Mapping[str, Any]) -> SessionAnalysis:
    """Decode the analysis from the column `analysis` of a row."""
    return SessionAnalysis.model_validate_json(row["analysis"])
