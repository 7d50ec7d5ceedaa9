"""Messages with many calls: how often their IDs are compared does not grow with the square of their number."""

from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, written

CALLS = 500


class Id(str):
    """An ID that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Id.compared += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def test_each_result_is_found_without_a_look_at_all_calls() -> None:
    calls = tuple(Call(name="look", arguments="{}", id=Id(number)) for number in range(CALLS))
    results = [Result(content=str(number), call_id=Id(number)) for number in reversed(range(CALLS))]
    Id.compared = 0
    text, (turn,) = written([Asked(text="Look."), Said(calls=calls), *results])
    steps = turn.interactions[0].steps
    assert [text[slice(*step.result.content)] for step in steps if step.result] == list(map(str, range(CALLS)))
    assert Id.compared < 10 * CALLS
