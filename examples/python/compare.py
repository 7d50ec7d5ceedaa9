"""Evaluate two files of trajectories, and compare them task by task.

    python examples/python/compare.py BEFORE AFTER

Without arguments, the sample drop is compared with itself. The embedded judge scores it, and no model is called.
"""

import sys
from pathlib import Path

import evaluation_assets as ea

SAMPLE = Path(__file__).parents[1] / "drops" / "assistants.jsonl"


def main(before: Path, after: Path) -> None:
    """Print what was read, the score of each tool type, and what changed."""
    reading = ea.read(after)
    print(f"{reading.format}: {len(reading)} trajectories; {reading.summary.sentence}")
    for record in reading.rejected:
        print(f"  {record.source}, record {record.line}: {record.reason}: {record.detail}")

    first = ea.evaluate(before, name="before", replace_drop=True)
    second = ea.evaluate(after, name="after", replace_drop=True)
    scores = second.table("clip_scores", columns=["tool_type", "mean"])
    print(scores.groupby("tool_type")["mean"].agg(["mean", "count"]).round(3))

    found = ea.compare(first, second)
    print(found.summary())
    sys.exit(0 if found.passed else 1)


if __name__ == "__main__":
    main(*(map(Path, sys.argv[1:3]) if len(sys.argv) == 3 else (SAMPLE, SAMPLE)))
