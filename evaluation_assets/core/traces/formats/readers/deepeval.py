"""Traces of DeepEval: as its tracing writes them, and those in the test cases of a test run."""

from typing import Any

from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.formats.spans.store_export import StoredSpan, StoreExport, seconds
from evaluation_assets.core.traces.formats.spans.stored import usage_attributes
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KINDS = {
    "baseSpans": "CHAIN",
    "agentSpans": "AGENT",
    "llmSpans": "LLM",
    "retrieverSpans": "RETRIEVER",
    "toolSpans": "TOOL",
}
_TRACE, _KIND, _THREAD, _CASE = "trace of DeepEval", "kind of DeepEval", "threadId", "test case of DeepEval"


def _spans(data: Any) -> list[JsonObject]:
    cases = [case for case in objects_in(at(data, "testCases")) if _is_trace(case.get("trace"))]
    traces = [({}, object_in(data))] if _is_trace(data) else [(case, case["trace"]) for case in cases]
    return [
        {**span, _TRACE: trace["uuid"], _KIND: kind, _THREAD: trace.get(_THREAD), _CASE: case}
        for case, trace in traces
        for name, kind in _KINDS.items()
        for span in objects_in(trace.get(name))
    ]


def _is_trace(data: Any) -> bool:
    return first_text(data, "uuid") is not None and "llmSpans" in data and "toolSpans" in data


def _opened(fields: Fields) -> StoredSpan:
    fields.set_aside("type", "status", "integration", "provider", "toolsCalled", "metricsData")
    kind, said, case = fields.value(_KIND), fields.value("output"), object_in(fields.value(_CASE))
    counts = [fields.whole("inputTokenCount"), fields.whole("outputTokenCount")]
    prices = [fields.amount("costPerInputToken"), fields.amount("costPerOutputToken")]
    costs = [None if one is None or price is None else one * price for one, price in zip(counts, prices, strict=True)]
    used = {"input_tokens": counts[0], "output_tokens": counts[1]}
    succeeded = case.get("success")
    return StoredSpan(
        id=fields.name("uuid"),
        trace_id=fields.name(_TRACE),
        parent_id=fields.name("parentUuid"),
        kind=kind,
        name=fields.text("name") or "",
        given=fields.value("input"),
        said=_answer(said) if kind == "LLM" else said,
        start_s=seconds(fields.value("startTime")),
        end_s=seconds(fields.value("endTime")),
        error=fields.text("error"),
        model=fields.text("model"),
        usage=usage_attributes(used, None if None in costs else sum_of(costs)) if kind == "LLM" else {},
        session=fields.name(_THREAD),
        scores=[] if "parentUuid" in fields else [_score(one) for one in objects_in(case.get("metricsData"))],
        expected=case.get("expectedOutput"),
        success=succeeded if isinstance(succeeded, bool) else None,
    )


def _answer(said: Any) -> Any:
    """The answer of a model, which may be calls alone."""
    calls = [call for call in objects_in(said) if "inputParameters" in call and "name" in call]
    if not calls or len(calls) != len(list_in(said)):
        return said
    made = [{"id": call.get("id"), "name": call["name"], "arguments": call["inputParameters"]} for call in calls]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _score(metric: JsonObject) -> JsonObject:
    return {name: metric[key] for name, key in _SCORED if metric.get(key) is not None}


_SCORED = (("name", "name"), ("value", "score"), ("reason", "reason"))

DEEPEVAL = StoreExport(
    name="deepeval",
    description="DeepEval: traces, and test runs with traces",
    detection="traces with a uuid, llmSpans and toolSpans, also in testCases",
    spans=_spans,
    opened=_opened,
)
