"""How the embedded judge scores each criterion: from evidence, with the reason, or not at all.

Every scorer gives points 0..10 and says why. Where there is no evidence it gives no points and says what is missing.
It never gives 10 for what it cannot verify: that code ran is not that it is right. Its scale is coarse on purpose.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from evaluation_assets.core.judging.rules.evidence import GAVE_UP, CallEvidence, Evidence, is_cut_off
from evaluation_assets.core.trajectories.model import Trajectory
from evaluation_assets.core.trajectories.words import are_comparable, words


@dataclass(frozen=True, slots=True)
class Finding:
    """Points 0..10, or `None` without evidence, and the reason."""

    points: float | None
    reason: str


CallScorer = Callable[[CallEvidence], Finding]
WholeScorer = Callable[[Evidence], Finding]

_SHORT_REFERENCE = 8
"""Words up to which a right answer quotes its reference; a longer one may be put in other words."""

_SAID_WITHOUT_THE_WORD = frozenset({"yes", "true", "false"})

_LIMIT_HIT = re.compile(r"time.?out|timed out|memory|超时", re.IGNORECASE)
_UNKNOWN_TOOL = re.compile(
    r"unknown tool|no such tool|tool not found|not a valid tool|unsupported action", re.IGNORECASE
)
_BAD_PARAMETERS = re.compile(r"validation|parameter|argument|missing required|参数", re.IGNORECASE)


def _steps(value: float, *thresholds: tuple[float, float], below: float) -> float:
    """Points of the first threshold that the value reaches; thresholds fall."""
    return next((points for threshold, points in thresholds if value >= threshold), below)


def code_correctness(call: CallEvidence) -> Finding:
    """Parses, runs, prints; and is not replaced by another version right after."""
    if isinstance(call.code, SyntaxError):
        return Finding(0, f"the code does not parse: {call.code.msg}")
    if not call.answered:
        return Finding(None, "no result shows whether the code ran")
    if call.error:
        return Finding(2, f"the run failed: {call.error}")
    if call.code is None:
        return Finding(None, "no code to look at")
    if not call.returned.strip():
        return Finding(5, "the code ran and printed nothing")
    if call.next_has_tool and call.failure_noticed:
        return Finding(4, "the code ran, but the agent then found a mistake and ran another version")
    return Finding(8, "the code ran to the end and printed a result; whether it is right was not verified")


def computational_efficiency(call: CallEvidence) -> Finding:
    """Timeouts, repeated runs, and how deep loops are nested."""
    if call.error and _LIMIT_HIT.search(call.error):
        return Finding(0, f"the run hit a limit: {call.error}")
    if call.twin is not None:
        return Finding(2, "the same code was run before")
    depth = call.loop_depth
    if depth is None:
        return Finding(None, "no code that could be parsed")
    return Finding({0: 8, 1: 8, 2: 6, 3: 4}.get(depth, 3), f"loops are nested {depth} deep")


def error_handling(call: CallEvidence) -> Finding:
    """What follows a failure; where nothing failed, whether the code provides for it."""
    if call.error is None:
        if call.guards:
            return Finding(8, "nothing failed, and the code handles exceptions or checks its values")
        return Finding(None, "nothing failed and nothing shows what would happen if it did")
    if call.next_call is None:
        if call.failure_noticed:
            return Finding(5, f"failed ({call.error}); the agent says so and makes no further call")
        return Finding(1, f"failed ({call.error}); the agent ignores it and makes no further call")
    if call.twin is not None and call.twin.result and call.twin.result.error:
        return Finding(2, f"the same call failed before and failed again: {call.error}")
    if call.next_repeats:
        return Finding(5, f"failed ({call.error}), then the same call was repeated")
    return Finding(8, f"failed ({call.error}), then the agent changed the call or took another tool")


def use_of_result(call: CallEvidence) -> Finding:
    """How much of what the result brought up the agent wrote afterwards."""
    if not call.answered:
        return Finding(None, "there is no result")
    if not call.is_followed:
        return Finding(None, "the agent wrote nothing afterwards")
    if call.error:
        if call.failure_noticed:
            return Finding(7, f"the failure ({call.error}) is taken up in what follows")
        return Finding(2, f"the failure ({call.error}) is not mentioned in what follows")
    if not call.new_words:
        return Finding(None, "the result has no new words")
    if not call.can_be_taken_up:
        return Finding(None, "the result is in another script than what follows")
    points = _steps(call.taken_up, (8, 9), (3, 7), (1, 5), below=1)
    return Finding(points, f"{call.taken_up} of {len(call.new_words)} new words of the result appear in later text")


def extraction(call: CallEvidence) -> Finding:
    """Whether something came back, on the topic of the task."""
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error:
        return Finding(1, f"the call failed: {call.error}")
    if not call.new_words:
        return Finding(2, "the result holds nothing that was not known before")
    topic = call.task_in_result
    if topic is None:
        return Finding(None, "task and result have no words that can be compared")
    points = _steps(topic, (0.5, 8), (0.25, 6), (0.1, 4), below=2)
    return Finding(points, f"{topic:.0%} of the task's words are in the result, {len(call.new_words)} words are new")


def relevance_of_result(call: CallEvidence) -> Finding:
    """How many of the task's words the result has."""
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error:
        return Finding(0, f"the call failed: {call.error}")
    topic = call.task_in_result
    if topic is None:
        return Finding(None, "task and result have no words that can be compared")
    return Finding(
        _steps(topic, (0.5, 8), (0.25, 6), (0.1, 4), below=1), f"{topic:.0%} of the task's words are in the result"
    )


