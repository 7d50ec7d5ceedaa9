"""Sessions of Droid with the settings beside them."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories


@pytest.mark.parametrize(("thoughts", "outputs"), [(0, 20), (7, None)])
def test_settings_have_the_model_and_the_tokens_of_a_session(
    tmp_path: Path, thoughts: int, outputs: int | None
) -> None:
    counts = {"inputTokens": 100, "outputTokens": 20, "cacheCreationTokens": 50, "cacheReadTokens": 900}
    settings: dict[str, Any] = {"model": "model-a", "tokenUsage": {**counts, "thinkingTokens": thoughts}}
    (tmp_path / "d-1.jsonl").write_bytes((FIXTURES / "droid" / "session.jsonl").read_bytes())
    (tmp_path / "d-1.settings.json").write_bytes(orjson.dumps(settings))
    (run,) = trajectories(tmp_path)
    assert run.usage == Usage(input_tokens=1050, cached_tokens=900, cache_write_tokens=50, output_tokens=outputs)
    assert run.agents[0].model == "model-a"
    assert summary_of(tmp_path).rejected == 0
