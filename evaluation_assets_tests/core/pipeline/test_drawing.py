"""Which runs of a drop are evaluated: a share of them, and those that fulfil a condition; the others are counted."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from upath import UPath

from evaluation_assets.core.intake.drops import Drop, InvalidDrop, scan
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.intake.sources.settings import InvalidSources
from evaluation_assets.core.lake.spool import Spool
from evaluation_assets.core.lake.tables import IMAGES, UNREADABLE_RECORDS
from evaluation_assets.core.pipeline.drawing import Drawing, drawn, sources_of
from evaluation_assets.core.pipeline.reading import ReadDrop
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.core.pipeline.test_reading import good, lines

SEARCH = "<think>plan</think><search>tax law</search><result>none</result><answer>4</answer>"


def drop_with(folder: Path, **sidecar: object) -> Drop:
    texts = {"plain": None, "searched": SEARCH, "other": None}
    records = [good(name) if text is None else good(name, text) for name, text in texts.items()]
    (folder / "d.jsonl").write_bytes(lines(*records, *(good(f"run{number}") for number in range(197))))
    (folder / "d.drop.yaml").write_text(yaml.safe_dump(sidecar))
    return scan(UPath(folder)).drops["d"]


def taken(drop: Drop) -> tuple[list[str], ReadDrop]:
    with Spool(UNREADABLE_RECORDS) as unreadable:
        read = ReadDrop(drop, unreadable, Spool(IMAGES))
        return [row["trajectory_id"] for row in read.trajectories()], read


def test_a_share_is_drawn_by_ids_and_the_rest_is_counted(tmp_path: Path) -> None:
    names, read = taken(drop_with(tmp_path, share=0.2))
    assert 20 <= len(names) <= 60
    assert read.facts.not_taken == {"share": 200 - len(names)}
    assert read.metadata()["not_taken"] == 200 - len(names)
    assert taken(drop_with(tmp_path, share=0.2))[0] == names, "the same runs are taken again"
    assert set(names) < set(taken(drop_with(tmp_path, share=0.5))[0]), "a larger share has them all"
    said = drawn(read.sidecar, read.facts.not_taken, len(names))
    assert said == f"{len(names)} of 200 runs evaluated: {200 - len(names)} outside of the 20.0% drawn by their IDs"


def test_a_condition_is_one_of_checks_yaml(tmp_path: Path) -> None:
    names, read = taken(drop_with(tmp_path, only={"calls": "search"}))
    assert names == ["searched"]
    assert drawn(read.sidecar, read.facts.not_taken, 1) == "1 of 200 runs evaluated: 199 do not fulfil `only`"
    assert taken(drop_with(tmp_path, only={"tasks": ["pl*", "other"]}))[0] == ["plain", "other"]
    assert taken(drop_with(tmp_path, agent="bot", only={"agents": "bo*", "tasks": "other"}))[0] == ["other"]
    assert taken(drop_with(tmp_path, only={"calls": {"tool": "search", "arguments_text": "/tax/"}}))[0] == ["searched"]
    assert taken(drop_with(tmp_path, only={"calls": {"tool": "search", "arguments_text": "/wine/"}}))[0] == []


def test_a_condition_that_takes_too_long_takes_no_run_and_says_so(tmp_path: Path) -> None:
    endless = good("endless", f"<search>{'a' * 4000}!</search><result>none</result><answer>4</answer>")
    drop = drop_with(tmp_path, only={"calls": {"tool": "search", "arguments_text": "/(a|aa)+$/"}})
    (tmp_path / "d.jsonl").write_bytes(lines(endless))
    names, read = taken(replace(drop))
    assert (names, read.facts.not_taken) == ([], {"only_not_checked": 1})
    assert drawn(read.sidecar, read.facts.not_taken, 0) == ("0 of 1 run evaluated: 1 could not be compared with `only`")


def test_what_is_wrong_in_a_sidecar_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(InvalidDrop, match=r"d\.drop\.yaml: only: .*call\b"):
        Drawing.of(drop := drop_with(tmp_path, only={"call": "search"}), drop.sidecar())
    with pytest.raises(InvalidDrop, match=r"d\.drop\.yaml: share is '2': it should be less than or equal to 1"):
        drop_with(tmp_path, share=2).sidecar()
    home = Installation.at(str(tmp_path / "home"))
    Path(home.root.path).mkdir()
    source = {"type": "folder", "path": ".", "only": {"calls": {"tool": "/(/"}}}
    home.sources_file.write_text(yaml.safe_dump({"sources": {"logs": source}}))
    with pytest.raises(InvalidSources, match=r"sources\.logs\.only"):
        sources_of(home)


def test_of_a_whole_drop_nothing_is_said() -> None:
    assert drawn(Sidecar(), {}, 3) is None