def relevance_of_query(call: CallEvidence) -> Finding:
    """Whether the query's words come from the task, the reasoning or what was found before."""
    if call.visited_url is not None:
        if call.url_was_seen:
            return Finding(9, "the address occurs in the task or in an earlier result")
        return Finding(5, "the address was not seen before")
    topic = call.query_on_topic
    if topic is None:
        return Finding(None, "the call has no words that can be compared")
    points = _steps(topic, (0.75, 9), (0.5, 7), (0.25, 4), below=2)
    return Finding(points, f"{topic:.0%} of the query's words occur in the task, the reasoning or earlier results")


def search_depth(call: CallEvidence) -> Finding:
    """How many sources the search brought."""
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error:
        return Finding(1, f"the search failed: {call.error}")
    return Finding(_steps(len(call.hosts), (4, 8), (1, 6), below=3), f"the result names {len(call.hosts)} hosts")


def query_refinement(call: CallEvidence) -> Finding:
    """What changed since the last query to this tool."""
    if not call.earlier_with_tool:
        return Finding(None, "the first query to this tool: nothing to refine yet")
    if call.twin is not None:
        failed = call.twin.result is not None and call.twin.result.error is not None
        return Finding(5 if failed else 1, "the same query again" + (", after it had failed" if failed else ""))
    last = call.earlier_with_tool[-1]
    if last.result is not None and last.result.error is not None:
        return Finding(8, "the query was changed after the last one failed")
    return Finding(7, "a query that differs from the last one")


def source_diversity(call: CallEvidence) -> Finding:
    """Different hosts in the result."""
    if not call.answered or call.error:
        return Finding(None, "no result to look for sources in")
    if not call.hosts:
        return Finding(None, "the result names no sources")
    points = _steps(len(call.hosts), (5, 9), (3, 7), (2, 5), below=3)
    return Finding(points, f"the result names {len(call.hosts)} hosts")


def navigation_efficiency(call: CallEvidence) -> Finding:
    """Whether the step was needed: not made before, and it worked."""
    if call.twin is not None:
        failed = call.twin.result is not None and call.twin.result.error is not None
        return Finding(4 if failed else 1, "the same step was made before" + (", and had failed" if failed else ""))
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error:
        return Finding(3, f"the step failed: {call.error}")
    return Finding(8, "the step worked and was not made before")


def tool_selection(call: CallEvidence) -> Finding:
    """Whether the tool exists and served."""
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error and _UNKNOWN_TOOL.search(call.error):
        return Finding(0, f"there is no such tool: {call.error}")
    if call.error:
        return Finding(4, f"the tool failed: {call.error}")
    if call.taken_up:
        return Finding(8, "the tool answered and its result is used later")
    if not call.can_be_taken_up:
        return Finding(None, "the tool answered; its result is in another script than what follows")
    return Finding(6, "the tool answered; its result is not visibly used")


def parameter_quality(call: CallEvidence) -> Finding:
    """Whether the tool accepted its parameters."""
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error and _BAD_PARAMETERS.search(call.error):
        return Finding(1, f"the parameters were refused: {call.error}")
    if call.error:
        return Finding(None, f"the call failed for another reason: {call.error}")
    return Finding(8, "the tool accepted the parameters")


