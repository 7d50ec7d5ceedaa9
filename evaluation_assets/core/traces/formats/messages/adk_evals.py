"""Evaluations of Google's Agent Development Kit: results and eval sets, whose cases become sessions with events.

Names are in snake case in files of `adk eval` and in camel case in answers of its API. The files of results by earlier
versions are JSON in a JSON text.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.untyped import decoded, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_PASSED = {1: True, 2: False}
"""Values of `EvalStatus`: passed and failed. The third says that the case was not evaluated."""
_UNNAMED = "agent"
_ELSEWHERE = (
    "eval_id", "evalId", "final_eval_status", "finalEvalStatus", "overall_eval_metric_results",
    "overallEvalMetricResults", "eval_metric_result_per_invocation", "evalMetricResultPerInvocation",
    "eval_metric_results", "evalMetricResults", "session_details", "sessionDetails", "conversation",
    "creation_timestamp", "creationTimestamp", "eval_set_file", "evalSetFile", "eval_set_id", "evalSetId",
)  # fmt: skip
"""Fields of a case that are given under other names, or repeat them."""


def is_eval_set(data: Any) -> bool:
    """Whether a record has cases with what is expected of an agent, and no runs."""
    return _either(object_in(data), "eval_cases", "evalCases") is not None


def sessions_in(data: Any) -> list[JsonObject]:
    """The cases of results or of an eval set, each as a session; empty for any other record."""
    record = object_in(decoded(data))
    results = objects_in(_either(record, "eval_case_results", "evalCaseResults"))
    cases = objects_in(_either(record, "eval_cases", "evalCases"))
    return [*map(_of_result, results), *map(_of_case, cases)]


def _of_result(result: JsonObject) -> JsonObject:
    session = object_in(_either(result, "session_details", "sessionDetails"))
    tried = list(objects_in(_either(result, "eval_metric_result_per_invocation", "evalMetricResultPerInvocation")))
    actual = [object_in(_either(each, "actual_invocation", "actualInvocation")) for each in tried]
    expected = [object_in(_either(each, "expected_invocation", "expectedInvocation")) for each in tried]
    metrics = objects_in(_either(result, "overall_eval_metric_results", "overallEvalMetricResults"))
    status = _either(result, "final_eval_status", "finalEvalStatus")
    return {
        **_about(result),
        "id": first_text(result, "session_id", "sessionId"),
        "scores": {
            name: each.get("score") for each in metrics if (name := first_text(each, "metric_name", "metricName"))
        },
        "success": _PASSED.get(status) if isinstance(status, int) else None,
        "reference_answer": _text(_answer(expected[0])) if len(expected) == 1 else None,
        "events": list_in(session.get("events")) or [event for one in actual for event in _events(one)],
    }


def _of_case(case: JsonObject) -> JsonObject:
    invocations = objects_in(case.get("conversation"))
    return {**_about(case), "events": [event for each in invocations for event in _events(each)]}


def _about(case: JsonObject) -> JsonObject:
    others = {name: value for name, value in case.items() if name not in _ELSEWHERE}
    return {**others, "task_id": first_text(case, "eval_id", "evalId")}


def _events(invocation: JsonObject) -> Iterator[JsonObject]:
    """What was asked, what happened on the way, and the answer, by the agent that spoke last."""
    about = {"invocationId": first_text(invocation, "invocation_id", "invocationId") or ""}
    between = list(_between(object_in(_either(invocation, "intermediate_data", "intermediateData"))))
    yield {**about, "author": "user", "content": _either(invocation, "user_content", "userContent")}
    yield from ({**about, **event} for event in between)
    answer, last = _answer(invocation), between[-1] if between else {}
    if answer and answer != last.get("content"):  # an answer with calls stands among the events too
        yield {**about, "author": first_text(last, "author") or _UNNAMED, "content": answer}


def _answer(invocation: JsonObject) -> JsonObject:
    return object_in(_either(invocation, "final_response", "finalResponse"))


def _between(data: JsonObject) -> Iterator[JsonObject]:
    """Events; in earlier versions all calls, all their results, and what agents said on the way."""
    yield from objects_in(_either(data, "invocation_events", "invocationEvents"))
    given = list_in(_either(data, "intermediate_responses", "intermediateResponses"))
    said = [(each[0], each[1]) for each in given if isinstance(each, list) and len(each) == 2]
    author = said[-1][0] if said else _UNNAMED
    calls = [{"functionCall": call} for call in objects_in(_either(data, "tool_uses", "toolUses"))]
    results = [{"functionResponse": one} for one in objects_in(_either(data, "tool_responses", "toolResponses"))]
    spoken = ((author, calls), (author, results), *said)
    yield from ({"author": name, "content": {"parts": parts}} for name, parts in spoken if parts)


def _text(content: JsonObject) -> str | None:
    return "".join(first_text(part, "text") or "" for part in objects_in(content.get("parts"))) or None


def _either(data: JsonObject, *names: str) -> Any:
    return next((data[name] for name in names if data.get(name) is not None), None)
