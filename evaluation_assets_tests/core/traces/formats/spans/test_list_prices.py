"""The cost of traces that record tokens and no cost: that of a list price, which is said, or unknown."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.core.traces.formats.reading import trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import chat, otlp, said, span

QUESTION = said("user", "Price of tea?")
TOKENS = {"gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 100}


def trace(folder: Path, *models: str, **more: Any) -> Path:
    """A trace with a request of each model."""
    spans = [
        span(
            f"s{number}",
            chat(
                [QUESTION], [said("assistant", f"{number} euros.")], **{"gen_ai.request.model": model} | TOKENS | more
            ),
            start=number,
        )
        for number, model in enumerate(models)
    ]
    return otlp(folder / "traces.jsonl", *spans)


def run_of(path: Path) -> Trajectory:
    (run,) = trajectories(path)
    return run


def usage_of(path: Path) -> Usage:
    usage = run_of(path).usage
    assert usage is not None
    return usage


def test_tokens_without_a_cost_have_a_list_price_that_is_said(tmp_path: Path) -> None:
    path = trace(tmp_path, "claude-sonnet-4-5")
    usage = usage_of(path)
    assert usage.cost_usd == pytest.approx((1000 * 3 + 100 * 15) / 1e6)
    assert (usage.is_list_price, usage.recorded_cost_usd) == (True, None)
    printed = command("import", path, home=tmp_path / "home").stdout
    assert "cost $0.0045 at list prices" in printed


def test_a_model_of_unknown_price_has_no_cost_and_neither_has_the_run(tmp_path: Path) -> None:
    known, unknown = run_of(trace(tmp_path, "claude-sonnet-4-5", "house-model")).steps
    assert known.usage is not None and unknown.usage is not None
    assert (known.usage.is_list_price, unknown.usage.cost_usd, unknown.usage.is_list_price) == (True, None, False)
    usage = run_of(trace(tmp_path, "claude-sonnet-4-5", "house-model")).usage
    assert usage is not None and (usage.cost_usd, usage.is_list_price) == (None, False)
    assert "cost unknown" in command("import", tmp_path / "traces.jsonl", home=tmp_path / "home").stdout


def test_a_recorded_cost_stands(tmp_path: Path) -> None:
    usage = run_of(trace(tmp_path, "claude-sonnet-4-5", **{"gen_ai.usage.cost": 0.5})).usage
    assert usage is not None and (usage.cost_usd, usage.is_list_price) == (0.5, False)


def test_tokens_written_to_the_cache_have_their_own_price(tmp_path: Path) -> None:
    usage = run_of(trace(tmp_path, "claude-sonnet-4-5", **{"gen_ai.usage.cache_creation.input_tokens": 400})).usage
    assert usage is not None and usage.cost_usd == pytest.approx((600 * 3 + 400 * 3.75 + 100 * 15) / 1e6)
