"""Folders of the owner's own files: links are followed, and none leads round in circles."""

from pathlib import Path

from upath import UPath

from evaluation_assets.core.system.own_files import files_below


def test_links_to_folders_are_followed_and_each_folder_is_read_once(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.yaml").touch()
    (elsewhere / "back").symlink_to(tmp_path / "home")
    home = tmp_path / "home"
    (home / "own").mkdir(parents=True)
    (home / "own" / "b.yaml").touch()
    (home / "linked").symlink_to(elsewhere)
    (home / "broken").symlink_to(tmp_path / "nothing")
    assert [Path(path.path).relative_to(home) for path in files_below(UPath(home))] == [
        Path("linked/a.yaml"),
        Path("own/b.yaml"),
    ]
