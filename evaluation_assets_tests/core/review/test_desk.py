"""Labels that somebody gives in the review queue, in the file of drop and person."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from upath import UPath

from evaluation_assets.core.review.desk import ReviewDesk
from evaluation_assets.core.review.labels import Label, read_labels
from evaluation_assets.core.system.installation import Installation

MANY = {f"m{number}" for number in range(20)}


def desk(folder: UPath, drop: str, annotator: str = "ada") -> ReviewDesk:
    return ReviewDesk(Installation.at(str(folder)), drop, annotator, frozenset({"t1", "t2"} | MANY))


def given(trajectory: str, label: str | None) -> bytes:
    return json.dumps([{"trajectory_id": trajectory, "label": label}]).encode()


def test_labels_of_drops_whose_files_have_one_name_stay_apart(tmp_path: Path) -> None:
    folder = UPath(tmp_path)
    one, other = desk(folder, "shop/monday"), desk(folder, "shop_monday")
    assert one.file == other.file
    one.save(given("t1", "pass"))
    assert other.labels() == [] and other.save(given("t1", "fail")) == 1
    one.save(given("t2", "fail"))
    found = [each for each in read_labels(folder / "labels") if isinstance(each, Label)]
    assert sorted((each.drop, each.trajectory_id, each.label) for each in found) == [
        ("shop/monday", "t1", 1.0),
        ("shop/monday", "t2", 0.0),
        ("shop_monday", "t1", 0.0),
    ]
    one.save(given("t2", None))
    assert [each["trajectory_id"] for each in one.labels()] == ["t1"] and len(other.labels()) == 1


def test_other_lines_of_the_file_stay(tmp_path: Path) -> None:
    own = desk(UPath(tmp_path), "d")
    criterion = '{"drop": "d", "trajectory_id": "t1", "label": 0.5, "annotator": "ada", "criterion": "tone"}'
    own.file.parent.mkdir()
    own.file.write_text(f"{criterion}\nnot finished\n")
    own.save(given("t1", "pass"))
    assert own.file.read_text().splitlines()[:2] == [criterion, "not finished"]
    assert [each["label"] for each in own.labels()] == ["pass"]


def test_labels_given_in_two_processes_at_once_are_all_kept(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: desk(UPath(tmp_path), "d").save(given(each, "pass")), MANY))
    assert {each["trajectory_id"] for each in desk(UPath(tmp_path), "d").labels()} == MANY