def reasoning_before_call(call: CallEvidence) -> Finding:
    """Whether the agent says why it calls this tool."""
    if not call.thought:
        return Finding(1, "there is no reasoning before the call")
    name = call.step.call.name if call.step.call else ""
    if name and name.lower() in call.thought.lower():
        return Finding(8, "the reasoning names the tool and leads to the call")
    return Finding(6, "there is reasoning before the call; it does not name the tool")


def tool_use(call: CallEvidence) -> Finding:
    """A call that works, the first time it is made."""
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error:
        return Finding(2 if _BAD_PARAMETERS.search(call.error) else 3, f"the call failed: {call.error}")
    if call.twin is not None:
        return Finding(2, "the same call was made before")
    return Finding(8, "the call worked and was not made before")


def task_completion(whole: Evidence) -> Finding:
    """Whether the answer delivers what was asked, where something shows it."""
    return completion(whole.trajectory, whole.answer)


def completion(trajectory: Trajectory, answer: str) -> Finding:
    """Whether a run did its task: by its answer, how it ended, and the reference answer; else open.

    The recorded outcome is no evidence here: judges never see it, so that they can be measured against it. Declining is
    none either, because some tasks have to be declined.
    """
    if not answer.strip():
        return Finding(0, "there is no answer" + (": the run was cut off" if is_cut_off(trajectory) else ""))
    if is_cut_off(trajectory):
        return Finding(3, "the run was cut off before its own end")
    reference = trajectory.reference_answer
    likeness = None if reference is None else _likeness_to_reference(answer, reference)
    if reference is not None and likeness is not None:
        return Finding(9, f"the answer {likeness} the reference")
    if (said := GAVE_UP.search(answer[:600])) is not None:
        return Finding(2, f"the answer says that the task was not done: {said.group()!r}")
    wanted = words(reference or "") - _SAID_WITHOUT_THE_WORD
    if (
        wanted
        and len((reference or "").split()) <= _SHORT_REFERENCE
        and not wanted & words(answer)
        and are_comparable(wanted, words(answer))
    ):
        return Finding(1, "the answer has no word of the reference")
    return Finding(None, "nothing shows whether the task was done: there is an answer, and the run came to its end")


def response_quality(whole: Evidence) -> Finding:
    """An answer in words, in the language of the task, without leftovers of tags."""
    if not whole.answer:
        return Finding(0, "there is no answer")
    if re.search(r"</?(?:think|result|execute_tools|answer|tool_call)\b", whole.answer):
        return Finding(3, "the answer holds leftovers of tool or reasoning tags")
    if not are_comparable(words(whole.answer), words(whole.trajectory.task)):
        return Finding(None, "the answer is in another script than the task; whether that is wanted was not judged")
    return Finding(7, "there is an answer without leftovers; its wording was not judged")


def reasoning_coherence(whole: Evidence) -> Finding:
    """Whether the answer's figures and words come from somewhere."""
    if not whole.answer:
        return Finding(None, "there is no answer to trace back")
    if not whole.steps or not any(step.thought or step.result for step in whole.steps):
        return Finding(None, "there is neither reasoning nor a result to trace the answer to")
    if whole.figures:
        known = len(whole.figures & whole.known_figures)
        if known < len(whole.figures) and not whole.answer_is_comparable:
            return Finding(
                None, "the answer is in another script than results and reasoning, and its figures may be, too"
            )
        points = _steps(known / len(whole.figures), (1, 8), (0.75, 6), (0.5, 4), below=2)
        return Finding(points, f"{known} of {len(whole.figures)} figures in the answer occur in results or reasoning")
    seen = whole.answer_words_seen
    if seen is None:
        return Finding(None, "the answer has no words that can be compared with results and reasoning")
    points = _steps(seen, (0.7, 8), (0.4, 6), (0.2, 4), below=2)
    return Finding(points, f"{seen:.0%} of the answer's words occur in the task, results or reasoning")


def problem_resolution(whole: Evidence) -> Finding:
    """Whether anything stayed broken at the end."""
    if whole.cut_off:
        return Finding(1, "the run was cut off before its own end")
    if not whole.answer:
        return Finding(0, "there is no answer")
    failures = sum(call.error is not None for call in whole.calls)
    if whole.last_failure_open:
        return Finding(3, f"the last call failed and an answer was given anyway; {failures} failures in total")
    if failures:
        return Finding(7, f"{failures} calls failed, the last one worked")
    return Finding(8, "no call failed and there is an answer")


