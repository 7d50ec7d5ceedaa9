"""What people said about traces in a store, as labels of trajectories: `labels/<sink>.jsonl`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.report.sinks.settings import ScoreSinkSettings, takes
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.recorded_spans import last_trace_of
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

PASSED = "passed"
"""The criterion of a label about a trajectory as a whole."""

_WORDS = {
    **dict.fromkeys(("pass", "passed", "yes", "true", "good", "correct", "thumbs_up", "thumbs-up", "positive"), 1.0),
    **dict.fromkeys(
        ("fail", "failed", "no", "false", "bad", "incorrect", "thumbs_down", "thumbs-down", "negative"), 0.0
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """What one person said about a trace as a whole. `label` is 0..1."""

    trace_id: str
    name: str
    label: float
    annotator: str
    comment: str


class AnnotatedStore(Protocol):
    """A sink that people annotate traces in."""

    def annotations(self, traces: Sequence[str]) -> Iterator[Annotation]:
        """The annotations of people on these traces; never scores that we sent, and none of single spans.

        Raises:
            SendError: the store cannot be reached or refuses.
        """
        ...


def as_label(value: Any) -> float | None:
    """A value that a person gave as a label, 0..1; `None` where it is neither a verdict nor between 0 and 1."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value) if 0 <= value <= 1 else None
    return _WORDS.get(value.strip().lower()) if isinstance(value, str) else None


def collect_labels(home: Installation, name: str, settings: ScoreSinkSettings, store: AnnotatedStore) -> int:
    """Write what people said in a store about evaluated trajectories to `labels/<sink>.jsonl`; return how many labels.

    The lines are sorted, and a file that would not change is not written. A trace that is in several drops has a label
    in each.

    Raises:
        SendError: the store cannot be reached or refuses; the file stays as it is.
    """
    subjects = _subjects(home, settings)
    labels = [
        {
            "drop": drop,
            "trajectory_id": trajectory,
            "criterion": PASSED if annotation.name in settings.passed_names else annotation.name,
            "label": annotation.label,
            "annotator": annotation.annotator,
            "comment": annotation.comment,
        }
        for annotation in (store.annotations(sorted(subjects)) if subjects else ())
        for drop, trajectory in subjects.get(annotation.trace_id, ())
    ]
    lines = sorted({orjson.dumps(label, option=orjson.OPT_APPEND_NEWLINE) for label in labels})
    content, file = b"".join(lines), home.labels / f"{name}.jsonl"
    if content != (file.read_bytes() if file.exists() else b""):
        publish_bytes(file, content)
    return len(lines)


def _subjects(home: Installation, settings: ScoreSinkSettings) -> dict[str, list[tuple[str, str]]]:
    """Drop and ID of the evaluated trajectories, by the ID of the trace that their scores are sent to."""
    subjects: dict[str, list[tuple[str, str]]] = {}
    for drop in home.drops_with("trajectory_scores"):
        if takes(home, drop, settings):
            for row in home.table(drop, "preprocessed_trajectories").rows(TREE_AND_TEXT):
                trajectory = trajectory_of(row)
                if (trace := last_trace_of(trajectory)) is not None:
                    subjects.setdefault(trace, []).append((drop, trajectory.id))
    return subjects
