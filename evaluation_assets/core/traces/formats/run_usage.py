"""The tokens and cost that a record states in ways of its own: of an answer, and of a run beside its messages."""

from dataclasses import replace

from evaluation_assets.core.traces.formats.transcript import total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import object_in
from evaluation_assets.core.traces.formats.usage import COSTS, INPUT, OUTPUT, usage, usage_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

HOLDERS = ("stats", "statistics", "metrics", "summary", "totals", "metadata", "meta", "info")
"""Objects of a record that may have its counts."""

_OF_ANSWERS = ("usage", "usage_metadata", "token_usage", "tokenUsage", "tokens", "token_counts")
_OF_RUNS = ("usage", "usage_details", "total_usage", "totalUsage", *_OF_ANSWERS[1:])
_LISTS = ("usage", "usages", "token_usage", "token_usages", "usage_history", "llm_calls", "model_calls")
"""Fields with the usage of each request in a list."""

_GIVEN, _WRITTEN = (*INPUT[:2], "tokens_in"), (*OUTPUT[:2], "tokens_out")
_IN_ALL = tuple(tuple(f"{prefix}{name}" for prefix in ("total_", "") for name in names) for names in (_GIVEN, _WRITTEN))


def usage_of_answer(message: Fields) -> Usage | None:
    """The tokens and cost of an answer, in an object of their own or in fields of the message."""
    holder = next((name for name in _OF_ANSWERS if message.is_object(name)), None)
    used = None if holder is None else usage_of(message.object(holder))
    if used is None and any(name in message for name in (*_GIVEN, *_WRITTEN)):
        used = usage(message.whole(*_GIVEN), message.whole(*_WRITTEN))
    cost = message.amount(*COSTS) if any(name in message for name in COSTS) else None
    return with_cost(used, cost)


def states_usage(message: JsonObject) -> bool:
    """Whether an answer has tokens or a cost of its own."""
    return any(message.get(name) for name in (*_OF_ANSWERS, *_GIVEN, *_WRITTEN, *COSTS))


def usage_in_record(fields: Fields, *, is_counted: bool) -> Usage | None:
    """The usage of a run that stands beside its messages, which may be counted: in one object, or one a request."""
    holder = next((name for name in _OF_RUNS if fields.is_object(name)), None)
    if holder is not None and (whole := usage_of(fields.object(holder))) is not None:
        return whole
    name = next((name for name in _LISTS if fields.is_list(name)), None)
    if name is not None and (listed := total(map(usage_of, fields.objects(name)))) is not None:
        return listed
    if is_counted:
        return None
    holders = (fields, *(Fields(object_in(fields.peek(name))) for name in HOLDERS))
    given, written = _IN_ALL
    return next((one for each in holders if (one := usage(each.whole(*given), each.whole(*written)))), None)


def cost_in_record(fields: Fields) -> float | None:
    """The cost of a run that stands beside its messages."""
    holders = (fields, *(Fields(object_in(fields.peek(name))) for name in HOLDERS))
    return next((cost for each in holders if (cost := each.amount(*COSTS))), None)


def with_cost(used: Usage | None, cost: float | None) -> Usage | None:
    """Usage with a cost, if it has none that is recorded."""
    if used is None or cost is None or cost <= 0:
        return used or usage(cost_usd=cost)
    known = used.cost_usd is not None and not used.is_list_price
    return used if known else replace(used, cost_usd=cost, is_list_price=False)
