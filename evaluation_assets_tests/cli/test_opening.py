"""`open`: the address of a report, in a browser that is a script."""

import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner, Result

from evaluation_assets.cli.main import main
from evaluation_assets_tests.conftest import record
from evaluation_assets_tests.pages import without_viewer


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opening")
    drop = folder / "week.jsonl"
    drop.write_bytes(record("lamps/red") + record("lamps blue"))
    done = CliRunner().invoke(main, ["evaluate", str(drop), "--home", str(folder / "home"), "--quiet"])
    assert done.exit_code == 0, done.output
    return folder / "home"


def opened(home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["open", *arguments, "--home", str(home)])


def test_a_report_opens_from_disk(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "evaluation_assets.cli", "open", "week", "lamps/red", "--home", str(home)]
    environment = {"BROWSER": str(browser), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    address = (home / "reports" / "week" / "report.html").as_uri() + "#/run/lamps%2Fred"
    assert done.stdout.strip() == address
    assert (tmp_path / "opened").read_text().strip() == address


def test_print_opens_nothing(home: Path) -> None:
    assert opened(home, "week", "--print").output.strip() == (home / "reports" / "week" / "report.html").as_uri()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["weak"], "'weak' has no report in .*; did you mean 'week'?"),
        (["other-thing"], "evaluate it first"),
        (["week", "lamps/rod"], "did you mean 'lamps/red'?"),
        (["week", "zzz"], "has no run 'zzz'; it has 2"),
        (["--against", "week"], "--against 'week' needs the drop that is compared with it: open DROP --against week"),
    ],
)
def test_what_is_not_there_is_refused_with_what_to_do(home: Path, arguments: list[str], message: str) -> None:
    done = opened(home, *arguments)
    assert done.exit_code == 2
    assert re.search(message.replace("?", r"\?"), done.output.replace("\n", " "))


def test_transcripts_beside_the_page_are_served(home: Path) -> None:
    data = home / "reports" / "week" / "report_data"
    data.mkdir()
    (data / "0.json.gz").write_bytes(b"block")
    command = [sys.executable, "-m", "evaluation_assets.cli", "open", "week", "--print", "--home", str(home)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address.replace("report.html", "report_data/0.json.gz"), timeout=30) as reply:
            assert reply.read() == b"block"
    finally:
        process.kill()
        process.wait(30)
        (data / "0.json.gz").unlink()


def test_without_a_drop_the_list_of_reports_opens(home: Path) -> None:
    other = home / "reports" / "night" / "a b"
    other.mkdir(parents=True)
    (other / "report.json").write_text('{"drop": 3}')  # not a report
    address = opened(home, "--print").output.strip()
    page = Path(unquote(address.removeprefix("file://"))).read_text()
    assert address == (home / "reports" / "index.html").as_uri()
    assert re.findall(r'<a href="([^"]+)">', page) == ["week/report.html"]
    assert "<script" not in without_viewer(page, "overview")


def test_a_review_whose_labels_cannot_be_written_does_not_start(home: Path) -> None:
    (home / "labels").write_text("in the way")
    done = CliRunner().invoke(main, ["review", "week", "--print", "--annotator", "bo", "--home", str(home)])
    (home / "labels").unlink()
    assert done.exit_code == 2
    assert re.search(r"labels/week-bo\.jsonl cannot be written: \w", done.output)
