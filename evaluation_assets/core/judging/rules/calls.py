"""Rules about single calls: each gives points for what is seen around the call, and says why.

A call that fails never scores above the same call if it works, and no other call scores higher because it fails: an
agent must not gain by failing. So points for failures are at most those of the least successes, and criteria that ask
how failures were dealt with are scored for calls that worked as well.
"""

import re

from evaluation_assets.core.judging.rules.evidence import CallEvidence
from evaluation_assets.core.judging.rules.findings import Finding, points_for

_LIMIT_HIT = re.compile(r"time.?out|timed out|memory|超时", re.IGNORECASE)
_UNKNOWN_TOOL = re.compile(
    r"unknown tool|no such tool|tool not found|not a valid tool|unsupported action", re.IGNORECASE
)
_BAD_PARAMETERS = re.compile(r"validation|parameter|argument|missing required|参数", re.IGNORECASE)


def code_correctness(call: CallEvidence) -> Finding:
    """Parses, runs, prints; and is not replaced by another version right after."""
    if isinstance(call.code, SyntaxError):
        return Finding(0, f"the code does not parse: {call.code.msg}")
    if not call.answered:
        return Finding(None, "no result shows whether the code ran")
    if call.code is None:
        return Finding(None, "no code to look at")
    if call.error:
        return Finding(2, f"the run failed: {call.error}")
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
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error is None:
        if call.guards:
            return Finding(8, "nothing failed, and the code handles exceptions or checks its values")
        return Finding(7, "nothing failed; whether the call provides for failures was not judged")
    if call.next_call is None:
        if call.failure_noticed:
            return Finding(5, f"failed ({call.error}); the agent says so and makes no further call")
        return Finding(1, f"failed ({call.error}); the agent ignores it and makes no further call")
    if call.twin is not None and call.twin.result and call.twin.result.error:
        return Finding(2, f"the same call failed before and failed again: {call.error}")
    if call.next_repeats:
        return Finding(5, f"failed ({call.error}), then the same call was repeated")
    return Finding(6, f"failed ({call.error}), then the agent changed the call or took another tool")


def use_of_result(call: CallEvidence) -> Finding:
    """How much of what the result brought up the agent wrote afterwards."""
    if not call.answered:
        return Finding(None, "there is no result")
    if not call.is_followed:
        return Finding(None, "the agent wrote nothing afterwards")
    if call.error:
        if call.failure_noticed:
            return Finding(1, f"no result to use: the failure ({call.error}) is taken up in what follows")
        return Finding(0, f"no result to use: the failure ({call.error}) is not mentioned in what follows")
    if not call.new_words:
        return Finding(None, "the result has no new words")
    if not call.can_be_taken_up:
        return Finding(None, "the result is in another script than what follows")
    points = points_for(call.taken_up, (8, 9), (3, 7), (1, 5), below=1)
    return Finding(points, f"{call.taken_up} of {len(call.new_words)} new words of the result appear in later text")


def extraction(call: CallEvidence) -> Finding:
    """Whether something came back, on the topic of the task."""
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error:
        return Finding(0, f"the call failed: {call.error}")
    if not call.new_words:
        return Finding(2, "the result holds nothing that was not known before")
    topic = call.task_in_result
    if topic is None:
        return Finding(None, "task and result have no words that can be compared")
    points = points_for(topic, (0.5, 8), (0.25, 6), (0.1, 4), below=2)
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
        points_for(topic, (0.5, 8), (0.25, 6), (0.1, 4), below=1), f"{topic:.0%} of the task's words are in the result"
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
    points = points_for(topic, (0.75, 9), (0.5, 7), (0.25, 4), below=2)
    return Finding(points, f"{topic:.0%} of the query's words occur in the task, the reasoning or earlier results")


def search_depth(call: CallEvidence) -> Finding:
    """How many sources the search brought."""
    if not call.answered:
        return Finding(None, "there is no result")
    if call.error:
        return Finding(1, f"the search failed: {call.error}")
    return Finding(points_for(len(call.hosts), (4, 8), (1, 6), below=3), f"the result names {len(call.hosts)} hosts")


def query_refinement(call: CallEvidence) -> Finding:
    """What changed since the last query to this tool, whether or not that one failed."""
    last = call.last_with_tool
    if last is None:
        return Finding(None, "the first query to this tool: nothing to refine yet")
    if call.twin is not None:
        return Finding(2, "the same query again" + (", after it had failed" if call.twin.has_failed else ""))
    return Finding(7, "a query that differs from the last one" + (", which had failed" if last.has_failed else ""))


def source_diversity(call: CallEvidence) -> Finding:
    """Different hosts in the result."""
    if not call.answered:
        return Finding(None, "no result to look for sources in")
    if call.error:
        return Finding(0, f"the search failed: {call.error}")
    if not call.hosts:
        return Finding(None, "the result names no sources")
    points = points_for(len(call.hosts), (5, 9), (3, 7), (2, 5), below=3)
    return Finding(points, f"the result names {len(call.hosts)} hosts")


def navigation_efficiency(call: CallEvidence) -> Finding:
    """Whether the step was needed: not made before, and it worked."""
    if call.twin is not None:
        return Finding(2, "the same step was made before" + (", and had failed" if call.twin.has_failed else ""))
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
    if call.twin is not None:
        return Finding(2, "the same call was made before" + (f", and it failed: {call.error}" if call.error else ""))
    if call.error:
        return Finding(2 if _BAD_PARAMETERS.search(call.error) else 3, f"the call failed: {call.error}")
    return Finding(8, "the call worked and was not made before")
