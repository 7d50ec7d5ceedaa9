"""Calls of Vapi: what the language model cost."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories


def test_the_models_of_a_squad_are_in_the_list_of_costs(tmp_path: Path) -> None:
    report = orjson.loads((FIXTURES / "vapi" / "report.json").read_bytes())
    del report["message"]["costBreakdown"]

    def cost(kind: str, amount: float, **more: Any) -> dict[str, Any]:
        return {"type": kind, "cost": amount, **more}

    report["message"]["costs"] = [
        cost("voice", 0.05, characters=100),
        cost("model", 0.25, promptTokens=900, completionTokens=40, cachedPromptTokens=100),
        cost("model", 0.5, promptTokens=300, completionTokens=10),
        cost("analysis", 0.005, promptTokens=500, completionTokens=30),
    ]
    (run,) = trajectories(written(tmp_path, report))
    assert run.usage == Usage(input_tokens=1200, cached_tokens=100, output_tokens=50, cost_usd=0.75)
