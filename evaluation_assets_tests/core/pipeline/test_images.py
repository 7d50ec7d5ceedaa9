"""Images of a drop: stored beside its texts, shown in the viewer, never shown where a report is redacted."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.intake.clips.clip_rows import clip_row
from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.drops import find
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.canaries import CanarySettings
from evaluation_assets.core.judging.panel import judges_of, panel_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.lake.spool import Spool
from evaluation_assets.core.lake.stored import Stream, batched, write
from evaluation_assets.core.lake.tables import CLIPS, IMAGES, RAW_TRAJECTORIES, UNREADABLE_RECORDS, Table
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.pipeline import reading
from evaluation_assets.core.pipeline.parts import divide
from evaluation_assets.core.pipeline.planning import PRESETS, plan
from evaluation_assets.core.pipeline.reading import ReadDrop
from evaluation_assets.core.report.covered_tables import covered
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.viewer.documents import documents
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.trajectory_rows import trajectory_of
from evaluation_assets_tests.images import gif, png

ONE, TWO, SVG = png(), gif(), b64encode(b"<svg onload=alert(1)>").decode()


def run(name: str, *images: str, said: str = "Done.") -> dict[str, Any]:
    """A conversation whose tool results are images."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Look at the page."}]
    for number, image in enumerate(images):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "screenshot", "arguments": "{}"}}
        shown = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{image}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": [{"type": "text", "text": "seen"}, shown]},
        ]
    return {"task_id": name, "messages": [*messages, {"role": "assistant", "content": said}]}


def ingested(folder: Path, *runs: dict[str, Any]) -> Installation:
    """An installation with what is read of a drop."""
    home = Installation.at(str(folder))
    (folder / "drops").mkdir()
    (folder / "drops" / "d.jsonl").write_text("".join(json.dumps(each) + "\n" for each in runs))

    def store(table: Table, batches: Any, name: str = "") -> None:
        write(home.table("d", name or table.name).path, Stream(table, batches))

    with Spool(UNREADABLE_RECORDS) as unreadable, Spool(IMAGES) as images:
        drop = ReadDrop(find(UPath(home.drops), "d"), unreadable, images)
        rows = list(drop.trajectories())
        store(IMAGES, images.batches())
    for name in ("raw_trajectories", "preprocessed_trajectories"):
        store(RAW_TRAJECTORIES, batched(rows, RAW_TRAJECTORIES), name)
    trajectories = [trajectory_of(row) for row in rows]
    clips = [clip_row("d", each.id, clip) for each in trajectories for clip in clips_of(each)]
    store(CLIPS, batched(clips, CLIPS))
    return home


def stored(home: Installation) -> list[tuple[str, str, str]]:
    return [(row["trajectory_id"], row["media_type"], row["digest"]) for row in home.table("d", "images").rows()]


def test_each_image_of_a_run_is_stored_once(tmp_path: Path) -> None:
    home = ingested(tmp_path, run("a", ONE, SVG, TWO, ONE), run("b"), run("c", TWO))
    assert stored(home) == [
        ("a", "image/png", digest(ONE)),
        ("a", "image/gif", digest(TWO)),
        ("c", "image/gif", digest(TWO)),
    ]


def test_a_drop_has_no_more_images_than_a_report_can_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_IMAGES", len(ONE) + len(TWO))
    mark = f"[image: image/png, 3 kB, {digest(ONE)}]"
    home = ingested(tmp_path, run("a", ONE), run("b", TWO), *(run(f"c{n}", said=mark) for n in range(5)))
    assert [name for name, _, _ in stored(home)] == ["a", "b"]


def test_the_viewer_shows_a_run_its_images_also_if_others_were_removed(tmp_path: Path) -> None:
    home = ingested(tmp_path, run("a", ONE), run("b"), run("c", TWO, SVG))
    kept = home.table("d", "preprocessed_trajectories")
    rows = [row for row in kept.rows() if row["trajectory_id"] != "a"]
    write(kept.path, Stream(kept.table, batched(rows, kept.table)))
    tables = DropTables.of(home, "d", [])
    shown = [document.content["images"] for document in documents(tables) if document.content]
    assert shown == [{}, {digest(TWO): f"data:image/gif;base64,{TWO}"}]
    hidden = [document.content["images"] for document in documents(covered(tables, Redaction())) if document.content]
    assert hidden == [{}, {}]


def test_a_part_of_a_big_drop_has_the_images_of_its_runs(tmp_path: Path) -> None:
    home = ingested(tmp_path, run("a", ONE), run("b", TWO, ONE))
    parts = divide(home, "d", "run", 3, [("preprocessed_trajectories",), ("images",), ("clips",)])
    assert parts is not None
    assert [stored(parts.of(number)) for number in parts.numbers] == [
        [("a", "image/png", digest(ONE))],
        [("b", "image/gif", digest(TWO)), ("b", "image/png", digest(ONE))],
    ]


def test_a_plan_counts_the_images_of_a_drop_for_judges_that_are_sent_them(tmp_path: Path) -> None:
    home = ingested(tmp_path, run("a", ONE, TWO))
    tokens: dict[bool, int] = {}
    for images in (True, False):
        judge = {"name": "one", "provider": "anthropic", "model": "claude-haiku-5-5", "images": images}
        judges = judges_of(panel_of({"judges": [judge]}, "panel.yaml"), home.ledger_url)
        drop = find(UPath(home.drops), "d")
        planned = plan(drop, Settings(), load_rubrics(), load_tool_types(), judges, CanarySettings(), PRESETS)
        calls = planned.calls[0]
        assert (calls.batched is None) is images, "batches take no images"
        tokens[images] = calls.quote.expected.input_tokens
        assert calls.presets["full"].quote.expected.input_tokens == tokens[images]
    assert tokens[True] - tokens[False] == 3, "the PNG, with its clip, its tool type and the whole run"
