"""What processes of one installation share."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from upath import UPath

from evaluation_assets.core.system.installation import Installation


def test_a_file_is_edited_by_one_at_a_time(tmp_path: Path) -> None:
    home, file = Installation.at(str(tmp_path)), tmp_path / "groups.yaml"
    file.write_text("")

    def edit(number: int) -> None:
        with home.edits(UPath(file)):
            file.write_text(f"{file.read_text()}{number}\n")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(edit, range(200)))
    assert sorted(map(int, file.read_text().split())) == list(range(200))
