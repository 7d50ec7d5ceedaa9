"""Records of a question, a model's answer and the right one."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

ASKED = "Who wrote Dune?"


@pytest.mark.parametrize(
    ("record", "right"),
    [
        ({"query": ASKED, "response": "It was Herbert.", "ground_truth": "Herbert"}, "Herbert"),
        (
            {"question": ASKED, "golden_answers": ["Herbert", "F. H."], "prediction": "It was Herbert."},
            "Herbert\nF. H.",
        ),
        ({"id": 7, "problem": ASKED, "answer": "Herbert", "model_output": "It was Herbert."}, "Herbert"),
        ({"userQuery": ASKED, "expectedAnswer": 42, "modelAnswer": "It was Herbert."}, "42"),
    ],
)
def test_they_are_runs_with_a_reference(tmp_path: Path, record: dict[str, Any], right: str) -> None:
    (run,) = trajectories(path := written(tmp_path, record))
    assert (run.task, run.final_answer, run.reference_answer) == (ASKED, "It was Herbert.", right)
    assert summary_of(path).trust == "complete"


def test_calls_in_the_answer_are_read(tmp_path: Path) -> None:
    said = "<search>author</search><information>Herbert.</information><answer>Herbert</answer>"
    (run,) = trajectories(written(tmp_path, {"question": ASKED, "golden_answers": ["Herbert"], "response": said}))
    assert calls_of(run) == [("search", {"query": "author"}, "Herbert.")]
    assert run.final_answer == "Herbert"


@pytest.mark.parametrize(
    "record",
    [
        {"question": ASKED, "answer": "Herbert"},
        {"question": ASKED, "response": "Herbert"},
        {"question": ASKED, "chosen": "Herbert", "rejected": "Asimov"},
        {"question": ASKED, "response": "", "ground_truth": "Herbert"},
    ],
)
def test_a_question_without_either_answer_is_no_run(tmp_path: Path, record: dict[str, Any]) -> None:
    with pytest.raises(UnreadableDrop, match="is in no supported format"):
        trajectories(written(tmp_path, record))
