"""Calls of W&B Weave: exports of its UI, `call.to_dict()`, and pages of its API; results of HAL, which keep them.

The calls of HAL name the task that they were made for, in one file with the tasks that succeeded.
"""

from typing import Any

from evaluation_assets.core.traces.formats.spans.store_export import StoredSpan, StoreExport, seconds
from evaluation_assets.core.traces.formats.spans.stored import usage_attributes
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, with_numbers
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KINDS = {"llm": "LLM", "tool": "TOOL", "agent": "AGENT"}
_SCORER = ".score"
"""End of the name of a call of a scorer, which may ask a model."""

_COSTS = ("prompt_tokens_total_cost", "completion_tokens_total_cost")
_OF_HAL, _TASK, _SOLVED = "raw_logging_results", "weave_task_id", "solved by HAL"
_ASKED = ("messages", "input", "contents")
_SAID = ("choices", "content", "output", "candidates")


def _spans(data: Any) -> list[JsonObject]:
    record = object_in(data)
    results = object_in(record.get("results"))
    outcomes = {
        task: name == "successful_tasks"
        for name in ("failed_tasks", "successful_tasks")
        for task in list_in(results.get(name))
        if isinstance(task, str)
    }
    of_hal = [
        {**one, _TASK: task, _SOLVED: outcomes.get(task or "")}
        for one in objects_in(record.get(_OF_HAL))
        if _is_call(one)
        for task in [first_text(one, _TASK) or first_text(one.get("attributes"), _TASK)]
    ]
    listed = of_hal or [one for one in objects_in(record.get("calls")) if _is_call(one)]
    return listed or ([record] if _is_call(record) else [])


def _is_call(data: JsonObject) -> bool:
    return all(key in data for key in ("op_name", "trace_id", "inputs", "started_at"))


def _opened(fields: Fields) -> StoredSpan:
    fields.set_aside(
        "project_id", "display_name", "wb_user_id", "wb_run_id", "storage_size_bytes", "total_storage_size_bytes"
    )
    given, said = fields.value("inputs"), fields.value("output")
    summary, attributes = object_in(fields.value("summary")), object_in(fields.value("attributes"))
    name = (fields.text("op_name") or "").rpartition("/")[2].partition(":")[0]
    kind = _KINDS.get(str(at(attributes.get("weave"), "kind") or attributes.get("kind")))
    if kind is None:
        kind = "EVALUATOR" if name.endswith(_SCORER) else "LLM" if _is_of_model(given, said) else "CHAIN"
    fields.set_aside("trace_id")
    used = list(objects_in(list(object_in(summary.get("usage")).values())))
    return StoredSpan(
        id=fields.name("id"),
        trace_id=fields.name(_TASK, "trace_id"),
        parent_id=fields.name("parent_id"),
        kind=kind,
        name=name,
        given=given,
        said=said,
        start_s=seconds(fields.value("started_at")),
        end_s=seconds(fields.value("ended_at")),
        error=fields.text("exception"),
        model=first_text(said, "model") or first_text(given, "model"),
        usage=usage_attributes(used[0], _cost(summary)) if kind == "LLM" and len(used) == 1 else {},
        session=fields.name("thread_id"),
        success=fields.outcome(_SOLVED),
    )


def _cost(summary: JsonObject) -> float | None:
    """The cost of a call of one model, if it was exported with costs."""
    costs = list(map(with_numbers, objects_in(list(object_in(at(summary.get("weave"), "costs")).values()))))
    parts = [part for name in _COSTS for cost in costs if isinstance(part := cost.get(name), int | float)]
    return sum(parts) if len(costs) == 1 and len(parts) == len(_COSTS) else None


def _is_of_model(given: Any, said: Any) -> bool:
    """Whether a call is a request to a model: those of functions around it have its tokens, too."""
    return "model" in object_in(given) and any(key in given for key in _ASKED) and any(map(object_in(said).get, _SAID))


WEAVE = StoreExport(
    name="weave",
    description="W&B Weave: exported calls, also in results of HAL",
    detection="calls with op_name, trace_id, inputs and started_at, also in raw_logging_results",
    spans=_spans,
    opened=_opened,
)
