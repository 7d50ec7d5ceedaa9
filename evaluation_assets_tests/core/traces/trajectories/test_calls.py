"""When two calls ask for the same thing."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.trajectories.calls import call_key, key_of, telling_name
from evaluation_assets.core.traces.trajectories.model import Interaction, Step, ToolCall, Trajectory, Turn

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner, max_size=4)
)


def key(raw: str, name: str = "search", server: str | None = None) -> tuple[str, str, str]:
    call = ToolCall(name=name, raw=(0, len(raw)), server=server)
    step = Step(start=0, end=len(raw), call=call)
    turn = Turn(interactions=(Interaction(agent_id="a", steps=(step,)),))
    run = Trajectory(id="t", task_id="t", format="f", task="", text=raw, turns=(turn,))
    return call_key(run, step)


def test_white_space_and_the_order_of_keys_do_not_matter() -> None:
    assert key('{"a": 1, "b": {"c": 2, "d": 3}}') == key('{"b":{"d":3,"c":2},\n"a":1}')
    assert key("[1, 2]") == key("[1,2]")
    assert key("not  JSON\n at all") == key("not JSON at all")


def test_other_values_tools_and_servers_are_other_calls() -> None:
    keys = [key('{"a": 1}'), key('{"a": "1"}'), key('{"a": 1}', "fetch"), key('{"a": 1}', server="s"), key("a 1")]
    assert len(set(keys)) == len(keys)
    assert key("[1, 2]") != key("[2, 1]"), "the order of a list is part of it"


def test_a_verb_alone_says_nothing_without_its_namespace() -> None:
    own = ["refunds.create", "payments.refunds.create", "reports.run", "orders.submit"]
    assert [telling_name(name) for name in own] == own
    programs = {"functions.exec": "exec", "developer__shell": "shell", "mcp__serena__edit": "edit"}
    assert {name: telling_name(name) for name in programs} == programs
    assert [telling_name(name) for name in ("create", "files.create_file", "Bash")] == ["create", "create_file", "bash"]


def test_a_step_without_a_call_has_no_key() -> None:
    run = Trajectory(id="t", task_id="t", format="f", task="", text="", turns=())
    assert call_key(run, Step(start=0, end=0)) == ("", "", "")


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_any_arguments_does_not_matter(arguments: dict[str, object]) -> None:
    assert key_of("t", arguments) == key_of("t", dict(reversed(arguments.items())))


def test_values_that_are_no_json_have_a_key() -> None:
    assert key_of("t", {"n": 10**30, "s": {1}}) == key_of("t", {"n": 10**30, "s": {1}})
