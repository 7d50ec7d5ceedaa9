"""Build the analysis of one session from facts and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation_assets.core.sections.sessions import session_scores, tool_chain
from evaluation_assets.core.sections.sessions.analysis import (
    PANEL,
    AgentScores,
    Course,
    ErrorRecord,
    HandoffEdge,
    IntentDrift,
    InteractionResult,
    Issue,
    Recommendation,
    RepeatedWork,
    SessionAnalysis,
    ToolChain,
    TurnResult,
    WastedCall,
)
from evaluation_assets.core.sections.sessions.attributing import PanelMeans, attribution_of
from evaluation_assets.core.sections.sessions.evidence import SessionEvidence
from evaluation_assets.core.sections.sessions.flow import AgentFlow, Total, cost_usd, latency_ms, total
from evaluation_assets.core.sections.sessions.intent_drift import Drift, drift_of
from evaluation_assets.core.sections.sessions.interactions import SessionInteraction
from evaluation_assets.core.sections.sessions.issues import issues_of, quoted
from evaluation_assets.core.sections.sessions.recommendations import recommend
from evaluation_assets.core.sections.sessions.session_scores import Components, Detection, capped
from evaluation_assets.core.sections.sessions.tool_validation import validity
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.nullable import mean_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

COORDINATION = ("coordination_boundaries", "coordination_context", "coordination_roles")


@dataclass(frozen=True)
class _Part:
    """An interaction with what it is scored by."""

    interaction: SessionInteraction
    components: Components


def analyse(seen: SessionEvidence, means: PanelMeans, judges: Sequence[str]) -> SessionAnalysis:
    """Analyse a session, given the mean scores of its judges. Facts do not depend on judges."""
    trajectory = seen.trajectory
    parts = [_part(part, seen, means.get(part.name, {})) for part in seen.parts]
    drift, drift_source = _drift(seen, means)
    answered = [bool(turn.interactions) for turn in trajectory.turns]
    detections = [_detection(seen, turn, means.get(f"turn/{turn}", {})) for turn in range(len(trajectory.turns))]
    whole = means.get("session", {})
    coordination = {name: whole[name] for name in COORDINATION if name in whole} if seen.has_several_agents else {}
    coordinated = mean_of(list(coordination.values()))
    conversation_score = mean_of([session_scores.turn_score(detection) for detection in detections])
    means_of_parts = session_scores.means_of([part.components for part in parts])
    overall = session_scores.session_score(
        conversation=conversation_score,
        tool_use=means_of_parts.tool_use,
        coordination=coordinated,
        reasoning=means_of_parts.reasoning,
        intent_drift=drift.score if drift_source == PANEL else None,
    )
    completed = None if "task_completion" not in whole else whole["task_completion"] >= session_scores.BAD
    succeeded = completed if trajectory.success is None else trajectory.success
    issues = issues_of(seen, detections, drift, drift_source)
    agents = by_key((part.interaction.agent_id, part.components) for part in parts)
    of_turns = by_key((part.interaction.turn, part) for part in parts)
    of_agents = {agent: session_scores.means_of(own) for agent, own in agents.items()}
    conversation = session_scores.counts(
        [detection for detection, there_is in zip(detections, answered, strict=True) if there_is]
    )
    possible = sum(
        there_is and reaction is not None for there_is, reaction in zip(answered, seen.reactions, strict=True)
    )
    recommendations = recommend(of_agents, seen.tool_chain, coordinated, conversation, possible, issues)
    flow = seen.flow
    return SessionAnalysis(
        overall_score=overall.value,
        coordination_score=coordinated,
        intent_drift_score=drift.score,
        per_agent_scores=_agents(of_agents, seen, issues, recommendations),
        turn_results=[
            _turn(seen, turn, detection, of_turns.get(turn, []), drift) for turn, detection in enumerate(detections)
        ],
        conversation=conversation,
        session_id=trajectory.id,
        task=trajectory.task,
        judges=list(judges),
        measure=seen.measure.name,
        task_completion=completed,
        recorded_success=trajectory.success,
        conversation_score=conversation_score,
        tool_use_score=means_of_parts.tool_use,
        reasoning_score=means_of_parts.reasoning,
        overall_parts=list(overall.parts),
        coordination=coordination,
        intent_drift=_intent_drift(seen, drift, drift_source),
        course=_course(seen),
        handoffs=_edges(seen),
        unreached_agents=list(flow.unreached),
        total_latency_ms=_total_latency(trajectory, flow.latency_ms),
        tool_latency_ms=flow.tool_latency_ms,
        total_cost=flow.cost_usd,
        tool_chain=_tool_chain(seen),
        attribution=attribution_of(seen, means) if succeeded is False else None,
        issues=issues,
        recommendations=recommendations,
    )


def _part(part: SessionInteraction, seen: SessionEvidence, judged: Mapping[str, float]) -> _Part:
    """Scores of an interaction: tool use is capped at the share of valid calls; unjudged hand-offs use completeness."""
    handoff = seen.handoffs.get(part.order)
    components = Components(
        tool_use=capped(judged.get("tool_use"), validity(part)) if part.calls else None,
        reasoning=judged.get("reasoning"),
        handoff=judged.get("handoff", None if handoff is None else handoff.completeness),
        response_quality=judged.get("response_quality"),
    )
    return _Part(part, components)


def _detection(seen: SessionEvidence, turn: int, judged: Mapping[str, float]) -> Detection:
    """Detect a bad response. Re-asking is excluded if a semantic measure finds the two messages too dissimilar."""
    settled = judged.get("question_settled")
    if seen.measure.can_exclude and not _may_re_ask(seen, turn):
        settled = None
    return session_scores.detection(
        satisfaction=judged.get("user_satisfaction"),
        settled=settled,
        faithfulness=judged.get("faithfulness"),
        progress=judged.get("progress"),
    )


def _may_re_ask(seen: SessionEvidence, turn: int) -> bool:
    reaction = seen.reactions[turn]
    return reaction is not None and reaction.similarity is not None and seen.measure.may_re_ask(reaction.similarity)


def _drift(seen: SessionEvidence, means: PanelMeans) -> tuple[Drift, str | None]:
    """Judged drift if available, otherwise drift by similarity to the goal.

    Similarity of character n-grams is only a hint: it gives values per turn, but no score, change point or type.
    """
    judged = [means.get(part.name, {}).get("on_task") for part in seen.parts]
    if any(value is not None for value in judged):
        return drift_of([None if value is None else 1 - value for value in judged]), PANEL
    drift = seen.drift
    source = None if drift.score is None else seen.measure.name
    return drift if seen.measure.can_exclude else Drift(drift.values, None, None, "none", drift.not_measured), source


def _intent_drift(seen: SessionEvidence, drift: Drift, source: str | None) -> IntentDrift:
    at = None if drift.change_point is None else seen.parts[drift.change_point]
    return IntentDrift(
        turns=[_turn_drift(seen, turn, drift) for turn in range(len(seen.trajectory.turns))],
        change_turn=None if at is None else at.turn,
        change_agent=None if at is None else at.agent_id,
        type=drift.type,
        measured_by=source,
        not_measured=drift.not_measured,
    )


def _turn_drift(seen: SessionEvidence, turn: int, drift: Drift) -> float | None:
    return mean_of([drift.values[part.order] for part in seen.parts_of_turn(turn)])


def _turn(seen: SessionEvidence, turn: int, detection: Detection, own: Sequence[_Part], drift: Drift) -> TurnResult:
    reaction = seen.reactions[turn]
    following = seen.trajectory.turns[turn + 1].user_message if turn + 1 < len(seen.trajectory.turns) else None
    shows = detection.type in ("rdm", "ccm") or (reaction is not None and reaction.is_dissatisfied)
    return TurnResult(
        turn_index=turn,
        is_bad=detection.is_bad,
        detection_type=detection.type,
        interactions=[_interaction(seen, part, drift) for part in own],
        confidence=detection.confidence,
        score=session_scores.turn_score(detection),
        user_message=quoted(seen.trajectory.turns[turn].user_message),
        reaction=None if reaction is None else reaction.kind,
        evidence=quoted(following) if shows else None,
        similarity=None if reaction is None else reaction.similarity,
        drift=_turn_drift(seen, turn, drift),
        latency_ms=total(latency_ms(part.interaction) for part in own),
    )


def _interaction(seen: SessionEvidence, part: _Part, drift: Drift) -> InteractionResult:
    own = part.interaction
    score = session_scores.agent_score(part.components)
    handed_over = seen.handoffs.get(own.order)
    return InteractionResult(
        agent_id=own.agent_id,
        score=score.value,
        **dict(part.components),
        parts=list(score.parts),
        drift=drift.values[own.order],
        tools=[step.call.name for step in own.calls if step.call],
        failed_calls=sum(step.has_failed for step in own.calls),
        latency_ms=latency_ms(own),
        cost_usd=cost_usd(own),
        handed_to=None if handed_over is None else handed_over.handoff.target.agent_id,
        completeness=None if handed_over is None else handed_over.completeness,
        said=quoted(own.messages) or "",
    )


def _agents(
    averages: Mapping[str, Components],
    seen: SessionEvidence,
    issues: Sequence[Issue],
    recommendations: Sequence[Recommendation],
) -> dict[str, AgentScores]:
    said = by_key((issue.agent_id, issue.message) for issue in issues)
    advice = by_key((each.agent_id, each.message) for each in recommendations)
    return {
        flow.agent_id: _agent(averages[flow.agent_id], flow, said, advice, seen.tool_chain.of(flow.agent_id))
        for flow in seen.flow.agents
    }


def _agent(
    average: Components,
    own: AgentFlow,
    issues: Mapping[str | None, list[str]],
    recommendations: Mapping[str | None, list[str]],
    chain: tool_chain.ToolChain,
) -> AgentScores:
    score = session_scores.agent_score(average)
    return AgentScores(
        overall=score.value,
        **dict(average),
        interactions_count=own.interactions,
        issues=issues.get(own.agent_id, []),
        recommendations=recommendations.get(own.agent_id, []),
        parts=list(score.parts),
        tool_calls=own.calls,
        failed_calls=own.failed_calls,
        tool_chain=chain.contributed,
        latency_ms=own.latency_ms,
        cost_usd=own.cost_usd,
    )


def _course(seen: SessionEvidence) -> Course:
    progress = seen.progress
    return Course(
        signal=progress.signal,
        efficiency=progress.efficiency,
        awareness=progress.awareness,
        correction=progress.correction,
        graceful_stop=progress.graceful_stop,
        errors=[
            ErrorRecord(
                **error.interaction.place(error.step),
                tool=error.tool,
                error=error.error,
                noticed=error.noticed,
                recovered=error.recovered_at is not None,
            )
            for error in progress.errors
        ],
        ignored_results=len(progress.ignored),
        stalls=[list(stall) for stall in progress.stalls],
        regressions=list(progress.regressions),
        repetitions=[
            RepeatedWork(
                kind=again.kind,
                agents=list(again.agents),
                what=again.what,
                places=list(again.places),
                is_loop=again.is_loop,
            )
            for again in seen.repeated
        ],
    )


def _tool_chain(seen: SessionEvidence) -> ToolChain:
    tool_chain = seen.tool_chain
    return ToolChain(
        contributed=tool_chain.contributed,
        calls=tool_chain.calls,
        wasted=[
            WastedCall(
                **wasted.interaction.place(wasted.step),
                tool=wasted.tool,
                why=wasted.why,
            )
            for wasted in tool_chain.wasted
        ],
    )


def _edges(seen: SessionEvidence) -> list[HandoffEdge]:
    edges = []
    findings = by_key((finding.handoff.agents, finding) for finding in seen.handoffs.values())
    for (source, target), count in seen.flow.edges.items():
        own = findings.get((source, target), [])
        edges.append(
            HandoffEdge(
                source=source,
                target=target,
                count=count,
                completeness=mean_of([finding.completeness for finding in own]),
                asked_back=sum(finding.asked for finding in own),
            )
        )
    return edges


def _total_latency(trajectory: Trajectory, parts: Total) -> Total:
    recorded = trajectory.duration_s
    return parts if recorded is None else replace(parts, value=recorded * 1000, n_known=parts.n_total)
