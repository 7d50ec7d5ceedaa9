"""A short run of the damaged records, the same each time."""

from random import Random

import pytest

from benchmarks.fuzz import Seed, damaged, fuzz, seeds

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["drop", "suite", "reply"])
def test_damaged_records_break_no_promise(kind: str) -> None:
    chosen = [seed for seed in seeds(largest=6_000) if seed.kind == kind]
    found = fuzz(chosen, 400, 1)
    assert found.records[kind] >= 400
    assert found.broken == {}


def test_damage_is_the_same_each_time() -> None:
    seed = Seed("a", b'{"a": [1, 2], "b": {"c": "d"}}', "reply", ".json")
    assert [damaged(seed.data, Random(n)) for n in range(30)] == [damaged(seed.data, Random(n)) for n in range(30)]
    assert len({damaged(seed.data, Random(n)) for n in range(30)}) > 20
