"""When an endpoint is given up, on a clock that is counted."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.models.circuit import MOST_FAILURES, Circuit


def test_failures_one_after_the_other_open_it_and_pauses_grow() -> None:
    circuit, now, pauses = Circuit(0.5, 300.0), 100.0, []
    for _ in range(MOST_FAILURES):
        assert not circuit.is_open
        circuit.failed(now, now)
        pauses.append(circuit.due - now)
        now = circuit.due
    assert circuit.is_open
    assert pauses[: MOST_FAILURES - 1] == [0.5, 1, 2, 4, 8]


def test_failures_of_requests_that_were_under_way_together_count_once() -> None:
    circuit = Circuit(0.5, 300.0)
    for number in range(100):
        circuit.failed(10.0 + number / 1000, 11.0 + number / 1000)
    assert circuit.suspicious and not circuit.is_open


@given(st.lists(st.sampled_from(["failed", "answered"]), max_size=60))
def test_it_opens_after_so_many_failures_without_an_answer_between(events: list[str]) -> None:
    circuit, now, in_a_row = Circuit(0.5, 10_000.0), 100.0, 0
    for event in events:
        now += 1.0
        if event == "failed":
            in_a_row += 1
            circuit.failed(now - 0.5, now)
        else:
            in_a_row = 0
            circuit.answered(now)
        assert circuit.suspicious == (in_a_row > 0)
        assert circuit.is_open == (in_a_row >= MOST_FAILURES)
        if circuit.is_open:
            return


def test_refusals_open_it_only_when_nothing_is_answered_for_long() -> None:
    circuit = Circuit(0.5, 300.0)
    for second in range(100, 400):
        circuit.failed(second, second, refused=True)
        assert not circuit.suspicious and not circuit.is_open
    circuit.failed(400, 400, refused=True)
    assert circuit.is_open


def test_what_hung_while_others_were_answered_is_no_outage() -> None:
    circuit = Circuit(0.5, 300.0)
    circuit.answered(500.0)
    circuit.failed(100.0, 501.0)
    assert not circuit.is_open


def test_an_endpoint_that_was_dead_has_one_try() -> None:
    circuit = Circuit(0.5, 300.0, suspicious=True)
    assert circuit.suspicious and circuit.due == 0.0
    circuit.failed(1.0, 1.0)
    assert circuit.is_open
