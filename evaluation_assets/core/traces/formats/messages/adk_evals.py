"""Results of evaluations of Google's Agent Development Kit, whose cases become sessions with events. An eval set says
what is expected, and holds no runs: it is a suite.

Names are in snake case in files of `adk eval` and in camel case in answers of its API. The files of results by earlier
versions are JSON in a JSON text.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.untyped import decoded, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_PASSED = {1: True, 2: False, "passed": True, "failed": False}
"""Values of `EvalStatus`: passed and failed. The third is for cases not evaluated; trpc-agent-go has words."""
_UNNAMED = "agent"
_ELSEWHERE = (
    "eval_id", "evalId", "final_eval_status", "finalEvalStatus", "overall_eval_metric_results",
    "overallEvalMetricResults", "eval_metric_result_per_invocation", "evalMetricResultPerInvocation",
    "eval_metric_results", "evalMetricResults", "session_details", "sessionDetails",
    "creation_timestamp", "creationTimestamp", "eval_set_file", "evalSetFile", "eval_set_id", "evalSetId",
)  # fmt: skip
"""Fields of a case that are given under other names, or repeat them."""


def sessions_in(data: Any) -> list[JsonObject]:
    """The cases of results, each as a session; empty for any other record."""
    return [*map(_session, objects_in(_either(object_in(decoded(data)), "eval_case_results", "evalCaseResults")))]


def _session(result: JsonObject) -> JsonObject:
    session = object_in(_either(result, "session_details", "sessionDetails"))
    tried = list(objects_in(_either(result, "eval_metric_result_per_invocation", "evalMetricResultPerInvocation")))
    actual = [object_in(_either(each, "actual_invocation", "actualInvocation")) for each in tried]
    expected = [object_in(_either(each, "expected_invocation", "expectedInvocation")) for each in tried]
    metrics = objects_in(_either(result, "overall_eval_metric_results", "overallEvalMetricResults"))
    status = _either(result, "final_eval_status", "finalEvalStatus")
    return {
        **{name: value for name, value in result.items() if name not in _ELSEWHERE},
        "task_id": first_text(result, "eval_id", "evalId"),
        "id": first_text(result, "session_id", "sessionId"),
        "scores": {
            name: each.get("score") for each in metrics if (name := first_text(each, "metric_name", "metricName"))
        },
        "success": _PASSED.get(status) if isinstance(status, int | str) else None,
        "reference_answer": _text(_content_of(_answer(expected[0]))) if len(expected) == 1 else None,
        "events": list_in(session.get("events")) or [event for one in actual for event in _events(one)],
    }


def _events(invocation: JsonObject) -> Iterator[JsonObject]:
    """What was asked, what happened on the way, and the answer, by the agent that spoke last."""
    about = {"invocationId": first_text(invocation, "invocation_id", "invocationId") or ""}
    between = list(_between(object_in(_either(invocation, "intermediate_data", "intermediateData"))))
    between += _of_tools(list(objects_in(invocation.get("tools"))))
    yield {**about, "author": "user", "content": _content_of(_either(invocation, "user_content", "userContent"))}
    yield from ({**about, **event} for event in between)
    answer, last = _content_of(_answer(invocation)), between[-1] if between else {}
    if answer and answer != last.get("content"):  # an answer with calls stands among the events too
        yield {**about, "author": first_text(last, "author") or _UNNAMED, "content": answer}


def _of_tools(tools: list[JsonObject]) -> Iterator[JsonObject]:
    """The calls of an invocation with their results, as trpc-agent-go has them."""
    for key, what, field in (("functionCall", "args", "arguments"), ("functionResponse", "response", "result")):
        parts = [{key: {"id": one.get("id"), "name": one.get("name"), what: one.get(field)}} for one in tools]
        yield from [{"author": _UNNAMED, "content": {"parts": parts}}] if parts else []


def _content_of(message: Any) -> JsonObject:
    """A content, or a message of trpc-agent-go with a text as one."""
    text = object_in(message).get("content")
    return {"parts": [{"text": text}]} if isinstance(text, str) else object_in(message)


def expected_in(data: Any) -> list[tuple[str, list[JsonObject]]]:
    """The cases of an eval set by their IDs, each with its invocations; empty for any other record."""
    cases = objects_in(_either(object_in(data), "eval_cases", "evalCases"))
    return [
        (first_text(case, "eval_id", "evalId") or "", [*objects_in(list_in(case.get("conversation")))])
        for case in cases
    ]


def asked_in(invocation: JsonObject) -> str:
    """What the user says in an invocation."""
    return _text(_content_of(_either(invocation, "user_content", "userContent"))) or ""


def calls_in(invocation: JsonObject) -> list[JsonObject] | None:
    """The calls of an invocation, with `name` and `args`; `None` if it says nothing of calls."""
    between = _either(invocation, "intermediate_data", "intermediateData")
    if between is None:
        return None
    parts = (part for event in _between(object_in(between)) for part in objects_in(_parts_of(event)))
    calls = (object_in(_either(part, "functionCall", "function_call")) for part in parts)
    return [call for call in calls if call]


def _parts_of(event: JsonObject) -> list[Any]:
    return list_in(object_in(event.get("content")).get("parts"))


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
