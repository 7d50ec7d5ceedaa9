"""Files in folders and buckets as traces."""

import os
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import fsspec
import pytest
from upath import UPath

from evaluation_assets.core.intake.sources.collection import Source, collect
from evaluation_assets.core.intake.sources.opening import open_store
from evaluation_assets.core.intake.sources.settings import BucketSettings, FolderSettings, SourceSettings
from evaluation_assets.core.intake.sources.store import StoreError, Trace
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.core.intake.sources.memory_store import at
from evaluation_assets_tests.s3_server import s3_server

YEAR = timedelta(days=365)


HOME = Installation.at("unused")


def put(path: Path, minutes: float, content: str = "{}\n") -> Path:
    """A file that was last changed so many minutes after the start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    seconds = at(minutes).timestamp()
    os.utime(path, (seconds, seconds))
    return path


def found(settings: SourceSettings, after: datetime = at(-60), until: datetime = at(60)) -> list[Trace]:
    return list(open_store(settings, HOME).ended(after, until, lambda name: True))


def names(settings: SourceSettings) -> list[str]:
    return [name for trace in found(settings) for name, _ in trace.files]


def folder(path: Path, include: str | None = None) -> FolderSettings:
    return FolderSettings(type="folder", path=str(path), include=include)


def test_files_come_in_the_order_of_their_changes(tmp_path: Path) -> None:
    put(tmp_path / "b.jsonl", 1)
    put(tmp_path / "deep" / "a.json", 2)
    put(tmp_path / "old.jsonl", -61)
    put(tmp_path / "new.jsonl", 61)
    assert names(folder(tmp_path)) == ["b.jsonl", "deep/a.json"]
    assert [trace.ended_at for trace in found(folder(tmp_path))] == [at(1), at(2)]


@pytest.mark.parametrize(
    ("include", "kept"),
    [(None, ["a.jsonl", "x/b.json"]), ("*.jsonl", ["a.jsonl"]), ("x/*", ["x/b.json"]), ("*.csv", [])],
)
def test_files_are_selected_by_name_or_path(tmp_path: Path, include: str | None, kept: list[str]) -> None:
    put(tmp_path / "a.jsonl", 1)
    put(tmp_path / "x" / "b.json", 2)
    put(tmp_path / "notes.docx", 3)
    put(tmp_path / ".hidden.jsonl", 4)
    put(tmp_path / "half.jsonl.part", 5)
    assert names(folder(tmp_path, include)) == kept


def test_a_file_from_the_future_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(tmp_path / "now.jsonl", 1)
    ahead = datetime.now(UTC) + timedelta(days=2)
    os.utime(put(tmp_path / "ahead.jsonl", 1), (ahead.timestamp(), ahead.timestamp()))
    assert names(folder(tmp_path)) == ["now.jsonl"]
    assert "1 file changed in the future, such as ahead.jsonl" in caplog.text


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = put(tmp_path / "secret.jsonl", 1)
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.jsonl").symlink_to(secret)
    assert names(folder(logs)) == []


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no folder .*later"):
        names(folder(tmp_path / "later"))


def test_a_file_becomes_a_drop_and_again_once_it_has_changed(tmp_path: Path) -> None:
    logs, drops = tmp_path / "logs", UPath(tmp_path / "drops")
    log = put(logs / "team" / "run.jsonl", 1, "1\n")
    source = Source("app", folder(logs))

    def look(minutes: float) -> int:
        return collect(source, open_store(source.settings, HOME), drops, at(0), at(minutes)).added.total()

    assert [look(15), look(16)] == [1, 0]
    put(log, 20, "1\n2\n")
    assert [look(25), look(31), look(32)] == [0, 1, 0]
    assert (drops / "app" / "2026-03-01T09" / "team" / "run.jsonl").read_text() == "1\n2\n"


def test_an_installation_does_not_fetch_what_it_has_written(tmp_path: Path) -> None:
    """Each look copied the copies of the look before."""
    home = Installation.at(str(tmp_path / "evaluations"))
    put(tmp_path / "run.jsonl", 1)
    put(Path(home.drops.path) / "app" / "run.jsonl", 1)
    found = open_store(folder(tmp_path), home).ended(at(0), at(60), lambda name: True)
    assert [name for trace in found for name, _ in trace.files] == ["run.jsonl"]
    with pytest.raises(StoreError, match=r"drops belongs to the home folder, .* correct `path` in sources\.yaml"):
        open_store(folder(Path(home.drops.path)), home)


def test_objects_of_a_bucket_are_found() -> None:
    bucket = UPath("memory://logs")
    (bucket / "2026").mkdir(parents=True, exist_ok=True)
    (bucket / "2026" / "a.jsonl").write_text("{}\n")
    now = datetime.now(UTC)
    (trace,) = found(BucketSettings(type="bucket", url="memory://logs"), now - YEAR, now + YEAR)
    ((name, path),) = trace.files
    assert (name, path.read_text()) == ("2026/a.jsonl", "{}\n")


def test_a_kind_of_store_that_is_unknown_is_named() -> None:
    with pytest.raises(StoreError, match=r"^nfs2://logs: .*nfs2.*; correct `url` in sources\.yaml$"):
        found(BucketSettings(type="bucket", url="nfs2://logs"))


@pytest.mark.skipif(find_spec("s3fs") is None, reason="the package is not installed")
def test_a_bucket_without_credentials_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    with pytest.raises(StoreError, match=r"^s3://logs/x cannot be listed: Unable to locate credentials$"):
        found(BucketSettings(type="bucket", url="s3://logs/x"))


def test_a_bucket_that_does_not_exist_is_named_and_an_empty_one_has_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server() as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "any")
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        UPath("s3://logs").fs.mkdir("logs")
        assert found(BucketSettings(type="bucket", url="s3://logs/2026")) == []
        with pytest.raises(StoreError, match=r"^there is no bucket lgos; correct `url` in sources\.yaml$"):
            found(BucketSettings(type="bucket", url="s3://lgos/2026"))
        fsspec.get_filesystem_class("s3").clear_instance_cache()


@pytest.mark.skipif(find_spec("s3fs") is not None, reason="the package is installed")
def test_a_missing_package_is_one_sentence_with_the_command() -> None:
    with pytest.raises(StoreError, match=r"^s3 needs an extra package: \S+ -m pip install 's3fs>=[\d.]+'$"):
        found(BucketSettings(type="bucket", url="s3://logs"))
