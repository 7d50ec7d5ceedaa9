"""Division of a drop into parts."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.lake.stored import Stream, batched, write
from evaluation_assets.core.pipeline.parts import Parts, announced, announcement, divide
from evaluation_assets.core.system.installation import Installation

READ = [("preprocessed_trajectories",), ("clips",), ("clip_verdicts", "one")]


def home_with(folder: Path, clips: list[int], judged: set[int] | None = None) -> Installation:
    """A drop whose trajectories have so many clips; the judge `one` has a verdict on each clip of those in `judged`."""
    home = Installation.at(str(folder))
    of_clips = [
        {"trajectory_id": str(at), "clip_index": clip} for at, count in enumerate(clips) for clip in range(count)
    ]
    rows = {
        READ[0]: [{"trajectory_id": str(at)} for at in range(len(clips))],
        READ[1]: of_clips,
        READ[2]: [row for row in of_clips if judged is None or int(row["trajectory_id"]) in judged],
    }
    for path, given_rows in rows.items():
        stored = home.table("d", *path)
        blank = dict.fromkeys(stored.table.schema.names) | {"drop": "d"}
        write(stored.path, Stream(stored.table, batched(({**blank, **row} for row in given_rows), stored.table)))
    return home


def of_parts(parts: Parts, *path: str) -> list[list[tuple[str, int | None]]]:
    tables = [parts.of(number).table("d", *path) for number in parts.numbers]
    return [[(row["trajectory_id"], row.get("clip_index")) for row in table.rows()] for table in tables]


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
    st.integers(1, 30),
    st.none() | st.sets(st.integers(0, 40), max_size=20),
)
def test_each_row_is_in_the_part_of_its_trajectory_and_in_order(
    clips: list[int], clips_per_part: int, judged: set[int] | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = home_with(Path(folder), clips, judged)
        parts = divide(home, "d", "run", clips_per_part, READ)
        assert (parts is None) == (sum(clips) <= clips_per_part)
        if parts is None:
            return
        trajectories = of_parts(parts, *READ[0])
        assert [row for part in trajectories for row in part] == [(str(at), None) for at in range(len(clips))]
        for path in READ[1:]:
            divided = of_parts(parts, *path)
            whole = [(row["trajectory_id"], row["clip_index"]) for row in home.table("d", *path).rows()]
            assert [row for part in divided for row in part] == whole
            for rows, part in zip(divided, trajectories, strict=True):
                assert {row[0] for row in rows} <= {row[0] for row in part}
        assert parts.count == -(-sum(clips) // clips_per_part)
        largest = max(clips)
        assert all(len(part) <= sum(clips) / parts.count + largest for part in of_parts(parts, *READ[1]))


def test_an_announcement_lasts_until_the_parts_are_removed(tmp_path: Path) -> None:
    home = home_with(tmp_path, [3] * 10)
    assert announced(home) == []
    divide(home, "d", "killed", 10, READ)
    parts = divide(home, "d", "run", 10, READ)
    assert parts is not None
    parts.announce({"clip_verdicts/one": "1"})
    (said,) = announced(home)
    assert announcement(home, "d", "run") == said
    assert (said.drop, said.run, said.count, said.versions) == ("d", "run", 3, {"clip_verdicts/one": "1"})
    assert not list(home.lake.rglob("*killed*")), "what a killed run left is removed by the next"
    assert [parts.is_judged(number) for number in parts.numbers] == [False] * 3
    parts.set_judged(2, "another")
    assert [parts.is_judged(number) for number in parts.numbers] == [False, True, False]
    parts.remove()
    assert announced(home) == []
    assert announcement(home, "d", "run") is None


@pytest.mark.parametrize("key", ["a", "a/b"])
def test_parts_of_a_drop_leave_those_of_another_alone(tmp_path: Path, key: str) -> None:
    home = home_with(tmp_path, [3] * 10)
    other = divide(home, "d", "run", 10, READ)
    assert other is not None
    Parts(home, key, "run", 3).remove()
    assert of_parts(other, "clips")[0]
