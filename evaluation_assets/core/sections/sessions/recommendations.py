"""Recommendations for low scores and frequent issues, each with its evidence."""

from collections.abc import Mapping, Sequence

from evaluation_assets.core.sections.sessions.analysis import Issue, Recommendation
from evaluation_assets.core.sections.sessions.session_scores import LOW, Components, Conversation, is_frequent
from evaluation_assets.core.sections.sessions.tool_chain import ToolChain
from evaluation_assets.core.system.by_key import by_key

_PARAMETERS = ("hallucinated_parameter", "missing_parameter", "invalid_parameter")
_TOOLS = ("unauthorized_tool", *_PARAMETERS, "open_error")
_WASTED = ("ignored_result", "same_call", "duplicate_work", "unchanged_retry")
_REPEATED = ("same_call", "duplicate_work", "same_message", "ping_pong", "stall")


def recommend(
    agents: Mapping[str, Components],
    chain: ToolChain,
    coordination: float | None,
    counts: Conversation,
    could_react: int,
    issues: Sequence[Issue],
) -> list[Recommendation]:
    """All recommendations for a session: first those for single agents, then those for all agents.

    `could_react` is the number of turns that have a next user message.
    """
    recommendations: list[Recommendation] = []
    of_agents = by_key((issue.agent_id, issue) for issue in issues)
    for agent, own in agents.items():
        recommendations += _for_agent(agent, own, chain.of(agent), of_agents.get(agent, []))
    if coordination is not None and coordination < LOW:
        recommendations.append(
            _advice(
                None,
                "Agents are not coordinating well - consider clearer role definitions",
                f"coordination {coordination:.2f} is below {LOW}",
                [issue for issue in issues if issue.kind in ("duplicate_work", "ping_pong", "missing_context")],
            )
        )
    for kind, detected, message in (
        ("rdm", counts.rdm_detections, "Users are frequently correcting responses - improve accuracy"),
        ("ccm", counts.ccm_detections, "Users are re-asking questions - improve response completeness"),
    ):
        if is_frequent(detected, could_react):
            why = f"{detected} of {could_react} answers that have a next user message"
            recommendations.append(_advice(None, message, why, [issue for issue in issues if issue.kind == kind]))
    return recommendations


def _for_agent(agent: str, own: Components, chain: ToolChain, issues: Sequence[Issue]) -> list[Recommendation]:
    recommendations: list[Recommendation] = []
    for name, score, message, kinds in (
        ("tool use", own.tool_use, f"Consider improving tool selection logic for {agent}", _TOOLS),
        (
            "hand-off",
            own.handoff,
            f"Agent {agent} should pass more context when delegating",
            ("missing_context",),
        ),
        ("reasoning", own.reasoning, f"Agent {agent}'s reasoning could be more structured", ("intent_drift",)),
    ):
        if score is not None and score < LOW:
            basis = [issue for issue in issues if issue.kind in kinds]
            recommendations.append(_advice(agent, message, f"{name} {score:.2f} is below {LOW}", basis))
    if chain.contributed is not None and chain.contributed < LOW:
        message = f"Agent {agent} should plan its calls, and use what they return"
        why = f"{len(chain.wasted)} of {chain.calls} calls were wasted"
        recommendations.append(_advice(agent, message, why, [issue for issue in issues if issue.kind in _WASTED]))
    invented = [issue for issue in issues if issue.kind == "ungrounded_value"]
    if invented:
        message = f"Agent {agent} should take identifiers from what it was given, or ask for them"
        recommendations.append(_advice(agent, message, invented[0].message, invented))
    for kinds, message in (
        (_PARAMETERS, f"Agent {agent} should validate parameters against the tool's schema before calling it"),
        (_REPEATED, f"Agent {agent} should keep track of what was already done"),
    ):
        basis = [issue for issue in issues if issue.kind in kinds and issue.severity != "LOW"]
        if basis:
            recommendations.append(
                _advice(agent, message, "; ".join(dict.fromkeys(issue.message for issue in basis[:3])), basis)
            )
    return recommendations


def _advice(agent: str | None, message: str, because: str, basis: Sequence[Issue]) -> Recommendation:
    turns = sorted({issue.turn_index for issue in basis if issue.turn_index is not None})
    return Recommendation(agent_id=agent, message=message, because=because, turns=turns)
