"""Drops that are made of the traces of a store."""

from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from upath import UPath

from evaluation_assets.core.intake.copying.traces import take_in_traces
from evaluation_assets.core.intake.drops import Drop, InvalidDrop, scan
from evaluation_assets.core.intake.sources.store import Trace

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def _trace(folder: Path, name: str, text: str = "{}\n") -> Trace:
    path = folder / "store" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return Trace(id=path.stem, ended_at=NOW, files=[(name, UPath(path))])


def _take(folder: Path, *traces: Trace, name: str = "codex") -> Drop | None:
    return take_in_traces(UPath(folder / "drops"), name, "codex", traces)


def _content(folder: Path) -> dict[str, str]:
    drops = folder / "drops" / "codex"
    return {str(path.relative_to(drops)): path.read_text("utf-8") for path in drops.rglob("*") if path.is_file()}


def test_traces_are_one_drop_in_the_format_of_the_store(tmp_path: Path) -> None:
    drop = _take(tmp_path, _trace(tmp_path, "a.jsonl"), _trace(tmp_path, "x/b.jsonl"))
    assert drop is not None
    assert [file.source for file in drop.sources] == ["codex/a.jsonl", "codex/x/b.jsonl"]
    sidecar = drop.sidecar()
    assert (drop.key, sidecar.format, sidecar.suite) == ("codex", "codex", None)


def test_the_content_is_replaced_and_fields_of_the_sidecar_stay(tmp_path: Path) -> None:
    _take(tmp_path, _trace(tmp_path, "a.jsonl", "old"), _trace(tmp_path, "b.jsonl"))
    (tmp_path / "drops" / "codex" / "_drop.yaml").write_text("format: codex\nagent: mine\n", "utf-8")
    _take(tmp_path, _trace(tmp_path, "a.jsonl", "new"))
    assert _content(tmp_path) == {"a.jsonl": "new", "_drop.yaml": "format: codex\nagent: mine\n"}


def test_a_record_is_a_file_of_its_own(tmp_path: Path) -> None:
    record = {"info": {"id": "ses/1"}, "messages": []}
    _take(tmp_path, Trace(id="ses/1", ended_at=NOW, record=record))
    assert orjson.loads(_content(tmp_path)["ses_1.json"]) == record


def test_without_traces_the_drop_stays_as_it_was(tmp_path: Path) -> None:
    _take(tmp_path, _trace(tmp_path, "a.jsonl"))
    assert _take(tmp_path) is None
    assert "a.jsonl" in _content(tmp_path)
    assert _take(tmp_path / "other") is None
    assert not (tmp_path / "other" / "drops").exists()


def test_a_drop_that_was_made_of_other_files_is_kept(tmp_path: Path) -> None:
    (tmp_path / "drops").mkdir()
    (tmp_path / "drops" / "codex.jsonl").write_text("{}", "utf-8")
    with pytest.raises(InvalidDrop, match="exists and is not made of sessions"):
        _take(tmp_path, _trace(tmp_path, "a.jsonl"))
    assert _take(tmp_path, _trace(tmp_path, "a.jsonl"), name="codex_week") is not None
    assert set(scan(UPath(tmp_path / "drops")).drops) == {"codex", "codex_week"}


@pytest.mark.parametrize("name", ["", ".hidden", "a/../b", "a...b"])
def test_a_name_that_is_none_of_a_drop_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidDrop):
        _take(tmp_path, _trace(tmp_path, "a.jsonl"), name=name)
