"""Which tools failed how often, as text for the summary on the terminal."""

from collections import Counter

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.text.counted import counted

_NAMED = 2
"""Tools that are named; the report has all."""


def failed_calls(clips: Stored) -> str:
    """The tools with the most failed calls: `pay 8 of 10, find 1 of 40, 1 other tool`; empty where none failed."""
    calls, failed = Counter[str](), Counter[str]()
    for batch in clips.batches(["tool_name", "call_status"], batch_size=16_384):
        for tool, status in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            if tool is not None:
                calls[tool] += 1
                failed[tool] += status == "error"
    ranked = sorted(((count, tool) for tool, count in failed.items() if count), key=lambda each: (-each[0], each[1]))
    named = [f"{tool} {count:,} of {calls[tool]:,}" for count, tool in ranked[:_NAMED]]
    return ", ".join([*named, counted(len(ranked) - _NAMED, "other tool")] if ranked[_NAMED:] else named)
