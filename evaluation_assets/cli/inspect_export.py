"""Write a drop with its scores as an Inspect AI log."""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from evaluation_assets.cli.output import refuse
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.report.sinks.scores import TraceScore, drop_scores
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.commands import installing
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.traces.formats.writers.inspect_log import ClipScore, SampleScore, Scored, log
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

_SUFFIXES = (".eval", ".json")


def write_inspect_log(home: Installation, drop: str, output: Path) -> int:
    """Write the log of a drop and return the number of its samples. The log is held in memory.

    Exits if `inspect_ai` is not installed, or if the file has another suffix than those of logs.
    """
    if output.suffix not in _SUFFIXES:
        refuse(f"{output}: the file of an Inspect AI log ends with {' or '.join(_SUFFIXES)}")
    try:
        from inspect_ai.log import (  # noqa: PLC0415  # pyright: ignore[reportMissingImports]  (an extra)
            EvalLog,
            write_eval_log,
        )
    except ImportError:
        refuse(f"inspect_ai is not installed: {installing('inspect')}")
    suite = DropFacts.of(home.table(drop, "raw_trajectories")).sidecar.suite
    made = log(drop, datetime.now(UTC).isoformat(timespec="seconds"), _scored(home, drop), suite)
    with tempfile.TemporaryDirectory(dir=output.parent) as folder:
        written = Path(folder) / output.name
        write_eval_log(EvalLog.model_validate(made), str(written))
        written.replace(output)
    return len(made["samples"])


def _scored(home: Installation, drop: str) -> Iterator[Scored]:
    scores = groupby(drop_scores(home, drop, home.judges_of(drop), Mask()), key=lambda score: score.trajectory_id)
    name, own = next(scores, (None, iter(())))
    for row in home.table(drop, "preprocessed_trajectories").rows(TREE_AND_TEXT):
        trajectory = trajectory_of(row)
        if name != trajectory.id:
            yield trajectory, {}, []
            continue
        scored = [score for score in own if score.value is not None]
        yield trajectory, dict(filter(None, map(_named, scored))), list(_clips(scored))
        name, own = next(scores, (None, iter(())))


def _clips(scores: Sequence[TraceScore]) -> Iterator[ClipScore]:
    """The scores of clips, clip by clip. Judges explain a clip once, for all criteria that they scored."""
    of_clips = ((score.clip_index, score) for score in scores if score.level == "clip" and score.clip_index is not None)
    for index, own in sorted(by_key(of_clips).items()):
        yield ClipScore(
            index=index,
            tool_type=own[0].tool_type or "",
            values={score.name: score.value for score in own if score.value is not None},
            judges=list(dict.fromkeys(judge for score in own for judge in score.judges)),
            explanation="\n".join(dict.fromkeys(score.explanation for score in own if score.explanation)) or None,
        )


def _named(score: TraceScore) -> tuple[str, SampleScore] | None:
    """A score of a sample with its name in the log; clips have events of their own."""
    if score.level == "clip" or score.value is None:
        return None
    if score.label is not None:  # an outcome that the source recorded
        return score.name, SampleScore("C" if score.value else "I")
    name = score.name if score.level == "trajectory" else f"{score.tool_type}.{score.name}"
    return name, SampleScore(score.value, score.explanation)