def agreement_with_reference(whole: Evidence) -> Finding:
    """Comparison with the reference answer, exactly and then without case, signs and spaces."""
    reference = whole.trajectory.reference_answer
    if reference is None:
        return Finding(None, "there is no reference answer")
    if not whole.answer:
        return Finding(0, "there is no answer")
    likeness = _likeness_to_reference(whole.answer, reference)
    if likeness is None:
        if not are_comparable(words(reference), words(whole.answer)):
            return Finding(None, "the answer is in another script than the reference")
        return Finding(1, "the reference does not occur in the answer")
    return Finding(10 if likeness == "equals" else 9, f"the answer {likeness} the reference")


def _likeness_to_reference(answer: str, reference: str) -> Literal["equals", "contains"] | None:
    """Compared exactly and then without case, signs and spaces."""
    given, wanted = _normal(answer), _normal(reference)
    if given == wanted:
        return "equals"
    return "contains" if wanted and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", given) else None


def _normal(text: str) -> str:
    boxed, end = text.find("\\boxed{"), text.rfind("}")
    text = (text[boxed + 7 : end] if 0 <= boxed < end else text).casefold()
    return " ".join(re.sub(r"[$€£¥%]|(?<=\d),(?=\d{3})", "", text).strip(" .。\n").split())


def conciseness(whole: Evidence) -> Finding:
    """Length of the answer, and how much of it says the same again."""
    if not whole.answer:
        return Finding(None, "there is no answer")
    lines = [line.strip() for line in whole.answer.splitlines() if line.strip()]
    repeated = len(lines) - len(set(lines))
    if repeated > len(lines) / 3:
        return Finding(1, f"{repeated} of {len(lines)} lines of the answer are repeats")
    length = len(whole.answer)
    points = 3 if length > 6000 else 6 if length > 2000 else 8
    return Finding(points, f"the answer has {length} characters")


CALL_SCORERS: Mapping[str, CallScorer] = {
    "code_correctness": code_correctness,
    "computational_efficiency": computational_efficiency,
    "error_handling": error_handling,
    "result_interpretation": use_of_result,
    "search_depth_appropriateness": search_depth,
    "query_refinement_quality": query_refinement,
    "source_diversity": source_diversity,
    "source_quality": source_diversity,
    "synthesis_quality": use_of_result,
    "information_synthesis": use_of_result,
    "information_use": use_of_result,
    "content_integration": use_of_result,
    "query_relevance": relevance_of_query,
    "information_extraction_quality": extraction,
    "content_extraction": extraction,
    "information_relevance": relevance_of_result,
    "navigation_efficiency": navigation_efficiency,
    "interaction_quality": navigation_efficiency,
    "tool_selection_accuracy": tool_selection,
    "parameter_optimization": parameter_quality,
    "parameter_quality": parameter_quality,
    "fallback_strategy": error_handling,
    "meta_reasoning_quality": reasoning_before_call,
    "tool_use_quality": tool_use,
    "goal_achievement": use_of_result,
}
"""Criteria that look at calls; over several calls the points are averaged."""

WHOLE_SCORERS: Mapping[str, WholeScorer] = {
    "task_completion": task_completion,
    "response_quality": response_quality,
    "reasoning_coherence": reasoning_coherence,
    "problem_resolution": problem_resolution,
    "answer_correctness": agreement_with_reference,
    "accuracy": agreement_with_reference,
    "completeness": lambda whole: Finding(None, "whether everything was answered requires understanding"),
    "reasoning_quality": reasoning_coherence,
    "conciseness": conciseness,
}
"""Criteria that look at the whole trajectory and its answer."""


def find(criterion: str, whole: Evidence, calls: Sequence[CallEvidence]) -> Finding:
    """The finding for one criterion; over several calls the mean of those with evidence.

    A criterion of an installation's own rubric, which no scorer knows, is left open.
    """
    if criterion in WHOLE_SCORERS:
        return WHOLE_SCORERS[criterion](whole)
    if criterion not in CALL_SCORERS:
        return Finding(None, "the embedded judge has no rule for this criterion")
    findings = [CALL_SCORERS[criterion](call) for call in calls]
    if len(findings) == 1:
        return findings[0]
    scored = [finding.points for finding in findings if finding.points is not None]
    if not scored:
        return Finding(None, f"none of {len(findings)} calls gives evidence")
    weakest = min((f for f in findings if f.points is not None), key=lambda f: f.points or 0)
    return Finding(fmean(scored), f"mean over {len(scored)} of {len(findings)} calls; weakest: {weakest.reason}")
