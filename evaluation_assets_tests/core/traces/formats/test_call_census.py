"""Which objects the census of calls looks into."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats import call_census
from evaluation_assets.core.traces.formats.call_census import Census, census_of

UNMARKED = st.sampled_from(
    ["id", "name", "function", "arguments", "input", "args", "content", "call_id", "spanId", "state", "callID", "role"]
)
SAID = st.sampled_from(
    ["tool_call", "tool_use", "function", "trace.span", "x", "", {"type": "function"}, [{"id": "1"}]]
)


@given(value=st.dictionaries(UNMARKED, SAID))
def test_an_object_without_a_marker_is_neither_a_call_nor_a_span(value: dict[str, object]) -> None:
    assert call_census._MARKERS.isdisjoint(value)
    assert not list(call_census._calls_at(value))
    assert not call_census._is_tool_span(value)


def test_calls_and_spans_are_found_at_any_depth() -> None:
    call = {"tool_calls": [{"id": "call-1", "function": {"name": "find", "arguments": "{}"}}]}
    span = {"spanId": "s-1", "attributes": {"gen_ai.operation.name": "execute_tool"}}
    assert census_of([{"a": {"b": [call, {"c": span}]}}]) == Census(frozenset({"call-1"}), frozenset({"s-1"}))


def test_calls_that_another_run_or_the_user_made_are_none_of_the_run() -> None:
    call = {"id": "call-1", "function": {"name": "find", "arguments": "{}"}}
    copied = {"source": "agent", "is_copied_context": True, "tool_calls": [{"tool_call_id": "x", **call}]}
    users = [{"role": "user", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call-1", "content": "off"}]
    assert census_of({"steps": [copied]}) == Census()
    assert census_of({"messages": users}) == Census()


def test_a_listed_call_may_name_its_tool_as_tool() -> None:
    assert census_of({"tool_calls": [{"tool": "find", "arguments": {"of": "x"}}]}).calls
