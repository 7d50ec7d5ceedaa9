"""Counts of a cache under names that programs give them."""

from pathlib import Path

import pytest

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import trajectories

MESSAGES = [{"role": "user", "content": "Is it paid?"}, {"role": "assistant", "content": "Yes."}]


@pytest.mark.parametrize("name", ["cached_input_tokens", "cache_read", "cacheRead", "cached_prompt_tokens"])
def test_what_a_cache_gave_is_a_part_of_the_input(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, {"messages": MESSAGES, "usage": {"input_tokens": 1000, "output_tokens": 10, name: 800}})
    (run,) = trajectories(path)
    assert run.usage == Usage(input_tokens=1000, cached_tokens=800, output_tokens=10)
    assert summary_of(path).trust == "complete"


def test_a_count_of_a_cache_that_is_not_known_is_doubted(tmp_path: Path) -> None:
    used = {"input_tokens": 1000, "output_tokens": 10, "tokens_of_the_cache": 800}
    assert summary_of(written(tmp_path, {"messages": MESSAGES, "usage": used})).trust == "doubtful"
    used["tokens_of_the_cache"] = 0
    assert summary_of(written(tmp_path, {"messages": MESSAGES, "usage": used})).trust == "complete"


def test_a_cache_of_its_own_is_beside_the_input_and_one_beside_the_counts_a_part_of_it(tmp_path: Path) -> None:
    used = {"input": 200, "output": 10, "cache": {"read": 800, "write": 50}}
    counts = {"input_tokens": 1000, "output_tokens": 10, "cached_tokens": 800}
    one, two = trajectories(written(tmp_path, {"messages": MESSAGES, "usage": used}, {"messages": MESSAGES, **counts}))
    assert one.usage == Usage(input_tokens=1050, cached_tokens=800, cache_write_tokens=50, output_tokens=10)
    assert two.usage == Usage(input_tokens=1000, cached_tokens=800, output_tokens=10)
