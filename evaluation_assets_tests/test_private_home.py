"""The home folder holds prompts and traces: only its owner can enter it."""

import os
import stat
from pathlib import Path

import httpx2 as httpx
import pytest

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import command, record
from evaluation_assets_tests.receiving import receiving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")


@pytest.fixture(autouse=True)
def usual_umask() -> object:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_evaluate_makes_a_home_that_only_its_owner_can_enter(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(record())
    home = tmp_path / "new" / "home"
    done = command("evaluate", tmp_path / "d.jsonl", "--quiet", "--preprocess-only", home=home)
    assert done.returncode == 0, done.stderr
    assert mode(home) == 0o700
    assert (home / "dagster" / "dagster.yaml").exists()


def test_receive_makes_a_home_that_only_its_owner_can_enter(tmp_path: Path) -> None:
    with receiving(tmp_path / "home") as started:
        assert mode(tmp_path / "home") == 0o700
        httpx.get(f"{started.url}/healthz", timeout=60).raise_for_status()
        started.stop()
        assert "can read" not in started.rest


def test_what_must_be_local_beside_a_remote_home_is_private_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare(Installation.at("memory://home"))
    assert mode(tmp_path / ".evaluation") == 0o700


def test_a_home_that_others_can_read_keeps_its_mode_and_is_named_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    with receiving(home) as started:
        httpx.get(f"{started.url}/healthz", timeout=60).raise_for_status()
        started.stop()
        assert started.rest.count(f"others on this machine can read {home}") == 1
    assert mode(home) == 0o755


@pytest.mark.parametrize("name", ["ledger.sqlite", "received.sqlite"])
def test_a_database_of_an_existing_home_that_others_can_read_is_tightened(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    (tmp_path / name).chmod(0o644)
    prepare(Installation.at(str(tmp_path)))
    assert mode(tmp_path / name) == 0o600


def test_a_group_that_shares_a_home_keeps_its_databases(tmp_path: Path) -> None:
    tmp_path.chmod(0o2770)
    (tmp_path / "ledger.sqlite").touch()
    (tmp_path / "ledger.sqlite").chmod(0o664)
    prepare(Installation.at(str(tmp_path)))
    assert mode(tmp_path / "ledger.sqlite") == 0o660
