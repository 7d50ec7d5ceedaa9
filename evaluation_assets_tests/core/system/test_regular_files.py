"""Why a file cannot be read."""

from pathlib import Path

from upath import UPath

from evaluation_assets.core.system.regular_files import why_not_regular


def test_a_file_that_is_gone_is_told_from_a_link_to_one(tmp_path: Path) -> None:
    file, link = tmp_path / "runs.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(file)
    assert why_not_regular(UPath(file)) == "it is no longer there"
    assert why_not_regular(UPath(link)) == "it is a broken link"
    file.touch()
    assert why_not_regular(UPath(file)) is why_not_regular(UPath(link)) is None
