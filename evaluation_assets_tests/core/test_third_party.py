"""Recorded runs of others, where they lie beside the checkout."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import orjson
import pytest
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.intake.preprocessing.preprocess import Preprocessor, Removal
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.third_party import data

SERVERS = {"browser_use", "deepsearch", "microsandbox"}
STRUCTURAL = ("think", "result", "answer", "browser_use", "deepsearch", "microsandbox")
Outcome = tuple[list[Trajectory], list[Trajectory], Counter[str]]


def read(path: Path) -> list[Trajectory]:
    """The runs of a file; every record is readable."""
    items = list(read_trajectories([DropFile(UPath(path), path.name)], UnmappedFields()))
    runs = [item for item in items if isinstance(item, Trajectory)]
    assert len(runs) == len(items) == sum(1 for line in path.read_bytes().splitlines() if line.strip())
    return runs


@cache
def preprocessed(name: str, on_violation: str = "remove") -> Outcome:
    """The runs as read, the kept ones, and why others were removed."""
    runs = read(data(f"dataeva/{name}"))
    preprocessor = Preprocessor(Settings(on_violation="flag" if on_violation == "flag" else "remove"))
    outcomes = [preprocessor.process(run) for run in runs]
    kept = [outcome for outcome in outcomes if isinstance(outcome, Trajectory)]
    removed = Counter(outcome.reason for outcome in outcomes if isinstance(outcome, Removal))
    assert preprocessor.statistics.total == len(runs) == len(kept) + removed.total()
    assert preprocessor.statistics.removed == removed
    return runs, kept, Counter(removed)


def unbalanced(text: str) -> Iterator[str]:
    """Structural tags that open and close differently often."""
    for tag in STRUCTURAL:
        if len(re.findall(f"<{tag}>", text)) != len(re.findall(f"</{tag}>", text)):
            yield tag


def test_the_small_sample_is_kept_whole() -> None:
    _, kept, removed = preprocessed("demo01.jsonl")
    assert (len(kept), removed.total()) == (3, 0)


def test_nobody_in_the_large_sample_calls_too_often() -> None:
    _, kept, removed = preprocessed("demo02.part87.jsonl")
    assert removed["frequency"] == 0
    assert len(kept) + removed["duplicates"] == 87


def test_calls_of_servers_become_clips_one_to_one() -> None:
    _, kept, _ = preprocessed("demo02.part87.jsonl", "flag")
    assert len(kept) == 87
    calls = [step.call for run in kept for step in run.calls]
    clips = [clip for run in kept for clip in clips_of(run) if not clip.is_final]
    assert sum(call is not None and call.server in SERVERS for call in calls) == 348
    assert sum(clip.tool_type in SERVERS for clip in clips) == 348
    for run in kept:
        called = [clip.tool_name for clip in clips_of(run) if not clip.is_final]
        assert called == [step.call.name for step in run.calls if step.call]


def test_every_server_call_has_its_result() -> None:
    runs, _, _ = preprocessed("demo02.part87.jsonl", "flag")
    for run in runs:
        for step in run.calls:
            assert step.call is not None
            if step.call.server in SERVERS:
                assert step.result is not None, (run.id, step.start)


@pytest.mark.parametrize("name", ["demo01.jsonl", "demo0101_eva.jsonl", "demo02.part87.jsonl"])
@pytest.mark.parametrize("on_violation", ["remove", "flag"])
def test_joined_clips_are_the_text(name: str, on_violation: str) -> None:
    _, kept, _ = preprocessed(name, on_violation)
    for run in kept:
        assert "".join(clip.content for clip in clips_of(run)) == run.text


@pytest.mark.parametrize("name", ["demo01.jsonl", "demo02.part87.jsonl"])
def test_tags_that_do_not_balance_are_on_the_list_of_repairs(name: str) -> None:
    runs, _, _ = preprocessed(name, "flag")
    silent = {run.id: list(unbalanced(run.text)) for run in runs if not run.repairs}
    assert {run_id: tags for run_id, tags in silent.items() if tags} == {}


@pytest.mark.parametrize("name", ["demo01.jsonl", "demo02.part87.jsonl"])
def test_repair_closes_what_was_open_and_drops_nothing(name: str) -> None:
    runs, kept, _ = preprocessed(name, "flag")
    for before, after in zip(runs, kept, strict=True):
        inserted = sum(len(repair.tag) + 3 for repair in before.repairs if repair.action == "closed")
        assert len(after.text) == len(before.text) + inserted


def test_a_judged_file_gives_the_texts_it_was_made_of(tmp_path: Path) -> None:
    texts = {run.task_id: run.text for run in preprocessed("demo01.jsonl")[0]}
    judged = data("dataeva/demo0101_eva.jsonl")
    assert {run.task_id: run.text for run in read(judged)} == texts
    stripped = tmp_path / "judged.jsonl"
    with stripped.open("wb") as sink:
        for line in judged.read_bytes().splitlines():
            record = orjson.loads(line)
            del record["raw_response"]
            sink.write(orjson.dumps(record) + b"\n")
    assert {run.task_id: run.text for run in read(stripped)} == texts


def test_a_run_out_of_steps_is_marked_whatever_was_recorded() -> None:
    runs, _, _ = preprocessed("demo02.part87.jsonl", "flag")
    out_of_steps = [run for run in runs if str(run.extra.get("final_result")).startswith("已达最大步骤")]
    assert out_of_steps
    assert all("step_limit" in run.flags for run in out_of_steps)
    assert sum("step_limit" in run.flags for run in runs) == len(out_of_steps)
