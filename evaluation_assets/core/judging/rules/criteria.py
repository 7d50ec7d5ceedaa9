"""How the embedded judge scores each criterion: from evidence, with the reason, or not at all.

Every scorer gives points 0..10 and says why. Where there is no evidence it gives no points and says what is missing.
It never gives 10 for what it cannot verify: that code ran is not that it is right. Its scale is coarse on purpose.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from evaluation_assets.core.judging.rules import calls, whole
from evaluation_assets.core.judging.rules.evidence import CallEvidence, Evidence
from evaluation_assets.core.judging.rules.findings import Finding

CallScorer = Callable[[CallEvidence], Finding]
WholeScorer = Callable[[Evidence], Finding]

CALL_SCORERS: Mapping[str, CallScorer] = {
    "code_correctness": calls.code_correctness,
    "computational_efficiency": calls.computational_efficiency,
    "error_handling": calls.error_handling,
    "result_interpretation": calls.use_of_result,
    "search_depth_appropriateness": calls.search_depth,
    "query_refinement_quality": calls.query_refinement,
    "source_diversity": calls.source_diversity,
    "source_quality": calls.source_diversity,
    "synthesis_quality": calls.use_of_result,
    "information_synthesis": calls.use_of_result,
    "information_use": calls.use_of_result,
    "content_integration": calls.use_of_result,
    "query_relevance": calls.relevance_of_query,
    "information_extraction_quality": calls.extraction,
    "content_extraction": calls.extraction,
    "information_relevance": calls.relevance_of_result,
    "navigation_efficiency": calls.navigation_efficiency,
    "interaction_quality": calls.navigation_efficiency,
    "tool_selection_accuracy": calls.tool_selection,
    "parameter_optimization": calls.parameter_quality,
    "parameter_quality": calls.parameter_quality,
    "fallback_strategy": calls.error_handling,
    "meta_reasoning_quality": calls.reasoning_before_call,
    "tool_use_quality": calls.tool_use,
    "goal_achievement": calls.use_of_result,
}
"""Criteria that look at calls; over several calls the points are averaged."""

WHOLE_SCORERS: Mapping[str, WholeScorer] = {
    "task_completion": whole.task_completion,
    "response_quality": whole.response_quality,
    "reasoning_coherence": whole.reasoning_coherence,
    "problem_resolution": whole.problem_resolution,
    "answer_correctness": whole.agreement_with_reference,
    "accuracy": whole.agreement_with_reference,
    "completeness": lambda _: Finding(None, "whether everything was answered requires understanding"),
    "reasoning_quality": whole.reasoning_coherence,
    "conciseness": whole.conciseness,
}
"""Criteria that look at the whole trajectory and its answer."""


def find(criterion: str, trajectory: Evidence, made: Sequence[CallEvidence]) -> Finding:
    """The finding for one criterion; over several calls the mean of those with evidence.

    A criterion of an installation's own rubric, which no scorer knows, is left open.
    """
    if criterion in WHOLE_SCORERS:
        return WHOLE_SCORERS[criterion](trajectory)
    if criterion not in CALL_SCORERS:
        return Finding(None, "the embedded judge has no rule for this criterion")
    findings = [CALL_SCORERS[criterion](call) for call in made]
    if len(findings) == 1:
        return findings[0]
    scored = [finding.points for finding in findings if finding.points is not None]
    if not scored:
        return Finding(None, f"none of {len(findings)} calls gives evidence")
    weakest = min((f for f in findings if f.points is not None), key=lambda f: f.points or 0)
    return Finding(fmean(scored), f"mean over {len(scored)} of {len(findings)} calls; weakest: {weakest.reason}")
