"""The tokens and cost that a record states in ways of its own: of an answer, and of a run beside its messages."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.stated import ANSWERS, Comparisons
from evaluation_assets.core.traces.formats.transcript import total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import in_both_cases, object_in
from evaluation_assets.core.traces.formats.usage import CACHED, COSTS, INPUT, OUTPUT, UNKNOWN, usage, usage_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

HOLDERS = ("stats", "statistics", "metrics", "summary", "totals", "metadata", "meta", "info")
"""Objects of a record that may have its counts."""

_OF_ANSWERS = (
    "usage",
    "usage_metadata",
    "token_usage",
    "tokenUsage",
    "tokens",
    "token_counts",
    "token_counter",
    "llm_usage",
)
_OF_RUNS = ("usage", "usage_details", "total_usage", "totalUsage", *_OF_ANSWERS[1:], "total_tokens", "agent_tokens")
_BESIDE = ("metadata", "response_metadata")
"""Objects of an answer that may have its usage."""
_COUNTED = ("cost", "metrics", *_BESIDE, "meta", "stats", "info", "extra")
"""Objects of an answer that may have its tokens among others."""
_LISTS = ("usage", "usages", "token_usage", "token_usages", "usage_history", "llm_calls", "model_calls")
"""Fields with the usage of each request in a list."""

_GIVEN = (*INPUT[:2], "tokens_in", "tokens_input", "num_input_tokens", "num_prompt_tokens")
_WRITTEN = (*OUTPUT[:2], "tokens_out", "tokens_output", "num_output_tokens", "num_completion_tokens")
TOKENS_GIVEN, TOKENS_WRITTEN = (
    in_both_cases(*(f"{prefix}{name}" for prefix in ("total_", "") for name in names)) for names in (_GIVEN, _WRITTEN)
)
"""Fields of a record with all tokens that came in, and that went out."""
_STATED = (*TOKENS_GIVEN, *TOKENS_WRITTEN, *_OF_RUNS)


def usage_of_answer(message: Fields) -> Usage | None:
    """The tokens and cost of an answer, in an object of their own or in fields of the message."""
    inner = (name for name in _BESIDE if any(key in object_in(message.peek(name)) for key in _OF_ANSWERS))
    holders = (message, *map(message.object, inner))
    used = next((one for each in holders if (one := _usage_in(each, _OF_ANSWERS)) is not None), None)
    if (
        used is None
        and (name := next((name for name in _COUNTED if _is_counted(message.peek(name))), None)) is not None
    ):
        used = usage_of(message.object(name))
    if used is None and any(name in message for name in (*_GIVEN, *_WRITTEN)):
        used = usage(message.whole(*_GIVEN), message.whole(*_WRITTEN), None, message.whole(*CACHED))
    cost = message.amount(*COSTS) if any(name in message for name in COSTS) else None
    return with_cost(used, cost)


def _is_counted(value: Any) -> bool:
    """Whether an object has tokens that came in and went out."""
    counts = object_in(value)
    return any(name in counts for name in INPUT) and any(name in counts for name in OUTPUT)


def lacking(stated: Comparisons, usages: Sequence[Usage | None]) -> Usage | None:
    """`UNKNOWN` if some answers have a usage and others have none, which is compared; else `None`."""
    if None not in usages or not any(usages):
        return None
    stated.compare(ANSWERS, len(usages), len(usages) - usages.count(None))
    return UNKNOWN


def states_usage(message: JsonObject) -> bool:
    """Whether an answer has tokens or a cost of its own."""
    is_counted = any(_is_counted(message.get(name)) for name in _COUNTED)
    return is_counted or any(message.get(name) for name in (*_OF_ANSWERS, *_GIVEN, *_WRITTEN, *COSTS))


def usage_in_record(fields: Fields, *, is_counted: bool) -> Usage | None:
    """The usage of a run that stands beside its messages, which may be counted: in one object, or one a request."""
    if (whole := _usage_in(fields, _OF_RUNS)) is not None:
        return whole
    name = next((name for name in _LISTS if fields.is_list(name)), None)
    if name is not None and (listed := total(map(usage_of, fields.objects(name)))) is not None:
        return listed
    if is_counted:
        return None
    inner = [fields.object(name) for name in HOLDERS if any(key in object_in(fields.peek(name)) for key in _STATED)]
    used = [_stated_in(each) for each in (fields, *inner)]
    return next(filter(None, (*used, *(_usage_in(each, _OF_RUNS) for each in inner))), None)


def _stated_in(holder: Fields) -> Usage | None:
    counts = (holder.whole(*TOKENS_GIVEN), holder.whole(*TOKENS_WRITTEN))
    return None if counts == (None, None) else usage(*counts, None, holder.whole(*CACHED))


def _usage_in(fields: Fields, names: tuple[str, ...]) -> Usage | None:
    """The usage in the first of these objects, which may have one for each model or agent."""
    holder = next((name for name in names if fields.is_object(name)), None)
    if holder is None:
        return None
    stated = fields.object(holder)
    each = list(object_in(fields.peek(holder)))
    if each and all(map(stated.is_object, each)):
        return total(usage_of(stated.object(name)) for name in each)
    return usage_of(stated)


def cost_in_record(fields: Fields) -> float | None:
    """The cost of a run that stands beside its messages."""
    holders = (fields, *(Fields(object_in(fields.peek(name))) for name in HOLDERS))
    return next((cost for each in holders if (cost := _cost_in(each))), None)


def _cost_in(fields: Fields) -> float | None:
    if fields.is_object("cost"):
        return fields.object("cost").amount("total", "total_cost", "total_usd", "usd", "amount")
    return fields.amount(*COSTS, "accumulated_cost")


def with_stated_cost(compared: Comparisons, used: Usage | None, fields: Fields) -> Usage | None:
    """Usage of a run with the cost that stands beside its messages, which is compared with that of its answers."""
    cost, answers = cost_in_record(fields), None if used is None else used.recorded_cost_usd
    compared.compare("US dollar", cost, answers)
    return with_cost(used if used is None or cost is None else replace(used, cost_usd=None), cost)


def with_cost(used: Usage | None, cost: float | None) -> Usage | None:
    """Usage with a cost, if it has none that is recorded."""
    if used is None or cost is None or cost <= 0:
        return used or usage(cost_usd=cost)
    known = used.cost_usd is not None and not used.is_list_price
    return used if known else replace(used, cost_usd=cost, is_list_price=False)
