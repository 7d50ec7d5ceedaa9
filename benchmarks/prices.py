"""What a thousand recorded conversations cost to judge: `python benchmarks/prices.py FILE`.

Prints the table of the README from `plan`: a decision model, a language model, and a cascade of both. FILE holds
recorded conversations, such as `historical_trajectories/gpt-4o-airline.json` of sierra-research/tau-bench. No model is
called.
"""

import sys
from importlib.metadata import version
from pathlib import Path

from upath import UPath

from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.drops import one_file
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.canaries import CanarySettings
from evaluation_assets.core.judging.panel import judges_of, panel_of
from evaluation_assets.core.judging.quotes import Quote
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.pipeline.planning import PRESETS, plan

CONVERSATIONS = 1000
DECIDES = {"name": "decides", "provider": "typesafe", "model": "jev-1.13.0"}
WRITES = {"name": "writes", "provider": "anthropic", "model": "claude-haiku-5-5"}

PASSED_ON = 0.2
"""What the cascades of docs/cascade.md leave to their last judge, roughly: those measured had other judges."""


def main(file: Path) -> None:
    """Print the table for a file of conversations."""
    panel = panel_of({"judges": [DECIDES, WRITES]}, "panel")
    priced = plan(
        one_file(UPath(file)),
        Settings(),
        load_rubrics(),
        load_tool_types(),
        judges_of(panel, "sqlite://"),
        CanarySettings(),
        PRESETS,
    )
    runs = priced.subjects["trajectory"]
    decides, writes = ([_usd(calls.presets[name].quote, runs) for name in PRESETS] for calls in priced.calls)
    print(f"{runs} runs, scaled to {CONVERSATIONS}; list prices of genai-prices {version('genai-prices')}\n")
    print(f"| judges | {' | '.join(f'`{name}`' for name in PRESETS)} |\n|---|---|---|---|")
    _print_row(f"a decision model, `{DECIDES['model']}`", [f"${own:.2f}" for own in decides])
    both = [f"${own + PASSED_ON * more:.2f}" for own, more in zip(decides, writes, strict=True)]
    _print_row(f"a [cascade](docs/cascade.md#measured) of both, if {PASSED_ON:.0%} is passed on", both)
    _print_row(f"a language model, `{WRITES['model']}`", [f"${own:.2f}" for own in writes])


def _usd(quote: Quote, runs: int) -> float:
    assert quote.expected.usd is not None, "the prices of both models are known"
    return quote.expected.usd * CONVERSATIONS / runs


def _print_row(judges: str, prices: list[str]) -> None:
    print(f"| {judges} | {' | '.join(prices)} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
